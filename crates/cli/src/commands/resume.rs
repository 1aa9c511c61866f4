use super::follow::Follow;
use crate::client::Client;
use crate::exit::Exit;
use crate::term::Term;
use steward_core::ports::{RunRow, RunStatus};

const MOST: u32 = 1000;

pub async fn run(client: &Client, run: Option<&str>, term: Term) -> anyhow::Result<Exit> {
    let chosen = if let Some(text) = run {
        vec![client.find_run(text).await?]
    } else {
        let mut open = Vec::new();
        for status in [RunStatus::Running, RunStatus::Parked] {
            open.extend(client.runs(Some(status), None, MOST).await?.0);
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
        let exit = go_on(client, Follow::plain(term, false), &row).await?;
        if exit != Exit::Done {
            worst = exit;
        }
    }
    Ok(worst)
}

/// Parked runs show their open question again; others are resumed.
async fn go_on(client: &Client, follow: Follow, row: &RunRow) -> anyhow::Result<Exit> {
    client.resume(row.id).await?;
    follow.to_end(client, row.id, place(row)).await
}

/// The event from which to follow, so that the open question of a parked run is shown again.
pub fn place(row: &RunRow) -> u64 {
    if row.status == RunStatus::Parked { row.last_seq.saturating_sub(1) } else { row.last_seq }
}
