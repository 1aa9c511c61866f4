use crate::dto::about::{Part, PartStatus};
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use steward_core::ports::{Models, RunFilter, RunStore as _};
use steward_core::{TenantId, Timestamp};
use steward_store::{SCHEMA_VERSION, Store};

/// A real probe: `Ok` with a detail, or why not.
pub type Probe = Box<dyn Fn() -> Pin<Box<dyn Future<Output = Result<String, String>> + Send>> + Send + Sync>;

#[derive(Default)]
pub struct Health {
    /// Name, whether readiness depends on it, probe.
    pub probes: Vec<(&'static str, bool, Probe)>,
}

impl Health {
    pub fn standard<M: Models + 'static>(
        store: &Arc<Store>,
        tenant: TenantId,
        models: &Arc<M>,
        embedding: &Path,
    ) -> Self {
        let (store, models) = (Arc::clone(store), Arc::clone(models));
        let database: Probe = Box::new(move || {
            let store = Arc::clone(&store);
            Box::pin(async move {
                let filter = RunFilter { limit: 1, ..RunFilter::default() };
                store.runs(tenant, filter).await.map(|_| "answers".to_owned()).map_err(|error| error.to_string())
            })
        });
        let model: Probe = Box::new(move || {
            let models = Arc::clone(&models);
            Box::pin(async move {
                let chosen = models.select(None).await;
                chosen.map(|one| format!("{} ({})", one.name, one.model)).map_err(|error| error.to_string())
            })
        });
        let file = embedding.join("model.onnx");
        let embeddings: Probe = Box::new(move || {
            let found = if file.is_file() {
                Ok("all-MiniLM-L6-v2, loaded when first used".to_owned())
            } else {
                Err(format!("{} is missing; run `make setup`", file.display()))
            };
            Box::pin(std::future::ready(found))
        });
        Self { probes: vec![("database", true, database), ("model", false, model), ("embeddings", false, embeddings)] }
    }

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

#[derive(Debug, Clone)]
pub struct AboutFacts {
    pub version: String,
    pub commit: Option<String>,
    /// `sqlite` or `postgresql`.
    pub database: String,
    pub database_version: String,
    pub schema_version: Option<i64>,
    pub data_dir: String,
    pub started_at: Timestamp,
}

impl AboutFacts {
    /// `commit` is that of the build, `now` the start of this process.
    pub async fn read(store: &Store, data_dir: &Path, commit: Option<&str>, now: Timestamp) -> Self {
        let (database, database_version) = match store.describe().await {
            Ok((name, version)) => (name.to_owned(), version),
            Err(error) => ("unknown".to_owned(), error.to_string()),
        };
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            commit: commit.filter(|text| !text.is_empty()).map(str::to_owned),
            database,
            database_version,
            schema_version: Some(SCHEMA_VERSION),
            data_dir: data_dir.display().to_string(),
            started_at: now,
        }
    }
}
