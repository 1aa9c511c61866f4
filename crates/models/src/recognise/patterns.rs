//! The table of hosts, ports and paths, which is data.

use std::sync::LazyLock;

use serde::Deserialize;
use steward_core::model::Provider;
use url::Url;

const DATA: &str = include_str!("../../data/recognise.json");

/// A row: all that it names must fit.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    provider: Provider,
    /// The host, with one `*` for anything.
    host: Option<String>,
    port: Option<u16>,
    /// A part of the path.
    path: Option<String>,
    /// The path of the base URL there.
    base: Option<String>,
}

/// What a URL looks like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Guess {
    pub provider: Provider,
    /// The path of the base URL, where the table knows it.
    pub base: Option<String>,
    /// What shows it: `host`, `port` or `path`.
    pub by: &'static str,
}

// A test reads the table, so the default is never taken.
static TABLE: LazyLock<Vec<Row>> = LazyLock::new(|| serde_json::from_str(DATA).unwrap_or_default());

/// The first row that fits.
pub(super) fn guess(url: &Url) -> Option<Guess> {
    let row = TABLE.iter().find(|row| fits(row, url))?;
    let by = match (&row.host, row.port) {
        (Some(_), _) => "host",
        (None, Some(_)) => "port",
        (None, None) => "path",
    };
    Some(Guess { provider: row.provider, base: row.base.clone(), by })
}

fn fits(row: &Row, url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let host_fits = row.host.as_ref().is_none_or(|pattern| like(host, pattern));
    let port_fits = row.port.is_none_or(|port| url.port() == Some(port));
    let path_fits = row.path.as_ref().is_none_or(|part| url.path().contains(part));
    host_fits && port_fits && path_fits
}

fn like(text: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        None => text == pattern,
        Some((begin, end)) => text.len() >= begin.len() + end.len() && text.starts_with(begin) && text.ends_with(end),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use Provider::*;

    #[test]
    fn the_table_is_readable() {
        let rows: Vec<Row> = serde_json::from_str(DATA).unwrap();
        assert!(rows.len() >= 20);
        for row in rows {
            let named = row.host.is_some() || row.port.is_some() || row.path.is_some();
            assert!(named, "a row that fits everything: {row:?}");
        }
    }

    #[test]
    fn urls_and_what_they_look_like() {
        for (url, expect) in [
            ("https://api.openai.com/v1", Some(OpenAi)),
            ("https://my-co.openai.azure.com/", Some(AzureOpenAi)),
            ("https://proxy.corp/openai/deployments/gpt4", Some(AzureOpenAi)),
            ("https://api.anthropic.com", Some(Anthropic)),
            ("https://generativelanguage.googleapis.com/v1beta/openai", Some(Gemini)),
            ("https://api.cohere.ai/v1", Some(Cohere)),
            ("https://bedrock-runtime.eu-west-1.amazonaws.com", Some(Bedrock)),
            ("https://api-inference.huggingface.co/models/x", Some(HuggingFace)),
            ("https://router.huggingface.co/v1", Some(HuggingFace)),
            ("http://gpu:11434", Some(Ollama)),
            ("http://127.0.0.1:8080", Some(LlamaCpp)),
            ("http://127.0.0.1:5001/v1", Some(TextGen)),
            ("http://127.0.0.1:5000", Some(TextGen)),
            ("http://gpu:8000", Some(Vllm)),
            ("http://gpu:9000/v1/completions", Some(Vllm)),
            ("https://openrouter.ai/api/v1", Some(Compatible)),
            ("https://llm.corp/v1", None),
            ("https://api.openai.com.evil.example/v1", None),
        ] {
            let found = guess(&Url::parse(url).unwrap()).map(|guess| guess.provider);
            assert_eq!(found, expect, "{url}");
        }
    }
}
