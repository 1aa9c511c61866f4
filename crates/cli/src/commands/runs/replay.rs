//! `steward runs replay`.

use crate::client::Client;
use crate::exit::Exit;
use crate::term::Term;
use serde_json::json;
use steward_core::run::Difference;

/// Replays a run and shows what differs.
pub async fn replay(client: &Client, text: &str, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let row = client.find_run(text).await?;
    let report = client.replay(row.id).await?;
    if as_json {
        println!(
            "{}",
            json!({"run_id": row.id, "same": report.same, "events": report.events, "decisions": report.decisions, "differences": report.differences})
        );
    } else if report.same {
        println!("{} the same: {} decisions of {} events", term.green("✓"), report.decisions, report.events);
    } else {
        println!("{} differs in {} of {} decisions", term.red("✗"), report.differences.len(), report.decisions);
        print_differences(term, &report.differences);
    }
    Ok(if report.same { Exit::Done } else { Exit::Failed })
}

/// Each difference: then and now, one below the other.
pub fn print_differences(term: Term, differences: &[Difference]) {
    for one in differences {
        println!("  event {}", one.seq);
        println!("    {}", term.red(&format!("then  {}", one.recorded)));
        println!("    {}", term.green(&format!("now   {}", one.now)));
    }
}
