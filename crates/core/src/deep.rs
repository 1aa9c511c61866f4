//! Deep planning: a numbered plan that the run carries along while it works. Each step's observation is judged before
//! the next step; a failed step leads to a new plan or, when that was tried often enough, to going on without one.

mod judge;
mod state;
mod worth;

use crate::agent::{Deep, PlanStyle};
use crate::policy::RiskClass;
use crate::tool::{EffectClass, PLAN, ToolSpec};
use serde::{Deserialize, Serialize};
use std::sync::{Arc, LazyLock};

pub use judge::{Judged, judge};
pub use state::{DeepState, StepState};
pub use worth::is_multi_step;

/// Most plans of one run: the first one and those made after a step failed.
pub const MOST_PLANS: u8 = 3;
/// Attempts at a step before it counts as failed.
pub const MOST_ATTEMPTS: usize = 2;

#[derive(Default, Deserialize)]
struct Words {
    nothing: Vec<String>,
    connectors: Vec<String>,
    bullets: Vec<String>,
    together: Vec<String>,
    and: Vec<String>,
    openings: Vec<String>,
}

const DATA: &str = include_str!("../data/deep.json");

// A test reads the file, so it can't be broken here.
static WORDS: LazyLock<Words> = LazyLock::new(|| serde_json::from_str(DATA).unwrap_or_default());

/// How a run plans, settled when it starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct DeepSettings {
    /// Most steps of a plan.
    pub max_steps: u8,
    /// How much a plan says.
    pub style: PlanStyle,
}

/// Defaults of an installation for agents that set nothing (`DEEP_AGENT_*`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeepDefaults {
    pub enabled: bool,
    pub max_steps: u8,
    pub style: PlanStyle,
}

impl Default for DeepDefaults {
    fn default() -> Self {
        Self { enabled: true, max_steps: 6, style: PlanStyle::Structured }
    }
}

impl DeepDefaults {
    /// `None` if the agent does not plan.
    pub fn of(self, agent: Deep) -> Option<DeepSettings> {
        agent.enabled.unwrap_or(self.enabled).then(|| DeepSettings {
            max_steps: agent.max_steps.unwrap_or(self.max_steps).max(1),
            style: agent.style.unwrap_or(self.style),
        })
    }
}

/// One step of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct DeepStep {
    /// From 1.
    pub number: u8,
    /// What it is to reach.
    pub goal: String,
    /// The tool it needs, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub tool: Option<String>,
    /// Steps that must be done before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<u8>,
    /// What could go wrong, and how that is seen or avoided.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub risk: String,
    /// What its observation should show.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub expect: String,
}

/// How a step ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum StepEnd {
    /// Its observation is what it should be.
    Done,
    /// It is not.
    Failed,
    /// It was not tried.
    Skipped,
}

/// The tool by which a trusted model notes its own plan.
pub fn plan_tool(settings: DeepSettings) -> ToolSpec {
    let text = |what: &str| serde_json::json!({"type": "string", "description": what});
    let step = serde_json::json!({
        "type": "object",
        "properties": {
            "goal": text("What the step is to reach."),
            "tool": text("The tool it needs, if any."),
            "depends_on": {"type": "array", "items": {"type": "integer", "minimum": 1},
                "description": "Numbers of the steps that must be done before, from 1."},
            "risk": text("What could go wrong, and how that is seen or avoided."),
            "expect": text("What its result should show."),
        },
        "required": ["goal"],
        "additionalProperties": false,
    });
    ToolSpec {
        name: PLAN.to_owned(),
        description: "Note a plan for work of several dependent steps, so that people can follow it. It runs nothing; go on with the first step in the same reply if you can. Call it again to change the plan.".to_owned(),
        parameters: serde_json::json!({
            "type": "object",
            "properties": {"steps": {
                "type": "array", "items": step, "minItems": 1, "maxItems": settings.max_steps,
            }},
            "required": ["steps"],
            "additionalProperties": false,
        }).into(),
        effect: EffectClass::Read,
        risk: RiskClass::Read,
        sends_out: false,
        utterances: Arc::default(),
        result_limit: 0,
        skill: None,
    }
}

pub fn own_steps(arguments: &serde_json::Value, settings: DeepSettings) -> (Vec<DeepStep>, Vec<String>) {
    let list = arguments["steps"].as_array().into_iter().flatten();
    let steps = list.zip(1u8..).filter_map(|(step, number)| {
        let mut step = step.clone();
        step["number"] = number.into();
        serde_json::from_value(step).ok()
    });
    sound(steps.collect(), settings.max_steps)
}

/// Puts steps into an order that works: numbers from 1, at most `max_steps`, and no step depends on itself, on a later
/// or on an unknown one. The second value lists what was corrected.
pub fn sound(mut steps: Vec<DeepStep>, max_steps: u8) -> (Vec<DeepStep>, Vec<String>) {
    let mut notes = Vec::new();
    steps.retain(|step| !step.goal.trim().is_empty());
    if steps.len() > usize::from(max_steps) {
        notes.push(format!("the plan had {} steps; the first {max_steps} are kept", steps.len()));
        steps.truncate(usize::from(max_steps));
    }
    let numbers: Vec<u8> = steps.iter().map(|step| step.number).collect();
    for (index, step) in steps.iter_mut().enumerate() {
        step.number = u8::try_from(index + 1).unwrap_or(u8::MAX);
        let before = step.depends_on.len();
        let mut kept: Vec<u8> = step
            .depends_on
            .iter()
            .filter_map(|wanted| numbers[..index].iter().position(|number| number == wanted))
            .filter_map(|position| u8::try_from(position + 1).ok())
            .collect();
        kept.sort_unstable();
        kept.dedup();
        if kept.len() < before {
            notes.push(format!("step {} depended on a step that does not come before it", step.number));
        }
        step.depends_on = kept;
    }
    (steps, notes)
}

pub fn json_schema(tools: &[&str], settings: DeepSettings) -> serde_json::Value {
    let mut tool = vec![serde_json::Value::from("")];
    tool.extend(tools.iter().map(|name| serde_json::Value::from(*name)));
    let mut properties = serde_json::json!({
        "goal": {"type": "string"},
        "tool": {"enum": tool},
    });
    let mut required = vec!["goal", "tool"];
    if settings.style == PlanStyle::Structured {
        properties["depends_on"] = serde_json::json!({"type": "array", "items": {"type": "integer", "minimum": 1}});
        properties["risk"] = serde_json::json!({"type": "string"});
        properties["expect"] = serde_json::json!({"type": "string"});
        required.extend(["depends_on", "risk", "expect"]);
    }
    serde_json::json!({
        "type": "object",
        "properties": {"steps": {
            "type": "array",
            "maxItems": settings.max_steps,
            "items": {
                "type": "object",
                "properties": properties,
                "required": required,
                "additionalProperties": false,
            },
        }},
        "required": ["steps"],
        "additionalProperties": false,
    })
}

#[cfg(test)]
mod tests {
    use super::{DATA, DeepDefaults, DeepStep, Words, sound};
    use crate::agent::{Deep, PlanStyle};

    fn step(number: u8, depends_on: &[u8]) -> DeepStep {
        DeepStep {
            number,
            goal: format!("goal {number}"),
            tool: None,
            depends_on: depends_on.to_vec(),
            risk: String::new(),
            expect: String::new(),
        }
    }

    #[test]
    fn the_file_of_words_can_be_read() {
        let words = serde_json::from_str::<Words>(DATA).unwrap_or_else(|error| panic!("data/deep.json: {error}"));
        assert!(!words.connectors.is_empty() && !words.nothing.is_empty());
    }

    #[test]
    fn an_agent_overrides_what_it_names() {
        let defaults = DeepDefaults::default();
        assert!(defaults.of(Deep::default()).is_some_and(|s| s.max_steps == 6));
        let own = Deep { enabled: None, max_steps: Some(3), style: Some(PlanStyle::Concise) };
        let settings = defaults.of(own);
        assert!(settings.is_some_and(|s| s.max_steps == 3 && s.style == PlanStyle::Concise));
        let off = Deep { enabled: Some(false), ..own };
        assert_eq!(defaults.of(off), None);
        let none = DeepDefaults { enabled: false, ..defaults };
        assert_eq!(none.of(Deep::default()), None);
    }

    #[test]
    fn dependencies_point_back_and_numbers_are_made_anew() {
        let (steps, notes) = sound(vec![step(10, &[]), step(20, &[10, 20, 30]), step(30, &[20, 20])], 6);
        assert_eq!(steps[1].number, 2);
        assert_eq!(steps[1].depends_on, [1]);
        assert_eq!(steps[2].depends_on, [2]);
        assert_eq!(notes.len(), 2, "{notes:?}");
        let (steps, notes) = sound((1..=9).map(|n| step(n, &[])).collect(), 6);
        assert_eq!((steps.len(), notes.len()), (6, 1));
    }
}
