use clap::{Args, Subcommand};
use std::time::Duration;

/// `reminders`.
#[derive(Debug, Clone, Args)]
pub struct Reminders {
    /// What to do; none lists.
    #[command(subcommand)]
    pub action: Option<ReminderAction>,
    /// With those that are done.
    #[arg(long)]
    pub all: bool,
    /// JSON instead of text.
    #[arg(long, global = true)]
    pub json: bool,
}

/// What to do with reminders.
#[derive(Debug, Clone, Subcommand)]
pub enum ReminderAction {
    /// Mark them as done.
    Done {
        /// Their ids, or the beginnings of them.
        #[arg(required = true)]
        ids: Vec<String>,
    },
    /// Be reminded again later.
    Snooze {
        /// Its id, or the beginning of it.
        id: String,
        /// In how long: 10m, 1h, 1d.
        #[arg(default_value = "10m", value_parser = super::duration)]
        time: Duration,
    },
    /// Remove it.
    Remove {
        /// Its id, or the beginning of it.
        id: String,
    },
}
