mod domains;

use super::rows::{items, text};
use super::runs::print_differences;
use crate::client::Client;
use crate::term::{Exit, Term};
use anyhow::bail;
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use std::path::PathBuf;

/// Replay runs kept as tests; measure how well documents are found.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  steward eval kept\n  steward eval kept --json\n  steward eval retrieval --corpus scifact --queries scifact/queries.jsonl --qrels scifact/qrels/test.tsv"
)]
pub struct Eval {
    #[command(subcommand)]
    pub suite: Suite,
}

#[derive(Debug, Clone, Subcommand)]
pub enum Suite {
    /// Replay all runs kept as tests (`steward runs keep`); exit 1 if something differs.
    Kept {
        /// One JSON object instead of text.
        #[arg(long)]
        json: bool,
    },
    /// How well documents are found, by a collection with judged queries (the file forms of BEIR).
    #[command(
        after_help = "Example:\n  steward eval retrieval --corpus scifact --queries scifact/queries.jsonl --qrels scifact/qrels/test.tsv --json\n\nIt cuts, embeds and indexes the corpus into a temporary folder, without a server, and asks every judged query."
    )]
    Retrieval(Retrieval),
    /// Whether questions about data are answered with the rows that are expected: one JSON object a line with id, text and
    /// rows (null where nothing answers it), and if need be either (rows of each reading), ordered, kind.
    #[command(after_help = "Example:\n  steward eval domains questions.jsonl --agent oos --json")]
    Domains(domains::EvalDomains),
}

#[derive(Debug, Clone, Args)]
pub struct Retrieval {
    /// Folder with `corpus.jsonl`, or that file: lines of _id, title and text.
    #[arg(long, value_name = "DIR")]
    pub corpus: PathBuf,
    /// File with lines of _id and text.
    #[arg(long, value_name = "FILE")]
    pub queries: PathBuf,
    /// File of judgements: query, document and gain, separated by tabs.
    #[arg(long, value_name = "FILE")]
    pub qrels: PathBuf,
    /// One JSON object instead of a table.
    #[arg(long)]
    pub json: bool,
    /// Characters of a chunk at most.
    #[arg(long, default_value_t = 1500, value_name = "N")]
    pub max_chars: usize,
    /// Characters that a chunk repeats of the one before.
    #[arg(long, default_value_t = 300, value_name = "N")]
    pub overlap: usize,
    /// Weight of words where both rankings are put together.
    #[arg(long, default_value_t = 0.3, value_name = "WEIGHT")]
    pub text_weight: f64,
    /// Weight of vectors there.
    #[arg(long, default_value_t = 0.7, value_name = "WEIGHT")]
    pub vector_weight: f64,
}

/// `connection` is the value of `--connection`.
pub(super) async fn run(client: &Client, suite: Suite, connection: Option<&str>, term: Term) -> anyhow::Result<Exit> {
    match suite {
        Suite::Kept { json } => kept(client, term.with_json(json)).await,
        Suite::Domains(args) => domains::run(client, &args, connection, term.with_json(args.json)).await,
        Suite::Retrieval(_) => bail!("retrieval is measured by the program itself, not through its API"),
    }
}

/// Whether this program still decides as it did.
async fn kept(client: &Client, term: Term) -> anyhow::Result<Exit> {
    let replayed: Value = client.act("/api/kept/run").await?;
    let reports = items(&replayed, "items");
    let same = reports.iter().filter(|one| one["same"] == true).count();
    term.shown(&json!({"kept": reports.len(), "same": same, "results": reports}), || {
        if reports.is_empty() {
            return term.say("No runs are kept. Keep one with: steward runs keep RUN NAME");
        }
        for one in reports {
            println!("{} {}  {}", term.mark(one["same"] == true), text(one, "name"), term.dim(text(one, "run_id")));
            print_differences(term, one);
        }
        println!("{} kept, {same} the same", reports.len());
    });
    Ok(if same == reports.len() { Exit::Done } else { Exit::Failed })
}
