use super::rows::{items, object, text, texts};
use crate::client::Client;
use crate::term::{Exit, Term};
use clap::Args;
use serde_json::Value;

/// Find passages in documents, by words and by meaning.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  steward search \"how long is the notice period\"\n  steward search max_wal_size --type html -n 3"
)]
pub struct SearchArgs {
    /// A question, or words; words in quotes are found as they stand.
    #[arg(value_name = "TEXT")]
    query: String,
    /// Only in this collection; may be repeated.
    #[arg(long, value_name = "NAME")]
    collection: Vec<String>,
    /// Only in documents that are linked to this agent.
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Only documents of this kind, such as `pdf`.
    #[arg(long = "type", value_name = "KIND")]
    doc_type: Option<String>,
    /// How many passages to show.
    #[arg(long, short = 'n', value_name = "COUNT", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    limit: u32,
    /// JSON instead of text.
    #[arg(long)]
    json: bool,
}

/// Lines of a passage that are shown.
const LINES: usize = 6;

pub async fn run(client: &Client, args: SearchArgs, term: Term) -> anyhow::Result<Exit> {
    let body = object([
        ("query", Some(args.query.into())),
        ("collections", Some(args.collection.into())),
        ("limit", Some(args.limit.into())),
        ("agent_id", args.agent.map(Value::from)),
        ("doc_type", args.doc_type.map(Value::from)),
    ]);
    let result: Value = client.post("/api/documents/search", &Value::Object(body)).await?;
    Ok(term.with_json(args.json).shown(&result, || show(&result, term)))
}

fn show(result: &Value, term: Term) {
    if let Some(notice) = result["notice"].as_str() {
        term.say(notice);
    }
    let found = items(result, "found");
    if found.is_empty() {
        let documents = result["documents"].as_u64().unwrap_or_default();
        println!("nothing found in {documents} documents; `steward documents` lists them");
    }
    for (place, one) in (1..).zip(found) {
        let chunk = &one["chunk"];
        let page = chunk["first_page"].as_u64().filter(|page| *page > 1 || text(one, "doc_type") == "pdf");
        let page = page.map(|page| format!(", page {page}")).unwrap_or_default();
        let headings = texts(chunk, "headings").collect::<Vec<_>>().join(" › ");
        println!("{} {}{page}  {}", term.bold(&format!("[{place}]")), text(one, "name"), term.dim(&headings));
        for line in text(chunk, "text").lines().filter(|line| !line.trim().is_empty()).take(LINES) {
            println!("    {line}");
        }
    }
}
