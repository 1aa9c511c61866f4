//! Secrets of webhooks. None stands in a command, where other programs and the shell would see it.

use super::rows::{HOOK, find};
use crate::client::Client;
use crate::commands::rows::{items, print_facts, text};
use crate::commands::unattended::argument_of;
use crate::term::{Exit, Term};
use anyhow::{Context, anyhow, bail};
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Longest file of a secret, bytes.
const MAX_FILE: u64 = 64 * 1024;

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
        self.secret.as_deref() == Some(Path::new("-"))
    }

    /// `None`: one is to be made.
    pub fn read(&self) -> anyhow::Result<Option<String>> {
        let Some(file) = &self.secret else { return Ok(None) };
        let from: Box<dyn Read> = if self.reads_input() {
            Box::new(std::io::stdin())
        } else {
            // What was typed isn't repeated: it may be the secret.
            let opened = std::fs::File::open(file);
            Box::new(opened.context(
                "--secret takes a file, or - for standard input, and there is no such file; a secret itself never stands in a command",
            )?)
        };
        let mut text = String::new();
        from.take(MAX_FILE + 1).read_to_string(&mut text).context("the secret can't be read")?;
        if text.len() as u64 > MAX_FILE {
            bail!("what --secret names is too long for a secret");
        }
        let secret = text.trim();
        if secret.is_empty() {
            bail!("what --secret names is empty; leave --secret out to have one made");
        }
        Ok(Some(secret.to_owned()))
    }
}

/// Says it this once, unless the caller has given it.
pub fn print_secret(made: &Value, given: bool, address: &str, term: Term) {
    let secret = if given { String::new() } else { text(made, "secret").to_owned() };
    print_facts([("address", address.to_owned()), ("secret", secret)]);
    if !given {
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
            let secret = pick(&row, &which)?;
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

/// By what its owner sees of it.
fn pick<'r>(row: &'r Value, which: &str) -> anyhow::Result<&'r Value> {
    let fits = |one: &&Value| {
        let id = text(one, "id");
        text(one, "hint") == which || (which.len() >= 4 && (id.starts_with(which) || id.ends_with(which)))
    };
    let found: Vec<&Value> = items(row, "secrets").iter().filter(fits).collect();
    match found[..] {
        [one] => Ok(one),
        [] => {
            let how = argument_of(row);
            Err(anyhow!("`{}` has no secret `{which}`; `steward hook show {how}` lists them", text(row, "name")))
        }
        _ => Err(anyhow!("`{which}` fits {}; give more of the id", found.len())),
    }
}
