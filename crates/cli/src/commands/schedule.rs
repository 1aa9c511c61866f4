mod change;
mod history;
mod rows;
mod times;

use super::follow::Follow;
use crate::client::{Client, Started, with_query};
use crate::term::{Exit, Term};
use clap::{Args, Subcommand};
use rows::{DELETED, SCHEDULE, find, find_deleted, print_detail, print_line};
use serde_json::{Value, json};

use super::rows::{text, time};
use super::unattended::argument_of;

/// Schedules, which start runs of agents by themselves: make, preview, pause, run and look at them.
#[derive(Debug, Clone, Subcommand)]
#[command(
    after_help = "Examples:\n  steward schedule preview \"every weekday at 8\"\n  steward schedule add morning --when \"every weekday at 8\" --zone Europe/Berlin \"Write the report of {{date}}.\"\n  steward schedule add nightly --agent reporter --cron \"30 2 * * *\" \"Look for new files.\"\n  steward schedule\n  steward schedule pause morning --note \"on holiday\"\n  steward schedule run morning\n  steward schedule history morning\n\nRuns of a schedule work with the rights of its owner. They start while a server runs: without one, nothing is due."
)]
pub enum ScheduleAction {
    /// List them, newest first: your own, or everybody's for operators.
    List(ListArgs),
    /// Show one: when it is due next, and what happens when clocks change.
    Show {
        /// Its name, or the beginning or end of its id.
        name: String,
    },
    Add(Box<change::Add>),
    Edit(Box<change::Edit>),
    Preview(Box<times::Preview>),
    /// Have it rest: what is due meanwhile is skipped.
    Pause {
        /// Its name, or the beginning or end of its id.
        name: String,
        /// Why, for whoever looks later.
        #[arg(long, value_name = "TEXT", default_value = "")]
        note: String,
    },
    /// Have it work again, from now on.
    Resume {
        /// Its name, or the beginning or end of its id.
        name: String,
    },
    /// Start a run of it at once, beside what is due; without a server its end is waited for.
    Run {
        /// Its name, or the beginning or end of its id.
        name: String,
    },
    History(history::History),
    /// Remove it; its runs stay, and `restore` takes it back.
    Remove {
        /// Its name, or the beginning or end of its id.
        name: String,
    },
    /// Take a removal back; what was due meanwhile isn't caught up.
    Restore {
        /// Its name, or the beginning or end of its id.
        name: String,
    },
}

/// Which schedules are listed.
#[derive(Debug, Clone, Default, Args)]
pub struct ListArgs {
    /// Only your own.
    #[arg(long)]
    mine: bool,
    /// Those that were removed instead.
    #[arg(long)]
    deleted: bool,
    /// Only those of this agent.
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
}

pub async fn run(client: &Client, action: Option<ScheduleAction>, term: Term) -> anyhow::Result<Exit> {
    match action.unwrap_or_else(|| ScheduleAction::List(ListArgs::default())) {
        ScheduleAction::List(wanted) => list(client, &wanted, term).await,
        ScheduleAction::Show { name } => show(client, &name, term).await,
        ScheduleAction::Add(wanted) => change::add(client, *wanted, term).await,
        ScheduleAction::Edit(wanted) => change::edit(client, *wanted, term).await,
        ScheduleAction::Preview(wanted) => times::preview(client, &wanted, term).await,
        ScheduleAction::Pause { name, note } => {
            let path = SCHEDULE.path_of(&find(client, &name).await?);
            let row: Value = client.post(&format!("{path}/pause"), &json!({"note": note})).await?;
            let how = argument_of(&row);
            let said = format!("`{}` rests; go on with: steward schedule resume {how}", text(&row, "name"));
            Ok(term.changed(&row, &said))
        }
        ScheduleAction::Resume { name } => {
            let path = SCHEDULE.path_of(&find(client, &name).await?);
            let row: Value = client.act(&format!("{path}/resume")).await?;
            Ok(term.changed(&row, &format!("`{}` works again, {}", text(&row, "name"), next_of(&row))))
        }
        ScheduleAction::Run { name } => run_now(client, &name, term).await,
        ScheduleAction::History(wanted) => history::show(client, &wanted, term).await,
        ScheduleAction::Remove { name } => {
            let row = find(client, &name).await?;
            client.delete(&SCHEDULE.path_of(&row)).await?;
            let (name, how) = (text(&row, "name"), argument_of(&row));
            let said = format!("removed `{name}`; its runs stay. Take it back with: steward schedule restore {how}");
            Ok(term.changed(&json!({"id": row["id"], "name": name}), &said))
        }
        ScheduleAction::Restore { name } => {
            let path = SCHEDULE.path_of(&find_deleted(client, &name).await?);
            let row: Value = client.act(&format!("{path}/restore")).await?;
            Ok(term.changed(&row, &format!("`{}` is back, {}", text(&row, "name"), next_of(&row))))
        }
    }
}

async fn list(client: &Client, wanted: &ListArgs, term: Term) -> anyhow::Result<Exit> {
    let agent = match &wanted.agent {
        Some(name) => Some(client.agent_named(Some(name)).await?.id.to_string()),
        None => None,
    };
    let from = if wanted.deleted { DELETED.path } else { SCHEDULE.path };
    let mine = wanted.mine.then(|| "true".to_owned());
    let rows = client.rows(&with_query(from, [("mine", mine), ("agent_id", agent)])).await?;
    let empty = if wanted.deleted {
        "No such schedule was removed."
    } else {
        "There are no such schedules. Make one with: steward schedule add NAME --when \"every weekday at 8\" \"…\""
    };
    Ok(term.listed(&rows, empty, |row| print_line(row, term)))
}

async fn show(client: &Client, name: &str, term: Term) -> anyhow::Result<Exit> {
    let row = find(client, name).await?;
    if term.json {
        return Ok(term.shown(&row, || {}));
    }
    let reading = times::preview_when(client, &row["when"]).await?;
    print_detail(&row, &reading, term);
    Ok(Exit::Done)
}

async fn run_now(client: &Client, name: &str, term: Term) -> anyhow::Result<Exit> {
    let path = SCHEDULE.path_of(&find(client, name).await?);
    let Started { run, .. } = client.act(&format!("{path}/run")).await?;
    if client.server_url().is_some() {
        let said = format!("run {run} works; follow it with: steward resume {run}");
        return Ok(term.changed(&json!({"run": run}), &said));
    }
    // Nobody else would go on with it once this process ends.
    if !term.json {
        term.note(&format!("run {run}; see it later with: steward runs show {run}"));
    }
    Follow::plain(term).to_end(client, run, 0).await
}

/// When it is due, as in "works again, next at …".
fn next_of(row: &Value) -> String {
    let next = time(row, "next_at");
    if next.is_empty() { "but isn't due any more".to_owned() } else { format!("next at {next}") }
}
