use clap::{Args, Parser, Subcommand};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use steward_cli::commands::backup::PassphraseArgs;
use steward_knowledge::confined::{ExtractChild, OcrChild};
use steward_models::local::ModelServer;
use steward_sandbox::attempt::Attempt;

/// AI agents that do real work on your own machines, and prove what they did.
#[derive(Debug, Parser)]
#[command(
    name = "steward",
    version,
    about,
    long_about = "Steward gives AI agents real work, with any model, on your own machines, and proves what they did.\n\nWithout a command it serves on http://127.0.0.1:8800.",
    after_help = "Examples:\n  steward                                   serve on http://127.0.0.1:8800\n  steward ask \"Which files mention Kafka?\"   plan, ask, do, answer\n  steward ask -y \"How many rows has a.csv?\"  without asking, except for what can't be undone\n  steward approvals                         what waits for you\n  steward doctor                            check this machine\n\nExit codes: 0 done, 1 failed, 2 wrong usage, 3 waits for a person, 4 refused or stopped."
)]
pub struct Cli {
    /// Settings that every command takes.
    #[command(flatten)]
    pub global: Global,
    /// What to do; none is `serve`.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// Settings that every command takes.
#[derive(Debug, Clone, Args)]
pub struct Global {
    /// Folder for the database, blobs and keys.
    #[arg(long, global = true, env = "STEWARD_DATA", value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// PostgreSQL instead of the embedded database: postgres://user@host/name.
    #[arg(long, global = true, env = "STEWARD_DATABASE", value_name = "URL", hide_env_values = true)]
    pub database: Option<String>,
    /// Connection to use, by name (see `steward connections`).
    #[arg(long, global = true, env = "STEWARD_CONNECTION", value_name = "NAME")]
    pub connection: Option<String>,
    /// GGUF file of the local model.
    #[arg(long, global = true, env = "STEWARD_MODEL", value_name = "FILE")]
    pub model_file: Option<String>,
    /// What to log, as in `info` or `steward_engine=debug,warn`.
    #[arg(long, global = true, env = "STEWARD_LOG", value_name = "FILTER")]
    pub log: Option<String>,
}

/// Commands.
#[expect(clippy::large_enum_variant, reason = "there is one, once")]
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve the API and resume what was interrupted.
    #[command(after_help = "Examples:\n  steward serve\n  steward serve --listen 127.0.0.1:9000 --workspace ~/data")]
    Serve(Serve),
    /// Those that work through the API.
    #[command(flatten)]
    Client(steward_cli::Command),
    // Stands before `health`: 11 is the place of `approvals` among the commands of the client, and equal places go by name.
    /// Check this machine: sandbox, database, models.
    #[command(display_order = 11, after_help = "Examples:\n  steward doctor\n  steward doctor --json")]
    Doctor(Json),
    /// Put a backup into an empty data folder.
    #[command(
        after_help = "Examples:\n  steward --data-dir /srv/steward restore /srv/backups/monday.backup\n  steward restore monday.backup --erasures tuesday.backup\n\nThe data folder must be empty or absent, and no server may run on it. All of the backup is checked beside it before it is put in place; what is wrong leaves nothing behind."
    )]
    Restore(Restore),
    /// Run one file of Python or one SQL statement as a skill would, confined; prints one JSON object.
    #[command(
        subcommand,
        after_help = "Examples:\n  steward sandbox python totals.py --payload '{\"rows\": [1, 2]}'\n  steward sandbox sql shop.db \"SELECT name FROM customers\"\n  steward sandbox sql postgres://reader@host/shop \"SELECT 1\"\n\nThe object is {ok, result | error, outcome}; outcome is ok, blocked, timeout, memory or truncated for Python, and ok, deny, timeout, limit, rowcap, bytecap or error for SQL. Exit code 0 if ok, else 1."
    )]
    Sandbox(Attempt),
    /// What it starts itself with.
    #[command(flatten)]
    Child(Child),
}

/// Commands that a program of ours starts itself with. They must not have its threads, settings or telemetry.
#[derive(Debug, Subcommand)]
pub enum Child {
    /// The local model's process; started by steward itself.
    #[command(hide = true)]
    ModelServer(ModelServer),
    /// Reads a document; started by steward itself, confined.
    #[command(hide = true)]
    ExtractChild(ExtractChild),
    /// Looks at a page that is a picture; started by steward itself, confined.
    #[command(hide = true)]
    OcrChild(OcrChild),
    /// Applies the sandbox and runs a command; started by steward itself.
    #[command(hide = true, disable_help_flag = true)]
    SandboxExec {
        /// Passed on.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<OsString>,
    },
}

impl Child {
    pub fn run(self) -> ExitCode {
        match self {
            Self::ModelServer(args) => args.run(),
            Self::ExtractChild(args) => args.run(),
            Self::OcrChild(args) => args.run(),
            // Confines itself, then becomes the command.
            Self::SandboxExec { args } => steward_sandbox::helper::main(args),
        }
    }
}

/// `serve`.
#[derive(Debug, Clone, Default, Args)]
pub struct Serve {
    /// Address and port [default: 127.0.0.1:8800].
    #[arg(long, env = "STEWARD_LISTEN", value_name = "ADDR")]
    pub listen: Option<String>,
    /// Folder that the agents' file tools are confined to.
    #[arg(long, env = "STEWARD_WORKSPACE", value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// Put a small sample workspace into that folder; nothing is overwritten.
    #[arg(long)]
    pub sample: bool,
    /// Let web tools reach this private host and port; may be given often.
    #[arg(long, env = "STEWARD_ALLOW", value_name = "HOST:PORT", value_delimiter = ',')]
    pub allow: Vec<String>,
    /// Name under which browsers reach this program, as behind a proxy; may be given often.
    #[arg(long, env = "STEWARD_HOSTS", value_name = "NAME", value_delimiter = ',')]
    pub host: Vec<String>,
}

/// `restore`.
#[derive(Debug, Clone, Args)]
pub struct Restore {
    /// The backup.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    #[command(flatten)]
    pub passphrase: PassphraseArgs,
    /// Also erase whom this file names: a newer backup, or the list that `steward backup erasures` printed.
    #[arg(long, value_name = "FILE")]
    pub erasures: Option<PathBuf>,
    /// JSON instead of text.
    #[arg(long)]
    pub json: bool,
}

/// `--json` alone.
#[derive(Debug, Clone, Args)]
pub struct Json {
    /// JSON instead of text.
    #[arg(long)]
    pub json: bool,
}
