//! Models of an Ollama or a llama.cpp server on this machine, with the window that the server really gives them.

use super::{Environment, Found, capabilities, is_not_chat, parse_size, stable_id};
use crate::openai::{Client, is_loopback};
use futures::future::{join, join_all};
use serde_json::{Value, json};
use std::time::Duration;
use steward_core::model::{Connection, Provider, Strategy};
use url::Url;

const TAGS_LIMIT: Duration = Duration::from_millis(300);
const SHOW_LIMIT: Duration = Duration::from_millis(90);
/// Models asked about in detail; more would take too long.
const SHOWN: usize = 8;
/// The window that Ollama gives a model if nobody asks for more.
pub(crate) const OLLAMA_DEFAULT_WINDOW: u32 = 4096;

pub(crate) fn named_server(name: &str, version: Option<&str>) -> String {
    match version.map(str::trim).filter(|version| !version.is_empty()) {
        Some(version) => format!("{name} {version}"),
        None => name.to_owned(),
    }
}

pub(crate) async fn find_ollama(environment: &Environment, client: &Client) -> Vec<Found> {
    let host = environment.var("OLLAMA_HOST");
    let how = match &host {
        Some(host) => format!("OLLAMA_HOST is {host}"),
        None => "Ollama answers".to_owned(),
    };
    let Some(root) = root_url(host.as_deref().unwrap_or(&environment.ollama_url)) else {
        tracing::warn!(host, "OLLAMA_HOST is no address");
        return Vec::new();
    };
    if !is_loopback(&root) {
        tracing::info!(%root, "an Ollama on another machine is not looked for; add it as a connection");
        return Vec::new();
    }
    let tags = async { client.probe(&root.join("api/tags").ok()?, None, TAGS_LIMIT).await };
    let Some(tags) = tags.await else {
        return Vec::new();
    };
    let own_window = environment.var("OLLAMA_CONTEXT_LENGTH").and_then(|text| text.parse().ok());
    let installed = tags["models"].as_array().cloned().unwrap_or_default();
    let chat =
        installed.iter().filter(|model| model["name"].as_str().is_some_and(|name| !is_not_chat(name))).take(SHOWN);
    let asked = chat.map(async |model| {
        let body = json!({"model": model["name"]});
        let shown = client.probe(&root.join("api/show").ok()?, Some(&body), SHOW_LIMIT).await;
        one(&root, model, shown.as_ref(), own_window, &how)
    });
    join_all(asked).await.into_iter().flatten().collect()
}

fn one(root: &Url, model: &Value, shown: Option<&Value>, own_window: Option<u32>, how: &str) -> Option<Found> {
    let name = model["name"].as_str()?;
    let size = model["details"]["parameter_size"].as_str();
    let mut can = capabilities(name, size);
    can.window = own_window.unwrap_or(OLLAMA_DEFAULT_WINDOW);
    if let Some(shown) = shown {
        let abilities = shown["capabilities"].as_array();
        let able = |what: &str| abilities.is_some_and(|list| list.iter().any(|item| item == what));
        if abilities.is_some() && !able("completion") {
            return None;
        }
        if abilities.is_some() && !able("tools") && can.strategy == Strategy::Native {
            can.strategy = Strategy::GuidedJson;
        }
        if let Some(window) = num_ctx(shown) {
            can.window = window;
        }
        if let Some(trained) = trained_window(shown) {
            can.window = can.window.min(trained);
        }
    }
    let base_url = root.join("v1").ok()?.to_string();
    let size = size.map_or_else(String::new, |size| format!(", {size} parameters"));
    Some(Found {
        how: how.to_owned(),
        detail: format!("{name}{size}, window {} tokens", can.window),
        connection: Connection {
            capabilities: can,
            ..Connection::new(
                stable_id("ollama", &base_url, name),
                format!("ollama-{name}"),
                Provider::Ollama,
                base_url,
                name,
            )
        },
    })
}

/// The window that the model file asks for, a line of `parameters`.
pub(crate) fn num_ctx(shown: &Value) -> Option<u32> {
    shown["parameters"].as_str()?.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        (words.next()? == "num_ctx").then(|| words.next()?.parse().ok())?
    })
}

pub(crate) fn trained_window(shown: &Value) -> Option<u32> {
    let window = model_info(shown, ".context_length")?.as_u64()?;
    u32::try_from(window).ok().filter(|window| *window > 0)
}

/// A fact of `/api/show`, whose names begin with the model's family.
pub(crate) fn model_info<'a>(shown: &'a Value, name_end: &str) -> Option<&'a Value> {
    let (_, value) = shown["model_info"].as_object()?.iter().find(|(key, _)| key.ends_with(name_end))?;
    Some(value)
}

/// Reads `OLLAMA_HOST`: with or without scheme and port, or the address that a server listens on.
fn root_url(host: &str) -> Option<Url> {
    let host = host.trim();
    let with_scheme = match host.split_once("://") {
        Some(_) => host.to_owned(),
        None if host.starts_with(':') => format!("http://127.0.0.1{host}"),
        None => format!("http://{host}"),
    };
    let mut url = Url::parse(&with_scheme).ok()?;
    if url.host_str() == Some("0.0.0.0") || url.host_str() == Some("[::]") {
        url.set_host(Some("127.0.0.1")).ok()?;
    }
    let authority = with_scheme.split_once("://")?.1.split('/').next()?;
    let has_port = authority.rsplit(':').next().is_some_and(|port| port.parse::<u16>().is_ok());
    if url.scheme() == "http" && !has_port {
        url.set_port(Some(11434)).ok()?;
    }
    if !url.path().ends_with('/') {
        let path = format!("{}/", url.path());
        url.set_path(&path);
    }
    Some(url)
}

const LIMIT: Duration = Duration::from_millis(300);

pub(crate) async fn find_llama_cpp(environment: &Environment, client: &Client) -> Option<Found> {
    let root = Url::parse(&environment.llama_cpp_url).ok().filter(is_loopback)?;
    let (models, props) = (root.join("v1/models").ok()?, root.join("props").ok()?);
    let (models, props) = join(client.probe(&models, None, LIMIT), client.probe(&props, None, LIMIT)).await;
    read(&root, &models?, &props?)
}

/// `None` for another program on that port: only llama.cpp answers both requests.
fn read(root: &Url, models: &Value, props: &Value) -> Option<Found> {
    let settings = props.get("default_generation_settings")?;
    let model = models["data"].get(0)?;
    let id = model["id"].as_str()?;
    // The id is often a path; the file name tells the size.
    let name = id.rsplit('/').next().unwrap_or(id);
    let size = model["meta"]["n_params"].as_u64().map(|n| format!("{}M", n / 1_000_000));
    let size = size.filter(|size| parse_size(size).is_some());
    let mut can = capabilities(name, size.as_deref());
    can.window = [&settings["n_ctx"], &model["meta"]["n_ctx"], &model["meta"]["n_ctx_train"]]
        .into_iter()
        .find_map(|value| u32::try_from(value.as_u64()?).ok())
        .unwrap_or(4096);
    let base_url = root.join("v1").ok()?.to_string();
    Some(Found {
        how: format!("a llama.cpp server answers at {root}"),
        detail: format!("{name}, window {} tokens", can.window),
        connection: Connection {
            capabilities: can,
            ..Connection::new(stable_id("llama.cpp", &base_url, id), "llama.cpp", Provider::LlamaCpp, base_url, id)
        },
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn hosts_in_every_form() {
        for (host, url) in [
            ("http://127.0.0.1:11434", "http://127.0.0.1:11434/"),
            ("127.0.0.1", "http://127.0.0.1:11434/"),
            ("0.0.0.0:8000", "http://127.0.0.1:8000/"),
            (":9999", "http://127.0.0.1:9999/"),
            ("localhost", "http://localhost:11434/"),
            ("http://localhost:80", "http://localhost/"),
            ("https://ollama.example", "https://ollama.example/"),
            ("http://127.0.0.1:1/prefix", "http://127.0.0.1:1/prefix/"),
        ] {
            assert_eq!(root_url(host).unwrap().as_str(), url, "{host}");
        }
        assert!(root_url("http://").is_none());
    }

    #[test]
    fn the_window_is_the_one_that_is_given() {
        let root = root_url("127.0.0.1").unwrap();
        let model = json!({"name": "m:8b", "details": {"parameter_size": "8.0B"}});
        let window = |shown: Option<Value>, own| {
            one(&root, &model, shown.as_ref(), own, "").unwrap().connection.capabilities.window
        };
        assert_eq!(window(None, None), 4096);
        assert_eq!(window(None, Some(16384)), 16384);
        let shown = json!({"parameters": "stop \"x\"\nnum_ctx    8192\n"});
        assert_eq!(window(Some(shown), Some(16384)), 8192);
        let small = json!({"model_info": {"llama.context_length": 2048}});
        assert_eq!(window(Some(small), None), 2048);
        let embedder = json!({"capabilities": ["embedding"]});
        assert!(one(&root, &model, Some(&embedder), None, "").is_none());
    }
}
