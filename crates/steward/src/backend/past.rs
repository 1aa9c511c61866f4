//! Runs that are over: forks, replays, runs kept as tests.

use super::conversations::branch;
use super::{BY, Backend, wire};
use crate::compose::App;
use anyhow::bail;
use reqwest::Method;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use steward_core::event::Origin;
use steward_core::ports::{Conversations as _, KeptRun, KeptRuns as _, RunRow, RunStatus};
use steward_core::{ConnectionId, RunId};
use steward_engine::{Difference, ForkRun, ReplayReport};

/// Longest name of a kept run, characters.
const NAME: usize = 100;

/// Where and how a run branches off.
#[derive(Debug, Clone, Default)]
pub struct Fork {
    /// Last event to take over; `None`: before the first model call.
    pub seq: Option<u64>,
    /// Another model.
    pub connection: Option<ConnectionId>,
    /// Another request.
    pub input: Option<String>,
}

/// What the replay of a kept run found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptReport {
    /// Its name.
    pub name: String,
    /// The run.
    pub run_id: RunId,
    /// Whether nothing differs.
    pub same: bool,
    /// What differs.
    pub differences: Vec<Difference>,
}

#[derive(Deserialize)]
struct Replay {
    same: bool,
    events: u64,
    decisions: u64,
    differences: Vec<Difference>,
}

#[derive(Deserialize)]
struct Reports {
    items: Vec<KeptReport>,
}

impl Backend {
    /// Begins a run with the first events of another; what those did is not done again.
    pub async fn fork(&self, row: &RunRow, fork: Fork) -> anyhow::Result<RunId> {
        match self {
            Self::InProcess(app) => fork_here(app, row, fork).await,
            Self::Remote(client) => {
                let mut body = json!({});
                if let Some(seq) = fork.seq {
                    body["seq"] = json!(seq);
                }
                if let Some(id) = fork.connection {
                    body["connection_id"] = json!(id);
                }
                if let Some(input) = fork.input {
                    body["input"] = json!(input);
                }
                let path = format!("/api/runs/{}/fork", row.id);
                let started: wire::Started = client.post(&path, &body).await?;
                Ok(started.run_id)
            }
        }
    }

    /// Decides a run again from its own log and compares.
    pub async fn replay(&self, run: RunId) -> anyhow::Result<ReplayReport> {
        match self {
            Self::InProcess(app) => Ok(app.runs.replay(run).await?),
            Self::Remote(client) => {
                let path = format!("/api/runs/{run}/replay");
                let replay: Replay = client.ask(Method::POST, &path, None).await?;
                Ok(ReplayReport {
                    run,
                    events: replay.events,
                    decisions: replay.decisions,
                    same: replay.same,
                    differences: replay.differences,
                })
            }
        }
    }

    /// Keeps an ended run as a test.
    pub async fn keep(&self, row: &RunRow, name: &str) -> anyhow::Result<()> {
        let app = match self {
            Self::InProcess(app) => app,
            Self::Remote(client) => {
                let path = format!("/api/runs/{}/keep", row.id);
                client.post::<Value>(&path, &json!({"name": name})).await?;
                return Ok(());
            }
        };
        if row.status != RunStatus::Finished {
            bail!("run {} has not ended; wait for its end, or stop it", row.id);
        }
        let name = name.trim();
        let bad = |c: char| c.is_control() || c == '/';
        if name.is_empty() || name.chars().count() > NAME || name.chars().any(bad) {
            bail!("a name has 1 to {NAME} characters on one line, and no `/`; choose another name");
        }
        let kept = KeptRun { name: name.to_owned(), run: row.id, by: BY.to_owned(), created_at: app.clock.now() };
        Ok(app.store.keep_run(app.tenant, &kept).await?)
    }

    /// Runs kept as tests, by name.
    pub async fn kept(&self) -> anyhow::Result<Vec<KeptRun>> {
        match self {
            Self::InProcess(app) => Ok(app.store.kept_runs(app.tenant).await?),
            Self::Remote(client) => {
                let (rows, _) = client.all::<wire::Kept>("/api/kept", usize::MAX).await?;
                Ok(rows.into_iter().map(Into::into).collect())
            }
        }
    }

    /// Lets go of a kept run; the run stays.
    pub async fn drop_kept(&self, name: &str) -> anyhow::Result<()> {
        match self {
            Self::InProcess(app) => Ok(app.store.drop_kept(app.tenant, name).await?),
            Self::Remote(client) => {
                let mut url = url::Url::parse("http://localhost/api/kept")?;
                if let Ok(mut path) = url.path_segments_mut() {
                    path.push(name);
                }
                client.ask(Method::DELETE, url.path(), None).await
            }
        }
    }

    /// Replays all kept runs.
    pub async fn replay_kept(&self) -> anyhow::Result<Vec<KeptReport>> {
        let app = match self {
            Self::InProcess(app) => app,
            Self::Remote(client) => {
                let reports: Reports = client.ask(Method::POST, "/api/kept/run", None).await?;
                return Ok(reports.items);
            }
        };
        let mut reports = Vec::new();
        for kept in app.store.kept_runs(app.tenant).await? {
            let report = app.runs.replay(kept.run).await?;
            reports.push(KeptReport {
                name: kept.name,
                run_id: kept.run,
                same: report.same,
                differences: report.differences,
            });
        }
        Ok(reports)
    }
}

async fn fork_here(app: &App, row: &RunRow, fork: Fork) -> anyhow::Result<RunId> {
    let conversation = match row.conversation {
        Some(id) => Some(branch(app, id, Some(row.id)).await?),
        None => None,
    };
    let forked = app
        .runs
        .fork(ForkRun {
            run: row.id,
            seq: fork.seq,
            connection: fork.connection,
            input: fork.input,
            conversation,
            origin: Origin::Cli,
            asked_by: BY.to_owned(),
            user: None,
        })
        .await;
    if let (Err(_), Some(id)) = (&forked, conversation) {
        let now = app.clock.now();
        app.store.mark_deleted(app.tenant, id, Some(now)).await?;
    }
    Ok(forked?)
}
