use std::sync::{PoisonError, RwLock};

use async_trait::async_trait;
use steward_core::ConnectionId;
use steward_core::model::{Connection, ModelError, ModelErrorClass, ModelRequest};
use steward_core::ports::{ChunkStream, Models, Scored};

use crate::openai::Client;

/// Chooses connections and calls them. Connections are replaced while it runs.
#[derive(Debug)]
pub struct Router {
    client: Client,
    known: RwLock<Known>,
}

#[derive(Debug, Clone, Default)]
struct Known {
    connections: Vec<Connection>,
    default: Option<ConnectionId>,
}

impl Router {
    /// `default` is the system's; without one the first connection is.
    pub fn new(
        client: Client,
        connections: Vec<Connection>,
        default: Option<ConnectionId>,
    ) -> Self {
        Self {
            client,
            known: RwLock::new(Known {
                connections,
                default,
            }),
        }
    }

    /// Other connections from now on. Calls that run are not touched.
    pub fn replace_connections(&self, connections: Vec<Connection>, default: Option<ConnectionId>) {
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = Known {
            connections,
            default,
        };
    }

    /// All connections.
    pub fn connections(&self) -> Vec<Connection> {
        self.known
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .connections
            .clone()
    }

    /// The system default.
    pub fn default_connection(&self) -> Option<Connection> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known
            .find(known.default)
            .or_else(|| known.connections.first())
            .cloned()
    }

    /// The client beneath, for listing an endpoint's models.
    pub fn client(&self) -> &Client {
        &self.client
    }

    fn resolve(&self, wanted: Option<ConnectionId>) -> Result<Connection, ModelError> {
        let Some(id) = wanted else {
            return self.default_connection().ok_or_else(no_connection);
        };
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known
            .find(Some(id))
            .cloned()
            .ok_or_else(|| known.unknown(id))
    }

    /// The connections to try, in order. One for now; the fallback chain of ROUTE-4 goes here,
    /// and nowhere else.
    fn targets(&self, wanted: ConnectionId) -> Result<Vec<Connection>, ModelError> {
        Ok(vec![self.resolve(Some(wanted))?])
    }
}

impl Known {
    fn find(&self, id: Option<ConnectionId>) -> Option<&Connection> {
        self.connections
            .iter()
            .find(|connection| Some(connection.id) == id)
    }

    fn unknown(&self, id: ConnectionId) -> ModelError {
        let names: Vec<&str> = self.connections.iter().map(|c| c.name.as_str()).collect();
        let hint = if names.is_empty() {
            no_connection().hint
        } else {
            format!(
                "choose one of: {}; `steward connections` shows them",
                names.join(", ")
            )
        };
        ModelError {
            class: ModelErrorClass::UnknownModel,
            message: format!("there is no connection {id}; it may have been removed"),
            hint,
            detail: None,
            retry_after_ms: None,
        }
    }
}

fn no_connection() -> ModelError {
    ModelError {
        class: ModelErrorClass::UnknownModel,
        message: "there is no model to ask".to_owned(),
        hint: "set OPENAI_API_KEY, start Ollama or a llama.cpp server, or run `make setup` for the local model"
            .to_owned(),
        detail: None,
        retry_after_ms: None,
    }
}

#[async_trait]
impl Models for Router {
    async fn select(&self, wanted: Option<ConnectionId>) -> Result<Connection, ModelError> {
        self.resolve(wanted)
    }

    async fn stream(
        &self,
        connection: ConnectionId,
        request: ModelRequest,
    ) -> Result<ChunkStream, ModelError> {
        let mut last = None;
        for target in self.targets(connection)? {
            match self.client.stream(&target, &request).await {
                Ok(stream) => return Ok(stream),
                Err(error) => last = Some(error),
            }
        }
        Err(last.unwrap_or_else(no_connection))
    }

    async fn score(
        &self,
        connection: ConnectionId,
        request: ModelRequest,
        candidates: &[String],
    ) -> Result<Vec<Scored>, ModelError> {
        let target = self.resolve(Some(connection))?;
        if !target.capabilities.scoring {
            return Err(ModelError {
                class: ModelErrorClass::BadRequest,
                message: format!("connection `{}` gives no likelihoods", target.name),
                hint: "choose a connection that does, such as the local model".to_owned(),
                detail: None,
                retry_after_ms: None,
            });
        }
        if candidates.is_empty() {
            return Ok(Vec::new());
        }
        self.client.score(&target, &request, candidates).await
    }
}
