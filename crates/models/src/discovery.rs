//! Finds usable models, asking only this machine: provider keys in the environment, Ollama, llama.cpp, the local model.

pub(crate) mod local_servers;

use super::local::GgufHeader;
use super::openai::Client;
use futures::future::join;
use serde::Deserialize;
use serde_json::json;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use steward_core::ConnectionId;
use steward_core::hash::of_json;
use steward_core::model::{Auth, Capabilities, Connection, Provider, Strategy};
use tokio::time::timeout;

/// For all probes together.
const LIMIT: Duration = Duration::from_millis(400);

#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    pub connection: Connection,
    /// What gave it away, for people.
    pub how: String,
    pub detail: String,
}

/// Variable with the key of [`OwnServer`].
pub const OWN_SERVER_KEY: &str = "LLM_API_KEY";

/// A server of OpenAI's dialect that the settings name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnServer {
    pub base_url: String,
    pub model: String,
}

/// Best first: the first is the default. Takes 400 ms at most.
pub async fn discover(environment: &Environment, client: &Client) -> Vec<Found> {
    let mut found: Vec<Found> = own(environment).into_iter().collect();
    found.extend(find_keys(environment));
    let probes = join(
        timeout(LIMIT, local_servers::find_ollama(environment, client)),
        timeout(LIMIT, local_servers::find_llama_cpp(environment, client)),
    );
    let (from_ollama, from_llama_cpp) = probes.await;
    found.extend(from_ollama.unwrap_or_default());
    found.extend(from_llama_cpp.ok().flatten());
    found.extend(built_in(environment));
    found
}

fn own(environment: &Environment) -> Option<Found> {
    let OwnServer { base_url, model } = environment.own.clone()?;
    let variable = OWN_SERVER_KEY.to_owned();
    let auth = if environment.var(&variable).is_some() { Auth::BearerEnv { variable } } else { Auth::None };
    Some(Found {
        how: "LLM_BASE_URL is set".to_owned(),
        detail: format!("{model} at {base_url}; LLM_DEFAULT_MODEL chooses another model"),
        connection: Connection {
            capabilities: capabilities(&model, None),
            auth,
            ..Connection::new(stable_id("llm", &base_url, &model), "llm", Provider::Compatible, base_url, model)
        },
    })
}

/// The built-in model, if its file is there.
pub fn built_in(environment: &Environment) -> Option<Found> {
    let path = environment.local_model.as_ref()?;
    let header = match GgufHeader::read(path) {
        Ok(header) => header,
        Err(error) => {
            tracing::warn!(%error, "the local model is not usable");
            return None;
        }
    };
    let millions = header.parameters / 1_000_000;
    let trained = header.context_train.unwrap_or(environment.local_window);
    let window = environment.local_window.min(trained);
    let mut can = capabilities("", Some(&format!("{}M", millions.max(1))));
    if !can.plans {
        can = Capabilities::tiny(window);
    }
    can.window = window;
    can.scoring = true;
    // Its server has no native tool calls.
    can.strategy = Strategy::GuidedJson;
    let model = path.to_string_lossy().into_owned();
    let name = header.name.unwrap_or_else(|| "GGUF model".to_owned());
    Some(Found {
        how: "a model file is there".to_owned(),
        detail: format!("{name}, {millions}M parameters, window {window} tokens"),
        connection: Connection {
            capabilities: can,
            ..Connection::new(stable_id("local", "", &model), "local", Provider::Local, "", model)
        },
    })
}

/// Stable over restarts, since runs refer to it. A UUID of version 8, which is meant for hashes.
pub(crate) fn stable_id(name: &str, base_url: &str, model: &str) -> ConnectionId {
    let hash = of_json(&json!([name, base_url, model]));
    let text = format!("{}8{}a{}", &hash[..12], &hash[13..16], &hash[17..32]);
    // 32 hexadecimal digits are always a UUID.
    text.parse().unwrap_or(ConnectionId::from(steward_core::TenantId::DEFAULT.0))
}

type Lookup = dyn Fn(&str) -> Option<String> + Send + Sync;

/// What discovery may look at. The binary fills it in.
#[derive(Clone)]
pub struct Environment {
    vars: Arc<Lookup>,
    pub own: Option<OwnServer>,
    /// A GGUF file, if there is one and this build can run it.
    pub local_model: Option<PathBuf>,
    /// Tokens.
    pub local_window: u32,
    /// Where to look for Ollama if `OLLAMA_HOST` is not set.
    pub ollama_url: String,
    pub llama_cpp_url: String,
}

impl Environment {
    pub fn new(vars: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self {
            vars: Arc::new(vars),
            own: None,
            local_model: None,
            local_window: 2048,
            ollama_url: "http://127.0.0.1:11434".to_owned(),
            llama_cpp_url: "http://127.0.0.1:8080".to_owned(),
        }
    }

    /// `None` if the variable is unset or blank.
    pub(crate) fn var(&self, name: &str) -> Option<String> {
        let value = (self.vars)(name)?;
        let value = value.trim();
        (!value.is_empty()).then(|| value.to_owned())
    }
}

impl std::fmt::Debug for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Environment").field("local_model", &self.local_model).finish_non_exhaustive()
    }
}

const PROVIDERS: &str = include_str!("../data/providers.json");

#[derive(Debug, Deserialize)]
struct Row {
    name: String,
    variable: String,
    #[serde(default)]
    url_variable: Option<String>,
    model_variable: String,
    provider: Provider,
    /// Empty if the address must come from `url_variable`.
    base_url: String,
    model: String,
    /// The key goes into the provider's own header, not into `Authorization`.
    #[serde(default)]
    own_header: bool,
}

/// Connections whose key is set. The key itself is not read.
fn find_keys(environment: &Environment) -> Vec<Found> {
    // A test reads the table, so it is never empty.
    let rows: Vec<Row> = serde_json::from_str(PROVIDERS).unwrap_or_default();
    rows.into_iter().filter_map(|row| one(environment, row)).collect()
}

fn one(environment: &Environment, row: Row) -> Option<Found> {
    environment.var(&row.variable)?;
    let own_url = row.url_variable.as_ref().and_then(|name| environment.var(name));
    let base_url = own_url.clone().unwrap_or(row.base_url);
    if base_url.is_empty() {
        return None;
    }
    let model = environment.var(&row.model_variable).unwrap_or(row.model);
    // Another address may be any server of the OpenAI dialect.
    let provider = match row.provider {
        Provider::OpenAi if own_url.is_some() => Provider::Compatible,
        known => known,
    };
    let variable = row.variable.clone();
    let auth = if row.own_header { Auth::ApiKeyEnv { variable } } else { Auth::BearerEnv { variable } };
    let mut how = format!("{} is set", row.variable);
    if let (Some(_), Some(name)) = (own_url, row.url_variable) {
        how = format!("{how}, and {name}");
    }
    Some(Found {
        detail: format!("{model} at {base_url}; {} chooses another model", row.model_variable),
        how,
        connection: Connection {
            capabilities: capabilities(&model, None),
            auth,
            ..Connection::new(stable_id(&row.name, &base_url, &model), row.name, provider, base_url, model)
        },
    })
}

// Guesses by a model's name and size, used until an exam knows better.
const CAPABILITIES: &str = include_str!("../data/capabilities.json");

#[derive(Debug, Default, Deserialize)]
struct Table {
    by_size: Vec<SizeRow>,
    windows: Vec<WindowRow>,
    no_json_schema: Vec<String>,
    not_chat: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct SizeRow {
    below_millions: f64,
    /// The others are as usual.
    capabilities: Capabilities,
}

#[derive(Debug, Deserialize)]
struct WindowRow {
    contains: String,
    window: u32,
}

// A test reads the table, so the default is never taken.
static TABLE: LazyLock<Table> = LazyLock::new(|| serde_json::from_str(CAPABILITIES).unwrap_or_default());

/// `size` is the parameter count as endpoints give it (`7.6B`, `494.03M`).
pub fn capabilities(name: &str, size: Option<&str>) -> Capabilities {
    let name = name.to_lowercase();
    let millions = size.and_then(parse_size).or_else(|| size_in_name(&name));
    let row = millions.and_then(|size| TABLE.by_size.iter().find(|row| size < row.below_millions));
    let mut found = row.map(|row| row.capabilities.clone()).unwrap_or_default();
    if let Some(row) = TABLE.windows.iter().find(|row| name.contains(&row.contains)) {
        found.window = row.window;
    }
    if TABLE.no_json_schema.iter().any(|part| name.contains(part)) {
        found.json_schema = false;
    }
    found
}

/// Whether it is, say, an embedding model.
pub(crate) fn is_not_chat(name: &str) -> bool {
    let name = name.to_lowercase();
    TABLE.not_chat.iter().any(|part| name.contains(part))
}

/// Parameters in millions, from `7.6B` or `494.03M`.
pub(crate) fn parse_size(text: &str) -> Option<f64> {
    let text = text.trim().to_lowercase();
    let (number, unit) = match text.strip_suffix('b') {
        Some(number) => (number, 1000.0),
        None => (text.strip_suffix('m')?, 1.0),
    };
    let value: f64 = number.trim().parse().ok()?;
    (value > 0.0 && value < 1e6).then_some(value * unit)
}

/// The size in a name such as `qwen3:0.6b`, `smollm2-135m-instruct` or `qwen3-30b-a3b`.
fn size_in_name(name: &str) -> Option<f64> {
    name.split(|c: char| !(c.is_ascii_alphanumeric() || c == '.'))
        .filter(|word| word.starts_with(|c: char| c.is_ascii_digit()))
        .find_map(parse_size)
}

#[cfg(test)]
mod search_tests {
    use super::stable_id;

    #[test]
    fn ids_are_stable_and_apart() {
        let id = stable_id("ollama", "http://127.0.0.1:11434/v1", "qwen3:8b");
        assert_eq!(id, stable_id("ollama", "http://127.0.0.1:11434/v1", "qwen3:8b"));
        assert_ne!(id, stable_id("ollama", "http://127.0.0.1:11434/v1", "qwen3:4b"));
        assert_eq!(id.0.get_version_num(), 8);
        assert_ne!(id.0, steward_core::TenantId::DEFAULT.0);
    }
}

#[cfg(test)]
mod keys_tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn the_table_is_readable_and_safe() {
        let rows: Vec<Row> = serde_json::from_str(PROVIDERS).unwrap();
        assert!(rows.len() >= 5);
        for row in rows {
            let own = row.base_url.is_empty() && row.url_variable.is_some();
            assert!(own || row.base_url.starts_with("https://"), "{row:?}");
            assert!(!row.base_url.ends_with('/') && !row.model.is_empty(), "{row:?}");
        }
    }

    #[test]
    fn providers_with_interfaces_of_their_own() {
        let environment = Environment::new(|name| match name {
            "ANTHROPIC_API_KEY" | "GEMINI_API_KEY" | "AZURE_OPENAI_API_KEY" => Some("sk-very-secret".to_owned()),
            _ => None,
        });
        let found = find_keys(&environment);
        // Azure has no address that is everybody's.
        let providers: Vec<Provider> = found.iter().map(|f| f.connection.provider).collect();
        assert_eq!(providers, [Provider::Anthropic, Provider::Gemini]);
        let own = |f: &Found| matches!(f.connection.auth, Auth::ApiKeyEnv { .. });
        assert!(found.iter().all(own));
    }

    #[test]
    fn a_key_makes_a_connection_and_stays_out_of_it() {
        let environment = Environment::new(|name| match name {
            "OPENAI_API_KEY" => Some("sk-very-secret".to_owned()),
            "OPENAI_BASE_URL" => Some("http://127.0.0.1:9/v1".to_owned()),
            "GROQ_API_KEY" => Some("  ".to_owned()),
            _ => None,
        });
        let found = find_keys(&environment);
        assert_eq!(found.len(), 1);
        let connection = &found[0].connection;
        assert_eq!(connection.base_url, "http://127.0.0.1:9/v1");
        assert_eq!(connection.provider, Provider::Compatible);
        assert!(!format!("{found:?}{environment:?}").contains("sk-very"));
    }
}

#[cfg(test)]
mod guess_tests {
    #![allow(clippy::unwrap_used, clippy::float_cmp, reason = "tests")]
    use super::*;

    #[test]
    fn the_table_is_readable() {
        let table: Table = serde_json::from_str(CAPABILITIES).unwrap();
        assert!(table.by_size.is_sorted_by_key(|row| row.below_millions));
        assert!(!table.windows.is_empty() && !table.not_chat.is_empty());
    }

    #[test]
    fn before_an_exam_all_are_trusted_but_those_that_cannot_plan() {
        for name in ["claude-haiku-4-5", "mystery", "mystery-7b", "llama3.2:1b"] {
            assert!(capabilities(name, None).trusted, "{name}");
        }
        assert!(!capabilities("smollm2:135m", None).trusted);
        assert!(!Capabilities::tiny(2048).trusted);
    }

    #[test]
    fn sizes_in_names() {
        for (name, millions) in [
            ("qwen3:0.6b", Some(600.0)),
            ("smollm2-135m-instruct", Some(135.0)),
            ("llama3.2:1b", Some(1000.0)),
            ("qwen3-30b-a3b", Some(30_000.0)),
            ("gpt-4.1-mini", None),
            ("mistral-small-latest", None),
        ] {
            assert_eq!(size_in_name(name), millions, "{name}");
        }
        assert_eq!(parse_size("494.03M"), Some(494.03));
        assert_eq!(parse_size("7.6B"), Some(7600.0));
        assert_eq!(parse_size("big"), None);
    }

    #[test]
    fn small_models_are_trusted_with_less() {
        let tiny = capabilities("smollm2:135m", None);
        assert!(!tiny.plans && !tiny.summarises && tiny.strategy == Strategy::GuidedJson);
        let by_size = capabilities("mystery", Some("494.03M"));
        assert!(!by_size.plans);
        let large = capabilities("llama3.3:70b", None);
        assert!(large.plans && large.strategy == Strategy::Native);
        assert_eq!(capabilities("gpt-4.1-mini", None).window, 1_047_576);
        assert!(is_not_chat("nomic-embed-text") && !is_not_chat("qwen3:8b"));
    }
}
