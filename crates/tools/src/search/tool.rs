//! The tool itself.

use super::config::{SearchConfig, SearchKey};
use super::engine::{self, Hit};
use crate::catalogue;
use crate::credential::{self, By, Secrets};
use crate::dispatcher::DispatcherBuilder;
use crate::error::ToolsError;
use crate::files::blocking;
use crate::handler::{Context, ToolHandler, proposed};
use crate::suggest;
use crate::web::{Caps, Client};
use secrecy::SecretString;
use serde::Deserialize;
use serde_json::json;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;
use steward_core::credential::CredentialKind;
use steward_core::policy::RiskClass;
use steward_core::ports::{ToolScope, Vault};
use steward_core::tool::{EffectClass, Preview, Suggestion, ToolError, ToolOutput, ToolSpec};

const NAME: &str = "web_search";
/// Results unless asked otherwise, and the most.
const USUAL: usize = 8;
const MOST: usize = 20;
/// Longest search.
const WALL: Duration = Duration::from_secs(20);

/// What a search needs from the world.
#[derive(Clone)]
pub struct SearchPorts {
    pub client: Client,
    pub vault: Arc<dyn Vault>,
}

pub struct WebSearch {
    config: SearchConfig,
    ports: SearchPorts,
}

/// Adds `web_search` if an operator has chosen an engine.
#[must_use]
pub fn with_search(builder: DispatcherBuilder, config: Option<SearchConfig>, ports: &SearchPorts) -> DispatcherBuilder {
    match config {
        Some(config) => builder.with(WebSearch::new(config, ports.clone())),
        None => builder,
    }
}

impl WebSearch {
    /// The address that the operator has set may be reached, by this tool alone.
    pub fn new(config: SearchConfig, mut ports: SearchPorts) -> Self {
        ports.client = ports.client.allowing(config.own.clone());
        Self { config, ports }
    }

    async fn key(&self, context: &Context, secrets: &mut Secrets) -> Result<Option<SecretString>, ToolsError> {
        let name = match &self.config.key {
            SearchKey::None => return Ok(None),
            SearchKey::Plain(key) => {
                secrets.add("search key", key.clone());
                return Ok(Some(key.clone()));
            }
            SearchKey::Credential(name) => name,
        };
        let vault = self.ports.vault.as_ref();
        let opened = credential::open(vault, By::tool(&context.scope, NAME), name).await?;
        *secrets = Secrets::of(&opened);
        let field = match opened.credential.kind {
            CredentialKind::ApiKey => "key",
            CredentialKind::Token => "token",
            other => {
                return Err(ToolsError::Refused(format!(
                    "the credential {name} is of the kind {}; a search engine takes an api_key or a token",
                    other.as_str()
                )));
            }
        };
        opened
            .fields
            .get(field)
            .cloned()
            .map(Some)
            .ok_or_else(|| ToolsError::Refused(format!("the credential {name} has no {field}; set it anew")))
    }

    async fn search(
        &self,
        args: SearchArgs,
        context: &Context,
        secrets: &mut Secrets,
    ) -> Result<ToolOutput, ToolsError> {
        let query = args.query.split_whitespace().collect::<Vec<_>>().join(" ");
        if query.is_empty() {
            return Err(ToolsError::refused("the query is blank; say what to look for"));
        }
        let count = args.count.unwrap_or(USUAL).clamp(1, MOST);
        let key = self.key(context, secrets).await?;
        let ask = engine::ask(&self.config, &query, count, key.as_ref())?;
        let caps = Caps { wall: WALL.min(context.left()), ..Caps::default() };
        let answer = tokio::select! {
            answer = self.ports.client.send(ask, caps) => answer?,
            () = context.halt() => return Err(ToolsError::refused("the search was stopped")),
        };
        let engine = self.config.engine;
        let hits = blocking(move || engine::read(engine, &answer)).await?;
        Ok(self.show(&query, &hits[..hits.len().min(count)]))
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
            tainted: !hits.is_empty(),
            origin: (!hits.is_empty()).then(|| format!("results of {} for \"{query}\"", engine.title())),
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

    fn spec(&self) -> ToolSpec {
        // Nothing changes over there, but the words leave the house: external, as web_fetch is.
        catalogue::spec(
            NAME,
            RiskClass::External,
            EffectClass::Read,
            json!({
                "type": "object",
                "properties": {
                    "query": {"type": "string", "minLength": 1, "maxLength": 400, "description": "Search terms"},
                    "count": {"type": "integer", "minimum": 1, "maximum": MOST, "description": "How many results; 8 if left out"}
                },
                "required": ["query"],
                "additionalProperties": false
            }),
        )
    }

    async fn suggest(&self, request: &str, scope: &ToolScope) -> Vec<Suggestion> {
        proposed(request, scope, suggest::web_search::suggest).await
    }

    async fn preview(&self, args: SearchArgs, _: &ToolScope) -> Preview {
        Preview {
            summary: format!(
                "asks {} ({}) for: {}",
                self.config.engine.title(),
                self.config.base.host_str().unwrap_or_default(),
                args.query
            ),
            detail: None,
            count: None,
            reversible: false,
        }
    }

    async fn run(&self, args: SearchArgs, context: &Context) -> Result<ToolOutput, ToolError> {
        let mut secrets = Secrets::default();
        let result = self.search(args, context, &mut secrets).await;
        secrets.clean(result)
    }
}
