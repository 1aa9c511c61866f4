//! `steward runs`: the list.

use crate::args;
use crate::client::Client;
use crate::exit::Exit;
use crate::term::Term;
use anyhow::Context;
use serde_json::json;
use steward_core::RunId;
use steward_core::event::Outcome;
use steward_core::ports::{RunRow, RunStatus};
use steward_core::receipts::Verdict;

/// Lists runs.
pub async fn list(client: &Client, args: &args::Runs, term: Term) -> anyhow::Result<Exit> {
    let before = args
        .before
        .as_deref()
        .map(|text| text.parse::<RunId>().with_context(|| format!("`{text}` is not a run id")))
        .transpose()?;
    let (rows, more) = client.runs(None, before, args.limit).await?;
    if args.json {
        println!("{}", json!({"runs": rows, "more": more}));
        return Ok(Exit::Done);
    }
    if rows.is_empty() {
        term.say("No runs yet. Begin with: steward ask \"…\"");
    }
    for row in &rows {
        println!(
            "{}  {}  {:<10} {:<10} {:>7} tokens  {}",
            row.id,
            row.created_at.rfc3339(),
            state(row),
            verdict(row),
            row.tokens,
            row.title
        );
    }
    if more && let Some(last) = rows.last() {
        term.say(&format!("more: steward runs --before {}", last.id));
    }
    Ok(Exit::Done)
}

/// Where a run stands, in a word.
pub fn state(row: &RunRow) -> &'static str {
    match (&row.status, &row.outcome) {
        (RunStatus::Running, _) => "running",
        (RunStatus::Parked, _) => "waiting",
        (RunStatus::Finished, Some(Outcome::Completed)) => "completed",
        (RunStatus::Finished, Some(Outcome::Failed { .. })) => "failed",
        (RunStatus::Finished, Some(Outcome::Stopped { .. })) => "stopped",
        (RunStatus::Finished, Some(Outcome::Limited { .. })) => "limited",
        (RunStatus::Finished, Some(Outcome::Rejected)) => "refused",
        (RunStatus::Finished, None) => "finished",
    }
}

/// Whether its claims are proved; nothing where there are none.
pub fn verdict(row: &RunRow) -> &'static str {
    match row.verdict {
        Some(Verdict::Verified) => "verified",
        Some(Verdict::Unverified) => "unverified",
        Some(Verdict::NoClaims) | None => "",
    }
}
