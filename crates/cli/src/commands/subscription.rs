mod change;
mod messages;
mod rows;
mod secrets;

use crate::client::{Client, with_query};
use crate::term::{Exit, Term};
use clap::{Args, Subcommand};
use rows::{DELETED, SUBSCRIPTION, find, find_deleted, print_detail, print_line};
use serde_json::{Value, json};

use super::rows::text;
use super::unattended::argument_of;

/// Subscriptions: addresses of yours that are told of what happens, such as a program's, or that of a chat.
#[derive(Debug, Clone, Subcommand)]
#[command(
    after_help = "Examples:\n  steward subscription add on-call --form slack --address slack.txt --kind run.failed --kind approval.requested\n  steward subscription test on-call\n  steward subscription messages on-call --failed\n  steward subscription send on-call 3f2a\n  steward subscription pause on-call --note \"too many\"\n\nMessages are sent while a server runs."
)]
pub enum SubscriptionAction {
    /// List them, newest first: your own, or everybody's for operators.
    List(ListArgs),
    /// Show one: where it leads, what is told, its secrets without their text, and the last message.
    Show {
        /// Its name, or the beginning or end of its id.
        name: String,
    },
    #[command(alias = "create")]
    Add(Box<change::Add>),
    #[command(alias = "update")]
    Edit(Box<change::Edit>),
    /// Send a message that says that it is a test, and say what came of it.
    Test {
        /// Its name, or the beginning or end of its id.
        name: String,
    },
    Messages(messages::Messages),
    /// Send a message once more, whatever became of it; it keeps its id.
    Send(messages::OfMessage),
    /// Have it rest: what happens meanwhile isn't told, and what waits is given up.
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
    /// Secrets that sign its messages; several sign at a time, so that one can follow another.
    #[command(subcommand)]
    Secret(secrets::SecretAction),
    /// Remove it: nothing is sent any more. Its messages stay, and `restore` takes it back.
    #[command(alias = "delete")]
    Remove {
        /// Its name, or the beginning or end of its id.
        name: String,
    },
    /// Take a removal back; what happened meanwhile isn't told.
    Restore {
        /// Its name, or the beginning or end of its id.
        name: String,
    },
}

/// Which subscriptions are listed.
#[derive(Debug, Clone, Default, Args)]
pub struct ListArgs {
    /// Only your own.
    #[arg(long)]
    mine: bool,
    /// Those that were removed instead.
    #[arg(long)]
    deleted: bool,
}

pub async fn run(client: &Client, action: Option<SubscriptionAction>, term: Term) -> anyhow::Result<Exit> {
    match action.unwrap_or_else(|| SubscriptionAction::List(ListArgs::default())) {
        SubscriptionAction::List(wanted) => list(client, &wanted, term).await,
        SubscriptionAction::Show { name } => {
            let row = find(client, &name).await?;
            Ok(term.shown(&row, || print_detail(&row, term)))
        }
        SubscriptionAction::Add(wanted) => change::add(client, *wanted, term).await,
        SubscriptionAction::Edit(wanted) => change::edit(client, *wanted, term).await,
        SubscriptionAction::Test { name } => messages::test(client, &name, term).await,
        SubscriptionAction::Messages(wanted) => messages::list(client, &wanted, term).await,
        SubscriptionAction::Send(wanted) => messages::send(client, &wanted, term).await,
        SubscriptionAction::Pause { name, note } => {
            let path = SUBSCRIPTION.path_of(&find(client, &name).await?);
            let row: Value = client.post(&format!("{path}/pause"), &json!({"note": note})).await?;
            let how = argument_of(&row);
            let said = format!("`{}` rests; go on with: steward subscription resume {how}", text(&row, "name"));
            Ok(term.changed(&row, &said))
        }
        SubscriptionAction::Resume { name } => {
            let path = SUBSCRIPTION.path_of(&find(client, &name).await?);
            let row: Value = client.act(&format!("{path}/resume")).await?;
            Ok(term.changed(&row, &format!("`{}` works again", text(&row, "name"))))
        }
        SubscriptionAction::Secret(action) => secrets::run(client, action, term).await,
        SubscriptionAction::Remove { name } => {
            let row = find(client, &name).await?;
            client.delete(&SUBSCRIPTION.path_of(&row)).await?;
            let (name, how) = (text(&row, "name"), argument_of(&row));
            let said =
                format!("removed `{name}`; its messages stay. Take it back with: steward subscription restore {how}");
            Ok(term.changed(&json!({"id": row["id"], "name": name}), &said))
        }
        SubscriptionAction::Restore { name } => {
            let path = SUBSCRIPTION.path_of(&find_deleted(client, &name).await?);
            let row: Value = client.act(&format!("{path}/restore")).await?;
            Ok(term.changed(&row, &format!("`{}` is back", text(&row, "name"))))
        }
    }
}

async fn list(client: &Client, wanted: &ListArgs, term: Term) -> anyhow::Result<Exit> {
    let from = if wanted.deleted { DELETED.path } else { SUBSCRIPTION.path };
    let mine = wanted.mine.then(|| "true".to_owned());
    let rows = client.rows(&with_query(from, [("mine", mine)])).await?;
    let empty = if wanted.deleted {
        "No such subscription was removed."
    } else {
        "There are no such subscriptions. Make one with: steward subscription add NAME --form slack --address FILE"
    };
    Ok(term.listed(&rows, empty, |row| print_line(row, term)))
}
