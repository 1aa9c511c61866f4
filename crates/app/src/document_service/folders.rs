//! Folders whose files become documents: once, or for as long as they are watched. Links are not followed, and what is
//! hidden is left out.

use super::DocumentService;
use super::originals::FileFacts;
use super::reserved::workspace_id;
use futures::TryStreamExt as _;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use steward_core::document::{Chunking, Collection, DocumentOrigin, DocumentProblem, JobState, Rerank, SearchWeights};
use steward_core::locks::lock;
use steward_core::ports::{Added, DocumentFilter, NewDocument, StoreError, StoreResult};
use steward_core::{AgentId, CollectionId, DocumentId, IngestJobId, UserId};
use steward_tools::{HostPath, HostPathError, HostPolicy};

/// Files of one folder that become documents; what is beyond is told of.
const MAX_FILES: usize = 100_000;
/// Files of the workspace that become documents, the newest first: nobody asked for their reading, so it must end soon.
const MAX_WORKSPACE_FILES: usize = 2_000;
/// Largest file of the workspace that is read by itself, bytes.
const MAX_WORKSPACE_BYTES: u64 = 5_000_000;
/// Files of the workspace that are read by themselves: those that people write and read.
const WORKSPACE_ENDINGS: [&str; 22] = [
    "txt", "md", "markdown", "rst", "org", "tex", "log", "html", "htm", "pdf", "docx", "odt", "rtf", "xlsx", "ods",
    "pptx", "odp", "epub", "eml", "msg", "csv", "tsv",
];
/// Most folders within each other.
const MAX_DEPTH: usize = 40;
/// What the collection of the workspace's files is called, unless somebody's own is.
const WORKSPACE_COLLECTION: &str = "Workspace";
/// Folders that programs fill.
const LEFT_OUT: [&str; 5] = ["node_modules", "target", "__pycache__", "venv", "dist"];

/// What a file was when it was last looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    bytes: u64,
    modified: Option<SystemTime>,
}

/// Files by path, as they were at the last look; what is the same now is not read again.
pub(super) type Seen = HashMap<(CollectionId, PathBuf), Stamp>;

/// Where files go.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub collection: CollectionId,
    pub origin: DocumentOrigin,
    pub job: Option<IngestJobId>,
    pub agent: Option<AgentId>,
    pub user: Option<UserId>,
}

impl DocumentService {
    /// Has all files of a folder read; the job says how far that is.
    pub(crate) async fn scan_job(&self, job: IngestJobId, path: PathBuf, target: Target) -> StoreResult<()> {
        let listing = self.listed(path, MAX_FILES).await;
        if let Some(problem) = listing.told() {
            tracing::warn!(%job, problem = problem.message, "not all of a folder is looked through");
        }
        for (file, _) in &listing.files {
            if self.store.job(self.tenant, job).await?.is_none_or(|job| job.state == JobState::Cancelled) {
                return Ok(());
            }
            self.add_file(file, &file.display().to_string(), &target).await?;
        }
        if self.store.job(self.tenant, job).await?.is_some_and(|job| job.state == JobState::Scanning) {
            self.store.set_job_state(self.tenant, job, JobState::Running).await?;
        }
        Ok(())
    }

    /// Looks through the workspace and all watched folders for what is new, changed or gone.
    pub(super) async fn scan_watched(&self) -> LookedThrough {
        let mut looked = LookedThrough::default();
        if let Err(error) = self.scan_workspace(&mut looked).await {
            tracing::warn!(%error, "the workspace could not be looked through");
        }
        let watched = match self.store.watched_paths(self.tenant).await {
            Ok(watched) => watched,
            Err(error) => {
                tracing::warn!(%error, "the watched folders can't be listed");
                looked.roots.clear();
                return looked;
            }
        };
        for mut path in watched {
            let target = Target {
                collection: path.collection,
                origin: DocumentOrigin::Path,
                job: None,
                agent: None,
                user: None,
            };
            let mut listing = self.listed(PathBuf::from(&path.path), MAX_FILES).await;
            looked.add(PathBuf::from(&path.path), &mut listing);
            path.problem = listing.told();
            path.scanned_at = Some(self.clock.now());
            let followed =
                self.follow(Path::new(&path.path), &listing, &target, |file| file.display().to_string()).await;
            let saved = match followed {
                Ok(()) => self.store.save_watched_path(self.tenant, &path).await,
                Err(error) => Err(error),
            };
            if let Err(error) = saved {
                tracing::warn!(%error, path = path.path, "a watched folder could not be followed");
            }
        }
        looked
    }

    /// The files below a folder, or the file itself, opened as one that may be read.
    async fn listed(&self, root: PathBuf, most: usize) -> Listing {
        let places = self.places.clone();
        let walked = tokio::task::spawn_blocking(move || list(&places, &root, most));
        walked.await.unwrap_or_default()
    }

    async fn scan_workspace(&self, looked: &mut LookedThrough) -> StoreResult<()> {
        let root = PathBuf::from(self.workspace.copy());
        let mut listing = self.listed(root.clone(), MAX_FILES).await;
        looked.add(root.clone(), &mut listing);
        listing.files.retain(|(file, stamp)| {
            let ending = file.extension().map(|ending| ending.to_string_lossy().to_lowercase());
            let read = ending.is_some_and(|ending| WORKSPACE_ENDINGS.contains(&ending.as_str()));
            read && (1..=MAX_WORKSPACE_BYTES).contains(&stamp.bytes)
        });
        listing.files.sort_by_key(|(_, stamp)| std::cmp::Reverse(stamp.modified));
        listing.files.truncate(MAX_WORKSPACE_FILES);
        if listing.files.is_empty() && self.store.collection(self.tenant, workspace_id()).await?.is_none() {
            return Ok(());
        }
        let collection = self.workspace_collection().await?;
        let target = Target { collection, origin: DocumentOrigin::Workspace, job: None, agent: None, user: None };
        let relative = |file: &Path| file.strip_prefix(&root).unwrap_or(file).display().to_string();
        self.follow(&root, &listing, &target, relative).await
    }

    /// Everybody who may read files of the workspace may search in them.
    async fn workspace_collection(&self) -> StoreResult<CollectionId> {
        let id = workspace_id();
        if self.make_reserved(id, WORKSPACE_COLLECTION, "The files of the workspace, as they are now.").await? {
            return Ok(id);
        }
        Err(StoreError::Conflict("other collections have all names that the workspace's could have".to_owned()))
    }

    /// An empty collection of nobody, all else as usual. It is not kept yet.
    pub(crate) fn new_collection(&self, name: String, description: String) -> Collection {
        Collection {
            id: CollectionId(self.ids.next()),
            name,
            description,
            chunking: Chunking::default(),
            weights: SearchWeights::default(),
            embedding_model: None,
            embedding_dimension: None,
            re_embedding: None,
            rerank: Rerank::default(),
            classification: None,
            created_by: None,
            created_at: self.clock.now(),
            documents: 0,
            chunks: 0,
        }
    }

    async fn follow(
        &self,
        root: &Path,
        listing: &Listing,
        target: &Target,
        name: impl Fn(&Path) -> String,
    ) -> StoreResult<()> {
        for (file, stamp) in &listing.files {
            let key = (target.collection, file.clone());
            if lock(&self.seen).get(&key) == Some(stamp) {
                continue;
            }
            self.add_file(file, &name(file), target).await?;
            lock(&self.seen).insert(key, *stamp);
        }
        if listing.problem.is_some() {
            // What could not be looked at is not gone.
            return Ok(());
        }
        let there: std::collections::HashSet<String> = listing.files.iter().map(|(file, _)| name(file)).collect();
        let below = name(root);
        let filter = DocumentFilter {
            collection: Some(target.collection),
            origin: Some(target.origin),
            limit: 500,
            ..DocumentFilter::default()
        };
        let mut pages = self.document_pages(filter);
        while let Some(page) = pages.try_next().await? {
            for document in &page {
                let ours =
                    target.origin == DocumentOrigin::Workspace || Path::new(&document.source).starts_with(&below);
                if ours && !there.contains(&document.source) {
                    self.remove(document.id).await?;
                    lock(&self.seen).retain(|(collection, file), _| {
                        *collection != target.collection || name(file) != document.source
                    });
                }
            }
        }
        Ok(())
    }

    pub(super) fn new_document(&self, file: FileFacts, name: String, source: String, target: &Target) -> NewDocument {
        NewDocument {
            id: DocumentId(self.ids.next()),
            collection: target.collection,
            name,
            origin: target.origin,
            source,
            bytes: file.bytes,
            sha256: file.sha256,
            classification: None,
            job: target.job,
            added_by: target.user,
            at: self.clock.now(),
        }
    }

    /// Makes a file that stays where it is a document, which waits to be read.
    async fn note(&self, file: FileFacts, name: String, source: String, target: &Target) -> StoreResult<Added> {
        let new = self.new_document(file, name, source, target);
        let added = self.store.add_document(self.tenant, &new).await?;
        self.link_to_agent(&added, target).await?;
        Ok(added)
    }

    pub(super) async fn link_to_agent(&self, added: &Added, target: &Target) -> StoreResult<()> {
        match target.agent {
            Some(agent) => self.store.link_document(self.tenant, added.document().id, agent, true).await,
            None => Ok(()),
        }
    }

    /// Has a file read, unless it is there with this content. What can't be opened is left out: the next look may.
    async fn add_file(&self, file: &Path, source: &str, target: &Target) -> StoreResult<()> {
        let copied = match self.open_source(target.origin, source).await {
            Ok(opened) => self.originals.copy(opened).await.map_err(|error| error.to_string()),
            Err(problem) => Err(problem.message),
        };
        let copied = match copied {
            Ok(copied) => copied,
            Err(reason) => {
                tracing::warn!(file = source, reason, "a file could not be read");
                return Ok(());
            }
        };
        let name = file.file_name().map_or_else(|| source.to_owned(), |name| name.to_string_lossy().into_owned());
        let added = self.note(copied.facts, name, source.to_owned(), target).await?;
        if !matches!(added, Added::Unchanged(_)) {
            self.wake();
        }
        Ok(())
    }
}

/// What a look through folders has seen.
#[derive(Debug, Default)]
pub(super) struct LookedThrough {
    pub roots: Vec<PathBuf>,
    /// With those below them.
    pub folders: Vec<PathBuf>,
}

impl LookedThrough {
    fn add(&mut self, root: PathBuf, listing: &mut Listing) {
        self.roots.push(root);
        self.folders.append(&mut listing.folders);
    }
}

/// The files below a folder.
#[derive(Debug, Default)]
struct Listing {
    files: Vec<(PathBuf, Stamp)>,
    folders: Vec<PathBuf>,
    /// Why not all of it was looked at.
    problem: Option<DocumentProblem>,
    /// The first file that was left out, since it may be the program's own under another name, and how many.
    linked: Option<(PathBuf, usize)>,
}

impl Listing {
    /// What people should know of it.
    fn told(&self) -> Option<DocumentProblem> {
        let linked = || {
            let (file, count) = self.linked.as_ref()?;
            let error = HostPathError::Linked(file.clone());
            let message = format!("left out (files: {count}): {error}");
            Some(DocumentProblem { message, hint: format!("{}.", sentence(error.hint())) })
        };
        self.problem.clone().or_else(linked)
    }
}

fn list(places: &HostPolicy, root: &Path, most: usize) -> Listing {
    let mut listing = Listing::default();
    match places.open(root) {
        Ok(place) => walk(&place, 0, most, &mut listing),
        // A file that went meanwhile is no problem, the folder itself is one.
        Err(error) => listing.problem = Some(not_looked_at(&error)),
    }
    listing.files.sort_by(|a, b| a.0.cmp(&b.0));
    listing
}

fn walk(place: &HostPath, depth: usize, most: usize, listing: &mut Listing) {
    if let Some(file) = place.entry() {
        listing.files.push((place.path().to_owned(), Stamp { bytes: file.bytes, modified: file.modified }));
        return;
    }
    if depth > MAX_DEPTH {
        return;
    }
    let entries = match place.entries() {
        Ok(entries) => entries,
        Err(error) => {
            listing.problem = Some(not_looked_at(&error));
            return;
        }
    };
    listing.folders.push(place.path().to_owned());
    for entry in entries {
        if listing.files.len() >= most {
            listing.problem = Some(DocumentProblem {
                message: format!("there are more than {most} files; the rest is left out"),
                hint: "Name folders further down.".to_owned(),
            });
            return;
        }
        let name = entry.name.to_string_lossy();
        if name.starts_with('.') || LEFT_OUT.contains(&&*name) {
            continue;
        }
        if entry.linked {
            listing.linked.get_or_insert_with(|| (place.path().join(&entry.name), 0)).1 += 1;
        } else if !entry.is_folder {
            let stamp = Stamp { bytes: entry.bytes, modified: entry.modified };
            listing.files.push((place.path().join(&entry.name), stamp));
        } else if let Ok(folder) = place.enter(&entry.name) {
            walk(&folder, depth + 1, most, listing);
        }
    }
}

fn not_looked_at(error: &HostPathError) -> DocumentProblem {
    DocumentProblem {
        message: format!("it can't be looked through: {error}"),
        hint: format!("{}.", sentence(error.hint())),
    }
}

fn sentence(hint: &str) -> String {
    let mut letters = hint.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::list;
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::Path;
    use steward_tools::{HostPolicy, HostRules};

    fn names(places: &HostPolicy, root: &Path) -> Vec<String> {
        let files = list(places, root, 100).files;
        files.iter().map(|(path, _)| path.strip_prefix(root).unwrap().display().to_string()).collect()
    }

    #[test]
    fn hidden_files_links_and_pipes_are_left_out() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for folder in ["a/b", ".git", "node_modules/x"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        for file in ["one.txt", "a/b/two.txt", ".git/three.txt", "node_modules/x/four.txt", ".five"] {
            fs::write(root.join(file), "text").unwrap();
        }
        symlink("/etc/passwd", root.join("link.txt")).unwrap();
        symlink("/etc", root.join("linked")).unwrap();
        let places = HostPolicy::new(HostRules::default());
        let mut listing = list(&places, &root, 100);
        assert_eq!(names(&places, &root), ["a/b/two.txt", "one.txt"]);
        assert_eq!(listing.problem, None);
        listing.folders.sort();
        assert_eq!(listing.folders, [root.clone(), root.join("a"), root.join("a/b")]);

        let few = list(&places, &root, 1);
        assert!(few.problem.is_some_and(|problem| problem.message.contains("more than 1 files")));
        let gone = list(&places, &root.join("gone"), 1);
        assert!(gone.problem.is_some_and(|problem| problem.hint.starts_with("Check that")));
        assert_eq!(names(&places, &root.join("one.txt")), [""]);
    }

    #[test]
    fn a_folder_that_holds_the_data_is_scanned_without_it() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for folder in ["data/documents", "cache/models", "share"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        for file in ["data/vault.key", "data/documents/a", "cache/models/m", "share/one.txt"] {
            fs::write(root.join(file), "text").unwrap();
        }
        fs::hard_link(root.join("data/vault.key"), root.join("share/hard.txt")).unwrap();
        let own = vec![root.join("data"), root.join("cache")];
        let places = HostPolicy::new(HostRules { own, ..HostRules::default() });
        assert_eq!(names(&places, &root), ["share/one.txt"]);
        assert_eq!(list(&places, &root, 100).told(), None);
        // One of deeper files can't be told from a file that has two names by chance; both are left out, and named.
        fs::hard_link(root.join("data/documents/a"), root.join("share/deep.txt")).unwrap();
        assert_eq!(names(&places, &root), ["share/one.txt"]);
        let told = list(&places, &root, 100).told().unwrap();
        assert!(told.message.contains("share/deep.txt` has another name"), "{told:?}");
        assert!(list(&places, &root, 100).problem.is_none(), "all of it was looked at");
        for own in ["data", "data/documents", "data/vault.key"] {
            let listing = list(&places, &root.join(own), 100);
            assert!(listing.files.is_empty() && listing.problem.is_some(), "{own}");
        }
        // A root that becomes a link later is not followed.
        fs::rename(root.join("share"), root.join("before")).unwrap();
        symlink(root.join("data"), root.join("share")).unwrap();
        let listing = list(&places, &root.join("share"), 100);
        assert!(listing.files.is_empty() && listing.problem.is_some_and(|one| one.message.contains("link")));
    }
}
