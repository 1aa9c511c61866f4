//! What a model can probably do, by its name and size. The exam will know better.

use std::sync::LazyLock;

use serde::Deserialize;
use steward_core::model::{Capabilities, Connection, Provider, Strategy};

const DATA: &str = include_str!("../../data/capabilities.json");
const TRUSTED: &str = include_str!("../../data/trusted.json");

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
    strategy: Strategy,
    json_schema: bool,
    plans: bool,
    summarises: bool,
    max_tools: usize,
}

#[derive(Debug, Deserialize)]
struct WindowRow {
    contains: String,
    window: u32,
}

/// Whose native calls are known to be good.
#[derive(Debug, Default, Deserialize)]
struct Trusted {
    hosts: Vec<String>,
    families: Vec<String>,
}

static KNOWN: LazyLock<Trusted> = LazyLock::new(|| serde_json::from_str(TRUSTED).unwrap_or_default());

/// Whether a connection's model is known to call tools well, before any exam: by where it is served,
/// or by the family that its name tells. A server of one's own is examined instead, since there the
/// template decides.
pub fn is_known_as_trusted(connection: &Connection) -> bool {
    let name = connection.model.to_lowercase();
    let name = name.rsplit('/').next().unwrap_or(&name);
    let own = matches!(
        connection.provider,
        Provider::Local | Provider::Ollama | Provider::LlamaCpp | Provider::Vllm | Provider::TextGen
    );
    let family = || {
        let mut families = KNOWN.families.iter();
        families.any(|part| name.starts_with(part.as_str()))
    };
    let rest = connection.base_url.split_once("://").map_or("", |(_, rest)| rest);
    let host = rest.split(['/', ':']).next().unwrap_or_default();
    let known = KNOWN.hosts.iter().any(|known| {
        host.strip_suffix(known.as_str()).is_some_and(|before| before.is_empty() || before.ends_with('.'))
    });
    connection.capabilities.strategy == Strategy::Native && !own && (known || family())
}

// A test reads the table, so the default is never taken.
static TABLE: LazyLock<Table> = LazyLock::new(|| serde_json::from_str(DATA).unwrap_or_default());

/// Capabilities of the model of this name. `size` is its parameter count in words (`7.6B`,
/// `494.03M`), where the endpoint tells it.
pub fn capabilities(name: &str, size: Option<&str>) -> Capabilities {
    let name = name.to_lowercase();
    let mut found = Capabilities::default();
    let millions = size.and_then(parse_size).or_else(|| size_in_name(&name));
    let row = millions.and_then(|size| TABLE.by_size.iter().find(|row| size < row.below_millions));
    if let Some(row) = row {
        found.strategy = row.strategy;
        found.json_schema = row.json_schema;
        found.plans = row.plans;
        found.summarises = row.summarises;
        found.max_tools = row.max_tools;
    }
    if let Some(row) = TABLE.windows.iter().find(|row| name.contains(&row.contains)) {
        found.window = row.window;
    }
    if TABLE.no_json_schema.iter().any(|part| name.contains(part)) {
        found.json_schema = false;
    }
    found
}

/// Whether the name is that of a model that does not chat.
pub(super) fn is_not_chat(name: &str) -> bool {
    let name = name.to_lowercase();
    TABLE.not_chat.iter().any(|part| name.contains(part))
}

/// Parameters in millions, from `7.6B` or `494.03M`.
pub(super) fn parse_size(text: &str) -> Option<f64> {
    let text = text.trim().to_lowercase();
    let (number, unit) = match text.strip_suffix('b') {
        Some(number) => (number, 1000.0),
        None => (text.strip_suffix('m')?, 1.0),
    };
    let value: f64 = number.trim().parse().ok()?;
    (value > 0.0 && value < 1e6).then_some(value * unit)
}

/// The size in a name such as `qwen3:0.6b`, `smollm2-135m-instruct`, `qwen3-30b-a3b`.
fn size_in_name(name: &str) -> Option<f64> {
    name.split(|c: char| !(c.is_ascii_alphanumeric() || c == '.'))
        .filter(|word| word.starts_with(|c: char| c.is_ascii_digit()))
        .find_map(parse_size)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::float_cmp, reason = "tests")]
    use super::*;

    #[test]
    fn the_table_is_readable() {
        let table: Table = serde_json::from_str(DATA).unwrap();
        assert!(table.by_size.is_sorted_by_key(|row| row.below_millions));
        assert!(!table.windows.is_empty() && !table.not_chat.is_empty());
        let trusted: Trusted = serde_json::from_str(TRUSTED).unwrap();
        assert!(!trusted.hosts.is_empty() && !trusted.families.is_empty());
    }

    #[test]
    fn who_is_trusted_before_an_exam() {
        let of = |provider: &str, host: &str, model: &str| {
            let connection = serde_json::json!({
                "id": uuid::Uuid::nil(), "name": "one", "provider": provider,
                "base_url": format!("https://{host}/v1"), "model": model,
            });
            is_known_as_trusted(&serde_json::from_value(connection).unwrap())
        };
        assert!(of("anthropic", "api.anthropic.com", "claude-haiku-4-5"));
        assert!(of("azure_open_ai", "me.openai.azure.com", "my-deployment"));
        assert!(of("compatible", "example.org", "anthropic/claude-sonnet-5"));
        assert!(of("open_ai", "127.0.0.1:4000", "gpt-4o"));
        assert!(!of("open_ai", "127.0.0.1:4000", "scripted"), "another server behind the name");
        assert!(!of("compatible", "notapi.openai.com.example.org", "mystery-7b"));
        assert!(!of("ollama", "localhost:11434", "gpt-oss-120b"));
        assert!(!of("local", "", "SmolLM2.gguf"));
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
