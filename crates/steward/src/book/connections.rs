//! Connections as people manage them.

use super::check::check;
use super::merge::{merged, set_by_hand};
use async_trait::async_trait;
use futures::StreamExt;
use serde_json::json;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Instant;
use steward_core::exam::ExamReport;
use steward_core::message::Message;
use steward_core::model::{
    Capabilities, Connection, ModelChunk, ModelError, ModelRequest, Provider,
};
use steward_core::ports::{
    Clock, ConnectionTest, Connections as _, ConnectionsError, ExamReports as _, KnownConnection,
    ManagedConnections, Models as _, Settings as _, StoreError,
};
use steward_core::{ConnectionId, TenantId, Timestamp};
use steward_models::exam::endpoint;
use steward_models::openai::Client;
use steward_models::registry::Router;
use steward_store::Store;
use tokio::sync::broadcast;

/// Setting that holds the name of the default connection.
const DEFAULT_SETTING: &str = "connection.default";
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
    clock: Arc<dyn Clock>,
    /// By `--connection`; goes before the setting.
    wanted: Option<String>,
    found: Vec<Known>,
    listed: RwLock<Listed>,
    /// Connections that are being examined.
    pub(super) at_work: Mutex<HashSet<ConnectionId>>,
    /// Told of each connection that has just answered a test.
    pub(super) answered: broadcast::Sender<ConnectionId>,
}

/// What was read last.
#[derive(Debug, Default)]
struct Listed {
    /// With what exams found out.
    merged: Vec<Known>,
    /// As they were saved or found.
    own: Vec<Known>,
    reports: Vec<ExamReport>,
}

impl ConnectionBook {
    /// Reads the saved ones and tells the router. `found` are those of the environment, this machine
    /// and the built-in model.
    pub async fn open(
        tenant: TenantId,
        store: Arc<Store>,
        router: Arc<Router>,
        clock: Arc<dyn Clock>,
        wanted: Option<String>,
        found: Vec<Known>,
    ) -> Result<Self, ConnectionsError> {
        let book = Self {
            tenant,
            store,
            router,
            clock,
            wanted,
            found,
            listed: RwLock::default(),
            at_work: Mutex::default(),
            answered: broadcast::Sender::new(16),
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
            .merged
            .clone()
    }

    /// The connection as it was saved or found, whatever an exam says.
    pub(super) fn own(&self, id: ConnectionId) -> Option<Known> {
        let listed = self.listed.read().unwrap_or_else(PoisonError::into_inner);
        let mut own = listed.own.iter();
        own.find(|one| one.connection.id == id).cloned()
    }

    /// The report of a connection's endpoint and model.
    pub(super) fn report_of(&self, connection: &Connection) -> Option<ExamReport> {
        let listed = self.listed.read().unwrap_or_else(PoisonError::into_inner);
        report_among(&listed.reports, connection).cloned()
    }

    /// Keeps a report and uses it from now on.
    pub(super) async fn keep(&self, report: &ExamReport) -> Result<(), ConnectionsError> {
        self.store.save_report(self.tenant, report).await?;
        self.reload().await
    }

    /// Sends requests.
    pub(super) fn client(&self) -> &Client {
        self.router.client()
    }

    /// Now.
    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
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

    pub(super) fn by_id(&self, id: ConnectionId) -> Result<Known, ConnectionsError> {
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
        let reports = self.store.reports(self.tenant).await?;
        let known: Vec<Known> = all
            .iter()
            .map(|one| Known {
                connection: merged(one, report_among(&reports, &one.connection)),
                from: one.from.clone(),
            })
            .collect();
        let default = self.default_of(&known).await?;
        let list = known.iter().map(|known| known.connection.clone()).collect();
        self.router.replace_connections(list, default);
        self.router.set_reports(reports.clone());
        *self.listed.write().unwrap_or_else(PoisonError::into_inner) = Listed {
            merged: known,
            own: all,
            reports,
        };
        Ok(())
    }

    /// What comes back unchanged from a form was found out by an exam, and is not the person's own
    /// wish; what comes back changed is, and no exam goes against it.
    fn keep_own(&self, connection: &mut Connection) {
        let (Some(own), Ok(shown)) = (self.own(connection.id), self.by_id(connection.id)) else {
            let usual = Capabilities::default();
            connection.by_hand = set_by_hand(&connection.capabilities, &usual, &[]);
            return;
        };
        connection.by_hand = set_by_hand(
            &connection.capabilities,
            &shown.connection.capabilities,
            &own.connection.by_hand,
        );
        if connection.capabilities == shown.connection.capabilities {
            connection.capabilities = own.connection.capabilities;
        }
        if connection.wire == shown.connection.wire {
            connection.wire = own.connection.wire;
        }
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

    async fn named(&self, name: &str) -> Option<Connection> {
        let listed = self.listed.read().unwrap_or_else(PoisonError::into_inner);
        let mut all = listed.merged.iter();
        all.find(|one| one.connection.name == name)
            .map(|one| one.connection.clone())
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
        self.keep_own(&mut connection);
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
        // Nobody listens where no server runs.
        let _ = self.answered.send(id);
        test.text = test.text.trim().chars().take(MAX_REPLY).collect();
        Ok(test)
    }
}

/// The report that belongs to a connection.
pub(super) fn report_among<'a>(
    reports: &'a [ExamReport],
    connection: &Connection,
) -> Option<&'a ExamReport> {
    let place = endpoint(connection);
    reports
        .iter()
        .find(|one| one.endpoint == place && one.model == connection.model)
}

fn fixed(name: &str) -> String {
    format!(
        "`{name}` was found by itself (environment or this machine) and can't be changed here; save one of your own under another name"
    )
}
