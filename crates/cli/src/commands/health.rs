use super::rows::{items, text};
use crate::client::Client;
use crate::term::{Exit, Term};
use clap::Args;
use serde_json::Value;

/// How everything is that the program needs: database, models, servers, sandbox.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:\n  steward health\n  steward health --json")]
pub struct HealthArgs {
    /// JSON instead of text.
    #[arg(long)]
    json: bool,
}

/// Fails if something does not answer that nothing works without.
pub async fn run(client: &Client, args: &HealthArgs, term: Term) -> anyhow::Result<Exit> {
    let term = term.with_json(args.json);
    term.status("looking at everything…");
    let report: Value = client.get("/api/admin/health").await?;
    term.clear();
    let exit = if text(&report, "status") == "down" { Exit::Failed } else { Exit::Done };
    term.shown(&report, || {
        for part in items(&report, "parts") {
            let mark = match text(part, "status") {
                "ok" => term.green("✓"),
                "off" => term.dim("–"),
                "degraded" => term.yellow("!"),
                _ => term.red("✗"),
            };
            let ms = part["ms"].as_u64().unwrap_or_default();
            println!("{mark} {}: {}  {}", text(part, "name"), text(part, "detail"), term.dim(&format!("{ms} ms")));
        }
    });
    Ok(exit)
}
