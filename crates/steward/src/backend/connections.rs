//! Connections.

use super::Backend;
use anyhow::Context;
use reqwest::Method;
use serde::Deserialize;
use steward_core::ConnectionId;
use steward_core::model::Connection;
use steward_core::ports::{ConnectionTest, KnownConnection, ManagedConnections as _};

/// Why a connection did not answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestFailed {
    /// What happened.
    pub error: String,
    /// What to do.
    pub hint: String,
    /// The endpoint's own words, where they are not in `error`.
    pub detail: Option<String>,
}

#[derive(Deserialize)]
struct Known {
    #[serde(flatten)]
    connection: Connection,
    from: String,
    default: bool,
}

#[derive(Deserialize)]
struct Test {
    ok: bool,
    accepted_ms: u64,
    first_ms: u64,
    total_ms: u64,
    text: String,
    model: String,
    error: Option<String>,
    hint: Option<String>,
}

impl Backend {
    /// All, saved ones first.
    pub async fn connections(&self) -> anyhow::Result<Vec<KnownConnection>> {
        match self {
            Self::InProcess(app) => Ok(app.connections.list().await),
            Self::Remote(client) => {
                let (rows, _) = client.all::<Known>("/api/connections", usize::MAX).await?;
                Ok(rows
                    .into_iter()
                    .map(|known| KnownConnection {
                        connection: known.connection,
                        from: known.from,
                        default: known.default,
                    })
                    .collect())
            }
        }
    }

    /// One by name; the default for `None`.
    pub async fn known_connection(&self, name: Option<&str>) -> anyhow::Result<KnownConnection> {
        let wanted = self.connection_named(name).await?;
        self.connections()
            .await?
            .into_iter()
            .find(|one| wanted.map_or(one.default, |id| one.connection.id == id))
            .context("there is no connection; add one with `steward connections add NAME URL`")
    }

    /// Asks one for a word.
    pub async fn test_connection(&self, id: ConnectionId) -> anyhow::Result<Result<ConnectionTest, TestFailed>> {
        match self {
            Self::InProcess(app) => Ok(app.connections.test(id).await.map_err(|error| TestFailed {
                error: error.message,
                hint: error.hint,
                detail: error.detail,
            })),
            Self::Remote(client) => {
                let path = format!("/api/connections/{id}/test");
                let test: Test = client.ask(Method::POST, &path, None).await?;
                if !test.ok {
                    return Ok(Err(TestFailed {
                        error: test.error.unwrap_or_default(),
                        hint: test.hint.unwrap_or_default(),
                        detail: None,
                    }));
                }
                Ok(Ok(ConnectionTest {
                    accepted_ms: test.accepted_ms,
                    first_ms: test.first_ms,
                    total_ms: test.total_ms,
                    text: test.text,
                    model: test.model,
                }))
            }
        }
    }

    /// Removes a saved one.
    pub async fn remove_connection(&self, id: ConnectionId) -> anyhow::Result<()> {
        match self {
            Self::InProcess(app) => Ok(app.connections.remove(id).await?),
            Self::Remote(client) => {
                let path = format!("/api/connections/{id}");
                client.ask(Method::DELETE, &path, None).await
            }
        }
    }

    /// Uses this one where nothing else is said.
    pub async fn default_connection(&self, id: ConnectionId) -> anyhow::Result<()> {
        match self {
            Self::InProcess(app) => Ok(app.connections.set_default(id).await?),
            Self::Remote(client) => {
                let path = format!("/api/connections/{id}/default");
                client.ask(Method::POST, &path, None).await
            }
        }
    }
}
