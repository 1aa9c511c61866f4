//! Questions that only one kind of server answers in its way.

use std::time::Duration;

use futures::future::{join, join_all};
use serde_json::Value;
use steward_core::ConnectionId;
use steward_core::model::{Auth, Capabilities, Connection, ModelError, Provider, Wire};
use url::Url;

use crate::openai::{Client, Outgoing, model_names, without_version};

/// Longest wait for one answer; all are asked at once.
const LIMIT: Duration = Duration::from_secs(2);

/// What a server told about itself.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Found {
    pub provider: Provider,
    /// Path of its base URL.
    pub base: String,
    pub models: Vec<String>,
    /// What it says it is.
    pub server: String,
    /// The question that it answered.
    pub by: &'static str,
}

/// A connection for asking at `url`.
pub(super) fn connection(url: &Url, provider: Provider, auth: &Auth) -> Connection {
    Connection {
        id: ConnectionId::from(steward_core::TenantId::DEFAULT.0),
        name: url.host_str().unwrap_or_default().to_owned(),
        provider,
        base_url: url.to_string(),
        model: String::new(),
        auth: auth.clone(),
        capabilities: Capabilities::default(),
        wire: None,
        price: None,
        weight: 1,
        by_hand: Vec::new(),
    }
}

/// Asks a provider that the host gives away for its models.
pub(super) async fn models(
    client: &Client,
    url: &Url,
    provider: Provider,
    auth: &Auth,
) -> Result<Vec<String>, ModelError> {
    let mut asked = connection(url, provider, auth);
    if provider == Provider::Ollama {
        asked.wire = Some(Wire::Chat);
    }
    client.models(&asked, LIMIT).await
}

/// Asks every question that tells servers apart. The error is that of the list of models.
pub(super) async fn server(client: &Client, url: &Url, auth: &Auth) -> Result<Found, Option<ModelError>> {
    let root = without_version(url.path());
    let given = url.path().trim_end_matches('/').to_owned();
    let mut lists = vec![format!("{root}/v1")];
    for base in [given, format!("{root}/api/v1"), root.clone()] {
        if !lists.contains(&base) && !base.ends_with("/completions") {
            lists.push(base);
        }
    }
    let ask = |path: String| ask(client, url, path, auth);
    let questions = ["v1/internal/model/info", "props", "api/version", "version", "info"];
    let own = join_all(questions.map(|path| ask(format!("{root}/{path}"))));
    let listed = join_all(lists.iter().map(|base| ask(format!("{base}/models"))));
    let (own, listed) = join(own, listed).await;
    let own: Vec<Option<Value>> = own.into_iter().map(Result::ok).collect();
    let mut error = None;
    let mut list = None;
    for (base, answer) in lists.iter().zip(listed) {
        match answer {
            Ok(value) if list.is_none() && is_list(&value) => list = Some((base.clone(), value)),
            Ok(_) => {}
            Err(failed) => error = error.or(Some(failed)),
        }
    }
    judge(&root, &own, list).ok_or(error)
}

/// JSON from a path of the server, with the connection's key.
async fn ask(client: &Client, url: &Url, path: String, auth: &Auth) -> Result<Value, ModelError> {
    let mut root = url.clone();
    root.set_path("");
    let asked = connection(&root, Provider::Compatible, auth);
    let limits = client.limits_of(LIMIT, 0);
    let path = path.trim_start_matches('/').to_owned();
    let sent = client.send(&asked, &Outgoing::get_native(path), &limits).await?;
    let (_, value) = client.json(sent, &limits).await?;
    Ok(value)
}

fn is_list(value: &Value) -> bool {
    value.get("data").unwrap_or(value).is_array()
}

fn judge(root: &str, own: &[Option<Value>], list: Option<(String, Value)>) -> Option<Found> {
    let answer = |at: usize| own.get(at).and_then(Option::as_ref);
    let word = |at: usize, field: &str| answer(at)?.get(field)?.as_str().map(str::to_owned);
    let models = list.as_ref().map(|(_, list)| model_names(list));
    let found = |provider, server: String, by| Found {
        provider,
        base: format!("{root}/v1"),
        models: models.clone().unwrap_or_default(),
        server,
        by,
    };
    if answer(0).is_some_and(|info| info.get("model_name").is_some()) {
        let name = "text-generation-webui".to_owned();
        return Some(found(Provider::TextGen, name, "/v1/internal/model/info"));
    }
    if answer(1).is_some_and(|props| props.get("default_generation_settings").is_some()) {
        let build = word(1, "build_info").unwrap_or_default();
        let server = format!("llama.cpp {build}");
        return Some(found(Provider::LlamaCpp, trimmed(&server), "/props"));
    }
    let first = list.as_ref().map(|(_, list)| &list["data"][0]);
    let owner = first.and_then(|model| model["owned_by"].as_str());
    if let Some(version) = word(2, "version") {
        let server = format!("ollama {version}");
        return Some(found(Provider::Ollama, server, "/api/version"));
    }
    // Others list a `max_model_len` too; vLLM answers /version besides, or owns its models by name.
    let lengths = first.is_some_and(|model| model.get("max_model_len").is_some());
    match word(3, "version") {
        Some(version) if lengths || owner == Some("vllm") => {
            let server = format!("vllm {version}");
            return Some(found(Provider::Vllm, server, "/version and /v1/models"));
        }
        None if owner == Some("vllm") => {
            return Some(found(Provider::Vllm, "vllm".to_owned(), "/v1/models"));
        }
        _ => {}
    }
    if let Some(model) = word(4, "model_id") {
        let version = word(4, "version").unwrap_or_default();
        let server = trimmed(&format!("text-generation-inference {version}"));
        let mut found = found(Provider::HuggingFace, server, "/info");
        if found.models.is_empty() {
            found.models = vec![model];
        }
        return Some(found);
    }
    let (base, _) = list?;
    let mut found = found(Provider::Compatible, String::new(), "its list of models");
    found.base = base;
    Some(found)
}

fn trimmed(text: &str) -> String {
    text.trim().to_owned()
}
