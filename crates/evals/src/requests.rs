//! Shared by the suites: files of cases, and runs of the default agent, each in a folder of its own.

use anyhow::{Context, bail};
use serde::de::DeserializeOwned;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use steward::compose::{Composition, Shared};
use steward::settings::Settings;
use steward_core::event::{Mode, Origin};
use steward_core::policy::{Grant, GrantScope};
use steward_core::ports::{Role, User, Users as _};
use steward_core::{ConnectionId, UserId};
use steward_engine::StartRun;

/// Whose the runs are, since what an agent keeps is its user's.
const ASKING: &str = "eval@localhost";

pub struct Contents {
    /// `requests` or `answers`.
    pub what: &'static str,
    /// What each line must hold.
    pub line: &'static str,
    /// Message for an empty file, after its name.
    pub none: &'static str,
}

/// Reads one case per line, each with its number; empty lines are left out. A file `….gz` is unpacked by `gzip`.
pub fn read<T: DeserializeOwned>(file: &Path, contents: &Contents) -> anyhow::Result<Vec<(usize, T)>> {
    let name = file.display();
    let text = read_text(file).with_context(|| format!("cannot read the {} of {name}", contents.what))?;
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    let cases = lines
        .map(|(number, line)| {
            let case =
                serde_json::from_str(line).with_context(|| format!("{name} line {number}: want {}", contents.line))?;
            Ok((number, case))
        })
        .collect::<anyhow::Result<Vec<_>>>()?;
    if cases.is_empty() {
        bail!("{name} {}", contents.none);
    }
    Ok(cases)
}

fn read_text(file: &Path) -> anyhow::Result<String> {
    if file.extension().is_none_or(|ending| ending != "gz") {
        return Ok(std::fs::read_to_string(file)?);
    }
    let unpacked = Command::new("gzip").arg("-dc").arg(file).output().context("`gzip` can't be started")?;
    if !unpacked.status.success() {
        bail!("{}", String::from_utf8_lossy(&unpacked.stderr).trim());
    }
    Ok(String::from_utf8(unpacked.stdout)?)
}

/// The same settings with data of their own under `scratch`.
pub fn apart(settings: Settings, scratch: &Path) -> Settings {
    Settings { data_dir: scratch.join("data"), database: None, ..settings }
}

/// The id of a connection by name; `None` for `None`.
pub fn connection_named(app: &Composition, name: Option<&str>) -> anyhow::Result<Option<ConnectionId>> {
    Ok(name.map(|name| app.connections.named(name)).transpose()?.map(|known| known.connection.id))
}

/// A run of the default agent that may do whatever can be undone without asking.
pub async fn request(app: &Composition, settings: &Settings, ask: &str, workspace: &Path) -> anyhow::Result<StartRun> {
    Ok(StartRun {
        agent: app.default_agent().await?,
        input: ask.to_owned(),
        conversation: None,
        history: Vec::new(),
        documents: Vec::new(),
        mode: Mode::Plan,
        origin: Origin::Cli,
        asked_by: "eval".to_owned(),
        workspace: workspace.canonicalize()?.display().to_string(),
        grants: vec![Grant { scope: GrantScope::AllButDestructive, until: None }],
        connection: connection_named(app, settings.connection.as_deref())?,
        planner: None,
        executor: None,
        intent_filter: true,
        user: Some(asking_user(app).await?),
        client_retries: false,
        key: None,
        source: None,
        started_by: None,
        outside: steward_core::provenance::Provenance::default(),
    })
}

/// The user who asks; made if there is none.
async fn asking_user(app: &Composition) -> anyhow::Result<UserId> {
    let Shared { store, ids, clock, .. } = &app.shared;
    if let Some(known) = store.user_by_email(app.tenant, ASKING).await? {
        return Ok(known.id);
    }
    let user = User::new(UserId(ids.next()), ASKING, "Eval", Role::Operator, clock.now());
    store.create_user(app.tenant, &user).await?;
    Ok(user.id)
}

/// What went wrong, if anything; not ending within `limit` counts, too.
pub async fn problem(limit: Duration, run: impl Future<Output = anyhow::Result<()>>) -> Option<String> {
    match tokio::time::timeout(limit, run).await {
        Ok(Ok(())) => None,
        Ok(Err(error)) => Some(format!("{error:#}")),
        Err(_) => Some(format!("no end after {} s", limit.as_secs())),
    }
}
