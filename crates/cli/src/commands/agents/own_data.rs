use crate::args::{DatabaseAction, MemoryAction};
use crate::client::{Client, Refused};
use crate::commands::picked::{content_of, text};
use crate::exit::Exit;
use crate::term::Term;
use anyhow::{Context, bail};
use http::Method;
use serde_json::{Value, json};
use std::path::Path;

/// Tries of adding a line while runs change the memory.
const TRIES: u32 = 20;
/// Longest value of a table that is shown, characters.
const SHOWN: usize = 60;
/// Width of the column of row counts.
const COUNT_WIDTH: usize = 10;

async fn path(client: &Client, agent: Option<&str>, what: &str) -> anyhow::Result<String> {
    let id = client.agent_named(agent).await?.id;
    Ok(format!("/api/agents/{id}/{what}"))
}

pub(super) async fn memory(client: &Client, action: &MemoryAction, json: bool, term: Term) -> anyhow::Result<Exit> {
    match action {
        MemoryAction::Show { agent } => {
            let kept: Value = client.get(&path(client, agent.as_deref(), "memory").await?).await?;
            if json {
                println!("{kept}");
                return Ok(Exit::Done);
            }
            match text(&kept, "text") {
                "" => term.say("it remembers nothing yet"),
                text => println!("{text}"),
            }
            term.say(&term.dim(&format!("{} of {} characters", kept["characters"], kept["limit"])));
            Ok(Exit::Done)
        }
        MemoryAction::Set { agent, text, from } => {
            let whole = match (text, from) {
                (Some(text), _) => text.clone(),
                (None, Some(file)) => content_of(file)?,
                (None, None) => bail!("say what it is to remember, or name a file with --from"),
            };
            let path = path(client, Some(agent), "memory").await?;
            let before: Value = client.get(&path).await?;
            let saved = put(client, &path, &whole, &before).await?;
            Ok(term.changed(&saved, json, &remembered(agent, &saved)))
        }
        MemoryAction::Append { agent, text: line } => {
            let path = path(client, Some(agent), "memory").await?;
            let saved = append(client, &path, line.trim()).await?;
            Ok(term.changed(&saved, json, &remembered(agent, &saved)))
        }
        MemoryAction::Clear { agent, yes } => {
            let path = path(client, Some(agent), "memory").await?;
            if !agreed(term, *yes, &format!("Have `{agent}` forget everything for good?"))? {
                return Ok(Exit::Refused);
            }
            client.delete(&path).await?;
            Ok(term.changed(&json!({"cleared": agent}), json, &format!("`{agent}` remembers nothing any more")))
        }
    }
}

/// Runs may change it at any time: then the line is added to what they wrote.
async fn append(client: &Client, path: &str, line: &str) -> anyhow::Result<Value> {
    if line.is_empty() {
        bail!("the line is empty; say what it is to remember");
    }
    for _ in 0..TRIES {
        let before: Value = client.get(path).await?;
        let whole = match text(&before, "text") {
            "" => line.to_owned(),
            text => format!("{text}\n{line}"),
        };
        match put(client, path, &whole, &before).await {
            Err(error) if error.downcast_ref::<Refused>().is_some_and(|refused| refused.status == 409) => {}
            done => return done,
        }
    }
    bail!("runs change the memory all the time; try again in a moment")
}

async fn put(client: &Client, path: &str, whole: &str, before: &Value) -> anyhow::Result<Value> {
    let body = json!({"text": whole, "version": before["version"]});
    client.request(Method::PUT, path, Some(&body)).await
}

fn remembered(agent: &str, saved: &Value) -> String {
    format!("`{agent}` remembers {} of {} characters", saved["characters"], saved["limit"])
}

pub(super) async fn database(client: &Client, action: &DatabaseAction, json: bool, term: Term) -> anyhow::Result<Exit> {
    match action {
        DatabaseAction::Tables { agent } => tables(client, agent.as_deref(), json, term).await,
        DatabaseAction::Query { agent, sql } => {
            let path = path(client, Some(agent), "database/query").await?;
            let found: Value = client.post(&path, &json!({"sql": sql})).await?;
            if json {
                println!("{found}");
                return Ok(Exit::Done);
            }
            print_rows(&found, term);
            Ok(Exit::Done)
        }
        DatabaseAction::Clear { agent, yes } => {
            let path = path(client, Some(agent), "database").await?;
            if !agreed(term, *yes, &format!("Empty the database of `{agent}`?"))? {
                return Ok(Exit::Refused);
            }
            client.delete(&path).await?;
            let said = format!(
                "emptied; take it back with `steward agents database restore {agent}`, until the agent makes a table again"
            );
            Ok(term.changed(&json!({"cleared": agent}), json, &said))
        }
        DatabaseAction::Restore { agent } => {
            let path = path(client, Some(agent), "database/restore").await?;
            let now: Value = client.act(&path).await?;
            Ok(term.changed(&now, json, &format!("the database of `{agent}` is as it was before")))
        }
    }
}

async fn tables(client: &Client, agent: Option<&str>, json: bool, term: Term) -> anyhow::Result<Exit> {
    let found: Value = client.get(&path(client, agent, "database").await?).await?;
    if json {
        println!("{found}");
        return Ok(Exit::Done);
    }
    let tables = found["tables"].as_array().cloned().unwrap_or_default();
    if tables.is_empty() {
        term.say("it has no tables yet");
    }
    for table in &tables {
        let columns: Vec<&str> =
            table["columns"].as_array().into_iter().flatten().map(|column| text(column, "name")).collect();
        let rows = table["rows"].as_u64().map_or_else(|| "view".to_owned(), |rows| format!("{rows} rows"));
        println!("{:<24} {rows:>COUNT_WIDTH$}  {}", text(table, "name"), term.dim(&columns.join(", ")));
    }
    let documentation = text(&found["documentation"], "text");
    if !documentation.is_empty() {
        println!("\n{documentation}");
    }
    if found["scope"] == "off" {
        term.say(&term.dim("the agent can't use it: steward agents edit NAME --own-database agent"));
    }
    Ok(Exit::Done)
}

fn print_rows(found: &Value, term: Term) {
    let cell = |value: &Value| -> String {
        let shown = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let mut cut: String = shown.chars().map(|c| if c.is_control() { ' ' } else { c }).take(SHOWN).collect();
        if shown.chars().count() > SHOWN {
            cut.push('…');
        }
        cut
    };
    let columns: Vec<String> = found["columns"].as_array().into_iter().flatten().map(cell).collect();
    let rows: Vec<Vec<String>> = found["rows"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|row| row.as_array().into_iter().flatten().map(cell).collect())
        .collect();
    let widths: Vec<usize> = (0..columns.len())
        .map(|at| rows.iter().chain([&columns]).filter_map(|row| Some(row.get(at)?.chars().count())).max().unwrap_or(0))
        .collect();
    let line = |cells: &[String]| {
        let padded: Vec<String> = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        padded.join("  ").trim_end().to_owned()
    };
    println!("{}", term.bold(&line(&columns)));
    for row in &rows {
        println!("{}", line(row));
    }
    if found["truncated"] == true {
        term.say("there are more rows; ask for fewer with WHERE or LIMIT");
    }
}

pub(super) async fn import(
    client: &Client,
    file: &Path,
    agent: &str,
    (yes, json): (bool, bool),
    term: Term,
) -> anyhow::Result<Exit> {
    let bytes = std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    let path = path(client, Some(agent), "import-metatron").await?;
    let question =
        format!("Replace the instructions, memory and database of `{agent}` by those of {}?", file.display());
    if !agreed(term, yes, &question)? {
        return Ok(Exit::Refused);
    }
    let taken: Value = client.upload(&path, Some(bytes)).await?;
    if !json {
        for left in taken["left_out"].as_array().into_iter().flatten() {
            term.say(&format!("{} {}", term.yellow("left out"), left.as_str().unwrap_or_default()));
        }
    }
    let tables = taken["tables"].as_array().map_or(0, Vec::len);
    let tables = if tables == 1 { "1 table".to_owned() } else { format!("{tables} tables") };
    let said = format!("`{agent}` has {tables} with {} rows now, and the instructions and memory", taken["rows"]);
    Ok(term.changed(&taken, json, &said))
}

fn agreed(term: Term, yes: bool, question: &str) -> anyhow::Result<bool> {
    if yes {
        return Ok(true);
    }
    if !term.can_ask {
        bail!("{question} Add -y if that is meant");
    }
    let agreed = term.agrees(&format!("{question} [y/N]"));
    if !agreed {
        term.say("nothing was changed");
    }
    Ok(agreed)
}
