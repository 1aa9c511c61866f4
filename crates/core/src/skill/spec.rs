//! How each kind of skill is configured. Strings called templates may hold `{{name}}`, which stands for the argument of
//! that name. A placeholder never changes the form of what holds it: in an argv it stays within its element, in a URL
//! it is percent-encoded, in SQL it is a bound value, in JSON it is a value, on a remote shell it is quoted.

use super::SkillKind;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "config", rename_all = "snake_case")]
pub enum SkillSpec {
    Internal(InternalSpec),
    #[serde(alias = "ssh_command")]
    Ssh(SshSpec),
    #[serde(alias = "http_call")]
    Http(HttpSpec),
    Graphql(GraphqlSpec),
    #[serde(alias = "python_inline")]
    Python(PythonSpec),
    #[serde(alias = "sql_query")]
    Sql(SqlSpec),
    #[serde(alias = "shell_exec")]
    Shell(ShellSpec),
    Ansible(AnsibleSpec),
    Docker(DockerSpec),
    #[serde(alias = "scrapling")]
    Scrape(ScrapeSpec),
    Huggingface(HuggingfaceSpec),
    AgentDelegation(DelegationSpec),
    Mcp(McpSpec),
}

impl SkillSpec {
    pub fn kind(&self) -> SkillKind {
        match self {
            Self::Internal(_) => SkillKind::Internal,
            Self::Ssh(_) => SkillKind::Ssh,
            Self::Http(_) => SkillKind::Http,
            Self::Graphql(_) => SkillKind::Graphql,
            Self::Python(_) => SkillKind::Python,
            Self::Sql(_) => SkillKind::Sql,
            Self::Shell(_) => SkillKind::Shell,
            Self::Ansible(_) => SkillKind::Ansible,
            Self::Docker(_) => SkillKind::Docker,
            Self::Scrape(_) => SkillKind::Scrape,
            Self::Huggingface(_) => SkillKind::Huggingface,
            Self::AgentDelegation(_) => SkillKind::AgentDelegation,
            Self::Mcp(_) => SkillKind::Mcp,
        }
    }

    /// Whether it runs as the program's own user, outside of the OS sandbox.
    pub fn leaves_sandbox(&self) -> bool {
        matches!(self, Self::Ansible(AnsibleSpec { network: true, .. }) | Self::Docker(_))
    }

    /// Whether it can read and change what this program's own user can, the vault's key among it.
    pub fn reads_host_files(&self) -> bool {
        matches!(self, Self::Ansible(AnsibleSpec { network: true, .. }))
    }

    /// Private hosts that it may reach, as `host:port`.
    pub fn private_hosts(&self) -> &[String] {
        match self {
            Self::Http(HttpSpec { allow, .. })
            | Self::Graphql(GraphqlSpec { allow, .. })
            | Self::Scrape(ScrapeSpec { allow, .. })
            | Self::Huggingface(HuggingfaceSpec { allow, .. }) => allow,
            _ => &[],
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InternalSpec {
    #[serde(alias = "system_prompt")]
    pub prompt: String,
    /// Built-in tools that it works with; empty for any. An agent that names no tools of its own then has only these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SshSpec {
    /// Host name or address; no template, since a model never chooses the server, unless by `hosts`.
    pub host: String,
    /// Further hosts, of which the argument `host` may choose one.
    #[serde(default)]
    pub hosts: Vec<String>,
    #[serde(default = "ssh_port")]
    pub port: u16,
    /// Login name; `None` for the credential's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Program and arguments; templates, each quoted for the remote shell.
    pub command: Vec<String>,
    /// Template of the text for standard input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdin: Option<String>,
    /// Whether to run it by sudo. The credential's `sudo_password`, else its password, answers the prompt.
    #[serde(default)]
    pub sudo: bool,
    /// A host to go through, `[user@]host[:port]`, with the same credential.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jump: Option<String>,
    /// Exit statuses that count as success.
    #[serde(default = "zero")]
    pub success: Vec<u32>,
}

fn ssh_port() -> u16 {
    22
}

fn zero() -> Vec<u32> {
    vec![0]
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HttpSpec {
    pub method: String,
    /// A template; scheme, host and port are fixed text.
    pub url: String,
    /// Templates.
    pub headers: BTreeMap<String, String>,
    /// Templates; a parameter whose arguments are all absent is left out.
    pub query: BTreeMap<String, String>,
    /// JSON with templates in its strings; a string that is one placeholder becomes that value.
    pub body: Option<Value>,
    /// Form fields instead of JSON.
    pub form: BTreeMap<String, String>,
    /// JSONPath of the part of the answer that is kept.
    pub select: Option<String>,
    pub pages: Option<Page>,
    /// Private hosts that it may reach, as `host:port`; set by an operator.
    pub allow: Vec<String>,
    /// Retries after a 429, a 5xx or a broken connection; only for reads and keyed effects.
    pub retries: u8,
    /// Name of the header that carries the idempotency key, for keyed effects.
    pub idempotency_header: Option<String>,
}

/// How further pages of an answer are found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum Page {
    /// By the `Link` header's `rel="next"`.
    Link { most: u16 },
    Cursor {
        /// JSONPath of the cursor.
        path: String,
        /// Query parameter that takes it.
        parameter: String,
        most: u16,
    },
    Number {
        parameter: String,
        /// Number of the first page.
        from: u32,
        most: u16,
    },
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GraphqlSpec {
    /// Fixed text.
    pub url: String,
    /// Fixed text.
    pub query: String,
    /// JSON with templates.
    pub variables: Value,
    /// Templates.
    pub headers: BTreeMap<String, String>,
    /// JSONPath under `data`.
    pub select: Option<String>,
    /// Private hosts that it may reach, as `host:port`.
    pub allow: Vec<String>,
    /// Retries after a failure; only for reads.
    pub retries: u8,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PythonSpec {
    /// Source with `def run(payload)`; the payload is the arguments.
    pub code: String,
    #[serde(default = "python_ms")]
    pub timeout_ms: u64,
    #[serde(default = "python_mib")]
    pub memory_mib: u32,
}

fn python_ms() -> u64 {
    5_000
}

fn python_mib() -> u32 {
    256
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SqlSpec {
    /// `sqlite:PATH` in the workspace, or a URL without a password; empty: the credential's `url`.
    #[serde(default)]
    pub database: String,
    /// The statement, with `{{name}}` as bound values; empty: the argument `sql` holds it.
    #[serde(default)]
    pub statement: String,
    /// Refuses every change.
    #[serde(default = "super::yes")]
    pub readonly: bool,
    #[serde(default = "rows")]
    pub max_rows: u32,
    /// Most rows that a write may change; beyond that it is rolled back.
    #[serde(default = "rows")]
    pub max_changes: u32,
    /// Whether the house alone writes the texts that it reads; else an agent that has read some asks before it acts.
    #[serde(default)]
    pub trusted: bool,
}

fn rows() -> u32 {
    200
}

/// A program on this machine, in the OS sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShellSpec {
    /// Program and arguments; templates. No shell is involved.
    pub command: Vec<String>,
    /// Template of the text for standard input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdin: Option<String>,
    /// Whether it may write in the workspace.
    #[serde(default)]
    pub writes: bool,
    #[serde(default = "zero")]
    pub success: Vec<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnsibleSpec {
    /// YAML; fixed text. Arguments reach it as extra variables, never as text.
    pub playbook: String,
    /// Fixed text, INI or YAML.
    pub inventory: String,
    /// Whether it only reports what would change.
    #[serde(default)]
    pub check: bool,
    /// Whether it may use the network: needed for hosts other than this one.
    #[serde(default)]
    pub network: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "snake_case", deny_unknown_fields)]
pub enum DockerSpec {
    /// Runs a container to its end and removes it.
    Run {
        /// Fixed text.
        image: String,
        /// Program and arguments; templates.
        #[serde(default)]
        command: Vec<String>,
        #[serde(default)]
        network: bool,
        #[serde(default = "python_mib")]
        memory_mib: u32,
    },
    List,
    Logs {
        /// Name; a template.
        container: String,
        #[serde(default = "rows")]
        lines: u32,
    },
    Restart {
        /// Name; a template.
        container: String,
    },
    Stop {
        /// Name; a template.
        container: String,
    },
    Start {
        /// Name; a template.
        container: String,
    },
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ScrapeSpec {
    /// Template with a fixed host; if empty, the argument `url` holds the URL.
    pub url: String,
    /// CSS selector of the part that is kept.
    pub select: Option<String>,
    /// Private hosts that it may reach, as `host:port`.
    pub allow: Vec<String>,
    /// Whether to skip robots.txt: only for one's own sites.
    pub ignore_robots: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HuggingfaceSpec {
    /// Such as `facebook/bart-large-mnli`.
    pub model: String,
    /// Endpoint without the model.
    #[serde(default = "inference")]
    pub url: String,
    /// JSON with templates.
    #[serde(default)]
    pub parameters: Value,
    /// Template of the input; by default the argument `inputs`.
    #[serde(default = "inputs")]
    pub inputs: String,
    /// Private hosts that it may reach, as `host:port`.
    #[serde(default)]
    pub allow: Vec<String>,
}

fn inference() -> String {
    "https://router.huggingface.co/hf-inference/models".to_owned()
}

fn inputs() -> String {
    "{{inputs}}".to_owned()
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DelegationSpec {
    pub agent: String,
    /// Template of its request; by default the argument `task`.
    #[serde(default = "task")]
    pub request: String,
}

fn task() -> String {
    "{{task}}".to_owned()
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct McpSpec {
    pub server: String,
    /// Name of the tool on the server.
    pub tool: String,
    /// Hash of its name, description and schema as accepted by a person; any other is refused.
    pub hash: String,
}
