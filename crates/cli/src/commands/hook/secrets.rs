//! Secrets of webhooks. None stands in a command, where other programs and the shell would see it.

use super::rows::{HOOK, find};
use crate::client::Client;
use crate::commands::rows::{items, print_facts, text};
use crate::commands::unattended::{argument_of, is_input, pick_secret, secret_of};
use crate::term::{Exit, Term};
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use std::path::PathBuf;

/// Secrets that senders sign with; several count at a time, so that one can follow another.
#[derive(Debug, Clone, Subcommand)]
#[command(
    after_help = "Examples:\n  steward hook secret add issues\n  steward hook secret add issues --secret secret.txt\n  steward hook secret remove issues 3f2a\n\nTo change over: add the new one, enter it at the sender, then remove the old one."
)]
pub enum SecretAction {
    /// Add one, which counts beside the others from now on; it is shown this once.
    Add {
        /// The webhook's name, or the beginning or end of its id.
        name: String,
        #[command(flatten)]
        given: SecretArgs,
    },
    /// Remove one for good: what is signed with it is refused from now on. The last one stays.
    Remove {
        /// The webhook's name, or the beginning or end of its id.
        name: String,
        /// Which one: its last four characters, or the beginning or end of its id (see `steward hook show`).
        which: String,
        /// Don't ask.
        #[arg(long, short = 'y')]
        yes: bool,
    },
}

/// Where a secret comes from.
#[derive(Debug, Clone, Default, Args)]
pub struct SecretArgs {
    /// A file with the secret that the sender made up, `-` for standard input; without it one is made.
    #[arg(long, value_name = "FILE")]
    secret: Option<PathBuf>,
}

impl SecretArgs {
    /// Whether standard input has it.
    pub fn reads_input(&self) -> bool {
        self.secret.as_deref().is_some_and(is_input)
    }

    /// `None`: one is to be made.
    pub fn read(&self) -> anyhow::Result<Option<String>> {
        let without = "leave --secret out to have one made";
        self.secret.as_deref().map(|file| secret_of(file, "--secret", without)).transpose()
    }
}

/// Says it this once, unless the caller has given it.
pub fn print_secret(made: &Value, given: bool, address: &str, term: Term) {
    // Stripe and Slack make the secret themselves, once they know the address: one of ours opens nothing there.
    let sender = match text(&made["hook"]["signing"], "kind") {
        "stripe" => Some("Stripe"),
        "slack" => Some("Slack"),
        _ => None,
    };
    let own = given || sender.is_some();
    let secret = if own { String::new() } else { text(made, "secret").to_owned() };
    print_facts([("address", address.to_owned()), ("secret", secret)]);
    if let Some(sender) = sender.filter(|_| !given) {
        let how = argument_of(&made["hook"]);
        term.note(&format!(
            "{sender} makes the secret: enter the address there, then add its secret from a file: steward hook secret add {how} --secret FILE"
        ));
    } else if !given {
        term.note("the secret is shown this once: enter it at the sender now");
    }
}

pub(super) async fn run(client: &Client, action: SecretAction, term: Term) -> anyhow::Result<Exit> {
    match action {
        SecretAction::Add { name, given } => {
            let path = HOOK.path_of(&find(client, &name).await?);
            let secret = given.read()?;
            let made: Value = client.post(&format!("{path}/secrets"), &json!({"secret": secret})).await?;
            let (hook, count) = (&made["hook"], items(&made["hook"], "secrets").len());
            let exit =
                term.changed(&made, &format!("`{}` has {count} secrets now, and each counts", text(hook, "name")));
            if !term.json {
                print_secret(&made, secret.is_some(), "", term);
                let how = argument_of(hook);
                term.note(&format!(
                    "once the sender signs with it, remove the old one: steward hook secret remove {how} …"
                ));
            }
            Ok(exit)
        }
        SecretAction::Remove { name, which, yes } => {
            let row = find(client, &name).await?;
            let secret = pick_secret(&row, &which, "steward hook")?;
            let what = format!("the secret of `{}` that ends in {}", text(&row, "name"), text(secret, "hint"));
            if !term.removal_confirmed(yes, &what, "")? {
                return Ok(Exit::Refused);
            }
            let path = format!("{}/secrets/{}", HOOK.path_of(&row), text(secret, "id"));
            let row: Value = client.request(http::Method::DELETE, &path, None).await?;
            Ok(term.changed(&row, &format!("removed {what}")))
        }
    }
}
