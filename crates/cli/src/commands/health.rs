use super::picked::text;
use crate::args::HealthArgs;
use crate::client::Client;
use crate::exit::Exit;
use crate::term::Term;
use serde_json::Value;

/// Fails if something does not answer that nothing works without.
pub async fn run(client: &Client, args: &HealthArgs, term: Term) -> anyhow::Result<Exit> {
    term.status("looking at everything…");
    let report: Value = client.get("/api/admin/health").await?;
    term.clear();
    let exit = if text(&report, "status") == "down" { Exit::Failed } else { Exit::Done };
    if args.json {
        println!("{report}");
        return Ok(exit);
    }
    for part in report["parts"].as_array().into_iter().flatten() {
        let mark = match text(part, "status") {
            "ok" => term.green("✓"),
            "off" => term.dim("–"),
            "degraded" => term.yellow("!"),
            _ => term.red("✗"),
        };
        let ms = part["ms"].as_u64().unwrap_or_default();
        println!("{mark} {}: {}  {}", text(part, "name"), text(part, "detail"), term.dim(&format!("{ms} ms")));
    }
    Ok(exit)
}
