//! Runs: rows, logs, words to them.

use super::{BY, Backend, wire};
use anyhow::bail;
use reqwest::Method;
use serde::Deserialize;
use serde_json::{Value, json};
use steward_core::RunId;
use steward_core::event::Event;
use steward_core::ports::{RunFilter, RunRow, RunStatus, RunStore as _};

/// Runs looked through for the beginning or end of an id.
const LOOKED_THROUGH: u32 = 1000;
/// Events read at once.
const PAGE: u32 = 500;

/// An event and its body as it is stored.
#[derive(Debug, Clone)]
pub struct Logged {
    /// The event.
    pub event: Event,
    /// Its body.
    pub raw: Value,
}

#[derive(Deserialize)]
struct Log {
    items: Vec<Value>,
}

#[derive(Deserialize)]
struct Resumed {
    resumed: bool,
}

impl Backend {
    /// One run.
    pub async fn run(&self, id: RunId) -> anyhow::Result<RunRow> {
        match self {
            Self::InProcess(app) => Ok(app.store.run(app.tenant, id).await?),
            Self::Remote(client) => {
                let run: wire::Run = client.get(&format!("/api/runs/{id}")).await?;
                Ok(run.into())
            }
        }
    }

    /// Runs, newest first, and whether there are more.
    pub async fn runs(
        &self,
        status: Option<RunStatus>,
        before: Option<RunId>,
        limit: u32,
    ) -> anyhow::Result<(Vec<RunRow>, bool)> {
        match self {
            Self::InProcess(app) => {
                let filter = RunFilter { status, before, limit, ..RunFilter::default() };
                let page = app.store.runs(app.tenant, filter).await?;
                Ok((page.items, page.more))
            }
            Self::Remote(client) => {
                let path = match status {
                    None => "/api/runs".to_owned(),
                    Some(status) => format!("/api/runs?status={}", json!(status).as_str().unwrap_or_default()),
                };
                let limit = limit as usize;
                let Some(before) = before else {
                    let (rows, more) = client.all::<wire::Run>(&path, limit).await?;
                    return Ok((rows.into_iter().map(Into::into).collect(), more));
                };
                // Ids grow with time, so the list is in their order.
                let (rows, _) = client.all::<wire::Run>(&path, usize::MAX).await?;
                let mut older: Vec<RunRow> = rows.into_iter().map(RunRow::from).filter(|row| row.id < before).collect();
                let more = older.len() > limit;
                older.truncate(limit);
                Ok((older, more))
            }
        }
    }

    /// A run by its id or by the beginning or end of it.
    pub async fn find_run(&self, text: &str) -> anyhow::Result<RunRow> {
        if let Ok(id) = text.parse::<RunId>() {
            return self.run(id).await;
        }
        let (rows, _) = self.runs(None, None, LOOKED_THROUGH).await?;
        let mut found: Vec<RunRow> = rows
            .into_iter()
            .filter(|row| {
                let id = row.id.to_string();
                id.starts_with(text) || id.ends_with(text)
            })
            .collect();
        match found.len() {
            1 => Ok(found.remove(0)),
            0 => bail!("no run `{text}`; `steward runs` lists them"),
            many => bail!("`{text}` fits {many} runs; give more of the id"),
        }
    }

    /// The next part of a run's log; empty at its end.
    pub async fn log(&self, run: RunId, after: u64) -> anyhow::Result<Vec<Logged>> {
        match self {
            Self::InProcess(app) => {
                let stored = app.store.events(app.tenant, run, after, PAGE).await?;
                Ok(stored
                    .into_iter()
                    .map(|one| Logged { raw: serde_json::from_str(&one.raw).unwrap_or_default(), event: one.event })
                    .collect())
            }
            Self::Remote(client) => {
                let path = format!("/api/runs/{run}/log?after={after}&limit={PAGE}");
                let log: Log = client.get(&path).await?;
                log.items.into_iter().map(|item| wire::split(item).map(|(event, raw)| Logged { event, raw })).collect()
            }
        }
    }

    /// Stops a run.
    pub async fn stop(&self, run: RunId) -> anyhow::Result<()> {
        match self {
            Self::InProcess(app) => Ok(app.runs.stop(run, BY).await?),
            Self::Remote(client) => {
                let path = format!("/api/runs/{run}/stop");
                client.ask::<Value>(Method::POST, &path, None).await?;
                Ok(())
            }
        }
    }

    /// Says something to a run; it takes it in at its next step.
    pub async fn steer(&self, run: RunId, text: &str) -> anyhow::Result<()> {
        match self {
            Self::InProcess(app) => Ok(app.runs.steer(run, text, BY).await?),
            Self::Remote(client) => {
                let path = format!("/api/runs/{run}/steer");
                client.post::<Value>(&path, &json!({"text": text})).await?;
                Ok(())
            }
        }
    }

    /// Takes up a run that nobody works on.
    pub async fn resume(&self, run: RunId) -> anyhow::Result<bool> {
        match self {
            Self::InProcess(app) => Ok(app.runs.resume(run).await?),
            Self::Remote(client) => {
                let path = format!("/api/runs/{run}/resume");
                let answer: Resumed = client.ask(Method::POST, &path, None).await?;
                Ok(answer.resumed)
            }
        }
    }
}
