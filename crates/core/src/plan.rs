//! Plans: an ordered list of tool calls that ends with `final_answer`.

use crate::policy::RiskClass;
use crate::schema;
use crate::tool::ToolSpec;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Name of the step that ends each plan.
pub const FINAL_ANSWER: &str = "final_answer";
/// Most steps that a plan read from a request should have.
pub const MOST_STEPS: usize = 6;

/// Words that a model writes where it should have left an argument empty.
const PLACEHOLDERS: &[&str] = &["todo", "tbd", "fixme", "xxx", "placeholder", "insert here", "n/a"];

/// One step of a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct PlanStep {
    /// Name of the tool.
    pub tool: String,
    /// Its arguments; `""` is filled from what earlier steps find.
    #[schema(value_type = Object)]
    pub args: Value,
    /// Why, one line.
    #[serde(default)]
    #[schema(required)]
    pub thought: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Plan {
    /// The last one is `final_answer`.
    pub steps: Vec<PlanStep>,
}

/// A plan and how good it looks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Candidate {
    /// The plan.
    #[schema(value_type = Vec<PlanStep>)]
    pub plan: Plan,
    /// Its score.
    pub score: Score,
}

/// Why a candidate was preferred; each part 0 to 1, `total` their weighted mean.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Score {
    /// Short is good; beyond the allowed number of steps it is 0.
    pub length: f32,
    /// Share of steps whose tool exists.
    pub known_tools: f32,
    /// Share of steps whose arguments are valid or context-marked.
    pub valid_arguments: f32,
    /// 1 where no side effect comes before a step that only looks.
    pub effects_late: f32,
    /// 1 where it ends with `final_answer`.
    pub ends: f32,
    /// How well the plan fits the request, where something measured it (intent filter,
    /// likelihood); else 1.
    pub fit: f32,
    /// Weighted mean.
    pub total: f32,
}

impl Plan {
    /// Content hash; approvals are bound to it.
    pub fn hash(&self) -> String {
        crate::hash::of_json(&json!(self.steps))
    }

    /// Names of arguments of `step` that are context-marked (`""`).
    pub fn open_arguments(step: &PlanStep) -> Vec<String> {
        step.args
            .as_object()
            .map(|args| {
                args.iter().filter(|(_, value)| value.as_str() == Some("")).map(|(name, _)| name.clone()).collect()
            })
            .unwrap_or_default()
    }
}

pub fn step_problem(step: &PlanStep, tools: &[ToolSpec]) -> Option<String> {
    if step.tool == FINAL_ANSWER {
        return None;
    }
    let Some(spec) = tools.iter().find(|spec| spec.name == step.tool) else {
        return Some(format!("there is no tool `{}`", step.tool));
    };
    if let Some((name, word)) = placeholder(&step.args) {
        return Some(format!(
            "`{name}` holds the placeholder `{word}`; leave it empty (\"\") to have it filled from earlier steps"
        ));
    }
    let open = Plan::open_arguments(step);
    schema::validate_except(&spec.parameters, &step.args, &open).err()
}

fn placeholder(args: &Value) -> Option<(String, String)> {
    args.as_object()?.iter().find_map(|(name, value)| {
        let text = value.as_str()?.trim();
        let bare = text.trim_matches(|c: char| "<>[]{}().…".contains(c)).trim().to_lowercase();
        let bracketed = (text.starts_with('<') && text.ends_with('>') && !text.contains(' '))
            || (text.starts_with("{{") && text.ends_with("}}"));
        (PLACEHOLDERS.contains(&bare.as_str()) || bracketed).then(|| (name.clone(), text.to_owned()))
    })
}

/// Scores a candidate. `fit` is 0 to 1 (see [`Score::fit`]).
#[expect(clippy::cast_precision_loss, reason = "plans have a handful of steps")]
pub fn score(plan: &Plan, tools: &[ToolSpec], max_steps: usize, fit: f32) -> Score {
    let steps: Vec<_> = plan.steps.iter().filter(|step| step.tool != FINAL_ANSWER).collect();
    let count = steps.len().max(1) as f32;
    let find = |step: &PlanStep| tools.iter().find(|spec| spec.name == step.tool);
    let known = steps.iter().filter(|step| find(step).is_some()).count() as f32;
    let valid = steps.iter().filter(|step| step_problem(step, tools).is_none()).count() as f32;
    let mut seen_effect = false;
    let mut effects_late = 1.0;
    for step in &steps {
        let reads = find(step).is_some_and(|spec| spec.risk == RiskClass::Read);
        if reads && seen_effect {
            effects_late = 0.0;
        }
        seen_effect |= !reads;
    }
    let length = if steps.len() > max_steps {
        0.0
    } else {
        1.0 - (steps.len().saturating_sub(1)) as f32 / (max_steps.max(1) as f32 * 2.0)
    };
    let ends = f32::from(plan.steps.last().is_some_and(|step| step.tool == FINAL_ANSWER));
    let (known_tools, valid_arguments) = (known / count, valid / count);
    let total = 0.10f32.mul_add(length, 0.20 * known_tools)
        + 0.25f32.mul_add(valid_arguments, 0.05 * effects_late)
        + 0.10f32.mul_add(ends, 0.30 * fit);
    Score { length, known_tools, valid_arguments, effects_late, ends, fit, total }
}

/// JSON Schema of a plan over `tools`: an array of steps, each one tool with its own arguments, strings may be empty
/// (context-marked); the last step is `final_answer`.
pub fn json_schema(tools: &[ToolSpec], max_steps: usize) -> Value {
    let mut variants: Vec<Value> = tools
        .iter()
        .filter(|spec| spec.name != FINAL_ANSWER)
        .map(|spec| step_schema(&spec.name, &spec.parameters))
        .collect();
    variants.push(step_schema(
        FINAL_ANSWER,
        &json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"], "additionalProperties": false}),
    ));
    json!({"type": "array", "minItems": 1, "maxItems": max_steps + 1, "items": {"anyOf": variants}})
}

fn step_schema(name: &str, parameters: &Value) -> Value {
    json!({
        "type": "object",
        "properties": {
            "thought": {"type": "string", "maxLength": 200},
            "tool": {"const": name},
            "args": parameters,
        },
        "required": ["thought", "tool", "args"],
        "additionalProperties": false,
    })
}
