use super::follow::Follow;
use super::rows::find_run;
use crate::client::Client;
use crate::term::{Exit, Term};
use clap::Args;
use steward_core::ports::{RunRow, RunStatus};

/// Go on with interrupted runs, or with one.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  steward resume        all that was interrupted\n  steward resume 3f2a   only this run"
)]
pub struct Resume {
    /// Only this run: its id, or the beginning of it.
    pub(super) run: Option<String>,
}

const MOST: u32 = 1000;

pub async fn run(client: &Client, run: Option<&str>, term: Term) -> anyhow::Result<Exit> {
    let mut chosen = Vec::new();
    match run {
        Some(text) => chosen.push(find_run(client, text).await?),
        None => {
            for status in [RunStatus::Running, RunStatus::Parked] {
                chosen.extend(client.runs(Some(status), None, MOST).await?.0);
            }
        }
    }
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
        // Parked runs show their open question again; others are resumed.
        client.resume(row.id).await?;
        let exit = Follow::plain(term).to_end(client, row.id, place(&row)).await?;
        if exit != Exit::Done {
            worst = exit;
        }
    }
    Ok(worst)
}

/// The event from which to follow, so that the open question of a parked run is shown again.
pub fn place(row: &RunRow) -> u64 {
    if row.status == RunStatus::Parked { row.last_seq.saturating_sub(1) } else { row.last_seq }
}
