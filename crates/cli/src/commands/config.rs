use super::picked::{for_administrators, joined, text};
use crate::args::{ConfigAction, ConfigArgs};
use crate::client::Client;
use crate::exit::Exit;
use crate::term::Term;
use anyhow::{Context, anyhow, bail};
use http::Method;
use serde_json::{Map, Value, json};

const PATH: &str = "/api/admin/config";

pub async fn run(client: &Client, args: ConfigArgs, term: Term) -> anyhow::Result<Exit> {
    let as_json = args.json;
    let done = match args.action {
        None => list(client, false, as_json, term).await,
        Some(ConfigAction::List { set }) => list(client, set, as_json, term).await,
        Some(ConfigAction::Get { name }) => get(client, &name, as_json, term).await,
        Some(ConfigAction::Set { values }) => {
            let pairs: anyhow::Result<Map<String, Value>> = values.iter().map(|pair| read_pair(pair)).collect();
            change(client, pairs?, as_json, term).await
        }
        Some(ConfigAction::Unset { names }) => {
            change(client, names.into_iter().map(|name| (name, Value::Null)).collect(), as_json, term).await
        }
    };
    done.map_err(|error| for_administrators(client, error, "sees and changes settings: open System in the studio"))
}

fn read_pair(pair: &str) -> anyhow::Result<(String, Value)> {
    let Some((name, value)) = pair.split_once('=') else {
        bail!("`{pair}` is no setting with a value; write it as NAME=VALUE");
    };
    let value = if value == "-" {
        std::io::read_to_string(std::io::stdin()).context("standard input can't be read")?.trim().to_owned()
    } else {
        value.to_owned()
    };
    Ok((name.to_owned(), value.into()))
}

fn fields(config: &Value) -> impl Iterator<Item = &Value> {
    let groups = config["groups"].as_array().into_iter().flatten();
    groups.flat_map(|group| group["fields"].as_array().into_iter().flatten())
}

async fn list(client: &Client, only_set: bool, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let config: Value = client.get(PATH).await?;
    if as_json {
        println!("{config}");
        return Ok(Exit::Done);
    }
    for group in config["groups"].as_array().into_iter().flatten() {
        let shown: Vec<&Value> = group["fields"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|field| !only_set || field["source"] != "default")
            .collect();
        if shown.is_empty() {
            continue;
        }
        println!("{}", term.bold(text(group, "title")));
        for field in shown {
            println!("  {:28} {}  {}", text(field, "name"), value_of(field), term.dim(&source_of(field)));
        }
    }
    tell_pending(&config, term);
    Ok(Exit::Done)
}

fn value_of(field: &Value) -> &str {
    match field["value"].as_str() {
        Some(value) => value,
        None if text(field, "default_text").is_empty() => "-",
        None => text(field, "default_text"),
    }
}

/// `STEWARD_LOG`, `saved, from the next start on`, `default`.
fn source_of(field: &Value) -> String {
    let source = field["given_by"].as_str().unwrap_or(match text(field, "source") {
        "database" => "saved",
        _ => "default",
    });
    if field["pending"] == true { format!("{source}, from the next start on") } else { source.to_owned() }
}

async fn get(client: &Client, name: &str, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let config: Value = client.get(PATH).await?;
    let found = fields(&config).find(|field| field["name"] == name);
    let field = found.ok_or_else(|| anyhow!("there is no setting `{name}`; `steward config` lists them"))?;
    if as_json {
        println!("{field}");
        return Ok(Exit::Done);
    }
    println!("{}  {}", value_of(field), term.dim(&source_of(field)));
    println!("{}", text(field, "help"));
    let effect = match text(field, "effect") {
        "at_once" => "A change counts at once.",
        "after_restart" => "A change counts from the next start on.",
        _ => "",
    };
    let how = field["why_not"].as_str().map_or_else(|| effect.to_owned(), |why| format!("To change it: {why}."));
    println!("{how}");
    Ok(Exit::Done)
}

async fn change(client: &Client, values: Map<String, Value>, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let names: Vec<String> = values.keys().cloned().collect();
    let config: Value = client.request(Method::PUT, PATH, Some(&json!({"values": values}))).await?;
    let changed: Vec<&Value> =
        fields(&config).filter(|field| names.iter().any(|name| field["name"] == **name)).collect();
    if as_json {
        println!("{}", json!(changed));
        return Ok(Exit::Done);
    }
    for field in changed {
        term.say(&format!("{} is {}  {}", text(field, "name"), value_of(field), term.dim(&source_of(field))));
    }
    tell_pending(&config, term);
    Ok(Exit::Done)
}

fn tell_pending(config: &Value, term: Term) {
    let waiting = joined(&config["restart_pending"]);
    if !waiting.is_empty() {
        term.say(&format!("Start the program anew for {waiting} to count."));
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
        assert_eq!(source_of(&field), "saved, from the next start on");
        let field = json!({"value": "4", "source": "option", "given_by": "--log", "pending": false});
        assert_eq!((value_of(&field), source_of(&field).as_str()), ("4", "--log"));
    }
}
