//! The files that were sent, by the hash of their content. Documents that are files elsewhere have none here.

use bytes::Bytes;
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
        self.root.join(format!("incoming-gone-{sha256}"))
    }

    /// Quick, and done again without harm. What is there no more is no error.
    pub fn take_away(&self, sha256: &str) -> io::Result<()> {
        match std::fs::rename(self.path(sha256), self.taken_away(sha256)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// The hashes of the files in one of the 256 folders that have lain there for this long.
    pub fn older_than(&self, folder: u8, age: Duration) -> io::Result<Vec<String>> {
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
            if lain >= age && name.len() == HASH && name.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                found.push(name);
            }
        }
        Ok(found)
    }

    /// Removes what was being received when the program ended. Nothing may be received meanwhile.
    pub fn clean(&self) -> io::Result<()> {
        let Ok(entries) = std::fs::read_dir(&self.root) else {
            return Ok(());
        };
        for entry in entries.flatten() {
            if entry.file_name().to_string_lossy().starts_with("incoming-") {
                std::fs::remove_file(entry.path())?;
            }
        }
        Ok(())
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
