//! Saved and found connections, what exams found out about them, and the router that is notified of every change.

use super::key_variables::KeyVariables;
use super::merge::{merged, set_by_hand};
use async_trait::async_trait;
use futures::StreamExt;
use serde_json::json;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, RwLock};
use std::time::Instant;
use steward_core::exam::ExamReport;
use steward_core::live::Live;
use steward_core::locks::{read, write};
use steward_core::message::Message;
use steward_core::model::{
    Auth, Capabilities, Connection, ModelChunk, ModelError, ModelRequest, Provider, RequestOptions,
};
use steward_core::ports::{
    Clock, ConnectionKeys, ConnectionTest, ConnectionsError, KnownConnection, ManagedConnections, Models as _,
    Settings as _, StoreError, TypedKey,
};
use steward_core::routing::Role;
use steward_core::{ConnectionId, TenantId, Timestamp};
use steward_models::discovery::Found;
use steward_models::exam::endpoint;
use steward_models::openai::Client;
use steward_models::router::Router;
use steward_store::Store;
use tokio::sync::broadcast;

const DEFAULT_SETTING: &str = "connection.default";
/// Longest reply of a test that is shown, characters.
const MAX_REPLY: usize = 200;

#[derive(Debug, Clone)]
pub struct KnownSource {
    pub connection: Connection,
    /// `saved`, `OPENAI_API_KEY`, `Ollama at …`, `built in`.
    pub from: String,
}

pub struct RegistryParts {
    pub tenant: TenantId,
    pub store: Arc<Store>,
    pub keys: Arc<dyn ConnectionKeys>,
    pub router: Arc<Router>,
    pub clock: Arc<dyn Clock>,
}

/// What the settings say of connections.
#[derive(Debug, Clone)]
pub struct RegistrySettings {
    /// By name; takes precedence over the one that is chosen among the connections.
    pub wanted: Option<String>,
    /// By name, for those parts of the work that a setting names a connection for.
    pub roles: Vec<(Role, String)>,
    /// Connections of the environment, of this machine and the built-in one.
    pub found: Vec<Found>,
    pub variables: KeyVariables,
    /// Whether connections are examined by themselves where that costs nothing.
    pub examines: bool,
}

pub struct ConnectionRegistry {
    parts: RegistryParts,
    settings: Live<RegistrySettings>,
    listed: RwLock<Listed>,
    pub(super) at_work: Mutex<HashSet<ConnectionId>>,
    /// Exams that ended without a report, with the model that they were of.
    pub(super) failed: Mutex<HashMap<ConnectionId, (String, ModelError)>>,
    /// Receives each connection that was added or changed.
    pub(super) saved: broadcast::Sender<ConnectionId>,
    /// Receives each connection that has just answered a test.
    pub(super) answered: broadcast::Sender<ConnectionId>,
}

#[derive(Debug, Default)]
struct Listed {
    /// Including the findings of exams.
    merged: Vec<KnownSource>,
    /// As saved or found.
    own: Vec<KnownSource>,
    reports: Vec<ExamReport>,
}

impl ConnectionRegistry {
    pub async fn open(parts: RegistryParts, settings: RegistrySettings) -> Result<Self, ConnectionsError> {
        let registry = Self {
            parts,
            settings: Live::new(settings),
            listed: RwLock::default(),
            at_work: Mutex::default(),
            failed: Mutex::default(),
            saved: broadcast::Sender::new(64),
            answered: broadcast::Sender::new(16),
        };
        registry.reload().await?;
        if let Some(name) = &registry.settings.get().wanted {
            registry.named(name)?;
        }
        registry.warn_of_keys();
        for (role, found) in registry.roles() {
            if let Err(error) = found {
                tracing::warn!(
                    role = role.name(),
                    hint = error.hint,
                    "{}; runs that need it are refused",
                    error.message
                );
            }
        }
        Ok(registry)
    }

    /// The connections that settings name for parts of the work, or that there is none of this name.
    pub fn roles(&self) -> Vec<(Role, Result<Connection, ModelError>)> {
        let settings = self.settings.get();
        let router = &self.parts.router;
        settings.roles.iter().map(|(role, name)| (*role, router.named(*role, name))).collect()
    }

    /// Whether these can take the place of the settings before; the error says why not.
    pub async fn check(&self, settings: &RegistrySettings) -> Result<(), ConnectionsError> {
        let saved = self.parts.store.connections(self.parts.tenant).await?;
        let found = settings.found.iter().map(|one| &one.connection);
        let names: Vec<&str> = saved.iter().chain(found).map(|one| one.name.as_str()).collect();
        // One that has gone since keeps nobody from changing other settings.
        let before = self.settings.get();
        let mut roles = settings.roles.iter().filter(|role| !before.roles.contains(role));
        if let Some((role, name)) = roles.find(|(_, name)| !names.contains(&name.as_str())) {
            return Err(ConnectionsError::Invalid(format!("{}: {}", role.setting(), no_connection(name, &names))));
        }
        match settings.wanted.as_deref() {
            Some(wanted) if !names.contains(&wanted) => Err(no_connection(wanted, &names)),
            _ => Ok(()),
        }
    }

    /// From the next call of a model on.
    pub async fn change(&self, settings: RegistrySettings) -> Result<(), ConnectionsError> {
        self.settings.replace(settings);
        self.warn_of_keys();
        self.reload().await
    }

    pub fn settings(&self) -> Arc<RegistrySettings> {
        self.settings.get()
    }

    fn warn_of_keys(&self) {
        for known in self.known() {
            if let Err(why) = self.variable_fits(&known.connection) {
                tracing::warn!(connection = known.connection.name, why, "its key is not used");
            }
        }
    }

    fn variable_fits(&self, connection: &Connection) -> Result<(), String> {
        let variable = connection.auth.variable();
        variable.map_or(Ok(()), |name| self.settings.get().variables.check(name))
    }

    /// Saved ones first.
    pub fn known(&self) -> Vec<KnownSource> {
        read(&self.listed).merged.clone()
    }

    pub(super) fn own(&self, id: ConnectionId) -> Option<KnownSource> {
        let listed = read(&self.listed);
        let mut own = listed.own.iter();
        own.find(|one| one.connection.id == id).cloned()
    }

    pub(super) fn report_of(&self, connection: &Connection) -> Option<ExamReport> {
        let listed = read(&self.listed);
        report_among(&listed.reports, connection).cloned()
    }

    /// Stores a report, which is used from then on.
    pub(super) async fn keep(&self, report: &ExamReport) -> Result<(), ConnectionsError> {
        self.parts.store.save_report(self.parts.tenant, report).await?;
        self.reload().await
    }

    pub(super) fn client(&self) -> &Client {
        self.parts.router.client()
    }

    pub(super) fn examines(&self) -> bool {
        self.settings.get().examines
    }

    pub(super) fn now(&self) -> Timestamp {
        self.parts.clock.now()
    }

    pub fn named(&self, name: &str) -> Result<KnownSource, ConnectionsError> {
        let known = self.known();
        let names: Vec<&str> = known.iter().map(|one| one.connection.name.as_str()).collect();
        known.iter().find(|one| one.connection.name == name).cloned().ok_or_else(|| no_connection(name, &names))
    }

    pub(super) fn by_id(&self, id: ConnectionId) -> Result<KnownSource, ConnectionsError> {
        self.known()
            .into_iter()
            .find(|one| one.connection.id == id)
            .ok_or_else(|| StoreError::NotFound(format!("connection {id}")).into())
    }

    async fn reload(&self) -> Result<(), ConnectionsError> {
        let saved = self.parts.store.connections(self.parts.tenant).await?;
        let mut all: Vec<KnownSource> =
            saved.into_iter().map(|connection| KnownSource { connection, from: "saved".to_owned() }).collect();
        for one in &self.settings.get().found {
            if !all.iter().any(|known| known.connection.name == one.connection.name) {
                all.push(KnownSource { connection: one.connection.clone(), from: one.how.clone() });
            }
        }
        let reports = self.parts.store.reports(self.parts.tenant).await?;
        let known: Vec<KnownSource> = all
            .iter()
            .map(|one| KnownSource {
                connection: merged(&one.connection, report_among(&reports, &one.connection)),
                from: one.from.clone(),
            })
            .collect();
        let default = self.default_of(&known).await?;
        let list = known.iter().map(|known| known.connection.clone()).collect();
        self.parts.router.replace_connections(list, default);
        self.parts.router.set_reports(reports.clone());
        *write(&self.listed) = Listed { merged: known, own: all, reports };
        Ok(())
    }

    /// A field returned unchanged is an exam's finding; a changed one is the person's wish, which no exam overrides.
    fn keep_own(&self, connection: &mut Connection) {
        // Named as such, be it what an exam or the usual case says anyway.
        let chosen = std::mem::take(&mut connection.by_hand);
        let (Some(own), Ok(shown)) = (self.own(connection.id), self.by_id(connection.id)) else {
            let usual = Capabilities::default();
            connection.by_hand = set_by_hand(&connection.capabilities, &usual, &chosen);
            return;
        };
        let already: Vec<String> = own.connection.by_hand.iter().chain(&chosen).cloned().collect();
        connection.by_hand = set_by_hand(&connection.capabilities, &shown.connection.capabilities, &already);
        if connection.capabilities == shown.connection.capabilities && chosen.is_empty() {
            connection.capabilities = own.connection.capabilities;
        }
        if connection.wire == shown.connection.wire {
            connection.wire = own.connection.wire;
        }
    }

    /// Only the first beside the built-in model becomes the default by itself; a renamed default stays the default.
    async fn keep_default(&self, before: Option<&Connection>, name: &str) -> Result<(), ConnectionsError> {
        let set = self.parts.store.setting(self.parts.tenant, DEFAULT_SETTING);
        let set = set.await?;
        let set = set.as_ref().and_then(serde_json::Value::as_str);
        let now = self.parts.router.default_connection();
        let now = now.filter(|one| one.provider != Provider::Local);
        let wanted = match (set, before) {
            (Some(set), Some(before)) if set == before.name => name,
            (Some(_), _) => return Ok(()),
            (None, Some(before)) if now.as_ref().is_some_and(|one| one.id == before.id) => name,
            (None, _) => now.as_ref().map_or(name, |one| one.name.as_str()),
        };
        let tenant = self.parts.tenant;
        self.parts.store.set_setting(tenant, DEFAULT_SETTING, &json!(wanted)).await?;
        Ok(())
    }

    /// `--connection`, else the setting, else the first that is not the built-in model, else that.
    async fn default_of(&self, all: &[KnownSource]) -> Result<Option<ConnectionId>, ConnectionsError> {
        let find = |name: &str| all.iter().find(|one| one.connection.name == name);
        let set = self.parts.store.setting(self.parts.tenant, DEFAULT_SETTING).await?;
        let set = set.as_ref().and_then(serde_json::Value::as_str);
        let settings = self.settings.get();
        let wanted = settings.wanted.as_deref().and_then(find);
        let better = all.iter().find(|one| one.connection.provider != Provider::Local);
        Ok(wanted.or_else(|| set.and_then(find)).or(better).or(all.first()).map(|one| one.connection.id))
    }
}

fn no_connection(name: &str, names: &[&str]) -> ConnectionsError {
    ConnectionsError::Invalid(format!("there is no connection `{name}`; there are: {}", names.join(", ")))
}

#[async_trait]
impl ManagedConnections for ConnectionRegistry {
    async fn list(&self) -> Vec<KnownConnection> {
        let default = self.parts.router.default_connection().map(|one| one.id);
        self.known()
            .into_iter()
            .map(|known| KnownConnection {
                default: Some(known.connection.id) == default,
                connection: known.connection,
                from: known.from,
            })
            .collect()
    }

    async fn named(&self, name: &str) -> Option<Connection> {
        let listed = read(&self.listed);
        let mut all = listed.merged.iter();
        all.find(|one| one.connection.name == name).map(|one| one.connection.clone())
    }

    async fn save(&self, mut connection: Connection, key: TypedKey) -> Result<(), ConnectionsError> {
        connection.name = connection.name.trim().to_owned();
        let trimmed = connection.base_url.trim().trim_end_matches('/').to_owned();
        connection.base_url = trimmed;
        if self.settings.get().found.iter().any(|one| one.connection.id == connection.id) {
            return Err(ConnectionsError::Fixed(fixed(&connection.name)));
        }
        self.variable_fits(&connection).map_err(|why| ConnectionsError::Invalid(format!("auth.variable: {why}")))?;
        let before = self.own(connection.id).map(|known| known.connection);
        needs_key(before.as_ref(), &connection, &key)?;
        self.keep_own(&mut connection);
        let (tenant, id, name) = (self.parts.tenant, connection.id, connection.name.clone());
        let others = self.known();
        if others.iter().any(|one| one.connection.name == name && one.connection.id != id && one.from == "saved") {
            let taken = format!("another connection has the name {name:?}; choose another");
            return Err(StoreError::Conflict(taken).into());
        }
        let typed = !key.is_empty();
        // The key first: a connection without one would be asked in vain.
        if connection.auth.is_sealed() {
            self.parts.keys.keep_key(tenant, id, &name, key).await?;
        }
        self.parts.store.save_connection(tenant, &connection).await?;
        if !connection.auth.is_sealed() {
            self.parts.keys.remove_key(tenant, id).await?;
        }
        self.keep_default(before.as_ref(), &name).await?;
        if typed {
            self.parts.router.reset_health(id);
        }
        self.reload().await?;
        // Nobody listens if no server runs.
        let _ = self.saved.send(id);
        Ok(())
    }

    async fn remove(&self, id: ConnectionId) -> Result<(), ConnectionsError> {
        let known = self.by_id(id)?;
        if known.from != "saved" {
            return Err(ConnectionsError::Fixed(fixed(&known.connection.name)));
        }
        let tenant = self.parts.tenant;
        self.parts.store.remove_connection(tenant, id).await?;
        self.parts.keys.remove_key(tenant, id).await?;
        let set = self.parts.store.setting(tenant, DEFAULT_SETTING).await?;
        if set.is_some_and(|set| set == known.connection.name.as_str()) {
            // So that nobody who takes the name later becomes the default by it.
            let none = serde_json::Value::Null;
            self.parts.store.set_setting(tenant, DEFAULT_SETTING, &none).await?;
        }
        self.reload().await
    }

    async fn set_default(&self, id: ConnectionId) -> Result<(), ConnectionsError> {
        let known = self.by_id(id)?;
        let name = json!(known.connection.name);
        self.parts.store.set_setting(self.parts.tenant, DEFAULT_SETTING, &name).await?;
        self.reload().await
    }

    async fn test(&self, id: ConnectionId) -> Result<ConnectionTest, ModelError> {
        let request = ModelRequest {
            messages: vec![Message::user("Say hello in one word.")],
            tools: Vec::new(),
            schema: None,
            temperature: Some(0.0),
            max_tokens: Some(64),
            stop: Vec::new(),
            seed: Some(1),
            timeout_ms: 60_000,
            options: RequestOptions::default(),
        };
        let begun = Instant::now();
        let ms = || u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        let mut chunks = self.parts.router.stream(id, request).await?;
        let mut test =
            ConnectionTest { accepted_ms: ms(), first_ms: 0, total_ms: 0, text: String::new(), model: String::new() };
        while let Some(chunk) = chunks.next().await {
            match chunk? {
                ModelChunk::Text(piece) | ModelChunk::Reasoning(piece) => {
                    if test.text.is_empty() {
                        test.first_ms = ms();
                    }
                    test.text.push_str(&piece);
                }
                ModelChunk::End { model, .. } => test.model = model,
                ModelChunk::ToolCall { .. } | ModelChunk::Signature { .. } => {}
            }
        }
        test.total_ms = ms();
        // Nobody listens if no server runs.
        let _ = self.answered.send(id);
        test.text = test.text.trim().chars().take(MAX_REPLY).collect();
        Ok(test)
    }
}

pub(super) fn report_among<'a>(reports: &'a [ExamReport], connection: &Connection) -> Option<&'a ExamReport> {
    let place = endpoint(connection);
    reports.iter().find(|one| one.endpoint == place && one.model == connection.model)
}

/// A key is sent only to the server that it was typed in for.
fn needs_key(before: Option<&Connection>, now: &Connection, key: &TypedKey) -> Result<(), ConnectionsError> {
    let invalid = |text: &str| Err(ConnectionsError::Invalid(format!("auth.key: {text}")));
    if !now.auth.is_sealed() {
        return Ok(());
    }
    if !key.is_empty() {
        return Ok(());
    }
    let Some(before) = before.filter(|one| one.auth.is_sealed()) else {
        return invalid("give the key; it is sealed in the vault and never shown again");
    };
    let is_aws = |one: &Connection| matches!(one.auth, Auth::Aws { .. });
    if is_aws(before) != is_aws(now) {
        return invalid("access keys are another kind of key; give it anew");
    }
    if place(before) != place(now) {
        return invalid("the server is another one now; give its key, since the kept one goes to no other server");
    }
    Ok(())
}

fn place(connection: &Connection) -> Result<String, Provider> {
    let url = url::Url::parse(&connection.base_url).map_err(|_| connection.provider)?;
    Ok(url.origin().ascii_serialization())
}

fn fixed(name: &str) -> String {
    format!(
        "`{name}` was found by itself (environment or this machine) and can't be changed here; save one of your own under another name"
    )
}
