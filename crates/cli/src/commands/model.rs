use super::connection_auth::{AuthArgs, given};
use super::model_card::{card, line};
use super::rows::cell;
use crate::client::Client;
use crate::term::{Exit, Term, print_text};
use clap::{Args, Subcommand};
use serde_json::json;
use steward_core::exam::Check;
use steward_core::ports::Recognised;

/// Examine the model of a connection; recognise what answers at an address.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:\n  steward model exam big\n  steward model recognise http://127.0.0.1:11434")]
pub struct Model {
    #[command(subcommand)]
    action: ModelAction,
    /// JSON instead of text.
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Clone, Subcommand)]
pub enum ModelAction {
    /// Find out what the model of a connection can do; it is used accordingly from then on.
    #[command(
        after_help = "Takes about a minute and at most 15000 tokens.\n\nExamples:\n  steward model exam big\n  steward model exam local --json"
    )]
    Exam {
        /// The connection's name; none examines the default.
        #[arg(value_name = "CONNECTION")]
        name: Option<String>,
        /// Show the last report instead.
        #[arg(long)]
        last: bool,
    },
    /// Say what answers at an address. Nothing is saved.
    #[command(
        after_help = "Examples:\n  steward model recognise http://127.0.0.1:11434\n  steward model recognise https://api.example.org/v1 --key"
    )]
    Recognise {
        /// Any address of the server.
        url: String,
        #[command(flatten)]
        auth: AuthArgs,
    },
}

/// `chosen` is the value of `--connection`.
pub async fn run(client: &Client, args: Model, chosen: Option<&str>, term: Term) -> anyhow::Result<Exit> {
    let term = term.with_json(args.json);
    match args.action {
        ModelAction::Exam { name, last } => exam(client, name.as_deref().or(chosen), last, term).await,
        ModelAction::Recognise { url, auth } => {
            let found = client.recognise(&url, &given(&auth, term).await?).await?;
            term.shown(&found, || show(&found));
            Ok(if found.confirmed { Exit::Done } else { Exit::Failed })
        }
    }
}

pub(super) async fn exam(client: &Client, name: Option<&str>, last: bool, term: Term) -> anyhow::Result<Exit> {
    let connection = client.known_connection(name).await?.connection;
    let report = if last {
        let Some(report) = client.report(connection.id).await? else {
            term.say(&format!("`{0}` has not been examined yet; examine it: steward model exam {0}", connection.name));
            return Ok(Exit::Failed);
        };
        report
    } else {
        term.status(&format!("examining {}: a minute or so…", connection.name));
        let told = |check: &Check| {
            term.clear();
            term.say(&line(check, term));
        };
        let outcome = client.examine(connection.id, told).await;
        term.clear();
        outcome?
    };
    Ok(term.shown(&report, || print_text(&card(&report, &connection.name, term))))
}

fn show(found: &Recognised) {
    let sure = if found.confirmed { "" } else { " (a guess)" };
    println!("{}{sure}: {}", cell(&json!(found.provider)), found.reason);
    println!("base URL  {}", found.base_url);
    if !found.server.is_empty() {
        println!("server    {}", found.server);
    }
    if !found.models.is_empty() {
        println!("models    {}", found.models.join(", "));
    }
}
