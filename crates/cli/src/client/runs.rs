use super::events::split_event;
use super::{Client, with_query};
use anyhow::{Context, bail};
use serde::Deserialize;
use serde_json::{Value, json};
use steward_core::event::Event;
use steward_core::ports::{RunRow, RunStatus};
use steward_core::{RunId, TenantId};

/// Runs searched for the beginning or end of an id.
const LOOKED_THROUGH: u32 = 1000;
const PAGE: u32 = 500;

#[derive(Deserialize)]
struct Log {
    items: Vec<Value>,
}

#[derive(Deserialize)]
struct Resumed {
    resumed: bool,
}

/// The API has other names for some fields of a run.
fn row_of(mut run: Value) -> anyhow::Result<RunRow> {
    for (field, sent) in [("agent", "agent_id"), ("conversation", "conversation_id"), ("user", "user_id")] {
        run[field] = run[sent].take();
    }
    run["tenant"] = json!(TenantId::DEFAULT);
    serde_json::from_value(run).context("a run of the server is not understood")
}

impl Client {
    pub async fn run(&self, id: RunId) -> anyhow::Result<RunRow> {
        row_of(self.get(&format!("/api/runs/{id}")).await?)
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
        let mut rows = rows.into_iter().map(row_of).collect::<anyhow::Result<Vec<RunRow>>>()?;
        if let Some(before) = before {
            // Ids grow with time, so the list is in their order.
            rows.retain(|row| row.id < before);
            more = rows.len() > limit;
            rows.truncate(limit);
        }
        Ok((rows, more))
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
}
