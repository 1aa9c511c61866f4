//! Files that were sent, and the documents that have them: kept together, removed together, and looked through for one
//! without the other.

use super::DocumentService;
use super::folders::Target;
use super::originals::Received;
use super::problems::problem;
use std::io;
use std::io::Seek as _;
use std::time::Duration;
use steward_core::Cancellation;
use steward_core::ports::{Added, StoreError, StoreResult};
use steward_store::{FileStep, Original};

pub use super::originals::OriginalsProgress;

/// Between two looks at some of the files and some of the documents. All files are seen within 13 hours, if there are not more
/// than `AT_ONCE` in a folder.
const LOOK_EVERY: Duration = Duration::from_mins(3);
/// Files that no document has are left for as long: they may be just about to get one.
const GRACE: Duration = Duration::from_hours(1);
/// Files, and documents, that are looked at each time.
const AT_ONCE: u32 = 500;
/// How often a file is kept anew that somebody else removed meanwhile.
const ATTEMPTS: u32 = 5;

/// Why a file that was sent could not become a document.
#[derive(Debug)]
pub(crate) enum KeepError {
    File(io::Error),
    Store(StoreError),
}

impl From<StoreError> for KeepError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<io::Error> for KeepError {
    fn from(error: io::Error) -> Self {
        Self::File(error)
    }
}

impl DocumentService {
    /// Keeps a file that was sent and makes it a document, which waits to be read. Without a source it is known by its
    /// content.
    pub(crate) async fn keep(
        &self,
        mut received: Received,
        name: String,
        source: Option<String>,
        target: &Target,
    ) -> Result<Added, KeepError> {
        for _ in 0..ATTEMPTS {
            let (facts, mut file) = received.keep().await?;
            let path = self.originals.path(&facts.sha256);
            let source = source.clone().unwrap_or_else(|| facts.sha256.clone());
            let new = self.new_document(facts, name.clone(), source, target);
            let is_there = FileStep::new(move || path.exists());
            if let Some(kept) = self.store.add_kept_document(self.tenant, &new, is_there).await? {
                if let Some(unused) = kept.unused {
                    self.remove_original(&unused).await?;
                }
                self.link_to_agent(&kept.added, target).await?;
                return Ok(kept.added);
            }
            // The last document with this content was removed just now, and its file with it.
            file.rewind()?;
            received = self.originals.copy(file).await?;
        }
        Err(KeepError::File(io::Error::other("the file was removed again and again while it was kept")))
    }

    /// Removes a file unless a document has it. What fails is told, and the look at all files tries it again.
    pub(super) async fn remove_original(&self, sha256: &str) -> StoreResult<bool> {
        let (originals, hash) = (self.originals.clone(), sha256.to_owned());
        let take = FileStep::new(move || originals.take_away(&hash));
        let taken = self.store.take_unused_original(self.tenant, sha256, take).await?;
        let removed = match taken {
            // It goes once the backup that may need it has ended.
            Ok(true) if self.store.removals_are_paused() => Ok(true),
            Ok(true) => match tokio::fs::remove_file(self.originals.taken_away(sha256)).await {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => Ok(true),
            },
            taken => taken,
        };
        removed.map_err(|error| {
            tracing::error!(%error, sha256, "the file of a removed document stays");
            StoreError::Backend(format!("the file of a removed document could not be removed: {error}"))
        })
    }

    /// Removes what a backup wanted still. What fails is tried again after the next one, or at the next start.
    pub(crate) async fn forget_taken_away(&self) {
        let originals = self.originals.clone();
        let removed = tokio::task::spawn_blocking(move || originals.remove_taken_away()).await;
        if let Ok(Err(error)) = removed {
            tracing::warn!(%error, "files of removed documents stay until the next start");
        }
    }

    /// Whether the file of a document is there as it was sent.
    pub(crate) async fn original_is_whole(&self, sha256: &str) -> bool {
        let (originals, hash) = (self.originals.clone(), sha256.to_owned());
        matches!(tokio::task::spawn_blocking(move || originals.is_whole(&hash)).await, Ok(Ok(true)))
    }

    /// Looks for files without documents and documents without files, some at a time, until `closing`.
    pub(super) async fn compare_originals(&self, closing: Cancellation) {
        loop {
            tokio::select! {
                () = closing.cancelled() => return,
                () = tokio::time::sleep(LOOK_EVERY) => {}
            }
            if let Err(error) = self.compare_next_originals(GRACE).await {
                tracing::warn!(%error, "the files of documents could not be looked through; it is tried again");
            }
        }
    }

    /// Looks at some files and documents from where the last look stopped, be it that of a program before this one.
    pub async fn compare_next_originals(&self, grace: Duration) -> StoreResult<OriginalsProgress> {
        let mut progress = self.originals.progress();
        let compared = self.compare_some_originals(&mut progress, grace).await;
        if let Err(error) = self.originals.save_progress(&progress) {
            tracing::warn!(%error, "how far the files of documents were looked through could not be kept");
        }
        compared.map(|()| progress)
    }

    /// Looks at some files of one of 256 folders and at some of the documents. `grace`: how long a file is left that no
    /// document has.
    pub async fn compare_some_originals(&self, progress: &mut OriginalsProgress, grace: Duration) -> StoreResult<()> {
        self.remove_unused_originals(progress, grace).await?;
        // With several nodes a file may lie in the folder of another one.
        if self.store.is_embedded() {
            progress.after = self.find_lost(progress.after).await?;
        }
        Ok(())
    }

    /// Removes those of the next files of a folder that no document has.
    async fn remove_unused_originals(&self, progress: &mut OriginalsProgress, grace: Duration) -> StoreResult<()> {
        let (originals, folder, after) = (self.originals.clone(), progress.folder, progress.file.clone());
        let listed = tokio::task::spawn_blocking(move || originals.older_than(folder, &after, AT_ONCE as usize, grace));
        let listed = listed.await.unwrap_or_else(|error| Err(io::Error::other(error)));
        let listed = listed.map_err(|error| StoreError::Backend(format!("cannot list files: {error}")))?;
        let more = listed.len() >= AT_ONCE as usize;
        for sha256 in listed {
            if self.remove_original(&sha256).await? {
                tracing::warn!(sha256, "removed the file of a document that is gone");
            }
            progress.file = sha256;
        }
        if !more {
            progress.folder = progress.folder.wrapping_add(1);
            progress.file.clear();
        }
        Ok(())
    }

    /// Marks those of the documents after this number whose files are missing; answers with the last number that was
    /// looked at, or 0 at the end.
    async fn find_lost(&self, after: u32) -> StoreResult<u32> {
        let originals = self.store.originals(self.tenant, after, AT_ONCE).await?;
        let folder = self.originals.clone();
        let looked = tokio::task::spawn_blocking(move || {
            let is_there = |one: &Original| folder.path(&one.sha256).exists();
            originals.into_iter().map(|one| (is_there(&one), one)).collect::<Vec<_>>()
        });
        let looked = looked.await.map_err(|error| StoreError::Backend(error.to_string()))?;
        for (is_there, one) in &looked {
            if *is_there != one.lost {
                continue;
            }
            let found = (!is_there).then(|| {
                tracing::error!(document = %one.document, sha256 = one.sha256, "the file of a document is missing");
                let message =
                    format!("the file of {} that was sent is missing; what was read from it is still found", one.name);
                problem(message, "Send the file again, or put it back from a backup of the data folder.")
            });
            self.store.mark_lost(self.tenant, one.document, found.as_ref(), self.clock.now()).await?;
        }
        Ok(looked.last().filter(|_| looked.len() >= AT_ONCE as usize).map_or(0, |(_, last)| last.number))
    }
}
