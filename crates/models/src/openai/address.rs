//! The URL of a call: base URL, however written, and path; query parameters stay, as Azure and proxies need theirs.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use std::collections::HashMap;
use std::sync::{LazyLock, RwLock};
use steward_core::ConnectionId;
use steward_core::locks::{read, write};
use steward_core::model::{Connection, Provider};
use url::Url;

const DEFAULTS: &str = include_str!("../../data/base_urls.json");
/// Sent if a deployment's URL names none: the last version of that interface.
const AZURE_VERSION: &str = "2024-10-21";
/// Endpoints that people paste with the base URL.
const ENDPOINTS: [&str; 6] = ["/chat/completions", "/completions", "/embeddings", "/responses", "/messages", "/models"];

// A test reads the table, so the default is never taken.
static BASES: LazyLock<HashMap<String, String>> = LazyLock::new(|| serde_json::from_str(DEFAULTS).unwrap_or_default());

pub(crate) fn default_base(provider: Provider) -> Option<&'static str> {
    let name = serde_json::to_value(provider).ok()?;
    BASES.get(name.as_str()?).map(String::as_str)
}

pub(crate) fn base(connection: &Connection) -> Result<Url, String> {
    let mut text = connection.base_url.trim();
    if text.is_empty() {
        text = default_base(connection.provider).unwrap_or(text);
    }
    let mut url = Url::parse(text).map_err(|e| e.to_string())?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(format!("`{}` is not http or https", url.scheme()));
    }
    url.set_fragment(None);
    Ok(url)
}

/// Of the OpenAI dialect, such as `chat/completions`.
fn dialect(connection: &Connection, path: &str) -> Result<Url, String> {
    let url = base(connection)?;
    let kept = bare(&url, connection.provider);
    let place = match connection.provider {
        Provider::AzureOpenAi => return Ok(azure(url.clone(), &kept, &connection.model, path)),
        Provider::Gemini if kept.is_empty() => "/v1beta/openai".to_owned(),
        Provider::Gemini if !kept.ends_with("/openai") => format!("{kept}/openai"),
        Provider::Cohere if !kept.ends_with("/compatibility/v1") => {
            format!("{}/compatibility/v1", without_version(&kept))
        }
        Provider::Bedrock if kept.is_empty() => "/openai/v1".to_owned(),
        Provider::Anthropic if kept.is_empty() => "/v1".to_owned(),
        Provider::Ollama => format!("{}/v1", without_version(&kept)),
        _ => kept,
    };
    Ok(at(&url, &format!("{place}/{path}")))
}

/// Most connections whose URLs are kept; at that number all are forgotten.
const MOST_KNOWN: usize = 1_000;

/// URLs of the OpenAI dialect that were built before, since the same few are called over and over.
#[derive(Debug, Default)]
pub(super) struct KnownUrls(RwLock<HashMap<(ConnectionId, &'static str), KnownUrl>>);

/// What it was built of: base URL, provider and model.
type KnownUrl = ((String, Provider, String), Url);

impl KnownUrls {
    /// As [`dialect`] builds it.
    pub fn dialect(&self, connection: &Connection, path: &'static str) -> Result<Url, String> {
        let key = (connection.id, path);
        let known = read(&self.0);
        if let Some(((base_url, provider, model), url)) = known.get(&key)
            && (base_url, *provider, model) == (&connection.base_url, connection.provider, &connection.model)
        {
            return Ok(url.clone());
        }
        drop(known);
        let url = dialect(connection, path)?;
        let built_of = (connection.base_url.clone(), connection.provider, connection.model.clone());
        let mut known = write(&self.0);
        if known.len() >= MOST_KNOWN {
            known.clear();
        }
        known.insert(key, (built_of, url.clone()));
        Ok(url)
    }
}

/// Of a path below the server's root, whatever version the base URL ends with.
pub(crate) fn native(connection: &Connection, path: &str) -> Result<Url, String> {
    let mut url = base(connection)?;
    // Bedrock lists its models on another host than the one that runs them.
    let control = url.host_str().and_then(|host| host.strip_prefix("bedrock-runtime."));
    if path == "foundation-models"
        && let Some(rest) = control
    {
        let host = format!("bedrock.{rest}");
        url.set_host(Some(&host)).map_err(|e| e.to_string())?;
    }
    let kept = bare(&url, connection.provider);
    Ok(at(&url, &format!("{}/{path}", without_version(&kept))))
}

/// The version in the base URL, such as `v1beta`.
pub(crate) fn version<'a>(connection: &Connection, usual: &'a str) -> std::borrow::Cow<'a, str> {
    let found = base(connection).ok().and_then(|url| {
        let mut parts = url.path_segments()?;
        parts.find(|part| is_version(part)).map(str::to_owned)
    });
    found.map_or(usual.into(), Into::into)
}

const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// `text` as one segment of a path; keeps only the unreserved characters of RFC 3986.
pub(crate) fn segment(text: &str) -> String {
    utf8_percent_encode(text, SEGMENT).to_string()
}

fn at(url: &Url, path: &str) -> Url {
    let mut url = url.clone();
    url.set_path(path);
    url
}

/// The base URL's path without an endpoint pasted with it.
fn bare(url: &Url, provider: Provider) -> String {
    let path = url.path().trim_end_matches('/');
    // Azure's model catalogue really is below `/models`.
    let endpoint = ENDPOINTS
        .iter()
        .filter(|end| !(provider == Provider::AzureOpenAi && **end == "/models"))
        .find_map(|end| path.strip_suffix(end));
    endpoint.unwrap_or(path).to_owned()
}

fn is_version(part: &str) -> bool {
    let mut letters = part.chars();
    letters.next() == Some('v') && letters.next().is_some_and(|c| c.is_ascii_digit())
}

/// The path before the first version in it, with a proxy's prefix.
pub(crate) fn without_version(path: &str) -> String {
    let mut kept = String::new();
    for part in path.split('/').filter(|part| !part.is_empty()) {
        if is_version(part) || matches!(part, "api" | "compatibility" | "openai") {
            break;
        }
        kept.push('/');
        kept.push_str(part);
    }
    kept
}

/// Azure has `/openai/v1`, with the model in the body, and `/openai/deployments/{model}` with an `api-version`.
fn azure(mut url: Url, path: &str, model: &str, end: &str) -> Url {
    let versioned = url.query_pairs().any(|(name, _)| name == "api-version");
    let root = path.find("/openai").map_or(path, |at| &path[..at]);
    let own = path.split_once("/openai/deployments/");
    let place = match own {
        _ if path.ends_with("/v1") || path.ends_with("/models") => {
            url.set_path(&format!("{path}/{end}"));
            return url;
        }
        None if !versioned => format!("{root}/openai/v1/{end}"),
        // These two belong to the resource, not to a deployment.
        _ if end == "models" || end == "responses" => format!("{root}/openai/{end}"),
        Some(_) => format!("{path}/{end}"),
        None => format!("{root}/openai/deployments/{}/{end}", segment(model)),
    };
    if own.is_some() && !versioned {
        url.query_pairs_mut().append_pair("api-version", AZURE_VERSION);
    }
    url.set_path(&place);
    url
}

#[cfg(test)]
mod tests;
