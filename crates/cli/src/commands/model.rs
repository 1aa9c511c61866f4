use super::model_card::{card, line};
use crate::args::{self, ModelAction};
use crate::client::Client;
use crate::exit::Exit;
use crate::term::Term;
use serde_json::{Value, json};

/// `chosen` is the value of `--connection`.
pub async fn run(client: &Client, args: args::Model, chosen: Option<&str>, term: Term) -> anyhow::Result<Exit> {
    match args.action {
        ModelAction::Exam { connection, last } => {
            exam(client, connection.as_deref().or(chosen), last, args.json, term).await
        }
        ModelAction::Recognise { url, auth } => {
            let auth = super::connection_auth::given(&auth, term).await?;
            recognise(client, &url, &auth, args.json).await
        }
    }
}

async fn exam(client: &Client, name: Option<&str>, last: bool, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let connection = client.known_connection(name).await?.connection;
    let report = if last {
        let Some(report) = client.report(connection.id).await? else {
            term.say(&format!("`{0}` has not been examined yet; examine it: steward model exam {0}", connection.name));
            return Ok(Exit::Failed);
        };
        report
    } else {
        term.status(&format!("examining {}: a minute or so…", connection.name));
        let told = |check: &steward_core::exam::Check| {
            term.clear();
            term.say(&line(check, term));
        };
        let outcome = client.examine(connection.id, told).await;
        term.clear();
        outcome?
    };
    if as_json {
        println!("{}", json!(report));
    } else {
        print!("{}", card(&report, &connection.name, term));
    }
    Ok(Exit::Done)
}

async fn recognise(client: &Client, url: &str, auth: &Value, as_json: bool) -> anyhow::Result<Exit> {
    let found = client.recognise(url, auth).await?;
    if as_json {
        println!("{}", json!(found));
    } else {
        let sure = if found.confirmed { "" } else { " (a guess)" };
        let provider = json!(found.provider);
        println!("{}{sure}: {}", provider.as_str().unwrap_or_default(), found.reason);
        println!("base URL  {}", found.base_url);
        if !found.server.is_empty() {
            println!("server    {}", found.server);
        }
        if !found.models.is_empty() {
            println!("models    {}", found.models.join(", "));
        }
    }
    Ok(if found.confirmed { Exit::Done } else { Exit::Failed })
}
