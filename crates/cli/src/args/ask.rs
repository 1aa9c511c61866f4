//! `steward ask`, `chat`, `sample` and `resume`.

use clap::{Args, Subcommand};
use std::path::PathBuf;

/// `ask`.
#[derive(Debug, Clone, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own on the command line")]
pub struct Ask {
    /// The request; `-` or nothing reads it from standard input.
    pub request: Vec<String>,
    /// Go ahead without asking, except for steps that can't be undone.
    #[arg(short = 'y', long)]
    pub yes: bool,
    /// Show the plan and stop.
    #[arg(long, conflicts_with = "dry_run")]
    pub plan_only: bool,
    /// Show what each step would do; do nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// One JSON object on standard output instead of text.
    #[arg(long)]
    pub json: bool,
    /// Folder that file tools are confined to [default: the current one; a running server's own].
    #[arg(long, short = 'w', value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// Work in the current folder; refused beside a server that works elsewhere.
    #[arg(long, conflicts_with = "workspace")]
    pub here: bool,
    /// Let web tools reach this private host and port; may be given often.
    #[arg(long, value_name = "HOST:PORT", value_delimiter = ',')]
    pub allow: Vec<String>,
    /// Offer the model every tool instead of those that fit the request.
    #[arg(long)]
    pub no_intent_filter: bool,
    /// Show candidates, scores, prompts' sizes.
    #[arg(short, long)]
    pub verbose: bool,
    /// Which agent, by name (see `steward agents`) [default: steward].
    #[arg(long, short = 'a', value_name = "NAME")]
    pub agent: Option<String>,
}

/// `sample`.
#[derive(Debug, Clone, Args)]
pub struct Sample {
    /// What to do.
    #[command(subcommand)]
    pub action: SampleAction,
}

/// What can be done with the sample workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Subcommand)]
pub enum SampleAction {
    /// Add its files; what is there already stays as it is.
    Add,
    /// Remove its files, but for those that were changed.
    Remove,
}

/// `chat`.
#[derive(Debug, Clone, Args)]
pub struct Chat {
    /// Go ahead without asking, except for what can't be undone.
    #[arg(short = 'y', long)]
    pub yes: bool,
    /// Folder that file tools are confined to [default: the current one; a running server's own].
    #[arg(long, short = 'w', value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// Work in the current folder; refused beside a server that works elsewhere.
    #[arg(long, conflicts_with = "workspace")]
    pub here: bool,
    /// Go on with this conversation.
    #[arg(long, value_name = "ID")]
    pub conversation: Option<String>,
    /// With which agent, by name (see `steward agents`) [default: steward].
    #[arg(long, short = 'a', value_name = "NAME", conflicts_with = "conversation")]
    pub agent: Option<String>,
}

/// `resume`.
#[derive(Debug, Clone, Args)]
pub struct Resume {
    /// Only this run: its id, or the beginning of it.
    pub run: Option<String>,
}
