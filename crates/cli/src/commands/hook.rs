mod change;
mod deliveries;
mod places;
mod rows;
mod secrets;

use crate::client::{Client, with_query};
use crate::term::{Exit, Term};
use clap::{Args, Subcommand};
use rows::{DELETED, HOOK, find, find_deleted, print_detail, print_line};
use serde_json::{Value, json};

use super::rows::text;
use super::unattended::argument_of;

/// Webhooks, which start runs of agents when somebody else's program calls: make, try, pause and look at them.
#[derive(Debug, Clone, Subcommand)]
#[command(
    after_help = "Examples:\n  steward hook add issues --signing github --filter header:x-github-event=issues --filter '/action=opened' \"Answer the issue {{payload.issue.title}}.\"\n  steward hook\n  steward hook preview issues call.json --header x-github-event:issues\n  steward hook deliveries issues\n  steward hook secret add issues\n  steward hook pause issues --note \"too many\"\n\nRuns of a webhook work with the rights of its owner, and what comes counts as from outside. Senders reach it while a server runs."
)]
pub enum HookAction {
    /// List them, newest first: your own, or everybody's for operators.
    List(ListArgs),
    /// Show one: its address, how senders sign, its secrets without their text, and what came last.
    Show {
        /// Its name, or the beginning or end of its id.
        name: String,
    },
    #[command(alias = "create")]
    Add(Box<change::Add>),
    #[command(alias = "update")]
    Edit(Box<change::Edit>),
    Preview(deliveries::Preview),
    /// Have it rest: what comes meanwhile is kept, and starts nothing.
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
    Deliveries(deliveries::Deliveries),
    Delivery(deliveries::OfDelivery),
    /// Take what was sent as if it came once more, whatever became of it.
    Replay(deliveries::OfDelivery),
    /// Secrets that senders sign with; several count at a time, so that one can follow another.
    #[command(subcommand)]
    Secret(secrets::SecretAction),
    /// Remove it: whoever calls is told that there is nothing. Its runs and deliveries stay, and `restore` takes it back.
    #[command(alias = "delete")]
    Remove {
        /// Its name, or the beginning or end of its id.
        name: String,
    },
    /// Take a removal back.
    Restore {
        /// Its name, or the beginning or end of its id.
        name: String,
    },
}

/// Which webhooks are listed.
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

pub async fn run(client: &Client, action: Option<HookAction>, term: Term) -> anyhow::Result<Exit> {
    match action.unwrap_or_else(|| HookAction::List(ListArgs::default())) {
        HookAction::List(wanted) => list(client, &wanted, term).await,
        HookAction::Show { name } => {
            let row = find(client, &name).await?;
            Ok(term.shown(&row, || print_detail(client, &row, term)))
        }
        HookAction::Add(wanted) => change::add(client, *wanted, term).await,
        HookAction::Edit(wanted) => change::edit(client, *wanted, term).await,
        HookAction::Preview(wanted) => deliveries::preview(client, &wanted, term).await,
        HookAction::Pause { name, note } => {
            let path = HOOK.path_of(&find(client, &name).await?);
            let row: Value = client.post(&format!("{path}/pause"), &json!({"note": note})).await?;
            let how = argument_of(&row);
            let said = format!("`{}` rests; go on with: steward hook resume {how}", text(&row, "name"));
            Ok(term.changed(&row, &said))
        }
        HookAction::Resume { name } => {
            let path = HOOK.path_of(&find(client, &name).await?);
            let row: Value = client.act(&format!("{path}/resume")).await?;
            Ok(term.changed(&row, &format!("`{}` works again", text(&row, "name"))))
        }
        HookAction::Deliveries(wanted) => deliveries::list(client, &wanted, term).await,
        HookAction::Delivery(wanted) => deliveries::show(client, &wanted, term).await,
        HookAction::Replay(wanted) => deliveries::replay(client, &wanted, term).await,
        HookAction::Secret(action) => secrets::run(client, action, term).await,
        HookAction::Remove { name } => {
            let row = find(client, &name).await?;
            client.delete(&HOOK.path_of(&row)).await?;
            let (name, how) = (text(&row, "name"), argument_of(&row));
            let said = format!(
                "removed `{name}`; its runs and deliveries stay. Take it back with: steward hook restore {how}"
            );
            Ok(term.changed(&json!({"id": row["id"], "name": name}), &said))
        }
        HookAction::Restore { name } => {
            let path = HOOK.path_of(&find_deleted(client, &name).await?);
            let row: Value = client.act(&format!("{path}/restore")).await?;
            Ok(term.changed(&row, &format!("`{}` is back", text(&row, "name"))))
        }
    }
}

async fn list(client: &Client, wanted: &ListArgs, term: Term) -> anyhow::Result<Exit> {
    let agent = match &wanted.agent {
        Some(name) => Some(client.agent_named(Some(name)).await?.id.to_string()),
        None => None,
    };
    let from = if wanted.deleted { DELETED.path } else { HOOK.path };
    let mine = wanted.mine.then(|| "true".to_owned());
    let rows = client.rows(&with_query(from, [("mine", mine), ("agent_id", agent)])).await?;
    let empty = if wanted.deleted {
        "No such webhook was removed."
    } else {
        "There are no such webhooks. Make one with: steward hook add NAME --signing github \"…\""
    };
    Ok(term.listed(&rows, empty, |row| print_line(row, term)))
}
