use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use steward::cli::{Child, Global};

/// Measures how well Steward understands requests, judges answers, plans, calls functions, and how fast it is.
#[derive(Debug, Parser)]
#[command(
    name = "steward-evals",
    version,
    after_help = "Examples:\n  steward-evals asks requests.jsonl --workspace ~/data\n  steward-evals answers answers.jsonl --json\n  steward-evals --connection local asks requests.jsonl -w ~/data --json"
)]
pub struct Cli {
    /// The same settings as those of `steward`.
    #[command(flatten)]
    pub global: Global,
    /// What to measure.
    #[command(subcommand)]
    pub suite: Suite,
}

/// Suites.
#[derive(Debug, Subcommand)]
pub enum Suite {
    /// First calls for requests in people's words: one JSON object per line with id, ask, tools, observe.
    Asks(Asks),
    /// How answers are judged that no tool stands behind: one JSON object per line with request and
    /// answer, also packed (`.gz`). For a connection that is not examined and for one graded D; no model is asked.
    #[command(after_help = "Example:\n  steward-evals answers answers.jsonl.gz --json")]
    Answers(Answers),
    /// What planning while working changes: requests of several steps, with it and without.
    Deep(Deep),
    /// Questions of fact, asked of the documents that the server has: one JSON object per line with id, text, file, quote,
    /// expect. An answer is right that holds what is expected and cites a passage that says it.
    #[command(after_help = "Example:\n  steward ingest manuals/\n  steward-evals facts questions.jsonl --json")]
    Facts(Facts),
    /// How well the documents that the server has are searched: one JSON object per line with id, text, answers (file and
    /// quote).
    Passages(Passages),
    /// Function calls of the Berkeley leaderboard (BFCL v4), judged by its own checker.
    #[command(
        after_help = "Examples:\n  steward-evals bfcl --category simple_python --limit 100\n  steward-evals bfcl --category multiple --strategy react --json\n\nThe cases come from the Python package bfcl-eval, which is installed into the cache folder at the first use."
    )]
    Bfcl(Bfcl),
    /// What the gateway adds to a call: direct and through Steward (and LiteLLM) in turns.
    #[command(
        after_help = "Example:\n  steward-evals gateway --rounds 3 --seconds 1\n\nDriver, upstream and gateways are separate processes, the first two with one thread each."
    )]
    Gateway(Gateway),
    /// Speed and memory of the local model and of the embedding model on this machine.
    LocalModel(LocalModel),
    /// How many letters of pages that are pictures are read wrongly: by each engine, by all in turn, and without each step
    /// of preparation. The pages are rendered from known texts and spoiled in eight ways.
    #[command(after_help = "Example:\n  steward-evals ocr --steps --json")]
    Ocr(Ocr),
    /// What it starts itself with.
    #[command(flatten)]
    Child(Child),
}

/// `ocr`.
#[derive(Debug, Clone, Args)]
pub struct Ocr {
    /// Also without each step of preparation, which takes nine times as long.
    #[arg(long)]
    pub steps: bool,
    /// One JSON object instead of a table.
    #[arg(long)]
    pub json: bool,
    /// Only every Nth page; with 5, each kind of page once.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    pub every: u16,
}

/// `asks`.
#[derive(Debug, Clone, Args)]
pub struct Asks {
    /// File of requests.
    pub file: PathBuf,
    /// Folder the requests are about; a copy is used.
    #[arg(long, short = 'w', value_name = "DIR")]
    pub workspace: PathBuf,
    /// One JSON object instead of a table.
    #[arg(long)]
    pub json: bool,
    /// Offer every tool instead of those that fit.
    #[arg(long)]
    pub no_intent_filter: bool,
    /// Port of 127.0.0.1 where the workspace is served as web pages meanwhile.
    #[arg(long, default_value_t = 18080)]
    pub pages_port: u16,
    /// Only the first N.
    #[arg(long)]
    pub limit: Option<usize>,
}

/// `answers`.
#[derive(Debug, Clone, Args)]
pub struct Answers {
    /// File of answers.
    pub file: PathBuf,
    /// One JSON object instead of text.
    #[arg(long)]
    pub json: bool,
}

/// `deep`.
#[derive(Debug, Clone, Args)]
pub struct Deep {
    /// File of requests: one JSON object per line with id, ask, have (files and their text), files
    /// (files that must be there afterwards and a part of their text), says (parts of the answer).
    pub file: PathBuf,
    /// With planning, without, or both.
    #[arg(long, value_enum, default_value_t = Planning::Both)]
    pub planning: Planning,
    /// One JSON object instead of a table.
    #[arg(long)]
    pub json: bool,
    /// Only the first N.
    #[arg(long)]
    pub limit: Option<usize>,
    /// Use the chosen connection as that of a model that an exam graded below C, which is helped.
    #[arg(long)]
    pub weak: bool,
}

/// With planning, without, or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Planning {
    /// With.
    On,
    /// Without.
    Off,
    /// Each request twice.
    Both,
}

/// `facts`.
#[derive(Debug, Clone, Args)]
pub struct Facts {
    /// File of questions.
    pub file: PathBuf,
    /// Agent that is asked, by name or id [default: the one that comes with Steward].
    #[arg(long)]
    pub agent: Option<String>,
    /// One JSON object instead of a table.
    #[arg(long)]
    pub json: bool,
    /// Only the first N.
    #[arg(long)]
    pub limit: Option<usize>,
}

/// `passages`.
#[derive(Debug, Clone, Args)]
pub struct Passages {
    /// File of questions.
    pub file: PathBuf,
    /// Only in these collections.
    #[arg(long, short = 'c', value_name = "NAME")]
    pub collection: Vec<String>,
    /// One JSON object instead of a table.
    #[arg(long)]
    pub json: bool,
}

/// `bfcl`.
#[derive(Debug, Clone, Args)]
pub struct Bfcl {
    /// Which cases.
    #[arg(long, value_enum)]
    pub category: Category,
    /// Leave out the first K.
    #[arg(long, default_value_t = 0, value_name = "K")]
    pub offset: usize,
    /// At most N.
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// How calls are got.
    #[arg(long, value_enum, default_value_t = Way::Best)]
    pub strategy: Way,
    /// One JSON object instead of a table.
    #[arg(long)]
    pub json: bool,
}

/// How calls are got from a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Way {
    /// The model writes `Action:` and `Action Input:` freely.
    React,
    /// The model writes JSON under a schema over all tools.
    Schema,
    /// The intent filter chooses, arguments are read from the request, the model decides what is left.
    Best,
}

/// Categories of BFCL with single-turn calls, as the benchmark names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum Category {
    SimplePython,
    Multiple,
    Parallel,
    ParallelMultiple,
    Irrelevance,
    LiveSimple,
    LiveMultiple,
    LiveParallel,
    LiveParallelMultiple,
    LiveIrrelevance,
    LiveRelevance,
}

impl Category {
    /// Name as in the benchmark.
    pub fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}

/// `gateway`.
#[derive(Debug, Clone, Args)]
pub struct Gateway {
    /// The program that is measured [default: `steward` beside this program].
    #[arg(long, value_name = "PROGRAM")]
    pub steward: Option<PathBuf>,
    /// Python of an environment with LiteLLM, to measure that too.
    #[arg(long, value_name = "PYTHON")]
    pub litellm: Option<PathBuf>,
    /// How often each place has its turn.
    #[arg(long, default_value_t = 5)]
    pub rounds: usize,
    /// How long a turn is.
    #[arg(long, default_value_t = 2)]
    pub seconds: u64,
    /// Pause between the chunks of a paced stream, milliseconds.
    #[arg(long, default_value_t = 2)]
    pub gap_ms: u64,
    /// Numbers of connections at once.
    #[arg(long, value_delimiter = ',', default_value = "1,16,64")]
    pub connections: Vec<usize>,
    /// Be the upstream; the bench starts itself so.
    #[arg(long, hide = true)]
    pub upstream: bool,
    /// Be a relay to this address.
    #[arg(long, hide = true)]
    pub relay: Option<String>,
}

/// `local-model`.
#[derive(Debug, Clone, Args)]
pub struct LocalModel {
    /// Threads; 0 is one per core.
    #[arg(long, default_value_t = 0)]
    pub threads: u32,
    /// Context window, tokens.
    #[arg(long, default_value_t = 4096)]
    pub context: u32,
}
