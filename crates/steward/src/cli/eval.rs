//! `steward eval`.

use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

/// `eval`.
#[derive(Debug, Clone, Args)]
pub struct Eval {
    /// What to measure.
    #[command(subcommand)]
    pub suite: Suite,
}

/// Suites.
#[derive(Debug, Clone, Subcommand)]
pub enum Suite {
    /// First calls for requests in people's words: one JSON object per line with id, ask, tools, observe.
    Asks {
        /// File of requests.
        file: PathBuf,
        /// Folder the requests are about; a copy is used.
        #[arg(long, short = 'w', value_name = "DIR")]
        workspace: PathBuf,
        /// One JSON object instead of a table.
        #[arg(long)]
        json: bool,
        /// Offer every tool instead of those that fit.
        #[arg(long)]
        no_intent_filter: bool,
        /// Port of 127.0.0.1 where the workspace is served as web pages meanwhile.
        #[arg(long, default_value_t = 18080)]
        pages_port: u16,
        /// Only the first N.
        #[arg(long)]
        limit: Option<usize>,
    },
    /// How answers are judged that no tool stands behind: one JSON object per line with request and
    /// answer. As for a model that is not trusted; no model and no server is asked.
    #[command(after_help = "Example:\n  steward eval answers answers.jsonl --json")]
    Answers {
        /// File of answers.
        file: PathBuf,
        /// One JSON object instead of text.
        #[arg(long)]
        json: bool,
    },
    /// What planning while working changes: requests of several steps, with it and without.
    Deep(DeepEval),
    /// Function calls of the Berkeley leaderboard (BFCL v4), judged by its own checker.
    #[command(
        after_help = "Examples:\n  steward eval bfcl --category simple_python --limit 100\n  steward eval bfcl --category multiple --strategy react --json\n\nThe cases come from the Python package bfcl-eval, which is installed into the cache folder at the first use."
    )]
    Bfcl(Bfcl),
    /// Replay all runs kept as tests (`steward runs keep`); exit 1 if something differs.
    Kept {
        /// One JSON object instead of text.
        #[arg(long)]
        json: bool,
    },
}

/// `eval deep`.
#[derive(Debug, Clone, Args)]
pub struct DeepEval {
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

/// `eval bfcl`.
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

/// Categories of BFCL with single-turn calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
#[expect(missing_docs, reason = "named by the benchmark")]
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
    /// As the benchmark calls it.
    pub fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}
