//! What the use cases of documents work with, and the worker that reads and embeds them.

mod folders;
mod ingest;
mod live_index;
mod originals;
mod passages;
mod ranking;

pub(crate) use folders::Target;
pub(crate) use live_index::LiveError;
pub(crate) use originals::Incoming;
pub(crate) use ranking::{RankedChunk, SearchFilter};

use folders::{Seen, open_plain};
use live_index::LiveIndex;
use originals::{Originals, Received};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use steward_core::document::{Document, DocumentOrigin, DocumentProblem, DocumentStatus};
use steward_core::ports::{
    Clock, DocumentFilter, DocumentStore, Embedder, Extractor, Ids, StoreError, StoreResult, Users,
};
use steward_core::{Cancellation, DocumentId, IngestJobId, TenantId};
use steward_knowledge::IndexStats;
use steward_tools::files::open_file;
use tokio::sync::Notify;

/// How long the worker sleeps if nobody wakes it: documents of other nodes, and those that are tried again.
const POLL: Duration = Duration::from_secs(5);
/// How long a folder is left before it is looked through again.
const SCAN_EVERY: Duration = Duration::from_secs(30);
/// How long a server runs before it looks through folders: who waits for its start needs the processors.
const SCAN_AFTER: Duration = Duration::from_secs(10);

pub struct DocumentParts {
    pub tenant: TenantId,
    pub store: Arc<dyn DocumentStore>,
    pub users: Arc<dyn Users>,
    pub extractor: Arc<dyn Extractor>,
    pub embedder: Arc<dyn Embedder>,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn Ids>,
    /// Where the files are that were sent, and the index.
    pub data_dir: PathBuf,
    /// Folder that the agents' file tools are confined to.
    pub workspace: String,
    /// Whether it is a server, which works on documents by itself; else whoever hands one in does so.
    pub serving: bool,
}

pub struct DocumentService {
    tenant: TenantId,
    pub(crate) store: Arc<dyn DocumentStore>,
    users: Arc<dyn Users>,
    extractor: Arc<dyn Extractor>,
    embedder: Arc<dyn Embedder>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
    pub(crate) originals: Originals,
    workspace: String,
    serving: bool,
    index: LiveIndex,
    seen: Mutex<Seen>,
    woken: Notify,
}

/// A file to read, as it was at one moment.
enum Content {
    /// One that was sent.
    Kept(PathBuf),
    /// A copy of one that lies elsewhere.
    Copied(Received),
}

impl Content {
    pub fn path(&self) -> &std::path::Path {
        match self {
            Self::Kept(path) => path,
            Self::Copied(copy) => copy.path(),
        }
    }
}

impl DocumentService {
    pub fn new(parts: DocumentParts) -> Self {
        let folder = parts.data_dir.join("documents");
        let (store, embedder, clock) = (&parts.store, &parts.embedder, &parts.clock);
        let index =
            LiveIndex::new(parts.tenant, Arc::clone(store), Arc::clone(embedder), Arc::clone(clock), &parts.data_dir);
        Self {
            tenant: parts.tenant,
            store: parts.store,
            users: parts.users,
            extractor: parts.extractor,
            embedder: parts.embedder,
            clock: parts.clock,
            ids: parts.ids,
            originals: Originals::new(folder),
            workspace: parts.workspace,
            serving: parts.serving,
            index,
            seen: Mutex::default(),
            woken: Notify::new(),
        }
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn index_stats(&self) -> Option<IndexStats> {
        self.index.stats()
    }

    /// Changes up to `last` that the index has yet to take in.
    pub(crate) fn index_behind(&self, last: u64) -> u64 {
        self.index.behind(last)
    }

    /// Its name, and the numbers in its vectors.
    pub(crate) fn embedding_model(&self) -> (String, u32) {
        (self.embedder.model().to_owned(), u32::try_from(self.embedder.dimension()).unwrap_or(u32::MAX))
    }

    /// There may be something to do.
    pub(crate) fn wake(&self) {
        self.woken.notify_one();
    }

    /// Returns once somebody says that there may be something to do.
    async fn woken(&self) {
        self.woken.notified().await;
    }

    /// Like [`Self::wake`]; where no server works on documents, does so at once.
    pub(crate) async fn work(&self) -> StoreResult<()> {
        self.wake();
        while !self.serving && self.work_on_next().await? {}
        Ok(())
    }

    /// Reads and embeds what waits, looks through watched folders, and keeps the index up to date, until `closing`.
    pub async fn run(self: Arc<Self>, closing: Cancellation) {
        if let Err(error) = self.originals.clean() {
            tracing::warn!(%error, "half an upload stays");
        }
        let mut scan_at = self.clock.now().plus(SCAN_AFTER);
        loop {
            if self.clock.now() >= scan_at {
                self.scan_watched().await;
                scan_at = self.clock.now().plus(SCAN_EVERY);
            }
            let worked = tokio::select! {
                () = closing.cancelled() => return,
                worked = self.work_on_next() => worked,
            };
            match worked {
                Ok(true) => continue,
                Ok(false) => {}
                Err(error) => tracing::error!(%error, "the ingest of documents can't go on; it is tried again"),
            }
            tokio::select! {
                () = closing.cancelled() => return,
                () = self.woken() => {}
                () = tokio::time::sleep(POLL) => {}
            }
        }
    }

    /// With every trace of it.
    pub(crate) async fn remove(&self, id: DocumentId) -> StoreResult<()> {
        if let Some(sha256) = self.store.remove_document(self.tenant, id, self.clock.now()).await?
            && let Err(error) = self.originals.remove(&sha256).await
        {
            tracing::error!(%error, document = %id, "the file of a removed document stays");
            return Err(StoreError::Backend(format!("the file of document {id} could not be removed: {error}")));
        }
        self.index.catch_up().await;
        Ok(())
    }

    /// Removes the documents of a job that were not begun.
    pub(crate) async fn remove_waiting(&self, job: IngestJobId) -> StoreResult<()> {
        let filter = DocumentFilter {
            job: Some(job),
            status: Some(DocumentStatus::Waiting),
            limit: 500,
            ..DocumentFilter::default()
        };
        loop {
            let page = self.store.documents(self.tenant, &filter).await?;
            for document in &page.items {
                match self.remove(document.id).await {
                    Ok(()) | Err(StoreError::NotFound(_)) => {}
                    Err(error) => return Err(error),
                }
            }
            if page.items.is_empty() {
                return Ok(());
            }
        }
    }

    /// The file of a document as it is now.
    async fn open(&self, document: &Document) -> Result<Content, DocumentProblem> {
        match document.origin {
            DocumentOrigin::Upload | DocumentOrigin::Package => {
                Ok(Content::Kept(self.originals.path(&document.sha256)))
            }
            DocumentOrigin::Path | DocumentOrigin::Workspace => {
                let file = self.open_source(document.origin, &document.source).await?;
                let copy = self.originals.copy(file).await;
                copy.map(Content::Copied).map_err(|error| unreadable(&document.source, &error.to_string()))
            }
        }
    }

    async fn open_source(&self, origin: DocumentOrigin, source: &str) -> Result<std::fs::File, DocumentProblem> {
        let (workspace, path) = (self.workspace.clone(), source.to_owned());
        let opened = tokio::task::spawn_blocking(move || match origin {
            DocumentOrigin::Workspace => open_file(&workspace, &path).map_err(|error| error.to_string()),
            _ => open_plain(&path).map_err(|error| error.to_string()),
        });
        let opened = opened.await.unwrap_or_else(|error| Err(error.to_string()));
        opened.map_err(|error| unreadable(source, &error))
    }

    /// The bytes of a document's file.
    pub(crate) async fn content(&self, document: &Document) -> Result<Vec<u8>, DocumentProblem> {
        let content = self.open(document).await?;
        let read = tokio::fs::read(content.path()).await;
        read.map_err(|error| unreadable(&document.source, &error.to_string()))
    }
}

fn unreadable(source: &str, error: &str) -> DocumentProblem {
    DocumentProblem {
        message: format!("the file {source} can't be opened: {error}"),
        hint: "Put it back, or give Steward the right to read it, and have the document read again.".to_owned(),
    }
}
