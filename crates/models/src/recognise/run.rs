use steward_core::model::{Auth, ModelError, ModelErrorClass, Provider};
use steward_core::ports::Recognised;
use url::Url;

use super::patterns::{Guess, guess};
use super::probe::{self, Found};
use super::url::mend;
use crate::openai::{Client, without_version};

/// Recognises what answers at `base_url`: by its host, port or path, and then by asking with `auth`.
/// Takes little more than two seconds. What does not answer is guessed, with `confirmed` false; only
/// a URL that is none is an error.
pub async fn recognise(client: &Client, base_url: &str, auth: &Auth) -> Result<Recognised, ModelError> {
    let url = mend(base_url).map_err(|why| bad_url(&why))?;
    let guessed = guess(&url);
    match &guessed {
        // Such a host has one owner; asking it for the paths of other servers tells nothing.
        Some(known) if known.by != "port" && known.provider != Provider::Vllm => {
            Ok(hosted(client, &url, known, auth).await)
        }
        _ => Ok(match probe::server(client, &url, auth).await {
            Ok(found) => answered(&url, guessed.as_ref(), found),
            Err(error) => silent(&url, guessed.as_ref(), error.as_ref()),
        }),
    }
}

/// A provider that its host or path gives away.
async fn hosted(client: &Client, url: &Url, known: &Guess, auth: &Auth) -> Recognised {
    let base = based(url, known);
    let shown = format!("the {} is that of {}", known.by, name(known.provider));
    let listed = probe::models(client, &base, known.provider, auth).await;
    let (confirmed, models, reason) = match listed {
        Ok(models) => {
            let reason = format!("{shown}, and it lists {} models", models.len());
            (true, models, reason)
        }
        Err(error) => {
            let reason = format!("{shown}; not confirmed: {}", error.message);
            (false, Vec::new(), reason)
        }
    };
    Recognised { provider: known.provider, base_url: written(&base), confirmed, models, server: String::new(), reason }
}

/// The base URL of a known provider. What a person gave goes before the table, so far as it is a
/// base URL.
fn based(url: &Url, known: &Guess) -> Url {
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
        return crate::openai::default_base(known.provider).and_then(|usual| Url::parse(usual).ok()).unwrap_or(base);
    };
    let root = without_version(strip_endpoint(path));
    base.set_path(&format!("{root}{end}"));
    base
}

fn strip_endpoint(path: &str) -> &str {
    let ends = ["/chat/completions", "/completions", "/responses", "/embeddings", "/messages"];
    ends.iter().find_map(|end| path.strip_suffix(end)).unwrap_or(path)
}

fn answered(url: &Url, guessed: Option<&Guess>, found: Found) -> Recognised {
    let mut base = url.clone();
    base.set_path(&found.base);
    let what = match found.server.as_str() {
        "" => "a server of the OpenAI dialect".to_owned(),
        server => server.to_owned(),
    };
    let mut reason = format!("{what} answered {}", found.by);
    if let Some(guessed) = guessed.filter(|guessed| guessed.provider != found.provider) {
        let other = name(guessed.provider);
        reason = format!("{reason}, although the {} is that of {other}", guessed.by);
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

fn silent(url: &Url, guessed: Option<&Guess>, error: Option<&ModelError>) -> Recognised {
    let provider = guessed.map_or(Provider::Compatible, |guessed| guessed.provider);
    let mut base = url.clone();
    let path = strip_endpoint(url.path().trim_end_matches('/'));
    let has_version = path != without_version(path);
    let path = if has_version { path.to_owned() } else { format!("{path}/v1") };
    base.set_path(&path);
    let shown = match guessed {
        Some(guessed) => format!("the {} is that of {}", guessed.by, name(provider)),
        None => "nothing in the URL tells what it is".to_owned(),
    };
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

/// Without the slash at the end.
fn written(url: &Url) -> String {
    match url.query() {
        None => url.as_str().trim_end_matches('/').to_owned(),
        Some(_) => url.to_string(),
    }
}

/// A provider's name for people.
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
    ModelError {
        class: ModelErrorClass::BadRequest,
        message: format!("this is no URL to look at: {why}"),
        hint: "give a URL such as http://127.0.0.1:11434/v1 or https://api.openai.com/v1".to_owned(),
        detail: None,
        retry_after_ms: None,
    }
}
