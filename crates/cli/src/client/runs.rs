use super::Client;
use super::chat::Started;
use super::events::split_event;
use anyhow::bail;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use steward_core::event::{Event, Origin, Outcome};
use steward_core::ports::{RunRow, RunStatus};
use steward_core::receipts::Verdict;
use steward_core::run::Difference;
use steward_core::{AgentId, ConnectionId, ConversationId, RunId, TenantId, Timestamp, UserId};

/// Runs searched for the beginning or end of an id.
const LOOKED_THROUGH: u32 = 1000;
const PAGE: u32 = 500;

#[derive(Debug, Clone)]
pub struct Logged {
    pub event: Event,
    pub raw: Value,
}

#[derive(Debug, Clone, Default, Serialize)]
pub struct Fork {
    /// Last event to take over; `None`: the last one before the first model call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    #[serde(rename = "connection_id", skip_serializing_if = "Option::is_none")]
    pub connection: Option<ConnectionId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replay {
    pub same: bool,
    pub events: u64,
    pub decisions: u64,
    pub differences: Vec<Difference>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptReport {
    pub name: String,
    pub run_id: RunId,
    pub same: bool,
    pub differences: Vec<Difference>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undone {
    pub call_id: String,
    pub tool: String,
    pub undone: bool,
    pub detail: String,
}

#[derive(Deserialize)]
struct Whole<T> {
    items: Vec<T>,
}

#[derive(Deserialize)]
struct Resumed {
    resumed: bool,
}

#[derive(Debug, Deserialize)]
struct Run {
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

#[derive(Debug, Serialize, Deserialize)]
pub struct KeptRun {
    pub name: String,
    #[serde(rename(deserialize = "run_id"))]
    pub run: RunId,
    pub by: String,
    pub created_at: Timestamp,
}

impl Client {
    pub async fn run(&self, id: RunId) -> anyhow::Result<RunRow> {
        let run: Run = self.get(&format!("/api/runs/{id}")).await?;
        Ok(run.into())
    }

    /// Newest first, and whether there are more.
    pub async fn runs(
        &self,
        status: Option<RunStatus>,
        before: Option<RunId>,
        limit: u32,
    ) -> anyhow::Result<(Vec<RunRow>, bool)> {
        let path = match status {
            None => "/api/runs".to_owned(),
            Some(status) => format!("/api/runs?status={}", json!(status).as_str().unwrap_or_default()),
        };
        let limit = limit as usize;
        let Some(before) = before else {
            let (rows, more) = self.list::<Run>(&path, limit).await?;
            return Ok((rows.into_iter().map(Into::into).collect(), more));
        };
        // Ids grow with time, so the list is in their order.
        let rows: Vec<Run> = self.all(&path).await?;
        let mut older: Vec<RunRow> = rows.into_iter().map(RunRow::from).filter(|row| row.id < before).collect();
        let more = older.len() > limit;
        older.truncate(limit);
        Ok((older, more))
    }

    pub async fn find_run(&self, text: &str) -> anyhow::Result<RunRow> {
        if let Ok(id) = text.parse::<RunId>() {
            return self.run(id).await;
        }
        let (mut found, _) = self.runs(None, None, LOOKED_THROUGH).await?;
        found.retain(|row| {
            let id = row.id.to_string();
            id.starts_with(text) || id.ends_with(text)
        });
        match found.len() {
            1 => Ok(found.remove(0)),
            0 => bail!("no run `{text}`; `steward runs` lists them"),
            many => bail!("`{text}` fits {many} runs; give more of the id"),
        }
    }

    /// The next part of the log; empty at its end.
    pub async fn log(&self, run: RunId, after: u64) -> anyhow::Result<Vec<Logged>> {
        let log: Whole<Value> = self.get(&format!("/api/runs/{run}/log?after={after}&limit={PAGE}")).await?;
        log.items.into_iter().map(|item| split_event(item).map(|(event, raw)| Logged { event, raw })).collect()
    }
    pub async fn stop(&self, run: RunId) -> anyhow::Result<()> {
        self.act::<Value>(&format!("/api/runs/{run}/stop")).await?;
        Ok(())
    }

    /// Sends a message that the run takes in at its next step.
    pub async fn steer(&self, run: RunId, text: &str) -> anyhow::Result<()> {
        self.post::<Value>(&format!("/api/runs/{run}/steer"), &json!({"text": text})).await?;
        Ok(())
    }

    pub async fn resume(&self, run: RunId) -> anyhow::Result<bool> {
        let answer: Resumed = self.act(&format!("/api/runs/{run}/resume")).await?;
        Ok(answer.resumed)
    }

    /// Undoes the effects of an ended run, newest first, or only those of one call.
    pub async fn undo(&self, run: RunId, call: Option<&str>) -> anyhow::Result<Vec<Undone>> {
        let body = match call {
            Some(call) => json!({"call_id": call}),
            None => json!({}),
        };
        let undone: Whole<Undone> = self.post(&format!("/api/runs/{run}/undo"), &body).await?;
        Ok(undone.items)
    }

    pub async fn fork(&self, run: RunId, fork: &Fork) -> anyhow::Result<RunId> {
        let started: Started = self.post(&format!("/api/runs/{run}/fork"), &json!(fork)).await?;
        Ok(started.run)
    }

    pub async fn replay(&self, run: RunId) -> anyhow::Result<Replay> {
        self.act(&format!("/api/runs/{run}/replay")).await
    }

    pub async fn kept(&self) -> anyhow::Result<Vec<KeptRun>> {
        self.all("/api/kept").await
    }

    pub async fn replay_kept(&self) -> anyhow::Result<Vec<KeptReport>> {
        let reports: Whole<KeptReport> = self.act("/api/kept/run").await?;
        Ok(reports.items)
    }
}
