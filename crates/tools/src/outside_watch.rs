//! Which files from outside a program opens. The kernel tells it, whatever the words of a command say: what a program doesn't
//! open, it can't have read.

use crate::error::{ToolsError, refused};
use crate::files;
use crate::handler::Context;
use crate::text::{is_sentence, printed};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsStr;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, Weak};
use std::time::Duration;
use steward_core::locks::lock;
use steward_core::ports::ToolScope;
use steward_core::run::{UPLOADS, is_in};
use steward_core::tool::ToolOutput;
use steward_sandbox::process::Outcome;
use tokio::sync::OwnedMutexGuard;

/// Most files from outside that are watched, with their folders; where there are more, a program counts as having read all of them.
const MAX_WATCHED: usize = 10_000;
/// Most files and folders that are looked through for the other names of a file.
const MAX_NAMES: usize = 200_000;
/// Longest wait until other programs of the workspace have ended.
const PATIENCE: Duration = Duration::from_secs(2);

/// While one program works in a workspace, others wait a moment: nobody can tell whose program it was that opened or changed
/// a file while two were at work. One that works for long shares what it does with those that come after it.
pub(crate) struct Turn {
    _held: Option<OwnedMutexGuard<()>>,
}

pub(crate) async fn take_turn(context: &Context) -> Turn {
    type Turns = HashMap<PathBuf, Weak<tokio::sync::Mutex<()>>>;
    static TURNS: LazyLock<Mutex<Turns>> = LazyLock::new(Mutex::default);
    let turn = {
        let mut turns = lock(&TURNS);
        turns.retain(|_, turn| turn.strong_count() > 0);
        let known = turns.get(&context.scope.workspace).and_then(Weak::upgrade);
        known.unwrap_or_else(|| {
            let turn = Arc::default();
            turns.insert(context.scope.workspace.clone(), Arc::downgrade(&turn));
            turn
        })
    };
    let patience = PATIENCE.min(context.left() / 4);
    Turn { _held: tokio::time::timeout(patience, turn.lock_owned()).await.ok() }
}

/// Of one program, from before its start to after its end.
pub(crate) struct OutsideWatch {
    root: PathBuf,
    /// Files and folders from outside, relative to the workspace.
    marked: Vec<String>,
    /// `None`: they can't be watched.
    watched: Option<Watched>,
}

struct Watched {
    events: OwnedFd,
    files: BTreeMap<i32, Vec<OutsideFile>>,
}

struct OutsideFile {
    path: PathBuf,
    /// Its names, everywhere.
    links: u64,
}

impl OutsideWatch {
    pub async fn begin(scope: &ToolScope) -> Result<Self, ToolsError> {
        let scope = scope.clone();
        files::blocking(move || {
            let root = scope.workspace.canonicalize().map_err(|error| refused!("the workspace: {error}"))?;
            let marked = marked_files(&root, &scope);
            let watched = watch_files(&root, &marked)
                .inspect_err(|error| {
                    tracing::warn!("files from outside can't be watched, so all count as read: {error}");
                })
                .ok();
            Ok(Self { root, marked, watched })
        })
        .await
    }

    /// What it read of the files from outside, relative to the workspace.
    pub async fn end(self, outcome: Outcome) -> Result<(Outcome, Vec<String>), ToolsError> {
        files::blocking(move || {
            let reads = self.opened(&outcome);
            Ok((outcome, reads))
        })
        .await
    }

    fn opened(self, outcome: &Outcome) -> Vec<String> {
        let seen =
            self.watched.and_then(|watched| watched.opened(&self.root, &printed(&outcome.stdout, &outcome.stderr)));
        seen.map_or_else(|| self.marked.into_iter().map(named).collect(), |seen| seen.into_iter().collect())
    }
}

impl Watched {
    /// `None`: nobody knows.
    fn opened(self, root: &Path, printed: &str) -> Option<BTreeSet<String>> {
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut reader = Reader::new(self.events, &mut buffer);
        let (mut opened, mut removed) = (BTreeSet::new(), BTreeSet::new());
        loop {
            match reader.next() {
                Ok(event) if event.events().contains(ReadFlags::QUEUE_OVERFLOW) => return None,
                Ok(event) if event.events().intersects(ReadFlags::OPEN | ReadFlags::MOVE_SELF) => {
                    opened.insert(event.wd());
                }
                Ok(event) if event.events().contains(ReadFlags::DELETE_SELF) => {
                    removed.insert(event.wd());
                }
                Ok(_) | Err(Errno::INTR) => {}
                Err(Errno::WOULDBLOCK) => break,
                Err(_) => return None,
            }
        }
        // One that got a second name, or went with the folder above it, is somewhere else now under a name without a mark.
        let is_elsewhere =
            |file: &OutsideFile| file.path.symlink_metadata().map_or(true, |found| found.nlink() > file.links);
        let read = self.files.into_iter().flat_map(|(watch, files)| {
            let is_read = |file: &OutsideFile| {
                opened.contains(&watch)
                    || (!removed.contains(&watch) && is_elsewhere(file))
                    || file.path.strip_prefix(root).is_ok_and(|path| shows_sentence(path, printed))
            };
            files.into_iter().filter(is_read).map(|file| file.path).collect::<Vec<_>>()
        });
        let relative = |path: PathBuf| path.strip_prefix(root).map(|path| path.to_string_lossy().into_owned()).ok();
        Some(read.filter_map(relative).collect())
    }
}

/// All files from outside, for a program that can't be watched.
pub(crate) async fn all_outside_files(scope: &ToolScope) -> Result<Vec<String>, ToolsError> {
    let scope = scope.clone();
    files::blocking(move || {
        let root = scope.workspace.canonicalize().map_err(|error| refused!("the workspace: {error}"))?;
        Ok(marked_files(&root, &scope).into_iter().map(named).collect())
    })
    .await
}

/// Of these files, those from outside whose names alone say something: whoever is shown them has read them.
pub(crate) fn telling_names(scope: &ToolScope, paths: impl Iterator<Item = String>) -> Vec<String> {
    let is_marked = |path: &str| scope.marked_files.iter().any(|marked| !marked.is_empty() && is_in(path, marked));
    let is_outside = |path: &str| is_in(path, UPLOADS) || is_marked(path);
    // Names of many words are rare, so that looking where links lead costs little.
    let sentences: Vec<String> = paths.filter(|path| is_sentence(path)).collect();
    let root = scope.workspace.canonicalize().ok();
    let real = |path: &String| root.as_deref().and_then(|root| real_path(root, path));
    sentences.into_iter().filter(|path| is_outside(path) || real(path).is_some_and(|real| is_outside(&real))).collect()
}

fn shows_sentence(path: &Path, printed: &str) -> bool {
    let mut names = path.iter().filter_map(OsStr::to_str);
    names.any(|name| is_sentence(name) && printed.contains(name))
}

/// The workspace itself has a name too.
fn named(path: String) -> String {
    if path.is_empty() { ".".to_owned() } else { path }
}

/// What is marked and there, each once. What a link leads to has a path of its own.
fn marked_files(root: &Path, scope: &ToolScope) -> Vec<String> {
    let mut marked: Vec<String> = scope.marked_files.iter().cloned().chain([UPLOADS.to_owned()]).collect();
    marked.sort_unstable();
    marked.dedup();
    marked.retain(|path| root.join(path).symlink_metadata().is_ok_and(|found| !found.is_symlink()));
    marked
}

fn watch_files(root: &Path, marked: &[String]) -> Result<Watched, Errno> {
    let events = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
    let flags = WatchFlags::OPEN
        | WatchFlags::MOVE_SELF
        | WatchFlags::DELETE_SELF
        | WatchFlags::ONESHOT
        | WatchFlags::DONT_FOLLOW;
    let mut files: BTreeMap<i32, Vec<OutsideFile>> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    let mut left: Vec<PathBuf> = marked.iter().map(|path| root.join(path)).collect();
    while let Some(path) = left.pop() {
        // What went away meanwhile can't be read.
        let Ok(found) = path.symlink_metadata() else { continue };
        if found.is_symlink() || !seen.insert(path.clone()) {
            continue;
        }
        if seen.len() > MAX_WATCHED {
            return Err(Errno::NOSPC);
        }
        if found.is_dir() {
            left.extend(std::fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
            continue;
        }
        match inotify::add_watch(&events, &path, flags) {
            Ok(watch) => files.entry(watch).or_default().push(OutsideFile { path, links: found.nlink() }),
            Err(Errno::NOENT) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(Watched { events, files })
}

/// Adds what links lead to, and the other names of the same files, to the paths that a call says it read and wrote: marks are
/// of files, whatever name they are reached by.
pub(crate) async fn with_real_paths(mut output: ToolOutput, scope: &ToolScope) -> Result<ToolOutput, ToolsError> {
    if output.reads.is_empty() && output.writes.is_empty() {
        return Ok(output);
    }
    let workspace = scope.workspace.clone();
    files::blocking(move || {
        if let Ok(root) = workspace.canonicalize() {
            let mut names = FileNames::default();
            for paths in [&mut output.reads, &mut output.writes] {
                let mut real: Vec<String> = paths.iter().filter_map(|path| real_path(&root, path)).collect();
                real.extend(other_names(&root, &real, &mut names));
                real.retain(|path| !path.is_empty() && !paths.contains(path));
                paths.append(&mut real);
            }
        }
        Ok(output)
    })
    .await
}

/// By device and inode.
type Names = HashMap<(u64, u64), Vec<String>>;

/// All files of a workspace with several names, once they were looked for.
#[derive(Default)]
enum FileNames {
    #[default]
    NotRead,
    Read(Names),
    TooMany,
}

/// The other names that these files have in the workspace; where there are too many files to look for them, the workspace
/// itself.
fn other_names(root: &Path, paths: &[String], names: &mut FileNames) -> Vec<String> {
    let mut found = Vec::new();
    for path in paths {
        let Ok(stat) = root.join(path).symlink_metadata() else { continue };
        if !stat.is_file() || stat.nlink() < 2 {
            continue;
        }
        if matches!(names, FileNames::NotRead) {
            *names = read_names(root).map_or(FileNames::TooMany, FileNames::Read);
        }
        let FileNames::Read(names) = &*names else { return vec![".".to_owned()] };
        let same = names.get(&(stat.dev(), stat.ino())).into_iter().flatten();
        found.extend(same.filter(|name| *name != path).cloned());
    }
    found
}

/// `None`: there are too many files.
fn read_names(root: &Path) -> Option<Names> {
    let mut names = Names::new();
    let (mut folders, mut seen) = (vec![root.to_owned()], 0);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            seen += 1;
            if seen > MAX_NAMES {
                return None;
            }
            let (path, Ok(stat)) = (entry.path(), entry.metadata()) else { continue };
            if stat.is_dir() {
                folders.push(path);
            } else if stat.is_file() && stat.nlink() > 1 {
                let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
                names.entry((stat.dev(), stat.ino())).or_default().push(name);
            }
        }
    }
    Some(names)
}

/// Where `path` is, relative to the workspace `root`, links followed. `None`: nothing of the workspace.
fn real_path(root: &Path, path: &str) -> Option<String> {
    let real = root.join(path).canonicalize().ok()?;
    Some(real.strip_prefix(root).ok()?.to_str()?.to_owned())
}
