//! `steward eval`.

use clap::{Args, Subcommand};
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
    /// Replay all runs kept as tests (`steward runs keep`); exit 1 if something differs.
    Kept {
        /// One JSON object instead of text.
        #[arg(long)]
        json: bool,
    },
}
