//! Turns a request into a plan, without free generation.

use crate::decide::{Call, DATA_TOOL, Decider, Decision};
use crate::rank::{by_words, rank};
use crate::replies::Replies;
use crate::settings::Settings;
use crate::split::split;
use crate::view::{View, local, telling};
use async_trait::async_trait;
use futures::FutureExt as _;
use serde_json::{Map, Value, json};
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::Arc;
use steward_core::event::{Ranked, Setup};
use steward_core::plan::{self, Candidate, FINAL_ANSWER, MOST_STEPS, Plan, PlanStep};
use steward_core::ports::{
    DataCaller, DataDraft, DataSlot, Embedder, Intent, IntentError, Proposal, Ranking, ToolScope, WorkspaceReader,
};
use steward_core::tool::ToolSpec;

pub struct IntentService {
    embedder: Arc<dyn Embedder>,
    reader: Arc<dyn WorkspaceReader>,
    data: DataSlot,
}

impl IntentService {
    /// `data`: the domains that requests may be about.
    pub fn new(embedder: Arc<dyn Embedder>, reader: Arc<dyn WorkspaceReader>, data: DataSlot) -> Self {
        Self { embedder, reader, data }
    }
}

#[async_trait]
impl Intent for IntentService {
    async fn rank(&self, request: &str, tools: &[ToolSpec]) -> Ranking {
        match rank(request, tools, self.embedder.as_ref()).await {
            Ok(ranking) => ranking,
            Err(error) => {
                tracing::warn!(%error, "tools are ranked by their words");
                Ranking { tools: by_words(request, tools), wants_tool: true }
            }
        }
    }

    async fn propose(&self, request: &str, setup: &Setup, scope: &ToolScope) -> Result<Proposal, IntentError> {
        let work = propose(request, setup, scope, self.embedder.as_ref(), &self.reader, &self.data);
        AssertUnwindSafe(work).catch_unwind().await.unwrap_or_else(|_| {
            tracing::error!("reading a request panicked");
            Err(IntentError::Panicked)
        })
    }

    fn files(&self, workspace: &Path) -> Vec<String> {
        telling(&self.reader.entries(workspace))
    }

    fn tries(&self, files: &[String], language: &str) -> Vec<String> {
        Replies::shipped().tries(files, language)
    }
}

/// The plan for a request: one call, several if the request says so, or a reply.
async fn propose(
    request: &str,
    setup: &Setup,
    scope: &ToolScope,
    embedder: &dyn Embedder,
    reader: &Arc<dyn WorkspaceReader>,
    data: &DataSlot,
) -> Result<Proposal, IntentError> {
    let settings = Settings::shipped();
    let skill = if setup.tools.iter().any(|spec| spec.skill.is_some()) {
        by_skill(request, setup, embedder, settings).await?
    } else {
        None
    };
    let view = View::look(reader, scope).await;
    let decider = Decider::new(setup, embedder, &view);
    let mut notes = Vec::new();
    let asked = if skill.is_none() && decider.named(request).is_empty() {
        by_data(request, setup, scope, data).await
    } else {
        Asked::Elsewhere
    };
    let decisions = if let Some(call) = skill {
        vec![Decision::Call(call)]
    } else if let Asked::Query(draft) = asked {
        vec![Decision::Call(decider.data_call(&draft, request).await?)]
    } else {
        let (decisions, count) = decided(&decider, request, settings).await?;
        let nothing_else = !decisions.iter().any(|decision| matches!(decision, Decision::Call(_)));
        if let Asked::Unclear(unread) = asked
            && nothing_else
            && decider.is_about_data(request).await?
        {
            let said = decider.data_unclear(&unread, request).await?;
            let candidate = candidate(&[Decision::Say(said)], setup);
            let ranking = Ranking { tools: Vec::new(), wants_tool: false };
            return Ok(Proposal { candidates: vec![candidate], ranking, notes });
        }
        if count > 1 {
            notes.push(format!("the request has {count} steps"));
        }
        decisions
    };
    let candidate = candidate(&decisions, setup);
    let calls: Vec<&Call> = decisions.iter().filter_map(called).collect();
    notes.extend(calls.iter().map(|call| call.why.clone()));
    let tools = calls.iter().map(|call| Ranked { tool: call.tool.clone(), score: call.fit }).collect();
    let ranking = Ranking { tools, wants_tool: !calls.is_empty() };
    Ok(Proposal { candidates: vec![candidate], ranking, notes })
}

fn called(decision: &Decision) -> Option<&Call> {
    match decision {
        Decision::Call(call) => Some(call),
        Decision::Say(_) => None,
    }
}

async fn decided(
    decider: &Decider<'_>,
    request: &str,
    settings: &Settings,
) -> Result<(Vec<Decision>, usize), IntentError> {
    let parts = split(request, &settings.split, decider.openings());
    let parts = parts.filter(|parts| parts.all.len() <= MOST_STEPS);
    let Some(parts) = parts else {
        return Ok((vec![decider.decide(request).await?], 1));
    };
    let (mut made, done) = steps(decider, &parts.all, settings.choice.step).await?;
    let rest = &parts.all[done..];
    if rest.is_empty() {
        return Ok((made, done));
    }
    let whole = decider.decide(request).await?;
    let acts = called(&whole).is_some_and(|call| call.acts);
    if made.is_empty() || acts || !parts.told {
        return Ok((vec![whole], 1));
    }
    // What is possible is done, and the rest is named.
    made.push(decider.left(rest).await?);
    Ok((made, done))
}

/// The calls for the parts, up to the first part without a new one, and the number of parts that they cover.
async fn steps(decider: &Decider<'_>, parts: &[String], least: f32) -> Result<(Vec<Decision>, usize), IntentError> {
    let mut made: Vec<Decision> = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        let decision = if index == 0 { decider.decide(part).await? } else { decider.follow(part).await? };
        let Decision::Call(call) = decision else {
            return Ok((made, index));
        };
        let same = |other: &Call| other.tool == call.tool && other.arguments == call.arguments;
        if call.fit <= least || made.iter().filter_map(called).any(same) {
            return Ok((made, index));
        }
        made.extend(each(decider, call, part).into_iter().map(Decision::Call));
    }
    Ok((made, parts.len()))
}

fn each(decider: &Decider<'_>, call: Call, part: &str) -> Vec<Call> {
    let files = decider.named(part);
    let path = call.arguments["path"].as_str().unwrap_or_default();
    if call.acts || files.len() < 2 || !files.contains(&path) {
        return vec![call];
    }
    let of = |file: &&str| {
        let mut one = call.clone();
        one.arguments["path"] = json!(file);
        one.frame = one.frame.replace(path, file);
        one
    };
    files.iter().map(of).collect()
}

/// What a request asks of the databases that are described.
enum Asked {
    Query(DataDraft),
    /// Something, but these words were not understood.
    Unclear(Vec<String>),
    Elsewhere,
}

async fn by_data(request: &str, setup: &Setup, scope: &ToolScope, data: &DataSlot) -> Asked {
    let (true, Some(data)) = (setup.tools.iter().any(|spec| spec.name == DATA_TOOL), data.get()) else {
        return Asked::Elsewhere;
    };
    let caller = DataCaller { user: scope.user, agent: Some(scope.agent), run: scope.run };
    let today = local(scope).date().to_string();
    match data.draft(caller, request, &today).await {
        Ok(Some(draft)) if draft.sure => Asked::Query(draft),
        Ok(draft) => Asked::Unclear(draft.map(|draft| draft.unread).unwrap_or_default()),
        Err(error) => {
            tracing::warn!(%error, "the data could not be looked at for a request");
            Asked::Elsewhere
        }
    }
}

/// The skill that the request names better than any tool; the model chooses its required arguments from the request.
async fn by_skill(
    request: &str,
    setup: &Setup,
    embedder: &dyn Embedder,
    settings: &Settings,
) -> Result<Option<Call>, IntentError> {
    let ranking = rank(request, &setup.tools, embedder).await?;
    let Some(best) = ranking.tools.first().filter(|_| ranking.wants_tool) else {
        return Ok(None);
    };
    let found = setup.tools.iter().find(|spec| spec.name == best.tool);
    let Some(skill) = found.filter(|spec| spec.skill.is_some() && best.score >= settings.choice.skill) else {
        return Ok(None);
    };
    let required = skill.parameters["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let open: Map<String, Value> = required.map(|name| (name.to_owned(), json!(""))).collect();
    Ok(Some(Call {
        fit: best.score,
        why: format!("the skill {}", skill.name),
        acts: true,
        ..Call::new(&skill.name, request, (skill.name.clone(), open.into()), "{content}".to_owned())
    }))
}

fn candidate(decisions: &[Decision], setup: &Setup) -> Candidate {
    let mut steps = Vec::new();
    let mut text = Vec::new();
    for decision in decisions {
        match decision {
            Decision::Say(words) => text.push(words.clone()),
            Decision::Call(call) => {
                let (tool, args, thought) = (call.tool.clone(), call.arguments.clone(), call.why.clone());
                steps.push(PlanStep { tool, args, thought });
                text.push(placed(&call.frame, steps.len()));
            }
        }
    }
    let fit = decisions.iter().filter_map(called).map(|call| call.fit).fold(1.0, f32::min);
    let args = json!({"text": text.join("\n\n")});
    steps.push(PlanStep { tool: FINAL_ANSWER.to_owned(), args, thought: String::new() });
    let plan = Plan { steps };
    Candidate { score: plan::score(&plan, &setup.tools, MOST_STEPS, fit), plan }
}

/// The placeholders of a sentence, with the step whose result they take.
fn placed(frame: &str, step: usize) -> String {
    ["content", "lines", "last", "count", "value", "rounded"]
        .iter()
        .fold(frame.to_owned(), |text, place| text.replace(&format!("{{{place}}}"), &format!("{{{step}:{place}}}")))
}
