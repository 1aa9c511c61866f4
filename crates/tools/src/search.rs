mod engines;

use crate::credential::{self, CredentialUser};
use crate::dispatcher::DispatcherBuilder;
use crate::error::{ToolsError, refused};
use crate::files::blocking;
use crate::handler::{Context, ToolHandler};
use crate::outbound::{Client, HostPort, HttpLimits};
use crate::text::one_line;
use engines::Hit;
use secrecy::SecretString;
use serde::Deserialize;
use serde_json::json;
use std::fmt::Write as _;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;
use steward_core::credential::CredentialKind;
use steward_core::ports::{OpenedCredential, ToolScope, Vault};
use steward_core::scrub::secrets_of;
use steward_core::tool::{Preview, ToolOutput};
use steward_core::{TenantId, Timestamp};
use url::Url;

const DEFAULT_RESULTS: usize = 8;
const MAX_RESULTS: usize = 20;
const TIMEOUT: Duration = Duration::from_secs(20);
/// Longest wait for a search engine of one's own when it is only probed.
const PROBE_TIMEOUT: Duration = Duration::from_secs(3);

#[derive(Clone)]
pub struct SearchPorts {
    pub client: Client,
    pub vault: Arc<dyn Vault>,
}

pub struct WebSearch {
    config: SearchConfig,
    ports: SearchPorts,
}

#[must_use]
pub fn with_search(builder: DispatcherBuilder, config: Option<SearchConfig>, ports: &SearchPorts) -> DispatcherBuilder {
    match config {
        Some(config) => builder.with(WebSearch::new(config, ports.clone())),
        None => builder,
    }
}

/// Whether the key can be opened, and somebody listens where the operator's own engine is; a public one is asked by
/// searches only.
pub async fn probe_search(
    config: &SearchConfig,
    vault: &dyn Vault,
    tenant: TenantId,
    now: Timestamp,
) -> Result<String, String> {
    let what = format!("{} at {}", config.engine.title(), config.base);
    if let SearchKey::Credential(name) = &config.key {
        let by = CredentialUser { tenant, run: None, agent: None, at: now, tool: "doctor" };
        open_key(config, vault, by, name).await.map_err(|error| format!("{what}: {error}"))?;
    }
    let Some(own) = &config.own else {
        return Ok(format!("{what}, not tried: it is asked when an agent searches"));
    };
    let connected = tokio::time::timeout(PROBE_TIMEOUT, tokio::net::TcpStream::connect(own.to_string()));
    match connected.await {
        Ok(Ok(_)) => Ok(format!("{what} answers")),
        Ok(Err(error)) => Err(format!("{what}: {error}; start it, or mend STEWARD_SEARCH_URL")),
        Err(_) => Err(format!(
            "{what}: no connection within {} s; start it, or mend STEWARD_SEARCH_URL",
            PROBE_TIMEOUT.as_secs()
        )),
    }
}

/// The credential with the key, and the key.
async fn open_key(
    config: &SearchConfig,
    vault: &dyn Vault,
    by: CredentialUser<'_>,
    name: &str,
) -> Result<(OpenedCredential, SecretString), ToolsError> {
    let opened = credential::open(vault, by, name).await?;
    let base = &config.base;
    credential::check_host(&opened.credential, base.host_str().unwrap_or_default(), base.port_or_known_default())?;
    let field = match opened.credential.kind {
        CredentialKind::ApiKey => "key",
        CredentialKind::Token => "token",
        other => {
            return Err(refused!(
                "the credential {name} is of the kind {}; a search engine takes an api_key or a token",
                other.as_str()
            ));
        }
    };
    let key = credential::field(&opened, field)?;
    Ok((opened, key))
}

impl WebSearch {
    /// Only this tool may reach the address that the operator has set.
    pub fn new(config: SearchConfig, mut ports: SearchPorts) -> Self {
        ports.client = ports.client.allowing(config.own.clone());
        Self { config, ports }
    }

    async fn key(&self, context: &Context) -> Result<Option<SecretString>, ToolsError> {
        let name = match &self.config.key {
            SearchKey::None => return Ok(None),
            SearchKey::Plain(key) => {
                context.learned("search key", key.clone());
                return Ok(Some(key.clone()));
            }
            SearchKey::Credential(name) => name,
        };
        let by = CredentialUser::tool(&context.scope, Self::NAME);
        let (opened, key) = open_key(&self.config, self.ports.vault.as_ref(), by, name).await?;
        context.learned_all(secrets_of(&opened));
        Ok(Some(key))
    }

    fn show(&self, query: &str, hits: &[Hit]) -> ToolOutput {
        let engine = self.config.engine;
        let title = engine.title();
        let mut text = match hits.len() {
            0 => format!("{title} found nothing for: {query}\n"),
            1 => format!("1 result of {title} for: {query}\n"),
            many => format!("{many} results of {title} for: {query}\n"),
        };
        for (at, hit) in hits.iter().enumerate() {
            let _ = write!(text, "\n{}. {}\n   {}\n", at + 1, hit.title, hit.url);
            if !hit.snippet.is_empty() {
                let _ = writeln!(text, "   {}", hit.snippet);
            }
        }
        ToolOutput {
            data: Some(json!({"query": query, "engine": engine.as_str(), "results": hits})),
            provenance: hits.first().map(|_| format!("results of {} for \"{query}\"", engine.title())).iter().collect(),
            ..ToolOutput::text(text.trim_end())
        }
    }
}

#[derive(Debug, Deserialize)]
pub struct SearchArgs {
    query: String,
    count: Option<usize>,
}

impl ToolHandler for WebSearch {
    type Args = SearchArgs;
    const NAME: &'static str = "web_search";

    async fn preview(&self, args: SearchArgs, _: &ToolScope) -> Result<Preview, ToolsError> {
        Ok(Preview {
            summary: format!(
                "asks {} ({}) for: {}",
                self.config.engine.title(),
                self.config.base.host_str().unwrap_or_default(),
                args.query
            ),
            ..Preview::default()
        })
    }

    async fn run(&self, args: SearchArgs, context: &Context) -> Result<ToolOutput, ToolsError> {
        let query = one_line(&args.query);
        if query.is_empty() {
            return Err(ToolsError::refused("the query is blank; say what to look for"));
        }
        let count = args.count.unwrap_or(DEFAULT_RESULTS).clamp(1, MAX_RESULTS);
        let key = self.key(context).await?;
        let request = engines::build_request(&self.config, &query, count, key.as_ref())?;
        let limits = HttpLimits { timeout: TIMEOUT.min(context.left()), ..HttpLimits::default() };
        let answer = tokio::select! {
            answer = self.ports.client.send(request, limits, &context.scope.consulted) => answer?,
            () = context.halt() => return Err(ToolsError::refused("the search was stopped")),
        };
        let engine = self.config.engine;
        let hits = blocking(move || engines::parse_response(engine, &answer)).await?;
        Ok(self.show(&query, &hits[..hits.len().min(count)]))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchEngine {
    /// A SearXNG instance with its JSON format switched on; usually self-hosted.
    Searxng,
    Brave,
    /// DuckDuckGo's page for browsers without scripts; needs no key, and asks for a captcha now and then.
    Duckduckgo,
}

impl SearchEngine {
    pub const ALL: [Self; 3] = [Self::Searxng, Self::Brave, Self::Duckduckgo];

    /// Its name in settings, as people know it, and its usual address.
    fn facts(self) -> (&'static str, &'static str, Option<&'static str>) {
        match self {
            Self::Searxng => ("searxng", "SearXNG", None),
            Self::Brave => ("brave", "Brave", Some("https://api.search.brave.com")),
            Self::Duckduckgo => ("duckduckgo", "DuckDuckGo", Some("https://html.duckduckgo.com")),
        }
    }

    pub fn as_str(self) -> &'static str {
        self.facts().0
    }

    fn title(self) -> &'static str {
        self.facts().1
    }
}

impl FromStr for SearchEngine {
    type Err = ToolsError;

    fn from_str(text: &str) -> Result<Self, ToolsError> {
        let name = text.trim().to_lowercase();
        let found = Self::ALL.into_iter().find(|one| one.as_str() == name);
        found.ok_or_else(|| refused!("`{text}` is no search engine; choose searxng, brave or duckduckgo"))
    }
}

#[derive(Debug, Clone, Default)]
pub enum SearchKey {
    #[default]
    None,
    Plain(SecretString),
    /// The credential with this name in the vault, an api_key or a token.
    Credential(String),
}

#[derive(Debug, Clone)]
pub struct SearchConfig {
    pub engine: SearchEngine,
    /// Base address, without a slash at its end.
    pub base: Url,
    pub key: SearchKey,
    /// The operator's own address, which may be outside the public internet.
    pub own: Option<HostPort>,
}

impl SearchConfig {
    /// From `STEWARD_SEARCH`, `STEWARD_SEARCH_URL`, `STEWARD_SEARCH_CREDENTIAL` or `STEWARD_SEARCH_KEY`; `None` if no
    /// search engine was chosen.
    pub fn read(variable: &dyn Fn(&str) -> Option<String>) -> Result<Option<Self>, String> {
        let Some(engine) = variable("STEWARD_SEARCH") else {
            let mut needing = ["STEWARD_SEARCH_URL", "STEWARD_SEARCH_KEY", "STEWARD_SEARCH_CREDENTIAL"].into_iter();
            return match needing.find(|name| variable(name).is_some()) {
                Some(name) => {
                    Err(format!("{name} is set without STEWARD_SEARCH; set that to searxng, brave or duckduckgo"))
                }
                None => Ok(None),
            };
        };
        let key = match (variable("STEWARD_SEARCH_KEY"), variable("STEWARD_SEARCH_CREDENTIAL")) {
            (None, None) => SearchKey::None,
            (Some(key), None) => SearchKey::Plain(key.into()),
            (None, Some(name)) => SearchKey::Credential(name),
            _ => return Err("set only one of STEWARD_SEARCH_KEY and STEWARD_SEARCH_CREDENTIAL".to_owned()),
        };
        let engine = engine.parse::<SearchEngine>().map_err(|error| format!("STEWARD_SEARCH: {error}"))?;
        let config = Self::new(engine, variable("STEWARD_SEARCH_URL").as_deref(), key);
        config.map(Some).map_err(|error| format!("STEWARD_SEARCH, STEWARD_SEARCH_URL: {error}"))
    }

    /// `base` overrides the engine's default address; SearXNG has none.
    pub fn new(engine: SearchEngine, base: Option<&str>, key: SearchKey) -> Result<Self, ToolsError> {
        let Some(text) = base.or(engine.facts().2) else {
            return Err(ToolsError::refused("SearXNG needs the address of an instance, such as http://127.0.0.1:8888"));
        };
        let bad = |why: &str| {
            refused!("`{text}` can't be the address of a search engine ({why}); write it as https://search.example.org")
        };
        let url = Url::parse(text.trim_end_matches('/')).map_err(|error| bad(&error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(bad("only http and https will do"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(bad("a password has no place in it"));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(bad("it must end before the question mark"));
        }
        let (host, port) = (url.host_str(), url.port_or_known_default());
        let (Some(host), Some(port)) = (host, port) else {
            return Err(bad("it names no host"));
        };
        if engine == SearchEngine::Brave && matches!(key, SearchKey::None) {
            return Err(ToolsError::refused(
                "Brave needs a key: set STEWARD_SEARCH_CREDENTIAL to the name of a credential, or STEWARD_SEARCH_KEY",
            ));
        }
        let own = base.is_some().then(|| format!("{host}:{port}").parse());
        Ok(Self { engine, own: own.transpose()?, base: url, key })
    }

    fn at(&self, path: &str) -> Result<Url, ToolsError> {
        let base = self.base.as_str().trim_end_matches('/');
        Url::parse(&format!("{base}{path}")).map_err(|error| refused!("`{base}{path}` is no URL: {error}"))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::{SearchConfig, SearchEngine, SearchKey};

    fn read(set: &[(&str, &str)]) -> Result<Option<SearchConfig>, String> {
        SearchConfig::read(&|name| {
            let found = set.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn a_search_engine_is_chosen_by_variables() {
        assert!(read(&[]).unwrap().is_none());
        let set = [("STEWARD_SEARCH", "brave"), ("STEWARD_SEARCH_CREDENTIAL", "brave-key")];
        let search = read(&set).unwrap().unwrap();
        assert_eq!(search.engine, SearchEngine::Brave);
        assert!(matches!(search.key, SearchKey::Credential(name) if name == "brave-key"));
        let own = [("STEWARD_SEARCH", "searxng"), ("STEWARD_SEARCH_URL", "http://127.0.0.1:8888")];
        assert!(read(&own).unwrap().unwrap().own.is_some());
        for (set, expect) in [
            (vec![("STEWARD_SEARCH", "bing")], "choose searxng"),
            (vec![("STEWARD_SEARCH", "searxng")], "address of an instance"),
            (vec![("STEWARD_SEARCH_URL", "http://x")], "without STEWARD_SEARCH"),
            (
                vec![("STEWARD_SEARCH", "brave"), ("STEWARD_SEARCH_KEY", "k"), ("STEWARD_SEARCH_CREDENTIAL", "c")],
                "only one of",
            ),
        ] {
            let error = read(&set).unwrap_err();
            assert!(error.contains(expect), "{error}");
        }
    }
}
