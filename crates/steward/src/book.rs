//! The book of connections: saved and found ones, and the router that is told of every change.

use async_trait::async_trait;
use futures::StreamExt;
use serde_json::json;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Instant;
use steward_core::message::Message;
use steward_core::model::{Connection, ModelChunk, ModelError, ModelRequest, Provider};
use steward_core::ports::{
    ConnectionTest, Connections as _, ConnectionsError, KnownConnection, ManagedConnections,
    Models as _, Settings as _, StoreError,
};
use steward_core::{ConnectionId, TenantId};
use steward_models::registry::Router;
use steward_store::Store;

/// Setting that holds the name of the default connection.
const DEFAULT_SETTING: &str = "connection.default";
/// Longest name, characters.
const MAX_NAME: usize = 64;
/// Longest reply of a test that is shown, characters.
const MAX_REPLY: usize = 200;

/// A connection and where it is from.
#[derive(Debug, Clone)]
pub struct Known {
    /// The connection.
    pub connection: Connection,
    /// `saved`, `OPENAI_API_KEY`, `Ollama at …`, `built in`.
    pub from: String,
}

/// Saved and found connections.
pub struct ConnectionBook {
    tenant: TenantId,
    store: Arc<Store>,
    router: Arc<Router>,
    /// By `--connection`; goes before the setting.
    wanted: Option<String>,
    found: Vec<Known>,
    listed: RwLock<Vec<Known>>,
}

impl ConnectionBook {
    /// Reads the saved ones and tells the router. `found` are those of the environment, this machine
    /// and the built-in model.
    pub async fn open(
        tenant: TenantId,
        store: Arc<Store>,
        router: Arc<Router>,
        wanted: Option<String>,
        found: Vec<Known>,
    ) -> Result<Self, ConnectionsError> {
        let book = Self {
            tenant,
            store,
            router,
            wanted,
            found,
            listed: RwLock::default(),
        };
        book.reload().await?;
        if let Some(name) = &book.wanted {
            book.named(name)?;
        }
        Ok(book)
    }

    /// All, saved ones first.
    pub fn known(&self) -> Vec<Known> {
        self.listed
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// By name.
    pub fn named(&self, name: &str) -> Result<Known, ConnectionsError> {
        let known = self.known();
        let names: Vec<&str> = known
            .iter()
            .map(|one| one.connection.name.as_str())
            .collect();
        known
            .iter()
            .find(|one| one.connection.name == name)
            .cloned()
            .ok_or_else(|| {
                ConnectionsError::Invalid(format!(
                    "there is no connection `{name}`; there are: {}",
                    names.join(", ")
                ))
            })
    }

    fn by_id(&self, id: ConnectionId) -> Result<Known, ConnectionsError> {
        self.known()
            .into_iter()
            .find(|one| one.connection.id == id)
            .ok_or_else(|| StoreError::NotFound(format!("connection {id}")).into())
    }

    async fn reload(&self) -> Result<(), ConnectionsError> {
        let saved = self.store.connections(self.tenant).await?;
        let mut all: Vec<Known> = saved
            .into_iter()
            .map(|connection| Known {
                connection,
                from: "saved".to_owned(),
            })
            .collect();
        for one in &self.found {
            if !all
                .iter()
                .any(|known| known.connection.name == one.connection.name)
            {
                all.push(one.clone());
            }
        }
        let default = self.default_of(&all).await?;
        let list = all.iter().map(|known| known.connection.clone()).collect();
        self.router.replace_connections(list, default);
        *self.listed.write().unwrap_or_else(PoisonError::into_inner) = all;
        Ok(())
    }

    /// `--connection`, else the setting, else the first that is not the built-in model, else that.
    async fn default_of(&self, all: &[Known]) -> Result<Option<ConnectionId>, ConnectionsError> {
        let find = |name: &str| all.iter().find(|one| one.connection.name == name);
        let set = self.store.setting(self.tenant, DEFAULT_SETTING).await?;
        let set = set.as_ref().and_then(serde_json::Value::as_str);
        let wanted = self.wanted.as_deref().and_then(find);
        let better = all
            .iter()
            .find(|one| one.connection.provider != Provider::Local);
        Ok(wanted
            .or_else(|| set.and_then(find))
            .or(better)
            .or(all.first())
            .map(|one| one.connection.id))
    }
}

fn check(connection: &Connection) -> Result<(), ConnectionsError> {
    let invalid = |text: String| Err(ConnectionsError::Invalid(text));
    let name = connection.name.trim();
    if name.is_empty() || name.chars().count() > MAX_NAME || name.contains(['/', '\n']) {
        return invalid(format!(
            "name: give 1 to {MAX_NAME} characters without `/`, such as `office-vllm`"
        ));
    }
    if connection.model.trim().is_empty() {
        return invalid("model: give the name that the endpoint knows it by".to_owned());
    }
    if connection.provider == Provider::Local {
        if std::path::Path::new(&connection.model).is_file() {
            return Ok(());
        }
        return invalid(format!("model: there is no GGUF file {}", connection.model));
    }
    match url::Url::parse(&connection.base_url) {
        Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => Ok(()),
        _ => invalid(format!(
            "base_url: `{}` is not an http or https address; give one such as http://127.0.0.1:8000/v1",
            connection.base_url
        )),
    }
}

#[async_trait]
impl ManagedConnections for ConnectionBook {
    async fn list(&self) -> Vec<KnownConnection> {
        let default = self.router.default_connection().map(|one| one.id);
        self.known()
            .into_iter()
            .map(|known| KnownConnection {
                default: Some(known.connection.id) == default,
                connection: known.connection,
                from: known.from,
            })
            .collect()
    }

    async fn save(&self, mut connection: Connection) -> Result<(), ConnectionsError> {
        check(&connection)?;
        connection.name = connection.name.trim().to_owned();
        let trimmed = connection.base_url.trim().trim_end_matches('/').to_owned();
        connection.base_url = trimmed;
        if self
            .found
            .iter()
            .any(|one| one.connection.id == connection.id)
        {
            return Err(ConnectionsError::Fixed(fixed(&connection.name)));
        }
        self.store.save_connection(self.tenant, &connection).await?;
        self.reload().await
    }

    async fn remove(&self, id: ConnectionId) -> Result<(), ConnectionsError> {
        let known = self.by_id(id)?;
        if known.from != "saved" {
            return Err(ConnectionsError::Fixed(fixed(&known.connection.name)));
        }
        self.store.remove_connection(self.tenant, id).await?;
        self.reload().await
    }

    async fn set_default(&self, id: ConnectionId) -> Result<(), ConnectionsError> {
        let known = self.by_id(id)?;
        let name = json!(known.connection.name);
        self.store
            .set_setting(self.tenant, DEFAULT_SETTING, &name)
            .await?;
        self.reload().await
    }

    async fn test(&self, id: ConnectionId) -> Result<ConnectionTest, ModelError> {
        let request = ModelRequest {
            messages: vec![Message::user("Say hello in one word.")],
            tools: Vec::new(),
            schema: None,
            temperature: 0.0,
            max_tokens: 64,
            stop: Vec::new(),
            seed: Some(1),
            timeout_ms: 60_000,
        };
        let begun = Instant::now();
        let ms = || u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        let mut chunks = self.router.stream(id, request).await?;
        let mut test = ConnectionTest {
            accepted_ms: ms(),
            first_ms: 0,
            total_ms: 0,
            text: String::new(),
            model: String::new(),
        };
        while let Some(chunk) = chunks.next().await {
            match chunk? {
                ModelChunk::Text(piece) | ModelChunk::Reasoning(piece) => {
                    if test.text.is_empty() {
                        test.first_ms = ms();
                    }
                    test.text.push_str(&piece);
                }
                ModelChunk::End { model, .. } => test.model = model,
                ModelChunk::ToolCall { .. } => {}
            }
        }
        test.total_ms = ms();
        test.text = test.text.trim().chars().take(MAX_REPLY).collect();
        Ok(test)
    }
}

fn fixed(name: &str) -> String {
    format!(
        "`{name}` was found by itself (environment or this machine) and can't be changed here; save one of your own under another name"
    )
}
