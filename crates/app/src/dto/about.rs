use serde::{Deserialize, Serialize};
use steward_core::Timestamp;
use utoipa::ToSchema;

/// What a probe found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum PartStatus {
    /// It answers.
    Ok,
    /// It works, but not as it should.
    Degraded,
    /// It does not answer.
    Down,
    /// It is not set up.
    Off,
}

/// One thing that the program needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Part {
    /// What.
    pub name: String,
    /// Whether it answers.
    pub status: PartStatus,
    /// More of it, or why not.
    pub detail: String,
    /// Whether nothing works without it.
    pub needed: bool,
    /// How long the check took, milliseconds.
    pub ms: u64,
}

/// What a check of everything that the program needs found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct HealthReport {
    /// The worst of the parts that nothing works without; `degraded` if only others don't answer.
    pub status: PartStatus,
    /// When it was looked.
    pub at: Timestamp,
    /// What was looked at.
    pub parts: Vec<Part>,
}

/// Database engines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Database {
    /// Embedded.
    Sqlite,
    /// A server.
    Postgresql,
}

/// Versions and health.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct About {
    /// Version of this program.
    pub version: String,
    /// Commit that it was built from, if known.
    #[schema(required)]
    pub commit: Option<String>,
    /// Version of the event format.
    pub event_version: u16,
    /// Version of the database's schema, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub schema_version: Option<i64>,
    /// Engine of the database.
    pub database: Database,
    /// Its version.
    pub database_version: String,
    /// Folder of the data.
    pub data_dir: String,
    /// Folder that the agents' file tools are confined to.
    pub workspace: String,
    /// When the program started.
    pub started_at: i64,
    /// Runs at work here.
    pub runs_at_work: usize,
    /// What it needs.
    pub health: Vec<Part>,
}
