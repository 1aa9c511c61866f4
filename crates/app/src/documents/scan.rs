//! Folders on the server whose files become documents: once, or for as long as they are watched.

use crate::app::{Action, App, AppError, AppResult, Caller, Resource, authorize};
use crate::document_service::Target;
use crate::dto::documents::{BatchScan, WatchInput};
use std::sync::Arc;
use steward_core::document::{DocumentOrigin, IngestJob, JobProgress, JobState, WatchedPath};
use steward_core::{IngestJobId, WatchedPathId};

impl App {
    /// Has all files of a folder on the server read. The job says how far that is.
    pub async fn scan_folder(&self, caller: &Caller, input: BatchScan) -> AppResult<IngestJob> {
        authorize(caller, Action::Write, Resource::ServerPaths)?;
        self.require_disk_room()?;
        let collection = self.collection_to_fill(caller, input.collection.as_deref()).await?;
        let agent = match input.agent_id.as_deref() {
            Some(agent) => Some(self.agent_by_id_or_name(caller, agent).await?.id),
            None => None,
        };
        let path = self.host_path(caller, "path", &input.path, |_| Ok(())).await?;
        let job = IngestJob {
            id: IngestJobId(self.new_id()),
            collection: collection.id,
            label: path.display().to_string(),
            state: JobState::Scanning,
            created_by: Some(caller.user()),
            created_at: self.now(),
            progress: JobProgress::default(),
        };
        self.store.create_job(self.tenant(), &job).await?;
        let target = Target {
            collection: collection.id,
            origin: DocumentOrigin::Path,
            job: Some(job.id),
            agent,
            user: Some(caller.user()),
        };
        let (documents, id) = (Arc::clone(&self.documents), job.id);
        tokio::spawn(async move {
            if let Err(error) = documents.scan_job(id, path, target).await {
                tracing::error!(%error, job = %id, "a folder could not be looked through to its end");
            }
        });
        Ok(job)
    }

    /// From now on, files that are in the folder, or come, change or go there, do so as documents.
    pub async fn watch_path(&self, caller: &Caller, input: WatchInput) -> AppResult<WatchedPath> {
        authorize(caller, Action::Write, Resource::ServerPaths)?;
        let collection = self.collection_to_fill(caller, input.collection.as_deref()).await?;
        let path = self.host_path(caller, "path", &input.path, |_| Ok(())).await?;
        let known = self.store.watched_paths(self.tenant()).await?;
        let text = path.display().to_string();
        if known.iter().any(|one| one.collection == collection.id && one.path == text) {
            return Err(AppError::conflict(
                "watched",
                "the folder is watched already",
                "see the list of watched paths",
            ));
        }
        let watched = WatchedPath {
            id: WatchedPathId(self.new_id()),
            collection: collection.id,
            path: text,
            scanned_at: None,
            problem: None,
        };
        self.store.save_watched_path(self.tenant(), &watched).await?;
        self.documents.look();
        Ok(watched)
    }

    pub async fn watched_paths(&self, caller: &Caller) -> AppResult<Vec<WatchedPath>> {
        authorize(caller, Action::Write, Resource::ServerPaths)?;
        Ok(self.store.watched_paths(self.tenant()).await?)
    }

    /// Its documents stay, and change no more.
    pub async fn unwatch_path(&self, caller: &Caller, id: WatchedPathId) -> AppResult<()> {
        authorize(caller, Action::Write, Resource::ServerPaths)?;
        Ok(self.store.remove_watched_path(self.tenant(), id).await?)
    }
}
