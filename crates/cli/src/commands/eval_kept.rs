//! `steward eval kept`: whether this program still decides as it did.

use super::runs::print_differences;
use crate::client::Client;
use crate::exit::Exit;
use crate::term::Term;
use serde_json::json;

pub async fn run(client: &Client, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let reports = client.replay_kept().await?;
    let same = reports.iter().filter(|one| one.same).count();
    if as_json {
        println!("{}", json!({"kept": reports.len(), "same": same, "results": reports}));
    } else if reports.is_empty() {
        term.say("No runs are kept. Keep one with: steward runs keep RUN NAME");
    } else {
        for one in &reports {
            let mark = if one.same { term.green("✓") } else { term.red("✗") };
            println!("{mark} {}  {}", one.name, term.dim(&one.run_id.to_string()));
            print_differences(term, &one.differences);
        }
        println!("{} kept, {same} the same", reports.len());
    }
    Ok(if same == reports.len() { Exit::Done } else { Exit::Failed })
}
