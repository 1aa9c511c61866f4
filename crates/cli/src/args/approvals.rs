//! `steward approvals` and `steward grants`.

use clap::{Args, Subcommand};
use std::time::Duration;

/// `approvals`.
#[derive(Debug, Clone, Args)]
pub struct Approvals {
    /// What to do; none lists.
    #[command(subcommand)]
    pub action: Option<ApprovalAction>,
    /// JSON instead of text.
    #[arg(long, global = true)]
    pub json: bool,
}

/// What to do with an approval.
#[derive(Debug, Clone, Subcommand)]
pub enum ApprovalAction {
    /// Let it through.
    Approve {
        /// Its id, or the end of it.
        id: String,
        /// Also what comes of the same tool until the run ends; never what can't be undone.
        #[arg(long, conflicts_with = "for_time")]
        for_run: bool,
        /// Also what the agent does with the same tool for so long (90s, 30m, 1h, at most 7d); never what can't be undone.
        #[arg(long = "for", id = "for_time", value_name = "TIME", value_parser = super::duration)]
        for_time: Option<Duration>,
    },
    /// Refuse it.
    Deny {
        /// Its id, or the end of it.
        id: String,
        /// Why; the agent is told.
        #[arg(long)]
        reason: Option<String>,
    },
    /// Say how it should be instead, or answer a question.
    Answer {
        /// Its id, or the end of it.
        id: String,
        /// What to say.
        text: String,
    },
    /// An interrupted write: it happened.
    Happened {
        /// Its id, or the end of it.
        id: String,
    },
    /// An interrupted write: run it again.
    RunAgain {
        /// Its id, or the end of it.
        id: String,
    },
    /// An interrupted write: leave it out.
    Skip {
        /// Its id, or the end of it.
        id: String,
    },
}

/// `grants`.
#[derive(Debug, Clone, Args)]
pub struct Grants {
    /// What to do; none lists.
    #[command(subcommand)]
    pub action: Option<GrantAction>,
    /// JSON instead of text.
    #[arg(long, global = true)]
    pub json: bool,
}

/// What to do with grants.
#[derive(Debug, Clone, Subcommand)]
pub enum GrantAction {
    /// Take one back: it is asked again from then on.
    Revoke {
        /// Its id, or the beginning or end of it.
        id: String,
    },
}
