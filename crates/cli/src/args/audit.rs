use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;
use steward_core::RunId;

/// `audit`.
#[derive(Debug, Clone, Args)]
pub struct AuditArgs {
    /// What to do; none lists.
    #[command(subcommand)]
    pub action: Option<AuditAction>,
    /// Which entries.
    #[command(flatten)]
    pub wanted: AuditWanted,
    /// At most so many.
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub limit: u32,
    /// JSON instead of text.
    #[arg(long, global = true)]
    pub json: bool,
}

/// Which entries. All that is given must fit.
#[derive(Debug, Clone, Default, Args)]
pub struct AuditWanted {
    /// Of this actor: an email, or `steward` for Steward itself.
    #[arg(long, value_name = "WHO")]
    pub actor: Option<String>,
    /// Of this action, or of those below it: `auth` has `auth.login` too.
    #[arg(long, value_name = "NAME")]
    pub action: Option<String>,
    /// To this target: an id, a tool or an agent.
    #[arg(long, value_name = "WHAT")]
    pub target: Option<String>,
    /// That ended so.
    #[arg(long, value_enum)]
    pub result: Option<ResultArg>,
    /// Of this run.
    #[arg(long, value_name = "ID")]
    pub run: Option<RunId>,
    /// Not older than this: 90s, 30m, 1h or 7d.
    #[arg(long, value_parser = super::duration, value_name = "TIME")]
    pub since: Option<Duration>,
    /// Older than this.
    #[arg(long, value_parser = super::duration, value_name = "TIME")]
    pub until: Option<Duration>,
    /// Whose actor, action, target, address or details hold this.
    #[arg(long)]
    pub text: Option<String>,
}

/// How something ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ResultArg {
    /// Done.
    Ok,
    /// A person is asked.
    Asked,
    /// Not allowed, or a person said no.
    Refused,
    /// It went wrong.
    Failed,
    /// A person stopped it.
    Stopped,
    /// A limit stopped it.
    Limited,
    /// Nobody knows whether it happened.
    Uncertain,
}

/// What to do with the audit trail.
#[derive(Debug, Clone, Subcommand)]
pub enum AuditAction {
    /// List entries, newest first.
    List {
        /// Which entries.
        #[command(flatten)]
        wanted: AuditWanted,
        /// At most so many.
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=10_000))]
        limit: u32,
    },
    /// Show one entry.
    Show {
        /// Its number.
        seq: u64,
    },
    /// Write entries to a file, oldest first.
    Export {
        /// Which entries.
        #[command(flatten)]
        wanted: AuditWanted,
        /// How it is written.
        #[arg(long, value_enum, default_value = "jsonl")]
        format: ExportFormat,
        /// The file; standard output if left out.
        #[arg(long, short = 'o', value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Check that every entry is there and as it was written; the exit code is 1 if not.
    Verify {
        /// An entry noted at an earlier check, which must still be there as it was.
        #[arg(long, value_name = "NUMBER:HASH")]
        known: Option<String>,
    },
    /// Show or set how long entries are kept.
    Retention {
        /// Days; older entries are deleted.
        #[arg(long, value_parser = clap::value_parser!(u32).range(1..=36_500))]
        days: Option<u32>,
        /// Keep all for good.
        #[arg(long, conflicts_with = "days")]
        forever: bool,
    },
}

/// How an export is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// A JSON object a line.
    Jsonl,
    /// Comma-separated, for spreadsheets.
    Csv,
}
