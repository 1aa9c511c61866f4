//! Which events of a run are entries of the audit trail. Arguments of tools are there by their hash only, requests and
//! answers not at all: they stand in the run's own log.

use super::{AuditEntry, AuditResult};
use crate::approval::{Answer, Subject};
use crate::event::{EventBody, Outcome, RequestSource, Setup, ToolResult};
use crate::governance::Classified;
use crate::model::ModelErrorClass;
use crate::run::{RunState, Waiting};
use crate::started_by::StartedBy;
use crate::{Timestamp, hash};
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

/// The entry of an event that is about to be appended; `state` is the fold of those before it. `id` makes the entry's.
pub fn of_event(state: &RunState, at: Timestamp, body: &EventBody, id: impl FnOnce() -> Uuid) -> Option<AuditEntry> {
    let setup = match body {
        EventBody::RunStarted { setup, .. } => setup,
        _ => state.setup.as_ref()?,
    };
    let by_person = |action: &str, name: &str, source: &Option<Box<RequestSource>>| {
        let name = source.as_ref().map_or(name, |source| &source.account);
        // Whoever asked for the run has an id; of others the log has the name.
        let id = if name == asker(setup) { setup.user } else { None };
        let entry = AuditEntry::new(Uuid::nil(), at, action).by(name, id).on(setup.agent.name.as_str());
        match source {
            Some(source) => entry.via(Some(source.origin), source.address.clone()),
            None => entry,
        }
    };
    let of_run = |action: &str| {
        let entry = AuditEntry::new(Uuid::nil(), at, action).by(asker(setup), setup.user);
        entry.on(setup.agent.name.as_str()).via(Some(setup.origin), None)
    };
    let of_call = |call_id: &str, tool: &str| of_call(state, of_run("tool.called"), call_id, tool);
    let entry = match body {
        EventBody::RunStarted { setup, .. } => started(of_run("run.started"), setup),
        EventBody::RunSteered { by, source, .. } => by_person("run.steered", by, source),
        EventBody::StopRequested { by, source, .. } => by_person("run.stop_requested", by, source),
        EventBody::RunFinished { outcome, receipts, .. } => {
            let entry = of_run("run.finished")
                .with("verdict", receipts.as_ref().map(|receipts| word(&receipts.verdict)))
                .with("tool_calls", state.spent.tool_calls)
                .with("model_calls", state.spent.model_calls)
                .with("tokens", state.spent.tokens)
                .with("cost_micros", state.spent.cost_micros);
            finished(entry, outcome)
        }
        EventBody::ToolRejected { call_id, tool, .. } => of_call(call_id, tool).ended(AuditResult::Refused),
        EventBody::ToolUncertain { call_id, tool, .. } => of_call(call_id, tool).ended(AuditResult::Uncertain),
        EventBody::ToolResult { call_id, tool, result, ms, .. } => {
            let entry = of_call(call_id, tool).with("ms", *ms);
            match result {
                ToolResult::Ok { origins, .. } => entry.with("from_outside", (!origins.is_empty()).then_some(true)),
                ToolResult::Error { .. } => entry.ended(AuditResult::Failed),
                ToolResult::Dry { .. } => entry.with("dry_run", true),
            }
        }
        EventBody::DataClassified { classified } => of_data(of_run("data.classified"), setup, classified),
        EventBody::DataMasked { connection, policy, masked, .. } => {
            let entry = of_run("data.masked").on(connection.as_str()).with("policy", policy.as_str());
            let entry = entry.with("agent", setup.agent.name.as_str());
            masked.iter().fold(entry, |entry, one| entry.with(one.kind.as_str(), one.count))
        }
        EventBody::ModelFailed { error, .. } if error.class == ModelErrorClass::BlockedByPolicy => {
            let entry = of_run("data.blocked").ended(AuditResult::Refused);
            let entry = entry.with("policy", state.kept_by().map(|policy| policy.name.clone()));
            match &state.classified {
                Some(seen) => of_data(entry, setup, seen),
                None => entry,
            }
        }
        EventBody::ToolUndoing { call_id, by, source } => {
            undo(state, by_person("tool.undo", by, source), call_id, AuditResult::Asked)
        }
        EventBody::ToolUndone { call_id, by, source, .. } => {
            undo(state, by_person("tool.undo", by, source), call_id, AuditResult::Ok)
        }
        EventBody::ToolUndoFailed { call_id, .. } => {
            undo(state, AuditEntry::new(Uuid::nil(), at, "tool.undo"), call_id, AuditResult::Failed)
        }
        EventBody::ApprovalRequested { approval_id, subject, .. } => {
            let entry = of_run("approval.requested").on(approval_id.to_string()).ended(AuditResult::Asked);
            about(entry.with("agent", setup.agent.name.as_str()), subject)
        }
        EventBody::ApprovalDecided { approval_id, answer, by, source } => {
            let entry = by_person("approval.decided", by, source)
                .on(approval_id.to_string())
                .with("agent", setup.agent.name.as_str());
            match &state.waiting {
                Some(Waiting::Approval { id, subject }) if id == approval_id => decided(&about(entry, subject), answer),
                _ => decided(&entry, answer),
            }
        }
        _ => return None,
    };
    Some(AuditEntry { id: id(), ..entry.in_run(state.run_id) })
}

/// The account that asked; where none is known, the name that the request gave.
fn asker(setup: &Setup) -> &str {
    setup.source.as_ref().map_or(&setup.asked_by, |source| &source.account)
}

fn started(mut entry: AuditEntry, setup: &Setup) -> AuditEntry {
    entry.address = setup.source.as_ref().and_then(|source| source.address.clone());
    if let Some(seen) = &setup.classified {
        entry = of_data(entry, setup, seen);
    }
    let named = (setup.asked_by != asker(setup)).then_some(setup.asked_by.as_str());
    entry
        .with("asked_by", named)
        .with("mode", word(&setup.mode))
        .with("model", setup.model.as_str())
        .with("connection", setup.connection.to_string())
        .with("planner", setup.planner.as_deref().map(|planner| planner.model.as_str()))
        .with("conversation", setup.conversation.map(|id| id.to_string()))
        .with("parent", setup.parent.map(|id| id.to_string()))
        .with("forked_from", setup.forked_from.map(|from| from.run.to_string()))
        .with("key", setup.key.map(|id| id.to_string()))
        .with(
            "started_by",
            setup.started_by.map(|by| match by {
                StartedBy::Occurrence(key) => format!("schedule {}", key.schedule),
                StartedBy::Delivery(key) => format!("webhook {}", key.hook),
            }),
        )
}

/// What was seen, and the policies that hold from then on.
fn of_data(entry: AuditEntry, setup: &Setup, seen: &Classified) -> AuditEntry {
    entry
        .with("classification", seen.classification.as_str())
        .with("label", seen.label.as_str())
        .with("source", seen.source.as_str())
        .with("policies", setup.data_rules.holding(seen.classification))
}

fn finished(entry: AuditEntry, outcome: &Outcome) -> AuditEntry {
    match outcome {
        Outcome::Completed => entry,
        Outcome::Failed { .. } => entry.ended(AuditResult::Failed),
        Outcome::Stopped { by } => entry.ended(AuditResult::Stopped).with("by", by.as_str()),
        Outcome::Limited { limit, .. } => entry.ended(AuditResult::Limited).with("limit", word(limit)),
        Outcome::Rejected => entry.ended(AuditResult::Refused),
    }
}

fn of_call(state: &RunState, entry: AuditEntry, call_id: &str, tool: &str) -> AuditEntry {
    let arguments = state.call(call_id).map(|entry| hash::of_json(&entry.call.arguments));
    let agent = entry.target.clone();
    entry
        .on(tool)
        .with("agent", agent)
        .with("call_id", call_id)
        .with("args_hash", arguments)
        .with("risk", state.tool(tool).map(|spec| word(&spec.risk)))
}

fn undo(state: &RunState, entry: AuditEntry, call_id: &str, result: AuditResult) -> AuditEntry {
    let tool = state.call(call_id).map_or("", |entry| entry.call.name.as_str());
    entry.on(tool).ended(result).with("call_id", call_id)
}

/// What is asked, without what is asked about.
fn about(entry: AuditEntry, subject: &Subject) -> AuditEntry {
    match subject {
        Subject::Call { call_id, tool, args_hash, risk, .. } => entry
            .with("kind", "call")
            .with("tool", tool.as_str())
            .with("call_id", call_id.as_str())
            .with("args_hash", args_hash.as_str())
            .with("risk", word(risk)),
        Subject::Plan { plan_hash, .. } => entry.with("kind", "plan").with("plan_hash", plan_hash.as_str()),
        Subject::Uncertain { call_id, tool, .. } => {
            entry.with("kind", "uncertain").with("tool", tool.as_str()).with("call_id", call_id.as_str())
        }
        Subject::Question { call_id, .. } => entry.with("kind", "question").with("call_id", call_id.as_str()),
    }
}

fn decided(entry: &AuditEntry, answer: &Answer) -> AuditEntry {
    let decision = |word: &str| entry.clone().with("decision", word);
    match answer {
        Answer::Approve { grant, until } => decision("approve")
            .with("grant", grant.as_ref().map(|scope| word(scope)["kind"].take()))
            .with("until", until.map(|at| at.0)),
        Answer::Deny { .. } => decision("deny").ended(AuditResult::Refused),
        Answer::Feedback { .. } => decision("feedback"),
        Answer::Happened => decision("happened"),
        Answer::RunAgain => decision("run_again"),
        Answer::Skip => decision("skip"),
    }
}

fn word<T: Serialize>(value: &T) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

#[cfg(test)]
mod tests;
