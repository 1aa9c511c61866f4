//! `steward resume`: goes on with interrupted runs.

use super::ask::Follow;
use super::runs::find_run;
use crate::cli;
use crate::compose::{App, Options};
use crate::exit::Exit;
use crate::settings::Settings;
use crate::term::Term;
use steward_core::ports::{RunFilter, RunStatus, RunStore as _};
use steward_engine::RunService;

/// Runs the command.
pub async fn run(settings: Settings, args: cli::Resume, term: Term) -> anyhow::Result<Exit> {
    let app = App::open(&settings, Options::default()).await?;
    let chosen = if let Some(text) = &args.run {
        vec![find_run(&app, text).await?]
    } else {
        let mut open = Vec::new();
        for status in [RunStatus::Running, RunStatus::Parked] {
            let filter = RunFilter {
                status: Some(status),
                limit: 1000,
                ..RunFilter::default()
            };
            open.extend(app.store.runs(app.tenant, filter).await?.items);
        }
        open
    };
    if chosen.is_empty() {
        term.say("Nothing to resume.");
    }
    let follow = Follow {
        term,
        verbose: false,
        json: false,
        ask: term.can_ask,
    };
    let mut worst = Exit::Done;
    for row in chosen {
        if row.status == RunStatus::Finished {
            term.say(&format!(
                "run {} has ended; see `steward runs show {}`",
                row.id, row.id
            ));
            continue;
        }
        term.say(&term.bold(&row.title));
        let exit = go_on(&app.runs, follow, &row).await?;
        if exit != Exit::Done {
            worst = exit;
        }
    }
    app.close().await;
    Ok(worst)
}

/// Parked runs wait for their open question again; others are driven on.
async fn go_on(
    runs: &RunService,
    follow: Follow,
    row: &steward_core::ports::RunRow,
) -> anyhow::Result<Exit> {
    let after = if row.status == RunStatus::Parked {
        row.last_seq.saturating_sub(1)
    } else {
        row.last_seq
    };
    runs.resume(row.id).await?;
    follow.to_end(runs, row.id, after).await
}
