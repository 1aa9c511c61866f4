use super::events::split_event;
use super::{Client, Refused, with_query};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use steward_core::approval::{Answer, Approval};
use steward_core::event::Event;
use steward_core::ports::{RunRow, RunStatus};
use steward_core::{ApprovalId, RunId, TenantId};

const PAGE: u32 = 500;
const MOST_APPROVALS: usize = 1000;

#[derive(Deserialize)]
struct Log {
    items: Vec<Value>,
}

#[derive(Deserialize)]
struct Resumed {
    resumed: bool,
}

/// A run as the API shows it, which has other names for some fields.
#[derive(Deserialize)]
#[serde(try_from = "Map<String, Value>")]
struct Run(RunRow);

impl TryFrom<Map<String, Value>> for Run {
    type Error = serde_json::Error;

    fn try_from(mut run: Map<String, Value>) -> Result<Self, Self::Error> {
        for (field, shown) in [("agent", "agent_id"), ("conversation", "conversation_id"), ("user", "user_id")] {
            let value = run.remove(shown);
            run.extend(value.map(|value| (field.to_owned(), value)));
        }
        run.insert("tenant".to_owned(), json!(TenantId::DEFAULT));
        serde_json::from_value(Value::Object(run)).map(Self)
    }
}

impl Client {
    pub async fn run(&self, id: RunId) -> anyhow::Result<RunRow> {
        let Run(row) = self.get(&format!("/api/runs/{id}")).await?;
        Ok(row)
    }

    /// Newest first, and whether there are more.
    pub async fn runs(
        &self,
        status: Option<RunStatus>,
        before: Option<RunId>,
        limit: u32,
    ) -> anyhow::Result<(Vec<RunRow>, bool)> {
        let status = status.map(|status| json!(status).as_str().unwrap_or_default().to_owned());
        let path = with_query("/api/runs", [("status", status)]);
        let limit = limit as usize;
        let most = if before.is_some() { usize::MAX } else { limit };
        let (rows, mut more) = self.list(&path, most).await?;
        let mut rows: Vec<RunRow> = rows.into_iter().map(|Run(row)| row).collect();
        if let Some(before) = before {
            // Ids grow with time, so the list is in their order.
            rows.retain(|row| row.id < before);
            more = rows.len() > limit;
            rows.truncate(limit);
        }
        Ok((rows, more))
    }

    /// The next part of the log, each event with its body as received; empty at its end.
    pub async fn log(&self, run: RunId, after: u64) -> anyhow::Result<Vec<(Event, Value)>> {
        let log: Log = self.get(&format!("/api/runs/{run}/log?after={after}&limit={PAGE}")).await?;
        log.items.into_iter().map(split_event).collect()
    }

    pub async fn stop(&self, run: RunId) -> anyhow::Result<()> {
        self.act::<Value>(&format!("/api/runs/{run}/stop")).await?;
        Ok(())
    }

    pub async fn resume(&self, run: RunId) -> anyhow::Result<bool> {
        let answer: Resumed = self.act(&format!("/api/runs/{run}/resume")).await?;
        Ok(answer.resumed)
    }

    /// Open approvals, oldest first.
    pub async fn open_approvals(&self) -> anyhow::Result<Vec<Approval>> {
        Ok(self.list("/api/approvals", MOST_APPROVALS).await?.0)
    }

    /// The first answer counts.
    pub async fn decide(&self, id: ApprovalId, answer: &Answer) -> anyhow::Result<()> {
        let standing = matches!(answer, Answer::Approve { until: Some(_), .. });
        let body = json!({"answer": answer, "standing": standing});
        self.post::<Value>(&format!("/api/approvals/{id}/decide"), &body).await?;
        Ok(())
    }
}

pub fn is_already_decided(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<Refused>()
        .and_then(|refused| refused.code.as_deref())
        .is_some_and(|code| matches!(code, "already_decided" | "withdrawn"))
}
