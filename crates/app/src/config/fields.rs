//! The settings of this program: the only list of them. Whoever reads one finds its name, variable, option and limits here.

use serde::Serialize;
use utoipa::ToSchema;

/// Where a setting is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = ConfigGroupId)]
pub enum Group {
    /// The server itself.
    App,
    /// Where it keeps its data.
    Database,
    /// Runs, models and tools.
    Worker,
    /// Folders and files.
    Storage,
}

impl Group {
    pub const ALL: [Self; 4] = [Self::App, Self::Database, Self::Worker, Self::Storage];

    pub const fn title(self) -> &'static str {
        match self {
            Self::App => "App server",
            Self::Database => "Database",
            Self::Worker => "Worker and AI",
            Self::Storage => "Storage",
        }
    }

    /// The name of its table in the file.
    pub const fn table(self) -> &'static str {
        match self {
            Self::App => "app",
            Self::Database => "database",
            Self::Worker => "worker",
            Self::Storage => "storage",
        }
    }
}

/// What a value may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    Text,
    /// A number between two, both included.
    Whole(i64, i64),
    /// Seconds, also in parts, between two.
    Seconds(f64, f64),
    /// `true` or `false`.
    Switch,
    Choice(&'static [&'static str]),
    /// An http or https address.
    Url,
    /// An existing folder, absolute.
    Folder,
    File,
    /// An IP address or `localhost`.
    Host,
    /// Names, separated by commas.
    List,
    /// `HOST:PORT`, separated by commas.
    HostPorts,
    /// Folders, separated by colons.
    Folders,
    /// What to log.
    Filter,
    /// A secret that somebody has to guess.
    Token,
}

/// When a change acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = ConfigEffect)]
pub enum Effect {
    /// At once; of the file, within seconds.
    AtOnce,
    /// After a restart.
    AfterRestart,
}

/// A setting.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    pub name: &'static str,
    pub group: Group,
    pub kind: Kind,
    /// `None`: nothing, or what `default_text` says.
    pub default: Option<&'static str>,
    /// The default in words, where it is not the same everywhere.
    pub default_text: &'static str,
    pub secret: bool,
    pub effect: Effect,
    /// Why a change acts after a restart only; empty if it acts at once.
    pub why_restart: &'static str,
    /// Whether it may be changed while the program runs, and is saved in the database; else whoever starts the program sets it.
    pub saved: bool,
    /// Whether the file may hold it.
    pub in_file: bool,
    /// Its variable.
    pub variable: &'static str,
    /// Its option on the command line; empty if there is none.
    pub option: &'static str,
    pub help: &'static str,
}

const fn field(name: &'static str, group: Group, kind: Kind, variable: &'static str, help: &'static str) -> Field {
    Field {
        name,
        group,
        kind,
        default: None,
        default_text: "",
        secret: false,
        effect: Effect::AtOnce,
        why_restart: "",
        saved: true,
        in_file: true,
        variable,
        option: "",
        help,
    }
}

impl Field {
    const fn default(self, default: &'static str) -> Self {
        Self { default: Some(default), ..self }
    }

    const fn else_(self, default_text: &'static str) -> Self {
        Self { default_text, ..self }
    }

    const fn option(self, option: &'static str) -> Self {
        Self { option, ..self }
    }

    const fn secret(self) -> Self {
        Self { secret: true, ..self }
    }

    const fn after_restart(self, why_restart: &'static str) -> Self {
        Self { effect: Effect::AfterRestart, why_restart, ..self }
    }

    /// It names programs, keys or folders of the machine: whoever has no more than an administrator's login may not.
    const fn not_saved(self) -> Self {
        Self { saved: false, ..self }
    }

    /// Only an option or a variable: it says where the file is, or guards what stands beside it.
    const fn not_in_file(self) -> Self {
        Self { in_file: false, saved: false, ..self }
    }

    /// Whether it is saved sealed by the vault; a token is saved as its hash.
    pub fn is_sealed(&self) -> bool {
        self.saved && self.secret && self.kind != Token
    }
}

use Group::{App, Database, Storage, Worker};
use Kind::{Choice, File, Filter, Folder, Folders, Host, HostPorts, List, Seconds, Switch, Text, Token, Url, Whole};

const LISTENING: &str = "connections to the address before are open, and whoever is at it would lose it";
const DATABASE: &str = "everything that is open is in the database before";
const FIRST_START: &str = "it is looked at while there is no administrator yet, at a start";
const PLACE: &str = "everything that is open is in the folder before";
const VAULT: &str = "credentials are sealed with the key that the program was started with";

pub const FIELDS: &[Field] = &[
    field("API_HOST", App, Host, "STEWARD_LISTEN", "Address that the server listens on; the variable and the option give address and port together.")
        .default("127.0.0.1")
        .option("--listen")
        .after_restart(LISTENING),
    field("API_PORT", App, Whole(0, 65_535), "STEWARD_LISTEN", "Port that the server listens on; 0 takes a free one.")
        .default("8800")
        .option("--listen")
        .after_restart(LISTENING),
    field("CORS_ORIGINS", App, List, "STEWARD_HOSTS", "Names and origins under which browsers reach the server, as behind a proxy; writes from pages of other origins are refused.")
        .option("--host"),
    field("V1_ORIGINS", App, List, "STEWARD_V1_ORIGINS", "Origins such as https://app.example.org whose pages may use /v1 with a key from browsers (CORS); cookies are never taken there. Unset: none."),
    field("AUTH_SECRET_KEY", App, Token, "STEWARD_AUTH_SECRET_KEY", "Signs the access tokens of logins; several servers on one database need the same. 32 characters or more.")
        .else_("a key of its own in the data directory")
        .secret()
        .not_saved(),
    field("TLS_CERT", App, File, "STEWARD_TLS_CERT", "File with the server's certificate and those in between, PEM; with TLS_KEY the server speaks https. Changed files are taken in by themselves.")
        .else_("plain HTTP")
        .not_saved(),
    field("TLS_KEY", App, File, "STEWARD_TLS_KEY", "File with the certificate's key, PEM without a passphrase.").not_saved(),
    field("LOG_LEVEL", App, Filter, "STEWARD_LOG", "What to log, such as `info` or `steward_engine=debug,warn`.")
        .default("info")
        .option("--log"),
    field("METRICS_TOKEN", App, Token, "STEWARD_METRICS_TOKEN", "With this token as bearer a monitoring program may read /metrics. 16 characters or more.")
        .secret(),
    field("METRICS_LOOPBACK", App, Switch, "STEWARD_METRICS_LOOPBACK", "Whether programs of this machine may read /metrics without a token.")
        .default("false"),
    field("OTEL_EXPORTER_OTLP_ENDPOINT", App, Url, "OTEL_EXPORTER_OTLP_ENDPOINT", "Where a trace of each ended run is sent."),
    field("NATS_URL", App, Text, "STEWARD_NATS_URL", "NATS server whose subjects `oos.cmd.…` are answered: `nats://HOST:PORT`, or `tls://HOST:PORT`; those of a cluster separated by commas.")
        .else_("no NATS"),
    field("NATS_USER", App, Text, "STEWARD_NATS_USER", "User at that server; needs NATS_PASSWORD."),
    field("NATS_PASSWORD", App, Text, "STEWARD_NATS_PASSWORD", "Password of that user.").secret(),
    field("NATS_TOKEN", App, Text, "STEWARD_NATS_TOKEN", "Token for that server, instead of a user.").secret(),
    field("NATS_ACT_AS", App, Text, "STEWARD_NATS_ACT_AS", "Email of the user whose rights requests over NATS have that bring no API key.")
        .else_("such requests are refused"),
    field("ADMIN_EMAIL", App, Text, "STEWARD_ADMIN_EMAIL", "The first administrator, made at the first start; needs ADMIN_PASSWORD.").not_in_file().after_restart(FIRST_START),
    field("ADMIN_PASSWORD", App, Text, "STEWARD_ADMIN_PASSWORD", "The first administrator's password.").secret().not_in_file().after_restart(FIRST_START),
    field("CONFIG_FILE", App, File, "STEWARD_CONFIG", "The file of settings.").else_("`steward.toml` in the data directory").not_in_file().after_restart(PLACE),
    field("POSTGRES_HOST", Database, Text, "STEWARD_POSTGRES_HOST", "Server of the PostgreSQL database. The option --database and the variable STEWARD_DATABASE give all five as one address.")
        .else_("the embedded database")
        .option("--database")
        .not_saved().after_restart(DATABASE),
    field("POSTGRES_PORT", Database, Whole(1, 65_535), "STEWARD_POSTGRES_PORT", "Its port.").else_("5432").option("--database").not_saved().after_restart(DATABASE),
    field("POSTGRES_DATABASE", Database, Text, "STEWARD_POSTGRES_DATABASE", "Name of the database there.")
        .else_("steward")
        .option("--database")
        .not_saved().after_restart(DATABASE),
    field("POSTGRES_USER", Database, Text, "STEWARD_POSTGRES_USER", "User of the database.").else_("steward").option("--database").not_saved().after_restart(DATABASE),
    field("POSTGRES_PASSWORD", Database, Text, "STEWARD_POSTGRES_PASSWORD", "Password of that user.").option("--database").secret().not_saved().after_restart(DATABASE),
    field("LLM_BASE_URL", Worker, Url, "STEWARD_LLM_BASE_URL", "A server of OpenAI's dialect, with its /v1; it becomes the connection `llm`. Further ones are added on the page Connections."),
    field("LLM_DEFAULT_MODEL", Worker, Text, "STEWARD_LLM_DEFAULT_MODEL", "Model that is asked for at LLM_BASE_URL, which needs one."),
    field("EMBEDDING_MODEL", Worker, Text, "STEWARD_EMBEDDING_MODEL", "Embedding model of collections that have none yet: `MODEL@CONNECTION`, `MODEL@auto` (Ollama if it is found, else the default connection), or a folder of the models' folder. Unset: the built-in one. Collections keep the model that they have."),
    field("LLM_API_KEY", Worker, Text, "STEWARD_LLM_API_KEY", "Key for LLM_BASE_URL.").secret(),
    field("DEFAULT_CONNECTION", Worker, Text, "STEWARD_CONNECTION", "Connection to use, by name.")
        .else_("the one chosen on the page Connections")
        .option("--connection"),
    field("EXAMINE_CONNECTIONS", Worker, Switch, "STEWARD_EXAMINE_CONNECTIONS", "Whether a connection that is added, or whose model changes, is examined by itself where that costs nothing.").default("true"),
    field("LOCAL_MODEL_FILE", Worker, File, "STEWARD_MODEL", "GGUF file of the local model.")
        .else_("the one of the set-up, in the cache")
        .option("--model-file"),
    field("LOCAL_MODEL_IDLE_SECONDS", Worker, Whole(1, 86_400), "STEWARD_MODEL_IDLE_SECONDS", "Idle time after which the local model's process ends and frees its memory.").default("600"),
    field("MAX_RUNS", Worker, Whole(1, 100_000), "STEWARD_MAX_RUNS", "How many runs are at work at once; others wait.").default("256"),
    field("LEASE_SECONDS", Worker, Seconds(0.3, 3600.0), "STEWARD_LEASE_SECONDS", "How long a node holds a run without renewing its lease; then another node takes it over.").default("15"),
    field("DEEP_AGENT_PLANNING_ENABLED", Worker, Switch, "DEEP_AGENT_PLANNING_ENABLED", "Whether agents plan that say nothing of it.").default("true"),
    field("DEEP_AGENT_MAX_PLAN_STEPS", Worker, Whole(1, 20), "DEEP_AGENT_MAX_PLAN_STEPS", "Longest plan of theirs.").default("6"),
    field("DEEP_AGENT_PLAN_STYLE", Worker, Choice(&["structured", "concise"]), "DEEP_AGENT_PLAN_STYLE", "How much such a plan says.").default("structured"),
    field("PLANNER_MODEL_SPEC", Worker, Text, "PLANNER_MODEL_SPEC", "Connection that makes plans, by name, for agents that name none.")
        .else_("as requests are routed"),
    field("EXECUTOR_MODEL_SPEC", Worker, Text, "EXECUTOR_MODEL_SPEC", "Connection that carries requests out, by name, for agents that name none.")
        .else_("as requests are routed"),
    field("SEARCH_ENGINE", Worker, Choice(&["searxng", "brave", "duckduckgo"]), "STEWARD_SEARCH", "Engine of web search.").else_("no web search"),
    field("SEARCH_URL", Worker, Url, "STEWARD_SEARCH_URL", "Address of your own instance of the engine."),
    field("SEARCH_CREDENTIAL", Worker, Text, "STEWARD_SEARCH_CREDENTIAL", "Credential with the engine's key, by name."),
    field("SEARCH_KEY", Worker, Text, "STEWARD_SEARCH_KEY", "The engine's key itself; better keep it as a credential.").secret(),
    field("WEB_ALLOW", Worker, HostPorts, "STEWARD_ALLOW", "Private hosts and ports that web tools may reach.").option("--allow"),
    field("BROWSERS", Worker, Whole(1, 100), "STEWARD_BROWSERS", "How many browsers of agents run at a time.").default("4"),
    field("CHROMIUM", Worker, File, "STEWARD_CHROMIUM", "The browser program for agents.").else_("Chromium or Chrome in PATH").not_saved(),
    field("PYTHON", Worker, File, "STEWARD_PYTHON", "The Python of Python skills.").else_("the system's, else the first in PATH").not_saved(),
    field("PROGRAMS", Worker, Folders, "STEWARD_PROGRAMS", "Folders in which skills find programs before those of PATH.").not_saved(),
    field("TERMINAL_FILE", Worker, File, "STEWARD_TERMINAL", "File that changes which commands agents may run.")
        .else_("`terminal.toml` in the data directory, if it is there")
        .not_saved(),
    field("OCR_LANGUAGES", Worker, List, "STEWARD_OCR_LANGUAGES", "Languages of pages that are pictures, as Tesseract names them.")
        .else_("eng, deu, fra, spa, as far as they are installed"),
    field("OCR_VISION", Worker, Choice(&["off", "in_house", "any"]), "STEWARD_OCR_VISION", "Which models that see may be shown pages that other engines can't make out.")
        .default("in_house"),
    field("KEY_VARIABLES", Worker, List, "STEWARD_KEY_VARIABLES", "Which other variables connections may take keys from.").not_saved(),
    field("NFS_BASE_PATH", Storage, Folder, "STEWARD_WORKSPACE", "Folder that the agents' file tools are confined to; it may lie on a network drive.")
        .else_("`workspace` in the data directory")
        .option("--workspace"),
    field("DATA_DIR", Storage, Folder, "STEWARD_DATA", "Folder for the embedded database, blobs and keys.")
        .else_("`~/.local/share/steward`")
        .option("--data-dir")
        .not_in_file().after_restart(PLACE),
    field("STORAGE_PER_USER_MB", Storage, Whole(1, 1_000_000_000), "STEWARD_STORAGE_PER_USER_MB", "How many MB of sent files and documents a user may keep; what is beyond it is refused.")
        .default("10000"),
    field("STORAGE_PER_ORGANISATION_MB", Storage, Whole(1, 1_000_000_000), "STEWARD_STORAGE_PER_ORGANISATION_MB", "The same of all users of an organisation together.")
        .default("100000"),
    field("DISK_RESERVE_MB", Storage, Whole(0, 1_000_000), "STEWARD_DISK_RESERVE_MB", "How many MB of the disk stay free: below them uploads, documents and new runs are refused, while logins and deletions go on. Never more than half of the disk.")
        .else_("a hundredth of the disk, at least 512 MB and at most 4 GiB"),
    field("CACHE_DIR", Storage, Folder, "STEWARD_CACHE", "Folder for what can be obtained again, such as models.").else_("`~/.cache/steward`").not_saved(),
    field("MAIL_FILE", Storage, File, "STEWARD_MAIL", "File of the mail accounts.").else_("`mail.toml` in the data directory, if it is there").not_saved(),
    field("VAULT_KEY_FILE", Storage, File, "STEWARD_VAULT_KEY_FILE", "File of the key that opens credentials.")
        .else_("`vault.key` in the data directory")
        .not_in_file().after_restart(VAULT),
    field("VAULT_KEY", Storage, Text, "STEWARD_VAULT_KEY", "The key itself, instead of a file: 32 bytes in hexadecimal or base64.").secret().not_in_file().after_restart(VAULT),
    field("VAULT_PASSPHRASE", Storage, Text, "STEWARD_VAULT_PASSPHRASE", "A passphrase of 12 characters or more, instead of a key.").secret().not_in_file().after_restart(VAULT),
];

pub fn named(name: &str) -> Option<&'static Field> {
    FIELDS.iter().find(|field| field.name == name)
}
