use super::AuthArgs;
use clap::{Args, Subcommand};

/// `model`.
#[derive(Debug, Clone, Args)]
pub struct Model {
    /// What to do.
    #[command(subcommand)]
    pub action: ModelAction,
    /// JSON instead of text.
    #[arg(long, global = true)]
    pub json: bool,
}

/// What to do with models.
#[derive(Debug, Clone, Subcommand)]
pub enum ModelAction {
    /// Find out what the model of a connection can do; it is used accordingly from then on.
    #[command(
        after_help = "Takes about a minute and at most 15000 tokens.\n\nExamples:\n  steward model exam big\n  steward model exam local --json"
    )]
    Exam {
        /// The connection's name; none examines the default.
        connection: Option<String>,
        /// Show the last report instead.
        #[arg(long)]
        last: bool,
    },
    /// Say what answers at an address. Nothing is saved.
    #[command(
        after_help = "Examples:\n  steward model recognise http://127.0.0.1:11434\n  steward model recognise https://api.example.org/v1 --key"
    )]
    Recognise {
        /// Any address of the server.
        url: String,
        /// How to prove who asks.
        #[command(flatten)]
        auth: AuthArgs,
    },
}
