use super::rows::{content_of, for_administrators, items, joined, text};
use crate::client::Client;
use crate::term::{Exit, Term, print_text};
use anyhow::{anyhow, bail};
use clap::Subcommand;
use serde_json::{Map, Value, json};
use std::path::Path;

/// Settings of the program: list, show or change them.
#[derive(Debug, Clone, Subcommand)]
#[command(
    after_help = "Examples:\n  steward config\n  steward config get LOG_LEVEL\n  steward config set LOG_LEVEL=debug MAX_RUNS=64\n  steward config unset MAX_RUNS\n\nOnly administrators may. Without a server you are one. Beside a running server, put an administrator's API key (studio: Settings) into STEWARD_API_KEY."
)]
pub enum ConfigAction {
    /// List the settings, with who says what they are.
    List {
        /// Only those that somebody has set.
        #[arg(long)]
        set: bool,
    },
    /// Show one setting.
    Get {
        /// Its name, as in the list.
        name: String,
    },
    /// Change settings: all of them, or none if one is wrong.
    #[command(
        after_help = "Examples:\n  steward config set LOG_LEVEL=debug\n  steward config set MAX_RUNS=64 LEASE_SECONDS=30\n  openssl rand -hex 24 | steward config set METRICS_TOKEN=-"
    )]
    Set {
        /// NAME=VALUE; `-` reads the value from standard input, so that a secret stands in no command.
        #[arg(required = true, value_name = "NAME=VALUE")]
        values: Vec<String>,
    },
    /// Take changes back: the defaults count again.
    Unset {
        /// Names of settings.
        #[arg(required = true)]
        names: Vec<String>,
    },
}

const PATH: &str = "/api/admin/config";

pub async fn run(client: &Client, action: Option<ConfigAction>, term: Term) -> anyhow::Result<Exit> {
    let done = match action.unwrap_or(ConfigAction::List { set: false }) {
        ConfigAction::List { set } => list(client, set, term).await,
        ConfigAction::Get { name } => get(client, &name, term).await,
        ConfigAction::Set { values } => {
            let pairs: anyhow::Result<Map<String, Value>> = values.iter().map(|pair| read_pair(pair)).collect();
            change(client, pairs?, term).await
        }
        ConfigAction::Unset { names } => {
            change(client, names.into_iter().map(|name| (name, Value::Null)).collect(), term).await
        }
    };
    done.map_err(|error| for_administrators(client, error, "sees and changes settings: open System in the studio"))
}

fn read_pair(pair: &str) -> anyhow::Result<(String, Value)> {
    let Some((name, value)) = pair.split_once('=') else {
        bail!("`{pair}` is no setting with a value; write it as NAME=VALUE");
    };
    let value = if value == "-" { content_of(Path::new("-"))?.trim().to_owned() } else { value.to_owned() };
    Ok((name.to_owned(), value.into()))
}

fn fields(config: &Value) -> impl Iterator<Item = &Value> {
    items(config, "groups").iter().flat_map(|group| items(group, "fields"))
}

async fn list(client: &Client, only_set: bool, term: Term) -> anyhow::Result<Exit> {
    let config: Value = client.get(PATH).await?;
    Ok(term.shown(&config, || {
        for group in items(&config, "groups") {
            let mut shown: Vec<&Value> = items(group, "fields").iter().collect();
            shown.retain(|field| !only_set || field["source"] != "default");
            if shown.is_empty() {
                continue;
            }
            println!("{}", term.bold(text(group, "title")));
            for field in shown {
                println!("  {:28} {}  {}", text(field, "name"), value_of(field), term.dim(&source_of(field)));
            }
        }
        tell_pending(&config, term);
    }))
}

fn value_of(field: &Value) -> &str {
    match field["value"].as_str() {
        Some(value) => value,
        None if text(field, "default_text").is_empty() => "-",
        None => text(field, "default_text"),
    }
}

/// `STEWARD_LOG`, `saved, acts after a restart`, `default`.
fn source_of(field: &Value) -> String {
    let source = field["given_by"].as_str().unwrap_or(match text(field, "source") {
        "database" => "saved",
        _ => "default",
    });
    if field["pending"] == true { format!("{source}, acts after a restart") } else { source.to_owned() }
}

async fn get(client: &Client, name: &str, term: Term) -> anyhow::Result<Exit> {
    let config: Value = client.get(PATH).await?;
    let found = fields(&config).find(|field| field["name"] == name);
    let field = found.ok_or_else(|| anyhow!("there is no setting `{name}`; `steward config` lists them"))?;
    Ok(term.shown(&field, || {
        println!("{}  {}", value_of(field), term.dim(&source_of(field)));
        print_text(text(field, "help"));
        match text(field, "why_restart") {
            "" => println!("A change acts at once."),
            why => println!("A change acts after a restart: {why}."),
        }
        if let Some(why) = field["why_not"].as_str() {
            println!("To change it: {why}.");
        }
    }))
}

async fn change(client: &Client, values: Map<String, Value>, term: Term) -> anyhow::Result<Exit> {
    let names: Vec<String> = values.keys().cloned().collect();
    let config: Value = client.put(PATH, &json!({"values": values})).await?;
    let changed: Vec<&Value> =
        fields(&config).filter(|field| names.iter().any(|name| field["name"] == **name)).collect();
    Ok(term.shown(&changed, || {
        for field in &changed {
            term.say(&format!("{} is {}  {}", text(field, "name"), value_of(field), term.dim(&source_of(field))));
        }
        tell_pending(&config, term);
    }))
}

fn tell_pending(config: &Value, term: Term) {
    if let Some(why) = config["not_applied"].as_str() {
        term.say(&format!("{} {why}", term.red("What was changed in the file or elsewhere is not in force:")));
    }
    let waiting = joined(config, "restart_pending");
    if !waiting.is_empty() {
        term.say(&format!("{waiting}: a change acts after a restart."));
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::{read_pair, source_of, value_of};
    use serde_json::json;

    #[test]
    fn a_pair_is_a_name_and_a_value() {
        assert_eq!(read_pair("A=b=c").unwrap(), ("A".to_owned(), json!("b=c")));
        assert!(read_pair("A").unwrap_err().to_string().contains("NAME=VALUE"));
    }

    #[test]
    fn a_value_is_shown_with_who_says_it() {
        let field = json!({"value": null, "default_text": "the cache", "source": "default", "pending": false});
        assert_eq!((value_of(&field), source_of(&field).as_str()), ("the cache", "default"));
        let field = json!({"value": "4", "source": "database", "pending": true});
        assert_eq!(source_of(&field), "saved, acts after a restart");
        let field = json!({"value": "4", "source": "option", "given_by": "--log", "pending": false});
        assert_eq!((value_of(&field), source_of(&field).as_str()), ("4", "--log"));
    }
}
