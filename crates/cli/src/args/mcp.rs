use clap::{Args, Subcommand};

/// `mcp`.
#[derive(Debug, Clone, Args)]
pub struct McpArgs {
    /// What to do; none lists.
    #[command(subcommand)]
    pub action: Option<McpAction>,
    /// JSON instead of text.
    #[arg(long, global = true)]
    pub json: bool,
}

/// What to do with MCP servers.
#[derive(Debug, Clone, Subcommand)]
pub enum McpAction {
    /// List servers.
    List,
    /// Add a server: an address, or a program of this machine after `--`.
    #[command(
        after_help = "Examples:\n  steward mcp add wiki --url https://wiki.example.org/mcp\n  steward mcp add files --read /opt/files -- /opt/files/bin/server\n  steward mcp add shop --url https://shop.example.org/mcp --credential shop"
    )]
    Add(McpAdd),
    /// Ask a server for its tools, and show what changed since they were accepted.
    Check {
        /// Its name, or the beginning or end of its id.
        server: String,
    },
    /// Accept tools as they were last seen, after a look at each.
    #[command(
        after_help = "Examples:\n  steward mcp accept wiki search\n  steward mcp accept wiki --all -y\n  steward mcp accept wiki search --hash 3f1c…\n\nRun `steward mcp check` first: what is accepted is what that saw."
    )]
    Accept {
        /// Its name, or the beginning or end of its id.
        server: String,
        /// The tools.
        #[arg(required_unless_present = "all")]
        tools: Vec<String>,
        /// All that it has and that are not accepted as they are.
        #[arg(long, conflicts_with = "tools")]
        all: bool,
        /// Only if this is the hash of what it is; one tool only.
        #[arg(long, value_name = "HASH", conflicts_with_all = ["all", "yes"])]
        hash: Option<String>,
        /// Don't ask.
        #[arg(long, short = 'y')]
        yes: bool,
        /// Make skills of them and give them to this agent.
        #[arg(long, short = 'a', value_name = "NAME")]
        agent: Option<String>,
    },
    /// Make skills of accepted tools and give them to an agent.
    Attach {
        /// Its name, or the beginning or end of its id.
        server: String,
        /// The tools; none: all that are accepted.
        tools: Vec<String>,
        /// The agent.
        #[arg(long, short = 'a', value_name = "NAME", default_value = crate::client::DEFAULT_AGENT)]
        agent: String,
    },
    /// Log in at a server that wants it, in a browser; the tokens are kept with the credentials.
    Login {
        /// Its name, or the beginning or end of its id.
        server: String,
    },
    /// Remove a server; skills that stand for its tools are refused from then on.
    Remove {
        /// Its name, or the beginning or end of its id.
        server: String,
    },
}

/// `mcp add`.
#[derive(Debug, Clone, Args)]
pub struct McpAdd {
    /// Its name, of a-z, 0-9 and _; its tools are called NAME_TOOL.
    pub name: String,
    /// Its endpoint.
    #[arg(
        long,
        value_name = "URL",
        required_unless_present = "command",
        conflicts_with_all = ["command", "read", "write", "network", "secret_variable"]
    )]
    pub url: Option<String>,
    /// A private host and port that it may be at; may be given often.
    #[arg(long, value_name = "HOST:PORT", requires = "url")]
    pub allow: Vec<String>,
    /// A folder that the program may read, such as where it is installed; may be given often.
    #[arg(long, value_name = "DIR")]
    pub read: Vec<String>,
    /// A file or folder that the program may change; may be given often.
    #[arg(long, value_name = "PATH")]
    pub write: Vec<String>,
    /// Let the program use the network, as npx and uvx need to.
    #[arg(long)]
    pub network: bool,
    /// The variable in which the program gets its credential.
    #[arg(long, value_name = "NAME", requires = "credential")]
    pub secret_variable: Option<String>,
    /// Its credential, by name (see `steward credential list`).
    #[arg(long, value_name = "NAME")]
    pub credential: Option<String>,
    /// Each user logs in with an account of their own.
    #[arg(long, conflicts_with = "credential")]
    pub per_user: bool,
    /// Program and arguments.
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}
