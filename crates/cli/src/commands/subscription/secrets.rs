use super::rows::{SUBSCRIPTION, find};
use crate::client::Client;
use crate::commands::rows::{items, print_facts, text};
use crate::commands::unattended::{argument_of, pick_secret};
use crate::term::{Exit, Term};
use clap::Subcommand;
use serde_json::{Value, json};

/// Secrets that sign its messages; several sign at a time, so that one can follow another.
#[derive(Debug, Clone, Subcommand)]
#[command(
    after_help = "Examples:\n  steward subscription secret add on-call\n  steward subscription secret remove on-call 3f2a\n\nTo change over: add a new one, give it to the receiver, then remove the old one."
)]
pub enum SecretAction {
    /// Add one, which signs besides the others from now on; it is shown this once.
    Add {
        /// The subscription's name, or the beginning or end of its id.
        name: String,
    },
    /// Remove one for good: it signs nothing any more. The last one stays.
    Remove {
        /// The subscription's name, or the beginning or end of its id.
        name: String,
        /// Which one: its last four characters, or the beginning or end of its id (see `steward subscription show`).
        which: String,
        /// Don't ask.
        #[arg(long, short = 'y')]
        yes: bool,
    },
}

/// Says it this once; nothing where messages aren't signed.
pub fn print_secret(made: &Value, term: Term) {
    let secret = text(made, "secret");
    if !secret.is_empty() {
        print_facts([("secret", secret.to_owned())]);
        term.note("the secret is shown this once: give it to the receiver now");
    }
}

pub(super) async fn run(client: &Client, action: SecretAction, term: Term) -> anyhow::Result<Exit> {
    match action {
        SecretAction::Add { name } => {
            let path = SUBSCRIPTION.path_of(&find(client, &name).await?);
            let made: Value = client.post(&format!("{path}/secrets"), &json!({})).await?;
            let (row, count) = (&made["subscription"], items(&made["subscription"], "secrets").len());
            let said = format!("`{}` has {count} secrets now, and each signs", text(row, "name"));
            let exit = term.changed(&made, &said);
            if !term.json {
                print_secret(&made, term);
                let how = argument_of(row);
                term.note(&format!(
                    "once the receiver knows it, remove the old one: steward subscription secret remove {how} …"
                ));
            }
            Ok(exit)
        }
        SecretAction::Remove { name, which, yes } => {
            let row = find(client, &name).await?;
            let secret = pick_secret(&row, &which, "steward subscription")?;
            let what = format!("the secret of `{}` that ends in {}", text(&row, "name"), text(secret, "hint"));
            if !term.removal_confirmed(yes, &what, "")? {
                return Ok(Exit::Refused);
            }
            let path = format!("{}/secrets/{}", SUBSCRIPTION.path_of(&row), text(secret, "id"));
            let row: Value = client.request(http::Method::DELETE, &path, None).await?;
            Ok(term.changed(&row, &format!("removed {what}")))
        }
    }
}
