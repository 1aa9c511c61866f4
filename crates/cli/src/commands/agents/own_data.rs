use crate::client::{Client, Refused};
use crate::commands::rows::{cell, content_of, elements, items, print_table, text, texts};
use crate::term::{Exit, Term, print_text};
use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use std::path::PathBuf;

/// Take over the instruction, memory and tables of a database of MetatronOS.
#[derive(Debug, Clone, Args)]
pub struct Import {
    /// Its SQLite file.
    file: PathBuf,
    /// The agent that gets it; what it kept before is replaced.
    agent: String,
    /// Don't ask.
    #[arg(long, short)]
    yes: bool,
}

#[derive(Debug, Clone, Subcommand)]
pub enum MemoryAction {
    /// Show it.
    Show {
        /// Name of the agent [default: steward].
        agent: Option<String>,
    },
    /// Replace it.
    Set {
        /// Name of the agent.
        agent: String,
        /// The whole text.
        #[arg(required_unless_present = "from")]
        text: Option<String>,
        /// The same from a file; `-` reads standard input.
        #[arg(long, value_name = "FILE", conflicts_with = "text")]
        from: Option<PathBuf>,
    },
    /// Add a line to it.
    Append {
        /// Name of the agent.
        agent: String,
        /// The line.
        text: String,
    },
    /// Have it forget everything.
    Clear {
        /// Name of the agent.
        agent: String,
        /// Don't ask.
        #[arg(long, short)]
        yes: bool,
    },
}

#[derive(Debug, Clone, Subcommand)]
pub enum DatabaseAction {
    /// List its tables, with what the agent has written down about them.
    Tables {
        /// Name of the agent [default: steward].
        agent: Option<String>,
    },
    /// Run one SELECT.
    Query {
        /// Name of the agent.
        agent: String,
        /// The statement.
        sql: String,
    },
    /// Empty it; `restore` takes that back until the agent makes a table again.
    Clear {
        /// Name of the agent.
        agent: String,
        /// Don't ask.
        #[arg(long, short)]
        yes: bool,
    },
    /// Put back the copy from before it was emptied, or from before its tables were last changed.
    Restore {
        /// Name of the agent.
        agent: String,
    },
}

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

pub(super) async fn memory(client: &Client, action: &MemoryAction, term: Term) -> anyhow::Result<Exit> {
    match action {
        MemoryAction::Show { agent } => {
            let kept: Value = client.get(&path(client, agent.as_deref(), "memory").await?).await?;
            Ok(term.shown(&kept, || {
                match text(&kept, "text") {
                    "" => term.say("it remembers nothing yet"),
                    text => print_text(text),
                }
                term.note(&format!("{} of {} characters", kept["characters"], kept["limit"]));
            }))
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
            Ok(term.changed(&saved, &remembered(agent, &saved)))
        }
        MemoryAction::Append { agent, text: line } => {
            let path = path(client, Some(agent), "memory").await?;
            let saved = append(client, &path, line.trim()).await?;
            Ok(term.changed(&saved, &remembered(agent, &saved)))
        }
        MemoryAction::Clear { agent, yes } => {
            let path = path(client, Some(agent), "memory").await?;
            if !agreed(term, *yes, &format!("Have `{agent}` forget everything for good?"))? {
                return Ok(Exit::Refused);
            }
            client.delete(&path).await?;
            Ok(term.changed(&json!({"cleared": agent}), &format!("`{agent}` remembers nothing any more")))
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
            Err(error) if Refused::is(&error, 409) => {}
            done => return done,
        }
    }
    bail!("runs change the memory all the time; try again in a moment")
}

async fn put(client: &Client, path: &str, whole: &str, before: &Value) -> anyhow::Result<Value> {
    let body = json!({"text": whole, "version": before["version"]});
    client.put(path, &body).await
}

fn remembered(agent: &str, saved: &Value) -> String {
    format!("`{agent}` remembers {} of {} characters", saved["characters"], saved["limit"])
}

pub(super) async fn database(client: &Client, action: &DatabaseAction, term: Term) -> anyhow::Result<Exit> {
    match action {
        DatabaseAction::Tables { agent } => tables(client, agent.as_deref(), term).await,
        DatabaseAction::Query { agent, sql } => {
            let path = path(client, Some(agent), "database/query").await?;
            let found: Value = client.post(&path, &json!({"sql": sql})).await?;
            Ok(term.shown(&found, || print_rows(&found, term)))
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
            Ok(term.changed(&json!({"cleared": agent}), &said))
        }
        DatabaseAction::Restore { agent } => {
            let path = path(client, Some(agent), "database/restore").await?;
            let now: Value = client.act(&path).await?;
            Ok(term.changed(&now, &format!("the database of `{agent}` is as it was before")))
        }
    }
}

async fn tables(client: &Client, agent: Option<&str>, term: Term) -> anyhow::Result<Exit> {
    let found: Value = client.get(&path(client, agent, "database").await?).await?;
    Ok(term.shown(&found, || {
        let tables = items(&found, "tables");
        if tables.is_empty() {
            term.say("it has no tables yet");
        }
        for table in tables {
            let columns: Vec<&str> = items(table, "columns").iter().map(|column| text(column, "name")).collect();
            let rows = table["rows"].as_u64().map_or_else(|| "view".to_owned(), |rows| format!("{rows} rows"));
            println!("{:<24} {rows:>COUNT_WIDTH$}  {}", text(table, "name"), term.dim(&columns.join(", ")));
        }
        let documentation = text(&found["documentation"], "text");
        if !documentation.is_empty() {
            println!();
            print_text(documentation);
        }
        if found["enabled"] == false {
            term.note("the agent can't use it: steward agents edit NAME --own-database on");
        }
    }))
}

fn print_rows(found: &Value, term: Term) {
    let shown = |value: &Value| -> String {
        let whole = cell(value);
        let mut cut: String = whole.chars().map(|c| if c.is_control() { ' ' } else { c }).take(SHOWN).collect();
        if whole.chars().count() > SHOWN {
            cut.push('…');
        }
        cut
    };
    let columns: Vec<String> = items(found, "columns").iter().map(shown).collect();
    let rows: Vec<Vec<String>> = items(found, "rows").iter().map(|row| elements(row).map(shown).collect()).collect();
    print_table(&columns, &rows, term);
    if found["truncated"] == true {
        term.say("there are more rows; ask for fewer with WHERE or LIMIT");
    }
}

pub(super) async fn import(client: &Client, wanted: &Import, term: Term) -> anyhow::Result<Exit> {
    let (file, agent) = (&wanted.file, &wanted.agent);
    let bytes = std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    let path = path(client, Some(agent), "import-metatron").await?;
    let question =
        format!("Replace the instructions, memory and database of `{agent}` by those of {}?", file.display());
    if !agreed(term, wanted.yes, &question)? {
        return Ok(Exit::Refused);
    }
    let taken: Value = client.upload(&path, Some(bytes)).await?;
    if !term.json {
        for left in texts(&taken, "left_out") {
            term.say(&format!("{} {left}", term.yellow("left out")));
        }
    }
    let tables = items(&taken, "tables").len();
    let tables = if tables == 1 { "1 table".to_owned() } else { format!("{tables} tables") };
    let said = format!("`{agent}` has {tables} with {} rows now, and the instructions and memory", taken["rows"]);
    Ok(term.changed(&taken, &said))
}

fn agreed(term: Term, yes: bool, question: &str) -> anyhow::Result<bool> {
    term.confirmed(yes, question, &format!("{question} Add -y if that is meant"), "nothing was changed")
}
