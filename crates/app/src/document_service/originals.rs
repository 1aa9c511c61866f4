//! The files that were sent, by the hash of their content. Documents that are files elsewhere have none here.

use bytes::Bytes;
use sha2::{Digest, Sha256};
use std::io;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;
use tokio::fs::File;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const PIECE: usize = 256 * 1024;

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

    pub async fn remove(&self, sha256: &str) -> io::Result<()> {
        match tokio::fs::remove_file(self.path(sha256)).await {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
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

    /// Keeps it; durable when this returns.
    pub async fn keep(self) -> io::Result<FileFacts> {
        let target = Originals::new(self.root).path(&self.facts.sha256);
        let place = self.place;
        let kept = tokio::task::spawn_blocking(move || {
            let Some(folder) = target.parent() else {
                return Ok(());
            };
            std::fs::create_dir_all(folder)?;
            place.as_file().sync_all()?;
            place.persist(&target).map_err(|failed| failed.error)?;
            std::fs::File::open(folder)?.sync_all()
        });
        kept.await??;
        Ok(self.facts)
    }
}
