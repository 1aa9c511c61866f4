//! Runs kept as tests.

use crate::client::Client;
use crate::exit::Exit;
use crate::term::Term;
use serde_json::json;

/// Keeps a run.
pub async fn keep(client: &Client, run: &str, name: &str, term: Term) -> anyhow::Result<Exit> {
    let row = client.find_run(run).await?;
    client.keep(row.id, name).await?;
    term.say(&format!("kept as `{}`; replay all kept runs with: steward eval kept", name.trim()));
    Ok(Exit::Done)
}

/// Lists kept runs.
pub async fn list(client: &Client, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let kept = client.kept().await?;
    if as_json {
        println!("{}", json!(kept));
        return Ok(Exit::Done);
    }
    if kept.is_empty() {
        term.say("No runs are kept. Keep one with: steward runs keep RUN NAME");
    }
    for one in &kept {
        println!("{:<24} {}  {}  {}", one.name, one.run, one.created_at.rfc3339(), term.dim(&one.by));
    }
    Ok(Exit::Done)
}

/// Lets go of one.
pub async fn unkeep(client: &Client, name: &str, term: Term) -> anyhow::Result<Exit> {
    client.drop_kept(name).await?;
    term.say(&format!("`{name}` is not kept any more; its run stays"));
    Ok(Exit::Done)
}
