//! Which server answers at a URL: guessed from the URL, then confirmed by asking. Nothing is saved.

use super::discovery::local_servers::named_server;
use super::openai::{Client, Outgoing, model_names, without_version};
use futures::future::{join, join_all};
use serde::Deserialize;
use serde_json::Value;
use std::sync::LazyLock;
use std::time::Duration;
use steward_core::ConnectionId;
use steward_core::model::{Auth, Connection, ModelError, ModelErrorClass, Provider, Wire};
use steward_core::ports::Recognised;
use url::Url;

/// Guesses by host, port or path, then asks with `auth`. Takes little more than two seconds. Where nothing answers,
/// the guess is returned with `confirmed` false; only a malformed URL is an error.
pub async fn recognise(client: &Client, base_url: &str, auth: &Auth) -> Result<Recognised, ModelError> {
    let url = mend(base_url).map_err(|why| bad_url(&why))?;
    let guessed = guess(&url);
    match guessed {
        // This host belongs to one provider; asking it for other servers' paths tells nothing.
        Some(known) if known.by() != "port" && known.provider != Provider::Vllm => {
            Ok(hosted(client, &url, known, auth).await)
        }
        _ => Ok(match server(client, &url, auth).await {
            Ok(found) => answered(&url, guessed, found),
            Err(error) => silent(&url, guessed, error.as_ref()),
        }),
    }
}

async fn hosted(client: &Client, url: &Url, known: &Row, auth: &Auth) -> Recognised {
    let base = based(url, known);
    let shown = known.shown();
    let mut asked = connection(&base, known.provider, auth);
    if known.provider == Provider::Ollama {
        asked.wire = Some(Wire::Chat);
    }
    let listed = client.models(&asked, LIMIT).await;
    let reason = match &listed {
        Ok(models) => format!("{shown}, and it lists {} models", models.len()),
        Err(error) => format!("{shown}; not confirmed: {}", error.message),
    };
    Recognised {
        provider: known.provider,
        base_url: written(&base),
        confirmed: listed.is_ok(),
        models: listed.unwrap_or_default(),
        server: String::new(),
        reason,
    }
}

/// The base URL at a known provider: the user's path if it is a base URL, else the table's.
fn based(url: &Url, known: &Row) -> Url {
    let path = url.path().trim_end_matches('/');
    let own = match known.provider {
        Provider::AzureOpenAi => {
            let keeps = ["/openai/v1", "/openai/deployments/", "/models"];
            let versioned = url.query_pairs().any(|(name, _)| name == "api-version");
            keeps.iter().any(|part| path.contains(part)) || versioned
        }
        Provider::Gemini => ["/v1", "/v1beta", "/openai"].iter().any(|end| path.ends_with(end)),
        // `/models/…` of HuggingFace's retired interface is no base URL of the dialect.
        _ => known.base.as_deref() != Some("") && path.ends_with("/v1") && known.provider != Provider::Cohere,
    };
    let mut base = url.clone();
    if own {
        let path = strip_endpoint(path).to_owned();
        base.set_path(&path);
        return base;
    }
    let Some(end) = &known.base else {
        // The old host no longer answers chats; the router does.
        return super::openai::default_base(known.provider).and_then(|usual| Url::parse(usual).ok()).unwrap_or(base);
    };
    let root = without_version(strip_endpoint(path));
    base.set_path(&format!("{root}{end}"));
    base
}

fn strip_endpoint(path: &str) -> &str {
    let ends = ["/chat/completions", "/completions", "/responses", "/embeddings", "/messages"];
    ends.iter().find_map(|end| path.strip_suffix(end)).unwrap_or(path)
}

fn answered(url: &Url, guessed: Option<&Row>, found: Found) -> Recognised {
    let mut base = url.clone();
    base.set_path(&found.base);
    let what = match found.server.as_str() {
        "" => "a server of the OpenAI dialect".to_owned(),
        server => server.to_owned(),
    };
    let mut reason = format!("{what} answered {}", found.by);
    if let Some(guessed) = guessed.filter(|guessed| guessed.provider != found.provider) {
        reason = format!("{reason}, although {}", guessed.shown());
    }
    Recognised {
        provider: found.provider,
        base_url: written(&base),
        confirmed: true,
        models: found.models,
        server: found.server,
        reason,
    }
}

fn silent(url: &Url, guessed: Option<&Row>, error: Option<&ModelError>) -> Recognised {
    let provider = guessed.map_or(Provider::Compatible, |guessed| guessed.provider);
    let mut base = url.clone();
    let path = strip_endpoint(url.path().trim_end_matches('/'));
    let has_version = path != without_version(path);
    let path = if has_version { path.to_owned() } else { format!("{path}/v1") };
    base.set_path(&path);
    let shown = guessed.map_or_else(|| "nothing in the URL tells what it is".to_owned(), Row::shown);
    let why = match error {
        Some(error) if error.class == ModelErrorClass::Auth => {
            format!("it answers, but {}", error.message)
        }
        Some(error) => error.message.clone(),
        None => "it answered no question".to_owned(),
    };
    Recognised {
        provider,
        base_url: written(&base),
        confirmed: false,
        models: Vec::new(),
        server: String::new(),
        reason: format!("{shown}; not confirmed: {why}"),
    }
}

fn written(url: &Url) -> String {
    match url.query() {
        None => url.as_str().trim_end_matches('/').to_owned(),
        Some(_) => url.to_string(),
    }
}

fn name(provider: Provider) -> &'static str {
    match provider {
        Provider::OpenAi => "OpenAI",
        Provider::AzureOpenAi => "Azure OpenAI",
        Provider::Anthropic => "Anthropic",
        Provider::Gemini => "Gemini",
        Provider::Cohere => "Cohere",
        Provider::Bedrock => "Bedrock",
        Provider::Vllm => "vLLM",
        Provider::TextGen => "TextGen WebUI",
        Provider::HuggingFace => "HuggingFace",
        Provider::Compatible => "a known provider of the OpenAI dialect",
        Provider::Ollama => "Ollama",
        Provider::LlamaCpp => "llama.cpp",
        Provider::Local => "the local model",
    }
}

fn bad_url(why: &str) -> ModelError {
    ModelError::new(
        ModelErrorClass::BadRequest,
        format!("this is no URL to look at: {why}"),
        "give a URL such as http://127.0.0.1:11434/v1 or https://api.openai.com/v1",
    )
}

/// For one answer; all requests go out together.
const LIMIT: Duration = Duration::from_secs(2);

struct Found {
    provider: Provider,
    /// The path of its base URL.
    base: String,
    models: Vec<String>,
    /// Name and version, as the server says.
    server: String,
    by: &'static str,
}

/// A connection only for asking at `url`.
fn connection(url: &Url, provider: Provider, auth: &Auth) -> Connection {
    let id = ConnectionId::from(steward_core::TenantId::DEFAULT.0);
    let connection = Connection::new(id, url.host_str().unwrap_or_default(), provider, url.as_str(), "");
    Connection { auth: auth.clone(), ..connection }
}

/// Sends every request that tells servers apart. The error is that of the model list.
async fn server(client: &Client, url: &Url, auth: &Auth) -> Result<Found, Option<ModelError>> {
    let root = without_version(url.path());
    let given = url.path().trim_end_matches('/').to_owned();
    let mut lists = vec![format!("{root}/v1")];
    for base in [given, format!("{root}/api/v1"), root.clone()] {
        if !lists.contains(&base) && !base.ends_with("/completions") {
            lists.push(base);
        }
    }
    let mut place = url.clone();
    place.set_path("");
    let asked = connection(&place, Provider::Compatible, auth);
    let limits = client.limits_of(LIMIT, 0);
    let ask = async |path: String| {
        let path = path.trim_start_matches('/').to_owned();
        client.send_for_json(&asked, &Outgoing::get_native(path), &limits).await.map(|(_, value)| value)
    };
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
        return Some(found(Provider::TextGen, "text-generation-webui".to_owned(), "/v1/internal/model/info"));
    }
    if answer(1).is_some_and(|props| props.get("default_generation_settings").is_some()) {
        let server = named_server("llama.cpp", word(1, "build_info").as_deref());
        return Some(found(Provider::LlamaCpp, server, "/props"));
    }
    let first = list.as_ref().map(|(_, list)| &list["data"][0]);
    let owner = first.and_then(|model| model["owned_by"].as_str());
    if let Some(version) = word(2, "version") {
        return Some(found(Provider::Ollama, format!("ollama {version}"), "/api/version"));
    }
    // Others list a `max_model_len` too; only vLLM also answers /version, or names itself as the owner.
    let lengths = first.is_some_and(|model| model.get("max_model_len").is_some());
    match word(3, "version") {
        Some(version) if lengths || owner == Some("vllm") => {
            return Some(found(Provider::Vllm, format!("vllm {version}"), "/version and /v1/models"));
        }
        None if owner == Some("vllm") => {
            return Some(found(Provider::Vllm, "vllm".to_owned(), "/v1/models"));
        }
        _ => {}
    }
    if let Some(model) = word(4, "model_id") {
        let server = named_server("text-generation-inference", word(4, "version").as_deref());
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

// The table of hosts, ports and paths.
const DATA: &str = include_str!("../data/recognise.json");

/// Everything a row names must fit.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    provider: Provider,
    /// `*` once for anything.
    host: Option<String>,
    port: Option<u16>,
    path: Option<String>,
    /// The path of the base URL there; `None` if the table has none.
    base: Option<String>,
}

impl Row {
    /// What tells the provider.
    fn by(&self) -> &'static str {
        match (&self.host, self.port) {
            (Some(_), _) => "host",
            (None, Some(_)) => "port",
            (None, None) => "path",
        }
    }

    fn shown(&self) -> String {
        format!("the {} is that of {}", self.by(), name(self.provider))
    }
}

// A test reads the table, so the default is never taken.
static TABLE: LazyLock<Vec<Row>> = LazyLock::new(|| serde_json::from_str(DATA).unwrap_or_default());

fn guess(url: &Url) -> Option<&'static Row> {
    TABLE.iter().find(|row| fits(row, url))
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

/// `text` as a URL; a missing scheme is added.
fn mend(text: &str) -> Result<Url, String> {
    let text = text.trim();
    if text.is_empty() {
        return Err("it is empty".to_owned());
    }
    let url = match text.split_once("://") {
        Some(("http" | "https" | "HTTP" | "HTTPS", _)) => Url::parse(text),
        Some((scheme, _)) => return Err(format!("`{scheme}` is not http or https")),
        None => {
            let plain = Url::parse(&format!("http://{text}")).map_err(|e| e.to_string())?;
            let scheme = if is_near(&plain) { "http" } else { "https" };
            Url::parse(&format!("{scheme}://{text}"))
        }
    };
    let mut url = url.map_err(|e| e.to_string())?;
    url.set_fragment(None);
    Ok(url)
}

/// This machine or the local network, where servers mostly speak without TLS.
fn is_near(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Domain(name)) => {
            let last = name.rsplit('.').next();
            !name.contains('.') || matches!(last, Some("localhost" | "local"))
        }
        Some(_) => true,
        None => false,
    }
}

#[cfg(test)]
mod patterns_tests {
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

#[cfg(test)]
mod url_tests {
    use super::mend;

    #[test]
    fn schemes_are_added_where_they_lack() {
        let check = |text: &str, expect: &str| {
            let mended = mend(text).map(|url| url.to_string());
            assert_eq!(mended.as_deref(), Ok(expect), "{text}");
        };
        check("localhost:11434", "http://localhost:11434/");
        check("127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1");
        check("[::1]:8080", "http://[::1]:8080/");
        check("gpu-box:8000", "http://gpu-box:8000/");
        check(" api.openai.com/v1 ", "https://api.openai.com/v1");
        check("http://api.example/v1#x", "http://api.example/v1");
        check("10.0.0.7", "http://10.0.0.7/");
        for bad in ["", "  ", "ftp://x/", "http://", "file:///etc"] {
            assert!(mend(bad).is_err(), "{bad}");
        }
    }
}
