//! `steward connections`.

use clap::{Args, Subcommand};

/// `connections`.
#[derive(Debug, Clone, Args)]
pub struct Connections {
    /// What to do; none lists.
    #[command(subcommand)]
    pub action: Option<ConnectionAction>,
    /// JSON instead of a table.
    #[arg(long, global = true)]
    pub json: bool,
}

/// What to do with connections.
#[derive(Debug, Clone, Subcommand)]
pub enum ConnectionAction {
    /// Save an endpoint that speaks the OpenAI dialect.
    Add {
        /// Its name.
        name: String,
        /// Base URL, up to and with /v1.
        #[arg(long)]
        url: String,
        /// Model name there.
        #[arg(long)]
        model: String,
        /// Environment variable that holds the key.
        #[arg(long, value_name = "VARIABLE")]
        key_env: Option<String>,
        /// Context window, tokens.
        #[arg(long, default_value_t = 32_768)]
        window: u32,
    },
    /// Remove a saved one.
    Remove {
        /// Its name.
        name: String,
    },
    /// Ask one for a word and say how it went.
    Test {
        /// Its name; none tests the default.
        name: Option<String>,
    },
    /// Use this one where nothing else is said.
    Default {
        /// Its name.
        name: String,
    },
}
