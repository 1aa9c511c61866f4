use clap::{Args, Subcommand};
use std::path::PathBuf;

/// `sandbox`.
#[derive(Debug, Clone, Args)]
pub struct Sandbox {
    /// What to run.
    #[command(subcommand)]
    pub action: SandboxAction,
}

/// What to run.
#[derive(Debug, Clone, Subcommand)]
pub enum SandboxAction {
    /// Call `run(payload)` of a file of Python.
    Python(SandboxPython),
    /// Run one statement on a database.
    Sql(SandboxSql),
}

/// `sandbox python`.
#[derive(Debug, Clone, Args)]
pub struct SandboxPython {
    /// File with `def run(payload)`; `-` reads standard input.
    pub file: PathBuf,
    /// What `run` is given, as JSON.
    #[arg(long, value_name = "JSON", default_value = "{}", allow_hyphen_values = true)]
    pub payload: String,
    /// Wall time in seconds, after which it is killed.
    #[arg(long, value_name = "SECONDS", default_value_t = 5.0)]
    pub timeout: f64,
    /// Memory cap in MiB.
    #[arg(long, value_name = "MIB", default_value_t = 128)]
    pub memory: u64,
}

/// `sandbox sql`.
#[derive(Debug, Clone, Args)]
pub struct SandboxSql {
    /// SQLite file, or a postgres:// or mysql:// URL.
    pub database: String,
    /// One statement; `-` reads standard input.
    #[arg(allow_hyphen_values = true)]
    pub sql: String,
    /// Allow INSERT, UPDATE and DELETE as well.
    #[arg(long)]
    pub write: bool,
    /// Wall time in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 2.0)]
    pub timeout: f64,
    /// Only this table or view may be used; may be given often (SQLite).
    #[arg(long, value_name = "TABLE")]
    pub table: Vec<String>,
    /// This table or view is closed; may be given often (SQLite).
    #[arg(long, value_name = "TABLE", conflicts_with = "table")]
    pub deny_table: Vec<String>,
    /// This column is closed; may be given often (SQLite).
    #[arg(long, value_name = "TABLE.COLUMN")]
    pub deny_column: Vec<String>,
    /// Open tables and columns in spite of names such as `tokens` or `password` (SQLite).
    #[arg(long)]
    pub allow_sensitive: bool,
}
