//! What this program is, and whether what it needs answers.

use crate::app::App;
use crate::authorize::{Action, Resource, authorize};
use crate::caller::Caller;
use crate::dto::about::{About, Database, Part, PartStatus};
use crate::error::AppError;
use std::pin::Pin;
use steward_core::Timestamp;
use steward_core::event::EVENT_VERSION;

/// A real probe: `Ok` with a detail, or why not.
pub type Probe = Box<dyn Fn() -> Pin<Box<dyn Future<Output = Result<String, String>> + Send>> + Send + Sync>;

/// Named probes.
#[derive(Default)]
pub struct Health {
    /// Name, whether readiness depends on it, probe.
    pub probes: Vec<(&'static str, bool, Probe)>,
}

impl Health {
    /// Asks all probes, one after the other.
    pub async fn check(&self) -> Vec<Part> {
        let mut parts = Vec::new();
        for (name, needed, probe) in &self.probes {
            let (status, detail) = match probe().await {
                Ok(detail) => (PartStatus::Ok, detail),
                Err(why) => (PartStatus::Failing, why),
            };
            parts.push(Part { name: (*name).to_owned(), status, detail, needed: *needed });
        }
        parts
    }
}

/// Facts about this installation that don't change while it runs.
#[derive(Debug, Clone)]
pub struct AboutFacts {
    /// Version of the program.
    pub version: String,
    /// Commit that it was built from.
    pub commit: Option<String>,
    /// `sqlite` or `postgresql`.
    pub database: String,
    pub database_version: String,
    /// Version of the database's schema, where known.
    pub schema_version: Option<i64>,
    pub data_dir: String,
    /// When this process began to serve.
    pub started_at: Timestamp,
}

impl App {
    /// Versions and health of this installation.
    pub async fn about(&self, caller: &Caller) -> Result<About, AppError> {
        authorize(caller, Action::Read, Resource::About)?;
        let facts = &self.about;
        Ok(About {
            version: facts.version.clone(),
            commit: facts.commit.clone(),
            event_version: EVENT_VERSION,
            schema_version: facts.schema_version,
            database: if facts.database == "postgresql" { Database::Postgresql } else { Database::Sqlite },
            database_version: facts.database_version.clone(),
            data_dir: facts.data_dir.clone(),
            workspace: self.workspace.clone(),
            started_at: facts.started_at.0,
            runs_at_work: self.runs.at_work(),
            health: self.health.check().await,
        })
    }
}
