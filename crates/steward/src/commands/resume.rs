//! `steward resume`: goes on with interrupted runs.

use super::follow::Follow;
use crate::backend::Backend;
use crate::cli;
use crate::compose::Options;
use crate::exit::Exit;
use crate::settings::Settings;
use crate::term::Term;
use steward_core::ports::{RunRow, RunStatus};

/// Runs gone on with at most.
const MOST: u32 = 1000;

/// Runs the command.
pub async fn run(settings: Settings, args: cli::Resume, term: Term) -> anyhow::Result<Exit> {
    let backend = Backend::open(&settings, Options::default(), term).await?;
    let exit = resume(&backend, args.run.as_deref(), term).await;
    backend.close().await;
    exit
}

/// Goes on with a run, or with all that have not ended.
pub async fn resume(backend: &Backend, run: Option<&str>, term: Term) -> anyhow::Result<Exit> {
    let chosen = if let Some(text) = run {
        vec![backend.find_run(text).await?]
    } else {
        let mut open = Vec::new();
        for status in [RunStatus::Running, RunStatus::Parked] {
            open.extend(backend.runs(Some(status), None, MOST).await?.0);
        }
        open
    };
    if chosen.is_empty() {
        term.say("Nothing to resume.");
    }
    let mut worst = Exit::Done;
    for row in chosen {
        if row.status == RunStatus::Finished {
            term.say(&format!("run {} has ended; see `steward runs show {}`", row.id, row.id));
            continue;
        }
        term.say(&term.bold(&row.title));
        let exit = go_on(backend, Follow::plain(term, false), &row).await?;
        if exit != Exit::Done {
            worst = exit;
        }
    }
    Ok(worst)
}

/// Parked runs wait for their open question again; others are driven on.
async fn go_on(backend: &Backend, follow: Follow, row: &RunRow) -> anyhow::Result<Exit> {
    backend.resume(row.id).await?;
    follow.to_end(backend, row.id, place(row)).await
}

/// Where to begin to follow: the question that a parked run waits with is heard again.
pub fn place(row: &RunRow) -> u64 {
    if row.status == RunStatus::Parked { row.last_seq.saturating_sub(1) } else { row.last_seq }
}
