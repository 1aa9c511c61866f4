//! `steward runs`, and `steward eval`, which replays those kept as tests.

use clap::{Args, Subcommand};
use std::path::PathBuf;

/// `runs`.
#[derive(Debug, Clone, Args)]
pub struct Runs {
    /// What to do; none lists.
    #[command(subcommand)]
    pub action: Option<RunAction>,
    /// At most so many.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub limit: u32,
    /// Only older than this run.
    #[arg(long, value_name = "RUN")]
    pub before: Option<String>,
    /// JSON instead of a table.
    #[arg(long, global = true)]
    pub json: bool,
}

/// What to do with a run.
#[derive(Debug, Clone, Subcommand)]
pub enum RunAction {
    /// Show a run's log.
    Show {
        /// Its id, or the beginning of it.
        run: String,
    },
    /// Stop a run.
    Stop {
        /// Its id, or the beginning of it.
        run: String,
    },
    /// Say something to a run that has not ended; it takes it in at its next step.
    Steer {
        /// Its id, or the beginning of it.
        run: String,
        /// What to say.
        text: String,
    },
    /// Take back what a run did, newest first.
    Undo {
        /// Its id, or the beginning of it.
        run: String,
        /// Only this call of it (see `steward runs show`).
        #[arg(long, value_name = "ID")]
        call: Option<String>,
    },
    /// Go on with an interrupted run; without an id with all of them.
    Resume {
        /// Its id, or the beginning of it.
        run: Option<String>,
    },
    /// Branch off where a model was asked; --connection takes another model. What the run did before is not done again.
    #[command(
        after_help = "Examples:\n  steward runs fork 3f2a\n  steward --connection big runs fork 3f2a --at 12\n  steward runs fork 3f2a --input \"the same in French\""
    )]
    Fork {
        /// Its id, or the beginning of it.
        run: String,
        /// Last event to take over [default: before the first question to a model].
        #[arg(long, value_name = "SEQ")]
        at: Option<u64>,
        /// Another request; only at the first place.
        #[arg(long, value_name = "TEXT")]
        input: Option<String>,
        /// Go ahead without asking, except for what can't be undone.
        #[arg(short = 'y', long)]
        yes: bool,
    },
    /// Decide a run again from its log, without models and tools; exit 1 if something differs.
    #[command(after_help = "Examples:\n  steward runs replay 3f2a\n  steward runs replay 3f2a --json")]
    Replay {
        /// Its id, or the beginning of it.
        run: String,
    },
    /// Keep an ended run as a test for `steward eval kept`.
    #[command(after_help = "Examples:\n  steward runs keep 3f2a \"weekly report\"")]
    Keep {
        /// Its id, or the beginning of it.
        run: String,
        /// A name for it.
        name: String,
    },
    /// Runs kept as tests.
    Kept,
    /// Let go of a kept run; the run itself stays.
    Unkeep {
        /// The name it is kept under.
        name: String,
    },
}

/// `eval`.
#[derive(Debug, Clone, Args)]
pub struct Eval {
    /// What to replay.
    #[command(subcommand)]
    pub suite: Suite,
}

/// Suites.
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
    Domains(EvalDomains),
}

/// `eval domains`.
#[derive(Debug, Clone, Args)]
pub struct EvalDomains {
    /// File of questions.
    pub file: PathBuf,
    /// The agent that is asked.
    #[arg(long, default_value = "oos", value_name = "NAME")]
    pub agent: String,
    /// Only the first N.
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// One JSON object instead of a line for each.
    #[arg(long)]
    pub json: bool,
}

/// `eval retrieval`.
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
