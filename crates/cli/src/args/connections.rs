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
    /// Save an endpoint. What answers there is recognised and asked for a word, as in the studio.
    #[command(
        after_help = "A key never stands in the command: other programs can see it. --key asks for it without echo, --key - reads it from standard input; it is sealed in the vault.\n\nExamples:\n  steward connections add big http://host:8000/v1 --model qwen3-32b\n  steward connections add claude https://api.anthropic.com/v1 --model claude-sonnet-4-5 --key\n  steward connections add big http://host:8000/v1 --key - < key.txt\n  steward connections add bedrock https://bedrock-runtime.eu-central-1.amazonaws.com --model eu.amazon.nova-pro-v1:0 --region eu-central-1 --access-key-id AKIA… --key"
    )]
    Add {
        /// Its name.
        name: String,
        /// Any address of the server.
        url: String,
        /// Model name there; found out where the server lists only one.
        #[arg(long)]
        model: Option<String>,
        /// How it proves who it is.
        #[command(flatten)]
        auth: AuthArgs,
        /// Context window, tokens; an exam finds it out.
        #[arg(long)]
        window: Option<u32>,
    },
    /// Type in a new key for a saved one; it acts at the next call, without a restart.
    #[command(after_help = "Examples:\n  steward connections key big\n  steward connections key big - < key.txt")]
    Key {
        /// Its name.
        name: String,
        /// `-` reads the key from standard input.
        #[arg(value_name = "-")]
        from: Option<String>,
        /// Id of the access key, where requests are signed for Amazon.
        #[arg(long, value_name = "ID")]
        access_key_id: Option<String>,
        /// Ask for a session token, too; on standard input it is the second line.
        #[arg(long, requires = "access_key_id")]
        session_token: bool,
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

/// How a connection proves who it is.
#[derive(Debug, Clone, Default, Args)]
pub struct AuthArgs {
    /// Ask for a key, without echo; `-` reads it from standard input.
    #[arg(long, value_name = "-", num_args = 0..=1, default_missing_value = "")]
    pub key: Option<String>,
    /// Environment variable of the server that holds the key, instead.
    #[arg(long, value_name = "VARIABLE", conflicts_with = "key")]
    pub key_env: Option<String>,
    /// User name: the key is a password.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["header", "region"])]
    pub user: Option<String>,
    /// Header that carries the key.
    #[arg(long, value_name = "NAME", conflicts_with = "region")]
    pub header: Option<String>,
    /// Region of Amazon: requests are signed, and the key is the secret access key.
    #[arg(long, conflicts_with = "key_env")]
    pub region: Option<String>,
    /// Id of the access key.
    #[arg(long, value_name = "ID", requires = "region")]
    pub access_key_id: Option<String>,
    /// Ask for a session token, too; on standard input it is the second line.
    #[arg(long, requires = "access_key_id")]
    pub session_token: bool,
}
