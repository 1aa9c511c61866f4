use clap::{Args, Subcommand};

/// `config`.
#[derive(Debug, Clone, Args)]
pub struct ConfigArgs {
    /// What to do; none lists.
    #[command(subcommand)]
    pub action: Option<ConfigAction>,
    /// JSON instead of text.
    #[arg(long, global = true)]
    pub json: bool,
}

/// What to do with the settings.
#[derive(Debug, Clone, Subcommand)]
pub enum ConfigAction {
    /// List the settings, with who says what they are.
    List {
        /// Only those that somebody has set.
        #[arg(long)]
        set: bool,
    },
    /// Show one setting.
    Get {
        /// Its name, as in the list.
        name: String,
    },
    /// Change settings: all of them, or none if one is wrong.
    #[command(
        after_help = "Examples:\n  steward config set LOG_LEVEL=debug\n  steward config set MAX_RUNS=64 LEASE_SECONDS=30\n  openssl rand -hex 24 | steward config set METRICS_TOKEN=-"
    )]
    Set {
        /// NAME=VALUE; `-` reads the value from standard input, so that a secret stands in no command.
        #[arg(required = true, value_name = "NAME=VALUE")]
        values: Vec<String>,
    },
    /// Take changes back: the defaults count again.
    Unset {
        /// Names of settings.
        #[arg(required = true)]
        names: Vec<String>,
    },
}

/// `health`.
#[derive(Debug, Clone, Args)]
pub struct HealthArgs {
    /// JSON instead of text.
    #[arg(long)]
    pub json: bool,
}
