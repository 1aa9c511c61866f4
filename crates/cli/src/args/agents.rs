use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

/// `agents`.
#[derive(Debug, Clone, Args)]
pub struct Agents {
    /// What to do; none lists.
    #[command(subcommand)]
    pub action: Option<AgentAction>,
    /// Those that were removed instead.
    #[arg(long)]
    pub removed: bool,
    /// JSON instead of text.
    #[arg(long, global = true)]
    pub json: bool,
}

/// What to do with agents.
#[derive(Debug, Clone, Subcommand)]
pub enum AgentAction {
    /// Show an agent's settings.
    Show {
        /// Its name [default: steward].
        name: Option<String>,
    },
    /// Make an agent; what is not said is as usual.
    #[command(
        after_help = "Examples:\n  steward agents add reporter --instructions \"You write short reports.\" --tools read,list,write\n  steward agents add clerk --instructions-from clerk.md --prefers big --ask write --deny web_fetch\n  steward agents add --from agent.json"
    )]
    Add {
        /// Its name; not needed where the file of --from has one.
        #[arg(required_unless_present = "from")]
        name: Option<String>,
        /// A JSON object as in the API, to begin with; `-` reads standard input.
        #[arg(long, value_name = "FILE")]
        from: Option<PathBuf>,
        /// Its settings.
        #[command(flatten)]
        fields: AgentFields,
    },
    /// Change an agent: only what is said. Runs at work keep what they began with.
    #[command(
        after_help = "Examples:\n  steward agents edit reporter --rename writer\n  steward agents edit reporter --tools all --plan off\n  steward agents edit reporter --from change.json"
    )]
    Edit {
        /// Its name.
        name: String,
        /// Another name for it.
        #[arg(long, value_name = "NAME")]
        rename: Option<String>,
        /// A JSON object of the fields to change, as in the API; `-` reads standard input.
        #[arg(long, value_name = "FILE")]
        from: Option<PathBuf>,
        /// Its settings.
        #[command(flatten)]
        fields: AgentFields,
    },
    /// Remove an agent; its runs stay, and `restore` takes it back.
    Remove {
        /// Its name.
        name: String,
    },
    /// What an agent remembers.
    #[command(
        after_help = "Examples:\n  steward agents memory show clerk\n  steward agents memory append clerk \"The fiscal year starts in April.\"\n  steward agents memory set clerk --from memory.md"
    )]
    Memory {
        /// What to do with it.
        #[command(subcommand)]
        action: MemoryAction,
    },
    /// The private database of an agent: the one that all share, or your own where each user has one.
    #[command(
        after_help = "Examples:\n  steward agents database tables clerk\n  steward agents database query clerk \"SELECT * FROM ai_expenses\""
    )]
    Database {
        /// What to do with it.
        #[command(subcommand)]
        action: DatabaseAction,
    },
    /// Take over the instruction, memory and tables of a database of MetatronOS.
    ImportMetatron {
        /// Its SQLite file.
        file: PathBuf,
        /// The agent that gets it; what it kept before is replaced.
        agent: String,
        /// Don't ask.
        #[arg(long, short)]
        yes: bool,
    },
    /// Take a removal back.
    Restore {
        /// Its name, or the beginning or end of its id.
        name: String,
    },
}

/// What to do with what an agent remembers.
#[derive(Debug, Clone, Subcommand)]
pub enum MemoryAction {
    /// Show it.
    Show {
        /// Name of the agent [default: steward].
        agent: Option<String>,
    },
    /// Replace it.
    Set {
        /// Name of the agent.
        agent: String,
        /// The whole text.
        #[arg(required_unless_present = "from")]
        text: Option<String>,
        /// The same from a file; `-` reads standard input.
        #[arg(long, value_name = "FILE", conflicts_with = "text")]
        from: Option<PathBuf>,
    },
    /// Add a line to it.
    Append {
        /// Name of the agent.
        agent: String,
        /// The line.
        text: String,
    },
    /// Have it forget everything.
    Clear {
        /// Name of the agent.
        agent: String,
        /// Don't ask.
        #[arg(long, short)]
        yes: bool,
    },
}

/// What to do with the private database of an agent.
#[derive(Debug, Clone, Subcommand)]
pub enum DatabaseAction {
    /// List its tables, with what the agent has written down about them.
    Tables {
        /// Name of the agent [default: steward].
        agent: Option<String>,
    },
    /// Run one SELECT.
    Query {
        /// Name of the agent.
        agent: String,
        /// The statement.
        sql: String,
    },
    /// Empty it; `restore` takes that back until the agent makes a table again.
    Clear {
        /// Name of the agent.
        agent: String,
        /// Don't ask.
        #[arg(long, short)]
        yes: bool,
    },
    /// Put back the copy from before it was emptied, or from before its tables were last changed.
    Restore {
        /// Name of the agent.
        agent: String,
    },
}

/// Settings of an agent.
#[derive(Debug, Clone, Default, Args)]
pub struct AgentFields {
    /// Its standing instructions.
    #[arg(long, value_name = "TEXT")]
    pub instructions: Option<String>,
    /// The same from a file; `-` reads standard input.
    #[arg(long, value_name = "FILE", conflicts_with = "instructions")]
    pub instructions_from: Option<PathBuf>,
    /// Names of its tools, or `all`.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub tools: Vec<String>,
    /// The connection it prefers, by name, or `default`.
    #[arg(long, value_name = "CONNECTION")]
    pub prefers: Option<String>,
    /// Connections that are tried after that, in order, or `none`.
    #[arg(long, value_name = "CONNECTIONS", value_delimiter = ',')]
    pub fallback: Vec<String>,
    /// Let it do this unasked: read, write, external, destructive, or a tool's name.
    #[arg(long, value_name = "WHAT", value_delimiter = ',')]
    pub allow: Vec<String>,
    /// Have it ask first.
    #[arg(long, value_name = "WHAT", value_delimiter = ',')]
    pub ask: Vec<String>,
    /// Never let it.
    #[arg(long, value_name = "WHAT", value_delimiter = ',')]
    pub deny: Vec<String>,
    /// What a run of it may spend.
    #[arg(long, value_name = "PRESET")]
    pub budget: Option<BudgetPreset>,
    /// 0 is deterministic.
    #[arg(long, value_name = "0..2")]
    pub temperature: Option<f32>,
    /// Longest reply, tokens.
    #[arg(long, value_name = "N")]
    pub max_tokens: Option<u32>,
    /// Whether it remembers; with `default` that is a tool like any other.
    #[arg(long, value_name = "WHEN")]
    pub memory: Option<PlanSwitch>,
    /// Whose private database it has.
    #[arg(long, value_name = "WHOSE")]
    pub own_database: Option<DatabaseSwitch>,
    /// Whether it keeps a documentation of its tables.
    #[arg(long, value_name = "WHEN")]
    pub documentation: Option<Switch>,
    /// Whether it plans while it works; `default` is the installation's setting.
    #[arg(long, value_name = "WHEN")]
    pub plan: Option<PlanSwitch>,
}

/// Budgets by name.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum BudgetPreset {
    /// Eight model calls.
    Query,
    /// Ten rounds, three levels deep.
    Agent,
    /// Five iterations.
    Executor,
    /// Six plan steps.
    Plan,
}

/// On, off, or the default.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum PlanSwitch {
    /// It does.
    On,
    /// It does not.
    Off,
    /// Neither is said.
    Default,
}

/// On or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Switch {
    /// It does.
    On,
    /// It does not.
    Off,
}

/// Whose the private database is.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum DatabaseSwitch {
    /// It has none.
    Off,
    /// All who ask it share one.
    Agent,
    /// Each user has their own.
    User,
}
