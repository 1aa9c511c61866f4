//! What the use cases of documents work with, and the worker that reads and embeds them.

mod call_meter;
mod classification;
mod embedding;
mod folders;
mod indexes;
mod ingest;
mod keeping;
mod known_answers;
mod live_index;
mod originals;
mod passages;
mod problems;
mod ranking;
mod recognition;
mod reranking;
mod reserved;
mod vision;
mod watches;

pub use call_meter::CallMeter;
pub(crate) use embedding::EmbeddingProblem;
pub use embedding::{EmbeddingModels, EmbeddingStatus, EndpointParts};
pub(crate) use folders::Target;
pub(crate) use keeping::KeepError;
pub use keeping::OriginalsProgress;
pub(crate) use live_index::LiveError;
pub(crate) use originals::Incoming;
pub(crate) use ranking::{Quoted, RankedChunk, Search, SearchFilter};
pub(crate) use reserved::reserved_id;
pub use vision::{VisionModel, VisionUse};

use crate::disk_room::DiskRoom;
use folders::Seen;
use futures::future::join_all;
use futures::stream::{self, BoxStream};
use futures::{FutureExt as _, StreamExt as _};
use indexes::Indexes;
use known_answers::KnownAnswers;
use originals::{Originals, Received};
use std::io;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use steward_core::document::{Document, DocumentOrigin, DocumentProblem};
use steward_core::live::Live;
use steward_core::ports::{
    Clock, DocumentFilter, Extractor, Ids, IngestWork, PageReader, PictureModel, StoreError, StoreResult,
};
use steward_core::{Cancellation, DocumentId, TenantId};
use steward_knowledge::{CacheLimits, IndexStats, SemanticCache};
use steward_models::embed::CrossEncoder;
use steward_store::Store;
use steward_tools::HostPolicy;
use steward_tools::files::open_file;
use tokio::fs::File;
use tokio::sync::Notify;
use watches::Watches;

/// How long the worker sleeps if nobody wakes it: documents of other nodes, and those that are tried again.
const POLL: Duration = Duration::from_secs(5);
/// How long folders are left before they are looked through again, where nobody tells what happens there.
const SCAN_EVERY: Duration = Duration::from_secs(30);
/// The same where the kernel tells.
const SCAN_SELDOM: Duration = Duration::from_mins(10);
/// The same where it tells from now on.
const SCAN_ONCE_MORE: Duration = Duration::from_secs(2);
/// How long to wait once something is told, since files come in many writes and many at once.
const SETTLE: Duration = Duration::from_millis(500);
/// Least pause between two looks, and how many times as long as the first took.
const LEAST_PAUSE: Duration = Duration::from_secs(2);
const PAUSE_FACTOR: u32 = 20;
/// How long a server runs before it looks through folders: who waits for its start needs the processors.
const SCAN_AFTER: Duration = Duration::from_secs(10);

/// Documents that are removed before the next are looked for.
const REMOVED_AT_ONCE: u32 = 200;

/// Most texts that are worked on at the same time, each by a core and a confined process.
const MOST_WORKERS: u32 = 4;

pub struct DocumentParts {
    pub tenant: TenantId,
    pub store: Arc<Store>,
    pub extractor: Arc<dyn Extractor>,
    /// Reads pages that are pictures.
    pub pages: Arc<dyn PageReader>,
    /// Asked about those that `pages` can't make out.
    pub picture_model: Arc<dyn PictureModel>,
    pub embedding: EmbeddingModels,
    /// Reads questions and passages together, where one is installed.
    pub cross_encoder: Live<Option<CrossEncoder>>,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn Ids>,
    /// Where the files are that were sent, and the index.
    pub data_dir: PathBuf,
    /// Folder that the agents' file tools are confined to.
    pub workspace: Live<String>,
    /// Which other files of the server may become documents.
    pub places: HostPolicy,
    /// Nothing is read while only the reserve is left.
    pub disk: Arc<DiskRoom>,
    /// Whether it is a server, which works on documents by itself; else whoever hands one in does so.
    pub serving: bool,
}

pub struct DocumentService {
    parts: DocumentParts,
    pub(crate) originals: Originals,
    indexes: Indexes,
    known_answers: Mutex<KnownAnswers>,
    seen: Mutex<Seen>,
    woken: Notify,
    /// Texts that are worked on at the same time.
    workers: u32,
    /// There was a document to work on, so there may be more.
    more: Notify,
    /// There may be a document whose pages are pictures.
    pictures: Notify,
    /// Whether folders are to be looked through at once.
    look: AtomicBool,
}

/// A file to read, as it was at one moment.
enum Content {
    /// One that was sent.
    Kept(PathBuf),
    /// A copy of one that lies elsewhere.
    Copied(Received),
}

impl Content {
    pub fn path(&self) -> &Path {
        match self {
            Self::Kept(path) => path,
            Self::Copied(copy) => copy.path(),
        }
    }
}

impl DocumentService {
    pub fn new(parts: DocumentParts) -> Self {
        let folder = parts.data_dir.join("documents");
        let (store, clock) = (Arc::clone(&parts.store), Arc::clone(&parts.clock));
        let built_in = &**parts.embedding.built_in();
        let indexes = Indexes::new(parts.tenant, store, built_in, clock, parts.data_dir.clone());
        Self {
            parts,
            originals: Originals::new(folder),
            indexes,
            known_answers: Mutex::new(SemanticCache::new(CacheLimits::default())),
            seen: Mutex::default(),
            woken: Notify::new(),
            workers: workers(),
            more: Notify::new(),
            pictures: Notify::new(),
            look: AtomicBool::new(false),
        }
    }

    pub(crate) fn index_stats(&self) -> Option<IndexStats> {
        self.indexes.stats()
    }

    /// Changes up to `last` that the index has yet to take in.
    pub(crate) fn index_behind(&self, last: u64) -> u64 {
        self.indexes.words().behind(last)
    }

    /// There may be something to do.
    pub(crate) fn wake(&self) {
        self.woken.notify_one();
    }

    /// There is another folder to look through.
    pub(crate) fn look(&self) {
        self.look.store(true, Ordering::Relaxed);
        self.wake();
    }

    /// Like [`Self::wake`]; where no server works on documents, does so at once.
    pub async fn work(&self) -> StoreResult<()> {
        self.wake();
        let next = |kind| self.work_on_next(kind).boxed();
        while !self.serving && (next(IngestWork::Text).await? || next(IngestWork::Ocr).await?) {}
        Ok(())
    }

    /// Reads and embeds what waits, looks through watched folders, and keeps the index up to date, until `closing`. Pages
    /// that are pictures take long, so documents don't wait for those of others.
    pub async fn run(self: Arc<Self>, closing: Cancellation) {
        let assistants = (1..self.workers).map(|_| self.assist(closing.clone()));
        tokio::join!(
            self.keep_up(closing.clone()),
            self.recognise(closing.clone()),
            self.compare_originals(closing.clone()),
            join_all(assistants)
        );
    }

    async fn keep_up(&self, closing: Cancellation) {
        if let Err(error) = self.originals.clean() {
            tracing::warn!(%error, "half an upload stays");
        }
        let mut watches = Watches::new();
        let mut scan_at = self.clock.now().plus(SCAN_AFTER);
        // When the next look may be, whatever happens.
        let mut earliest = scan_at;
        let mut told = false;
        loop {
            let begun = self.clock.now();
            if !told && watches.as_ref().is_some_and(Watches::told) {
                told = true;
                scan_at = scan_at.min(earliest.max(begun.plus(SETTLE)));
            }
            if self.look.swap(false, Ordering::Relaxed) {
                scan_at = scan_at.min(earliest);
            }
            if begun >= scan_at {
                told = false;
                let looked = self.scan_watched().await;
                let more = watches.as_mut().is_some_and(|watches| watches.follow(&looked.roots, &looked.folders));
                let now = self.clock.now();
                earliest = now.plus(LEAST_PAUSE.max(now.since(begun) * PAUSE_FACTOR));
                scan_at = match &watches {
                    Some(_) if more => now.plus(SCAN_ONCE_MORE).max(earliest),
                    Some(watches) if watches.is_complete() => now.plus(SCAN_SELDOM),
                    _ => now.plus(SCAN_EVERY).max(earliest),
                };
            }
            let worked = tokio::select! {
                () = closing.cancelled() => return,
                worked = self.work_on_next(IngestWork::Text) => worked,
            };
            match worked {
                Ok(true) => {
                    self.more.notify_waiters();
                    continue;
                }
                Ok(false) => {}
                Err(error) => tracing::error!(%error, "the ingest of documents can't go on; it is tried again"),
            }
            let pause = POLL.min(scan_at.since(self.clock.now()));
            tokio::select! {
                () = closing.cancelled() => return,
                () = self.woken.notified() => {}
                () = changed(watches.as_ref().filter(|_| !told)) => {}
                () = tokio::time::sleep(pause) => {}
            }
        }
    }

    /// Works beside [`Self::keep_up`] while there is more than one document to work on.
    async fn assist(&self, closing: Cancellation) {
        loop {
            tokio::select! {
                () = closing.cancelled() => return,
                () = self.more.notified() => {}
            }
            // What goes wrong is told there.
            while let Some(Ok(true)) = tokio::select! {
                () = closing.cancelled() => None,
                worked = self.work_on_next(IngestWork::Text) => Some(worked),
            } {}
        }
    }

    async fn recognise(&self, closing: Cancellation) {
        loop {
            let worked = tokio::select! {
                () = closing.cancelled() => return,
                worked = self.work_on_next(IngestWork::Ocr) => worked,
            };
            match worked {
                Ok(true) => continue,
                Ok(false) => {}
                Err(error) => tracing::error!(%error, "the reading of pictures can't go on; it is tried again"),
            }
            tokio::select! {
                () = closing.cancelled() => return,
                () = self.pictures.notified() => {}
                () = tokio::time::sleep(POLL) => {}
            }
        }
    }

    /// With every trace of it.
    pub(crate) async fn remove(&self, id: DocumentId) -> StoreResult<()> {
        if let Some(sha256) = self.store.remove_document(self.tenant, id, self.clock.now()).await? {
            self.remove_original(&sha256).await?;
        }
        self.indexes.catch_up().await;
        Ok(())
    }

    /// The documents that fit, some at a time; what is removed meanwhile does not lead astray.
    pub(crate) fn document_pages(&self, filter: DocumentFilter) -> BoxStream<'_, StoreResult<Vec<Document>>> {
        let pages = stream::try_unfold(Some(filter), move |filter| async move {
            let Some(filter) = filter else { return Ok(None) };
            let page = self.store.documents(self.tenant, &filter).await?;
            let after = page.items.last().filter(|_| page.more).map(|last| last.id);
            let next = after.map(|after| DocumentFilter { after: Some(after), ..filter });
            Ok(Some((page.items, next)))
        });
        pages.boxed()
    }

    /// Removes all documents that fit; answers how many there were.
    pub(crate) async fn remove_all(&self, filter: DocumentFilter) -> StoreResult<u64> {
        let filter = DocumentFilter { limit: REMOVED_AT_ONCE, ..filter };
        let mut removed = 0;
        loop {
            let page = self.store.documents(self.tenant, &filter).await?;
            for document in &page.items {
                match self.remove(document.id).await {
                    Ok(()) => removed += 1,
                    Err(StoreError::NotFound(_)) => {}
                    Err(error) => return Err(error),
                }
            }
            if page.items.is_empty() {
                return Ok(removed);
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
        let (workspace, places, path) = (self.workspace.copy(), self.places.clone(), source.to_owned());
        let opened = tokio::task::spawn_blocking(move || match origin {
            DocumentOrigin::Workspace => open_file(&workspace, &path).map_err(|error| error.to_string()),
            _ => places.open(Path::new(&path)).and_then(|found| found.open_file()).map_err(|error| error.to_string()),
        });
        let opened = opened.await.unwrap_or_else(|error| Err(error.to_string()));
        opened.map_err(|error| unreadable(source, &error))
    }

    /// A document's file, to be read in pieces, with its length. One that lies elsewhere may change while it is read.
    pub(crate) async fn content(&self, document: &Document) -> Result<(File, u64), DocumentProblem> {
        let problem = |error: io::Error| unreadable(&document.source, &error.to_string());
        let file = match document.origin {
            DocumentOrigin::Upload | DocumentOrigin::Package => {
                File::open(self.originals.path(&document.sha256)).await.map_err(problem)?
            }
            DocumentOrigin::Path | DocumentOrigin::Workspace => {
                File::from_std(self.open_source(document.origin, &document.source).await?)
            }
        };
        let length = file.metadata().await.map_err(problem)?.len();
        Ok((file, length))
    }
}

impl Deref for DocumentService {
    type Target = DocumentParts;

    fn deref(&self) -> &DocumentParts {
        &self.parts
    }
}

async fn changed(watches: Option<&Watches>) {
    match watches {
        Some(watches) => watches.changed().await,
        None => std::future::pending().await,
    }
}

fn unreadable(source: &str, error: &str) -> DocumentProblem {
    DocumentProblem {
        message: format!("the file {source} can't be opened: {error}"),
        hint: "Put it back, or give Steward the right to read it, and have the document read again.".to_owned(),
    }
}

/// The cosine of two vectors of length 1.
pub(crate) fn dot(one: &[f32], other: &[f32]) -> f32 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

fn workers() -> u32 {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
    u32::try_from(cores).unwrap_or(MOST_WORKERS).min(MOST_WORKERS)
}
