//! Which engine, and where.

use crate::error::ToolsError;
use crate::web::HostPort;
use secrecy::SecretString;
use std::str::FromStr;
use url::Url;

/// A search engine that answers programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchEngine {
    /// A SearXNG instance with its JSON format switched on; usually one's own.
    Searxng,
    /// Brave's search API, with a key.
    Brave,
    /// DuckDuckGo's page for browsers without scripts; needs no key, and asks for a captcha now and
    /// then.
    Duckduckgo,
}

impl SearchEngine {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Searxng, Self::Brave, Self::Duckduckgo];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Searxng => "searxng",
            Self::Brave => "brave",
            Self::Duckduckgo => "duckduckgo",
        }
    }

    pub fn title(self) -> &'static str {
        match self {
            Self::Searxng => "SearXNG",
            Self::Brave => "Brave",
            Self::Duckduckgo => "DuckDuckGo",
        }
    }

    /// Where it is unless the operator says otherwise.
    fn home(self) -> Option<&'static str> {
        match self {
            Self::Searxng => None,
            Self::Brave => Some("https://api.search.brave.com"),
            Self::Duckduckgo => Some("https://html.duckduckgo.com"),
        }
    }
}

impl FromStr for SearchEngine {
    type Err = ToolsError;

    fn from_str(text: &str) -> Result<Self, ToolsError> {
        let name = text.trim().to_lowercase();
        let found = Self::ALL.into_iter().find(|one| one.as_str() == name);
        found.ok_or_else(|| {
            ToolsError::Refused(format!("`{text}` is no search engine; choose searxng, brave or duckduckgo"))
        })
    }
}

/// What the engine lets us in with.
#[derive(Debug, Clone, Default)]
pub enum SearchKey {
    #[default]
    None,
    Plain(SecretString),
    /// The credential of this name in the vault, an api_key or a token.
    Credential(String),
}

#[derive(Debug, Clone)]
pub struct SearchConfig {
    pub engine: SearchEngine,
    /// Where it is, without a slash at its end.
    pub base: Url,
    pub key: SearchKey,
    /// The operator's own address: it may be outside the public internet.
    pub own: Option<HostPort>,
}

impl SearchConfig {
    /// `base` for another place than the engine's own; SearXNG has none of its own.
    pub fn new(engine: SearchEngine, base: Option<&str>, key: SearchKey) -> Result<Self, ToolsError> {
        let Some(text) = base.or(engine.home()) else {
            return Err(ToolsError::refused("SearXNG needs the address of an instance, such as http://127.0.0.1:8888"));
        };
        let bad = |why: &str| {
            ToolsError::Refused(format!(
                "`{text}` can't be the address of a search engine ({why}); write it as https://search.example.org"
            ))
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

    pub(super) fn at(&self, path: &str) -> Result<Url, ToolsError> {
        let base = self.base.as_str().trim_end_matches('/');
        Url::parse(&format!("{base}{path}"))
            .map_err(|error| ToolsError::Refused(format!("`{base}{path}` is no URL: {error}")))
    }
}
