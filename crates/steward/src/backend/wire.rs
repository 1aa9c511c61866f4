//! The API's JSON as the types of the core.

use anyhow::{Context, anyhow};
use serde::Deserialize;
use serde_json::{Map, Value};
use steward_core::event::{Event, Origin, Outcome};
use steward_core::ports::{KeptRun, RunRow, RunStatus, StandingGrant};
use steward_core::receipts::Verdict;
use steward_core::{AgentId, ConversationId, RunId, TenantId, Timestamp, UserId, policy};
use uuid::Uuid;

/// An event as JSON text.
pub(super) fn event(text: &str) -> anyhow::Result<Event> {
    let value = serde_json::from_str(text).context("an event of the server is no JSON")?;
    Ok(split(value)?.0)
}

/// An event, and its body as it came.
pub(super) fn split(value: Value) -> anyhow::Result<(Event, Value)> {
    let Value::Object(mut map) = value else {
        return Err(anyhow!("an event of the server is no object"));
    };
    let event = |map: &mut Map<String, Value>| -> Option<(RunId, u64, i64, u64)> {
        let run: Uuid = serde_json::from_value(map.shift_remove("run_id")?).ok()?;
        let seq = map.shift_remove("seq")?.as_u64()?;
        let at = map.shift_remove("at")?.as_i64()?;
        let epoch = map.shift_remove("epoch")?.as_u64()?;
        Some((RunId(run), seq, at, epoch))
    };
    let (run_id, seq, at, epoch) = event(&mut map).context("an event of the server does not say where it stands")?;
    let raw = Value::Object(map);
    let body = serde_json::from_value(raw.clone())
        .with_context(|| format!("event {seq} of run {run_id} is not understood"))?;
    let event = Event { run_id, seq, at: Timestamp(at), epoch, body };
    Ok((event, raw))
}

/// A row of the list of runs.
#[derive(Debug, Deserialize)]
pub(super) struct Run {
    id: RunId,
    agent_id: AgentId,
    conversation_id: Option<ConversationId>,
    title: String,
    status: RunStatus,
    outcome: Option<Outcome>,
    answer: Option<String>,
    origin: Origin,
    user_id: Option<UserId>,
    model: String,
    verdict: Option<Verdict>,
    forked_from: Option<RunId>,
    created_at: Timestamp,
    updated_at: Timestamp,
    last_seq: u64,
    tokens: u64,
    cost_micros: u64,
}

impl From<Run> for RunRow {
    fn from(run: Run) -> Self {
        Self {
            id: run.id,
            tenant: TenantId::DEFAULT,
            agent: run.agent_id,
            conversation: run.conversation_id,
            title: run.title,
            status: run.status,
            outcome: run.outcome,
            answer: run.answer,
            origin: run.origin,
            user: run.user_id,
            model: run.model,
            verdict: run.verdict,
            forked_from: run.forked_from,
            created_at: run.created_at,
            updated_at: run.updated_at,
            last_seq: run.last_seq,
            tokens: run.tokens,
            cost_micros: run.cost_micros,
        }
    }
}

/// A run that was begun.
#[derive(Debug, Deserialize)]
pub(super) struct Started {
    pub run_id: RunId,
    pub conversation_id: Option<ConversationId>,
}

/// A run kept as a test.
#[derive(Debug, Deserialize)]
pub(super) struct Kept {
    name: String,
    run_id: RunId,
    by: String,
    created_at: Timestamp,
}

impl From<Kept> for KeptRun {
    fn from(kept: Kept) -> Self {
        Self { name: kept.name, run: kept.run_id, by: kept.by, created_at: kept.created_at }
    }
}

/// A permission that outlives its run.
#[derive(Debug, Deserialize)]
pub(super) struct Permission {
    id: Uuid,
    agent_id: AgentId,
    grant: policy::Grant,
    by: String,
    created_at: Timestamp,
}

impl From<Permission> for StandingGrant {
    fn from(grant: Permission) -> Self {
        Self { id: grant.id, agent: grant.agent_id, grant: grant.grant, by: grant.by, created_at: grant.created_at }
    }
}

#[cfg(test)]
mod tests {
    use super::{event, split};
    use serde_json::json;
    use steward_core::event::{Event, EventBody};
    use steward_core::{RunId, TimerId, Timestamp};
    use uuid::Uuid;

    fn sent(body: &serde_json::Value) -> serde_json::Value {
        let mut event = json!({"run_id": Uuid::from_u128(1), "seq": 3, "at": 9, "epoch": 2});
        event.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
        event
    }

    #[test]
    fn events_come_back_as_they_were() {
        let body = json!({"type": "run.resumed", "node": "local"});
        let (event, raw) = split(sent(&body)).unwrap();
        assert_eq!((event.seq, event.at, event.epoch), (3, Timestamp(9), 2));
        assert_eq!(raw, body);
        assert_eq!(event.body, EventBody::RunResumed { node: "local".to_owned() });
    }

    #[test]
    fn alarms_and_what_is_new_are_read() {
        let alarm = Event {
            run_id: RunId(Uuid::from_u128(1)),
            seq: 3,
            at: Timestamp(9),
            epoch: 2,
            body: EventBody::TimerSet {
                timer_id: TimerId(Uuid::from_u128(5)),
                at: Timestamp(77),
                purpose: "retry".to_owned(),
            },
        };
        assert_eq!(event(&json!(alarm).to_string()).unwrap(), alarm);
        let new = json!({"type": "run.praised", "stars": 5});
        let (read, raw) = split(sent(&new)).unwrap();
        assert_eq!(read.body, EventBody::Unknown);
        assert_eq!(raw, new);
        for bad in ["[]", "{", r#"{"type": "run.resumed", "node": "x"}"#] {
            assert!(event(bad).is_err(), "{bad}");
        }
    }
}
