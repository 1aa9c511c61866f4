//! What is sent to a model for a purpose: prompt, tools, schema.

use std::fmt::Write as _;

use steward_core::event::{Outcome, Setup};
use steward_core::message::Message;
use steward_core::model::{ModelRequest, Purpose, Strategy};
use steward_core::plan::{self, FINAL_ANSWER};
use steward_core::prompt::{Prompt, PromptInput, assemble, estimate_tokens};
use steward_core::run::RunState;
use steward_core::tool::ToolSpec;
use steward_parse::{ToolIndex, guided, react};

const PLAN_PROMPT: &str = include_str!("../prompts/plan.md");
const FILL_PROMPT: &str = include_str!("../prompts/fill.md");
const ANSWER_PROMPT: &str = include_str!("../prompts/answer.md");

/// Tokens kept for a reply by a window, at least.
const MIN_RESERVE: u32 = 256;
/// Longest small talk of a model that can't plan, tokens.
const SMALL_TALK: u32 = 160;

/// A request and how to read the reply.
pub(crate) struct Built {
    pub request: ModelRequest,
    pub prompt: Prompt,
    pub strategy: Strategy,
    pub index: ToolIndex,
    /// How tools are explained in the prompt; empty where the provider has a field for them.
    pub tool_text: String,
    /// Tokens kept free for the reply.
    pub reserve: u32,
}

impl Built {
    /// Tokens that the call may take.
    pub fn reserved(&self) -> u64 {
        self.prompt.tokens + u64::from(self.request.max_tokens)
    }
}

/// How the reply to a request for `purpose` is read.
pub(crate) fn reading(setup: &Setup, purpose: Purpose) -> (Strategy, ToolIndex) {
    let strategy = if purpose != Purpose::Reply || !setup.capabilities.plans {
        Strategy::Native
    } else {
        setup.capabilities.strategy
    };
    (strategy, ToolIndex::new(&setup.tools))
}

/// Tools on offer: those that the intent filter kept, in catalogue order, plus the control tools.
pub(crate) fn offered(state: &RunState, setup: &Setup) -> Vec<ToolSpec> {
    let Some(kept) = &state.kept else {
        return setup.tools.clone();
    };
    if kept.is_empty() {
        return Vec::new();
    }
    setup
        .tools
        .iter()
        .filter(|spec| {
            kept.iter().any(|ranked| ranked.tool == spec.name)
                || (setup.capabilities.plans
                    && matches!(spec.name.as_str(), FINAL_ANSWER | "feedback"))
        })
        .cloned()
        .collect()
}

pub(crate) fn request(
    state: &RunState,
    setup: &Setup,
    purpose: Purpose,
    max_plan_steps: usize,
) -> Built {
    let tools = offered(state, setup);
    let (strategy, index) = reading(setup, purpose);
    let tool_text = match (purpose, strategy) {
        (Purpose::Reply, Strategy::GuidedJson) => guided::instructions(&tools),
        (Purpose::Reply, Strategy::React) => react::instructions(&tools),
        (Purpose::Plan, _) => plan_text(&tools, max_plan_steps),
        _ => String::new(),
    };
    let schema = match (purpose, strategy) {
        (Purpose::Reply, Strategy::GuidedJson) => Some(guided::schema(&tools)),
        (Purpose::Plan, _) => Some(plan::json_schema(&tools, max_plan_steps)),
        (Purpose::Fill, _) => open_step(state).map(|(spec, _)| spec.parameters.clone()),
        _ => None,
    };
    let closing = closing(state, purpose);
    let window = setup.capabilities.window;
    let reserve = setup
        .agent
        .tuning
        .max_tokens
        .min((window / 4).max(MIN_RESERVE));
    // A model that can't plan rambles; what it has to say in small talk is short.
    let longest = if setup.capabilities.plans {
        reserve
    } else {
        reserve.min(SMALL_TALK)
    };
    let native =
        purpose == Purpose::Reply && strategy == Strategy::Native && setup.capabilities.plans;
    let messages = state.messages_for(purpose);
    let prompt = assemble(&PromptInput {
        instructions: &setup.agent.instructions,
        tool_text: &tool_text,
        memory: &setup.memory,
        now: state.last_at,
        history: &setup.history,
        messages: &messages,
        closing: &closing,
        beside: if native { weight_of(&tools) } else { 0 },
        window,
        reserve,
    });
    let messages = if native {
        prompt.messages.clone()
    } else {
        as_text(&prompt.messages)
    };
    let request = ModelRequest {
        messages,
        tools: if native { tools.clone() } else { Vec::new() },
        schema: schema.filter(|_| setup.capabilities.json_schema),
        temperature: setup.agent.tuning.temperature,
        max_tokens: longest,
        stop: if strategy == Strategy::React {
            vec!["\nObservation:".to_owned()]
        } else {
            Vec::new()
        },
        seed: None,
        timeout_ms: setup.agent.tuning.timeout_ms,
    };
    Built {
        request,
        prompt,
        strategy,
        index,
        tool_text,
        reserve,
    }
}

/// A safe guess of the tokens that the provider's tool field takes.
pub(crate) fn weight_of(tools: &[ToolSpec]) -> u64 {
    tools
        .iter()
        .map(|spec| {
            estimate_tokens(&spec.name)
                + estimate_tokens(&spec.description)
                + estimate_tokens(&spec.parameters.to_string())
                + 8
        })
        .sum()
}

/// The next plan step that has open arguments, and its index.
pub(crate) fn open_step(state: &RunState) -> Option<(&ToolSpec, usize)> {
    let plan = state.plan.as_ref()?;
    plan.plan
        .steps
        .iter()
        .enumerate()
        .find_map(|(index, step)| {
            let done = state
                .filled
                .iter()
                .any(|(key, _)| *key == (plan.generation, index));
            let open = !plan::Plan::open_arguments(step).is_empty();
            if step.tool == FINAL_ANSWER || done || !open {
                return None;
            }
            Some((state.tool(&step.tool)?, index))
        })
}

fn plan_text(tools: &[ToolSpec], max_steps: usize) -> String {
    let lines: Vec<String> = tools
        .iter()
        .filter(|spec| spec.name != FINAL_ANSWER)
        .map(|spec| {
            format!(
                "- {}: {} Arguments: {}",
                spec.name, spec.description, spec.parameters
            )
        })
        .collect();
    PLAN_PROMPT
        .replace("{{max_steps}}", &max_steps.to_string())
        .replace("{{tools}}", &lines.join("\n"))
}

fn closing(state: &RunState, purpose: Purpose) -> String {
    match purpose {
        Purpose::Reply => String::new(),
        Purpose::Plan => {
            let said: Vec<&str> = state
                .feedback
                .iter()
                .chain(&state.steers)
                .map(String::as_str)
                .collect();
            if said.is_empty() {
                return String::new();
            }
            let before = state
                .plan
                .as_ref()
                .map(|plan| serde_json::json!(plan.plan.steps).to_string())
                .unwrap_or_default();
            format!(
                "Your plan was: {before}\nThe user wants it otherwise: {}\nWrite the new plan.",
                said.join("\n")
            )
        }
        Purpose::Fill => open_step(state)
            .and_then(|(spec, index)| {
                let step = state.plan.as_ref()?.plan.steps.get(index)?;
                Some(
                    FILL_PROMPT
                        .replace("{{tool}}", &spec.name)
                        .replace("{{description}}", &spec.description)
                        .replace("{{args}}", &step.args.to_string())
                        .replace("{{open}}", &plan::Plan::open_arguments(step).join(", "))
                        .replace("{{thought}}", &step.thought),
                )
            })
            .unwrap_or_default(),
        Purpose::Answer => match &state.outcome {
            Some(Outcome::Completed) | None => ANSWER_PROMPT.to_owned(),
            Some(_) => String::new(),
        },
    }
}

/// For models that get no tool messages: calls and results as text.
fn as_text(messages: &[Message]) -> Vec<Message> {
    let mut plain: Vec<Message> = Vec::with_capacity(messages.len());
    for message in messages {
        let mut text = message.text.clone();
        for call in &message.tool_calls {
            if !text.is_empty() {
                text.push('\n');
            }
            let _ = write!(text, "[called {} {}]", call.name, call.arguments);
        }
        let role = if message.tool_call_id.is_some() {
            text = format!("Observation: {text}");
            steward_core::message::Role::User
        } else {
            message.role
        };
        match plain.last_mut() {
            Some(last) if last.role == role && role != steward_core::message::Role::System => {
                last.text.push_str("\n\n");
                last.text.push_str(&text);
            }
            _ => plain.push(Message {
                role,
                text,
                tool_calls: Vec::new(),
                tool_call_id: None,
            }),
        }
    }
    plain
}
