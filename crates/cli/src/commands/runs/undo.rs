//! `steward runs undo`.

use crate::client::Client;
use crate::exit::Exit;
use crate::term::Term;
use serde_json::json;

/// Takes back what a run did, or one call of it.
pub async fn undo(client: &Client, text: &str, call: Option<&str>, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let row = client.find_run(text).await?;
    let report = client.undo(row.id, call).await?;
    if as_json {
        println!("{}", json!(report));
    } else if report.is_empty() {
        term.say("Nothing to undo: the run changed nothing, or it was undone before.");
    } else {
        for one in &report {
            let mark = if one.undone { term.green("✓") } else { term.red("✗") };
            term.say(&format!("{mark} {}: {}", one.tool, one.detail));
        }
    }
    Ok(if report.iter().all(|one| one.undone) { Exit::Done } else { Exit::Failed })
}
