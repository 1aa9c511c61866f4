//! The files that were sent, by the hash of their content. Documents that are files elsewhere have none here.

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::NamedTempFile;
use tokio::fs::File;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const PIECE: usize = 256 * 1024;
/// Length of a hash, in hexadecimal.
const HASH: usize = 64;
/// Begins the name of a file that was taken away.
const TAKEN: &str = "incoming-gone-";
/// How far the look at all files is.
const PROGRESS: &str = "looked-at.json";

#[derive(Debug, Clone)]
pub struct Originals {
    root: PathBuf,
}

/// A file that is being received; gone again unless it is kept.
pub struct Incoming {
    root: PathBuf,
    place: NamedTempFile,
    file: File,
    hash: Sha256,
    bytes: u64,
}

/// A file that was received, but is not kept yet; gone again when it is dropped.
pub struct Received {
    root: PathBuf,
    place: NamedTempFile,
    pub facts: FileFacts,
}

/// What is known of a file that was received.
pub struct FileFacts {
    pub sha256: String,
    pub bytes: u64,
}

/// How far the look at files and documents is. It is kept beside the files, so that a program that is often started again
/// gets through them, too.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct OriginalsProgress {
    /// The next of the 256 folders.
    pub(super) folder: u8,
    /// The last file of it that was looked at; empty at its beginning.
    pub(super) file: String,
    /// The number of the last document.
    pub(super) after: u32,
}

impl Originals {
    /// Folders are made when first needed.
    pub fn new(root: PathBuf) -> Self {
        Self { root }
    }

    /// Where the content of this hash is.
    pub fn path(&self, sha256: &str) -> PathBuf {
        let folder = sha256.get(..2).unwrap_or_default();
        self.root.join(folder).join(sha256)
    }

    pub async fn begin(&self) -> io::Result<Incoming> {
        let root = self.root.clone();
        let (place, file) = tokio::task::spawn_blocking(move || {
            std::fs::create_dir_all(&root)?;
            let place = NamedTempFile::with_prefix_in("incoming-", &root)?;
            let file = place.as_file().try_clone()?;
            io::Result::Ok((place, file))
        })
        .await??;
        Ok(Incoming { root: self.root.clone(), place, file: File::from_std(file), hash: Sha256::new(), bytes: 0 })
    }

    /// Takes in what is in a file that somebody else may change meanwhile.
    pub async fn copy(&self, file: std::fs::File) -> io::Result<Received> {
        let mut incoming = self.begin().await?;
        let mut file = File::from_std(file);
        let mut piece = vec![0; PIECE];
        loop {
            let read = file.read(&mut piece).await?;
            if read == 0 {
                return incoming.finish().await;
            }
            incoming.write(&Bytes::copy_from_slice(&piece[..read])).await?;
        }
    }

    /// Where a file lies after [`Self::take_away`], until it is removed.
    pub fn taken_away(&self, sha256: &str) -> PathBuf {
        self.root.join(format!("{TAKEN}{sha256}"))
    }

    /// Quick, and done again without harm. What is there no more is no error.
    pub fn take_away(&self, sha256: &str) -> io::Result<()> {
        match std::fs::rename(self.path(sha256), self.taken_away(sha256)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Removes what was taken away while it was wanted still.
    pub fn remove_taken_away(&self) -> io::Result<()> {
        self.remove_from_root(TAKEN)
    }

    fn remove_from_root(&self, begins: &str) -> io::Result<()> {
        let Ok(entries) = std::fs::read_dir(&self.root) else {
            return Ok(());
        };
        for entry in entries.flatten() {
            if entry.file_name().to_string_lossy().starts_with(begins) {
                std::fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }

    /// Whether the content of this hash is there as it was.
    pub fn is_whole(&self, sha256: &str) -> io::Result<bool> {
        let mut file = match std::fs::File::open(self.path(sha256)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            file => file?,
        };
        let mut hash = Sha256::new();
        let mut piece = vec![0; PIECE];
        loop {
            match io::Read::read(&mut file, &mut piece)? {
                0 => return Ok(hex::encode(hash.finalize()) == sha256),
                read => hash.update(&piece[..read]),
            }
        }
    }

    /// Where the look at all files goes on; what can't be read is a beginning.
    pub fn progress(&self) -> OriginalsProgress {
        let kept = std::fs::read(self.root.join(PROGRESS)).unwrap_or_default();
        serde_json::from_slice(&kept).unwrap_or_default()
    }

    pub fn save_progress(&self, progress: &OriginalsProgress) -> io::Result<()> {
        if !self.root.is_dir() {
            return Ok(());
        }
        let place = NamedTempFile::with_prefix_in("incoming-", &self.root)?;
        serde_json::to_writer(place.as_file(), progress)?;
        place.persist(self.root.join(PROGRESS))?;
        Ok(())
    }

    /// The hashes of the next files after one in one of the 256 folders that have lain there for this long, in order.
    pub fn older_than(&self, folder: u8, after: &str, limit: usize, age: Duration) -> io::Result<Vec<String>> {
        let entries = match std::fs::read_dir(self.root.join(format!("{folder:02x}"))) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut found = Vec::new();
        for entry in entries {
            let entry = entry?;
            // A time in the future is none that it has lain here.
            let lain = entry.metadata()?.modified()?.elapsed().unwrap_or_default();
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_hash = name.len() == HASH && name.bytes().all(|byte| byte.is_ascii_hexdigit());
            if lain >= age && is_hash && name.as_str() > after {
                found.push(name);
            }
        }
        found.sort_unstable();
        found.truncate(limit);
        Ok(found)
    }

    /// Removes what was being received when the program ended. Nothing may be received meanwhile.
    pub fn clean(&self) -> io::Result<()> {
        self.remove_from_root("incoming-")
    }
}

impl Incoming {
    pub async fn write(&mut self, bytes: &Bytes) -> io::Result<()> {
        self.hash.update(bytes);
        self.bytes += bytes.len() as u64;
        self.file.write_all(bytes).await
    }

    pub async fn finish(mut self) -> io::Result<Received> {
        self.file.flush().await?;
        let sha256 = hex::encode(self.hash.finalize());
        Ok(Received { root: self.root, place: self.place, facts: FileFacts { sha256, bytes: self.bytes } })
    }
}

impl Received {
    pub fn path(&self) -> &Path {
        self.place.path()
    }

    /// Keeps it; durable when this returns. Answers with the open file too, which can be read wherever it is moved to.
    pub async fn keep(self) -> io::Result<(FileFacts, std::fs::File)> {
        let target = Originals::new(self.root.clone()).path(&self.facts.sha256);
        let (root, place) = (self.root, self.place);
        let kept = tokio::task::spawn_blocking(move || {
            let folder = target.parent().unwrap_or(&root);
            std::fs::create_dir_all(folder)?;
            place.as_file().sync_all()?;
            let file = place.persist(&target).map_err(|failed| failed.error)?;
            for folder in folder.ancestors() {
                std::fs::File::open(folder)?.sync_all()?;
                if Some(folder) == root.parent() {
                    break;
                }
            }
            io::Result::Ok(file)
        });
        Ok((self.facts, kept.await??))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::{Originals, OriginalsProgress};
    use std::time::Duration;

    #[test]
    fn a_folder_is_looked_through_in_turns() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("07");
        std::fs::create_dir(&folder).unwrap();
        let name = |number: usize| format!("07{number:062x}");
        for number in [4, 1, 3, 2, 0] {
            std::fs::write(folder.join(name(number)), "x").unwrap();
        }
        std::fs::write(folder.join("no-hash"), "x").unwrap();
        let originals = Originals::new(dir.path().to_owned());
        let next = |after: &str| originals.older_than(7, after, 2, Duration::ZERO).unwrap();
        assert_eq!(next(""), [name(0), name(1)]);
        assert_eq!(next(&name(1)), [name(2), name(3)]);
        assert_eq!(next(&name(3)), [name(4)]);
        assert!(originals.older_than(7, "", 2, Duration::from_hours(1)).unwrap().is_empty());
    }

    #[test]
    fn the_look_goes_on_where_it_stopped() {
        let dir = tempfile::tempdir().unwrap();
        let originals = Originals::new(dir.path().to_owned());
        assert_eq!(originals.progress(), OriginalsProgress::default());
        let progress = serde_json::from_str(r#"{"folder": 9, "file": "09aa", "after": 500}"#).unwrap();
        originals.save_progress(&progress).unwrap();
        assert_eq!(Originals::new(dir.path().to_owned()).progress(), progress);
        std::fs::write(dir.path().join("looked-at.json"), "{\"fol").unwrap();
        assert_eq!(originals.progress(), OriginalsProgress::default());
        Originals::new(dir.path().join("none")).save_progress(&progress).unwrap();
    }
}
