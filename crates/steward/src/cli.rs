//! The command line, as clap sees it.

mod agents;
mod approvals;
mod connections;
mod conversations;
mod credential;
mod mcp;
mod model;
mod reminders;
mod runs;
mod sandbox;
mod skill;
mod spending;

use crate::processes::Child;
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

pub use agents::{AgentAction, AgentFields, Agents, BudgetPreset, PlanSwitch};
pub use approvals::{ApprovalAction, Approvals, GrantAction, Grants};
pub use connections::{AuthArgs, ConnectionAction, Connections};
pub use conversations::{ConversationAction, Conversations};
pub use credential::{CredentialAction, CredentialArgs, Fields, KindArg, RoleArg};
pub use mcp::{McpAction, McpAdd, McpArgs};
pub use model::{Model, ModelAction};
pub use reminders::{ReminderAction, Reminders};
pub use runs::{Eval, RunAction, Runs, Suite};
pub use sandbox::{Sandbox, SandboxAction, SandboxPython, SandboxSql};
pub use skill::{SkillAction, SkillArgs, SkillFilter};
pub use spending::{BudgetAction, BudgetArgs, By, KeyAction, KeyArgs, PeriodArg, UsageArgs};

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
    pub model: Option<String>,
    /// What to log, as in `info` or `steward_engine=debug,warn`.
    #[arg(long, global = true, env = "STEWARD_LOG", value_name = "FILTER")]
    pub log: Option<String>,
}

/// Commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve the API and resume what was interrupted.
    #[command(after_help = "Examples:\n  steward serve\n  steward serve --listen 127.0.0.1:9000 --workspace ~/data")]
    Serve(Serve),
    /// Give an agent one request: plan, approve, do, answer.
    #[command(
        after_help = "Examples:\n  steward ask \"Which files mention Kafka?\"\n  steward ask -y \"How many rows has airports.csv?\" --workspace ~/data\n  echo \"Summarise notes/handover.md\" | steward ask -\n  steward ask --plan-only \"…\""
    )]
    Ask(Ask),
    /// Talk with an agent.
    #[command(after_help = "Examples:\n  steward chat\n  steward chat -y --workspace ~/data")]
    Chat(Chat),
    /// A small sample workspace to try things on.
    #[command(
        after_help = "Examples:\n  steward sample add      into the running server's workspace, else into the current folder\n  steward sample remove   takes away what nobody has changed"
    )]
    Sample(Sample),
    /// List runs; show, stop, undo, fork, replay or keep one.
    #[command(
        after_help = "Examples:\n  steward runs --json\n  steward runs show 3f2a\n  steward runs undo 3f2a\n  steward --connection big runs fork 3f2a\n  steward runs replay 3f2a\n  steward runs keep 3f2a \"weekly report\""
    )]
    Runs(Runs),
    /// Go on with interrupted runs, or with one.
    #[command(
        after_help = "Examples:\n  steward resume        all that was interrupted\n  steward resume 3f2a   only this run"
    )]
    Resume(Resume),
    /// What waits for a person; answer it.
    #[command(
        after_help = "Examples:\n  steward approvals\n  steward approvals approve 3f2a\n  steward approvals approve 3f2a --for 1h\n  steward approvals answer 3f2a \"call it b.txt\""
    )]
    Approvals(Approvals),
    /// List conversations; search, show, rename, delete, restore or fork them.
    #[command(
        after_help = "Examples:\n  steward conversations --search kafka\n  steward conversations show 3f2a\n  steward chat --conversation ID"
    )]
    Conversations(Conversations),
    /// Permissions that outlive their run; take one back.
    #[command(after_help = "Examples:\n  steward grants\n  steward grants revoke 3f2a")]
    Grants(Grants),
    /// List agents; show, add, edit, remove or restore one.
    #[command(
        after_help = "Examples:\n  steward agents\n  steward agents add reporter --instructions \"You write short reports.\" --tools read,list,write\n  steward agents edit reporter --allow write --prefers big\n  steward agents remove reporter\n  steward ask --agent reporter \"…\""
    )]
    Agents(Agents),
    /// What agents were asked to remind of; what is due is told at the next `ask` or `chat` too.
    #[command(
        after_help = "Examples:\n  steward reminders\n  steward reminders done 3f2a\n  steward reminders snooze 3f2a 1h\n  steward reminders remove 3f2a"
    )]
    Reminders(Reminders),
    /// Check this machine: sandbox, database, models.
    #[command(after_help = "Examples:\n  steward doctor\n  steward doctor --json")]
    Doctor(Json),
    /// Model endpoints that were found or saved.
    #[command(
        after_help = "Examples:\n  steward connections\n  steward connections add big http://host:8000/v1 --model qwen3-32b --key\n  steward connections test big"
    )]
    Connections(Connections),
    /// Examine the model of a connection; recognise what answers at an address.
    #[command(after_help = "Examples:\n  steward model exam big\n  steward model recognise http://127.0.0.1:11434")]
    Model(Model),
    /// What calls of models took: tokens and money.
    #[command(after_help = "Examples:\n  steward usage\n  steward usage --by agent --days 7")]
    Usage(UsageArgs),
    /// Hard limits of what may be spent.
    #[command(
        after_help = "Examples:\n  steward budget\n  steward budget set installation --dollars 50\n  steward budget set agent:steward --period day --tokens 200000\n  steward budget remove 3f2a"
    )]
    Budget(BudgetArgs),
    /// Virtual keys, with which programs use /v1.
    #[command(
        after_help = "Examples:\n  steward key\n  steward key create my-program --allow-connection big --requests-per-minute 60\n  steward key revoke my-program"
    )]
    Key(KeyArgs),
    /// Replay runs kept as tests.
    #[command(after_help = "Examples:\n  steward eval kept\n  steward eval kept --json")]
    Eval(Eval),
    /// Skills: what agents can do besides their tools, and the packages that they come in.
    #[command(
        after_help = "Examples:\n  steward skill\n  steward skill create uptime.json --agent steward\n  steward skill test uptime\n  steward skill import server-care.skill\n  steward skill trust-host web1.example.org:22 SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU"
    )]
    Skill(SkillArgs),
    /// Credentials of skills: secrets go in and never come back.
    #[command(
        after_help = "Examples:\n  steward credential\n  steward credential add shop --kind token\n  steward credential add web1 --kind ssh_key --set username=deploy --from private_key=id_ed25519\n  steward credential uses shop"
    )]
    Credential(CredentialArgs),
    /// MCP servers: other programs' tools.
    #[command(
        after_help = "Examples:\n  steward mcp\n  steward mcp add wiki --url https://wiki.example.org/mcp\n  steward mcp check wiki\n  steward mcp accept wiki search --agent steward\n  steward mcp login wiki"
    )]
    Mcp(McpArgs),
    /// Run one file of Python or one SQL statement as a skill would, confined; prints one JSON object.
    #[command(
        after_help = "Examples:\n  steward sandbox python totals.py --payload '{\"rows\": [1, 2]}'\n  steward sandbox sql shop.db \"SELECT name FROM customers\"\n  steward sandbox sql postgres://reader@host/shop \"SELECT 1\"\n\nThe object is {ok, result | error, outcome}; outcome is ok, blocked, timeout, memory or truncated for Python, and ok, deny, timeout, limit, rowcap, bytecap or error for SQL. Exit code 0 if ok, else 1."
    )]
    Sandbox(Sandbox),
    /// What it starts itself with.
    #[command(flatten)]
    Child(Child),
}

/// `serve`.
#[derive(Debug, Clone, Args)]
pub struct Serve {
    /// Address and port.
    #[arg(long, env = "STEWARD_LISTEN", default_value = "127.0.0.1:8800", value_name = "ADDR")]
    pub listen: String,
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

impl Default for Serve {
    fn default() -> Self {
        Self {
            listen: "127.0.0.1:8800".to_owned(),
            workspace: None,
            sample: false,
            allow: Vec::new(),
            host: Vec::new(),
        }
    }
}

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

/// `--json` alone.
#[derive(Debug, Clone, Args)]
pub struct Json {
    /// JSON instead of text.
    #[arg(long)]
    pub json: bool,
}
