//! From a request to a plan, without free generation.

use super::decide::{Call, Decider, Decision};
use super::error::IntentError;
use super::filter::{Filtered, rank};
use super::settings::Settings;
use super::skilled;
use super::split::split;
use serde_json::json;
use steward_core::event::{Ranked, Setup};
use steward_core::plan::{self, Candidate, FINAL_ANSWER, Plan, PlanStep};
use steward_core::ports::{Embedder, ToolScope, Tools};

/// Steps that a plan should have at most.
pub(crate) const MOST_STEPS: usize = 6;

/// What is made of a request.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposal {
    /// Plans, best first: calls with the sentence for their results, or only an answer.
    pub candidates: Vec<Candidate>,
    /// What the filter kept.
    pub filtered: Filtered,
    /// What was noticed, for the trace.
    pub notes: Vec<String>,
}

/// The plan for a request: one call, several where the request says so, or words.
pub async fn propose(
    request: &str,
    setup: &Setup,
    tools: &dyn Tools,
    embedder: &dyn Embedder,
    scope: &ToolScope,
) -> Result<Proposal, IntentError> {
    let settings = Settings::shipped()?;
    let skill = if setup.tools.iter().any(|spec| spec.skill.is_some()) {
        by_skill(request, setup, embedder, settings).await?
    } else {
        None
    };
    let decider = Decider::new(setup, tools, embedder, scope).await?;
    let mut notes = Vec::new();
    let decisions = if let Some(call) = skill {
        vec![Decision::Call(call)]
    } else {
        let parts = split(request, &settings.split).filter(|parts| parts.len() <= MOST_STEPS);
        match parts {
            Some(parts) => match steps(&decider, &parts, settings.choice.step).await? {
                Some(steps) => {
                    notes.push(format!("the request has {} steps", steps.len()));
                    steps
                }
                None => vec![decider.decide(request).await?],
            },
            None => vec![decider.decide(request).await?],
        }
    };
    let candidate = candidate(&decisions, setup);
    let calls: Vec<&Call> = decisions.iter().filter_map(called).collect();
    notes.extend(calls.iter().map(|call| call.why.clone()));
    let filtered = Filtered {
        kept: calls.iter().map(|call| Ranked { tool: call.tool.clone(), score: call.fit }).collect(),
        offered: setup.tools.len(),
        wants_tool: !calls.is_empty(),
        similarity: calls.first().map_or(0.0, |call| call.fit),
    };
    Ok(Proposal { candidates: vec![candidate], filtered, notes })
}

fn called(decision: &Decision) -> Option<&Call> {
    match decision {
        Decision::Call(call) => Some(call),
        Decision::Say(_) => None,
    }
}

/// One call per part, if each part has one of its own and they are not the same.
async fn steps(decider: &Decider<'_>, parts: &[String], least: f32) -> Result<Option<Vec<Decision>>, IntentError> {
    let mut steps: Vec<Decision> = Vec::new();
    for part in parts {
        match decider.decide(part).await? {
            Decision::Call(call)
                if call.fit > least
                    && !steps
                        .iter()
                        .filter_map(called)
                        .any(|known| known.tool == call.tool && known.arguments == call.arguments) =>
            {
                steps.push(Decision::Call(call));
            }
            _ => return Ok(None),
        }
    }
    Ok(Some(steps))
}

/// The skill that the request names better than any other tool, where it also tells what the skill requires.
async fn by_skill(
    request: &str,
    setup: &Setup,
    embedder: &dyn Embedder,
    settings: &Settings,
) -> Result<Option<Call>, IntentError> {
    let filtered = rank(request, &setup.tools, embedder).await?;
    let Some(best) = filtered.kept.first().filter(|_| filtered.wants_tool) else {
        return Ok(None);
    };
    let found = setup.tools.iter().find(|spec| spec.name == best.tool);
    let Some(skill) = found.filter(|spec| spec.skill.is_some() && best.score >= settings.choice.skill) else {
        return Ok(None);
    };
    let suggestion = skilled::suggest(request, skill, embedder).await?;
    Ok(suggestion.map(|made| Call {
        tool: skill.name.clone(),
        arguments: made.arguments,
        frame: "{content}".to_owned(),
        fit: best.score,
        why: made.why,
    }))
}

fn candidate(decisions: &[Decision], setup: &Setup) -> Candidate {
    let mut steps = Vec::new();
    let mut text = Vec::new();
    for decision in decisions {
        match decision {
            Decision::Say(words) => text.push(words.clone()),
            Decision::Call(call) => {
                steps.push(PlanStep {
                    tool: call.tool.clone(),
                    args: call.arguments.clone(),
                    thought: call.why.clone(),
                });
                text.push(placed(&call.frame, steps.len()));
            }
        }
    }
    let fit = decisions.iter().filter_map(called).map(|call| call.fit).fold(1.0, f32::min);
    steps.push(PlanStep {
        tool: FINAL_ANSWER.to_owned(),
        args: json!({"text": text.join("\n\n")}),
        thought: String::new(),
    });
    let plan = Plan { steps };
    Candidate { score: plan::score(&plan, &setup.tools, MOST_STEPS, fit), plan }
}

/// The places of a sentence, with the step whose result they take.
fn placed(frame: &str, step: usize) -> String {
    ["content", "lines", "count", "value"]
        .iter()
        .fold(frame.to_owned(), |text, place| text.replace(&format!("{{{place}}}"), &format!("{{{step}:{place}}}")))
}
