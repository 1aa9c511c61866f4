//! Blobs as files named by their hash.

use std::fs::File;
use std::io::{Error, ErrorKind, Write};
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use steward_core::hash::sha256;
use steward_core::ports::{BlobError, Blobs};

#[derive(Debug, Clone)]
pub struct FileBlobs {
    root: PathBuf,
}

impl FileBlobs {
    /// Folders are created when first needed.
    pub fn new(data_dir: &Path) -> Self {
        Self { root: data_dir.join("blobs") }
    }

    /// Refuses anything but a SHA-256 in lower-case hexadecimal, which could name a file elsewhere.
    fn path(&self, hash: &str) -> Result<PathBuf, BlobError> {
        if hash.len() != 64 || !hash.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')) {
            return Err(BlobError::Missing(hash.to_owned()));
        }
        Ok(self.root.join(&hash[..2]).join(&hash[2..4]).join(hash))
    }
}

#[async_trait]
impl Blobs for FileBlobs {
    async fn put(&self, bytes: Vec<u8>) -> Result<String, BlobError> {
        let this = self.clone();
        blocking(move || {
            let hash = sha256(&bytes);
            let path = this.path(&hash)?;
            match read(&path, &hash) {
                Ok(_) => return Ok(hash),
                // Write it again in full.
                Err(BlobError::Missing(_) | BlobError::Damaged(_)) => {}
                Err(other) => return Err(other),
            }
            write(&this.root, &path, &bytes)?;
            Ok(hash)
        })
        .await
    }

    async fn get(&self, hash: &str) -> Result<Vec<u8>, BlobError> {
        let path = self.path(hash)?;
        let hash = hash.to_owned();
        blocking(move || match read(&path, &hash) {
            Err(BlobError::Missing(_)) => {
                renamed(&aside(&path), &path)?;
                read(&path, &hash)
            }
            found => found,
        })
        .await
    }

    async fn has(&self, hash: &str) -> Result<bool, BlobError> {
        let path = self.path(hash)?;
        blocking(move || {
            if !path.exists() {
                renamed(&aside(&path), &path)?;
            }
            Ok(path.exists())
        })
        .await
    }

    async fn set_aside(&self, hash: &str) -> Result<(), BlobError> {
        let path = self.path(hash)?;
        blocking(move || renamed(&path, &aside(&path))).await
    }

    async fn put_back(&self, hash: &str) -> Result<(), BlobError> {
        let path = self.path(hash)?;
        blocking(move || renamed(&aside(&path), &path)).await
    }

    async fn remove_aside(&self, hash: &str) -> Result<(), BlobError> {
        let path = aside(&self.path(hash)?);
        blocking(move || removed(&path)).await
    }

    async fn remove(&self, hash: &str) -> Result<(), BlobError> {
        let path = self.path(hash)?;
        blocking(move || removed(&path).and_then(|()| removed(&aside(&path)))).await
    }
}

/// Where a blob lies while it is looked whether anybody refers to it.
fn aside(path: &Path) -> PathBuf {
    path.with_extension("aside")
}

/// What is not there is no error.
fn renamed(from: &Path, to: &Path) -> Result<(), BlobError> {
    match std::fs::rename(from, to) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(BlobError::Io(error)),
        _ => Ok(()),
    }
}

fn removed(path: &Path) -> Result<(), BlobError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(BlobError::Io(error)),
        _ => Ok(()),
    }
}

fn read(path: &Path, hash: &str) -> Result<Vec<u8>, BlobError> {
    let bytes = std::fs::read(path).map_err(|e| match e.kind() {
        ErrorKind::NotFound => BlobError::Missing(hash.to_owned()),
        _ => BlobError::Io(e),
    })?;
    if sha256(&bytes) == hash { Ok(bytes) } else { Err(BlobError::Damaged(hash.to_owned())) }
}

/// Writes a file beside its place, then renames it: whole or not at all, and durable with its folders on return.
fn write(root: &Path, path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let folder = path.parent().unwrap_or(root);
    std::fs::create_dir_all(folder)?;
    let mut file = tempfile::Builder::new().prefix(".partial").tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|e| e.error)?;
    let data_dir = root.parent().unwrap_or(root);
    for folder in folder.ancestors() {
        File::open(folder)?.sync_all()?;
        if folder == data_dir {
            break;
        }
    }
    Ok(())
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, BlobError> + Send + 'static,
) -> Result<T, BlobError> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|e| Err(BlobError::Io(Error::other(e))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    fn files(root: &Path) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut folders = vec![root.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    found.push(path);
                }
            }
        }
        found
    }

    #[tokio::test]
    async fn what_is_put_comes_back() {
        let dir = TempDir::new().unwrap();
        let blobs = FileBlobs::new(dir.path());
        for bytes in [vec![], b"one".to_vec(), vec![7; 1_000_000]] {
            let hash = blobs.put(bytes.clone()).await.unwrap();
            assert_eq!(hash, sha256(&bytes));
            assert_eq!(blobs.put(bytes.clone()).await.unwrap(), hash);
            assert_eq!(blobs.get(&hash).await.unwrap(), bytes);
        }
        assert_eq!(files(dir.path()).len(), 3, "nothing partial is left");
        let again = FileBlobs::new(dir.path());
        assert_eq!(again.get(&sha256(b"one")).await.unwrap(), b"one");
    }

    #[tokio::test]
    async fn a_missing_or_damaged_blob_is_told_and_mended_by_putting_it_again() {
        let dir = TempDir::new().unwrap();
        let blobs = FileBlobs::new(dir.path());
        let hash = sha256(b"body");
        let missing = blobs.get(&hash).await;
        assert!(matches!(missing, Err(BlobError::Missing(name)) if name == hash));
        blobs.put(b"body".to_vec()).await.unwrap();
        for damage in ["bodX", "bo", ""] {
            std::fs::write(blobs.path(&hash).unwrap(), damage).unwrap();
            let damaged = blobs.get(&hash).await;
            assert!(matches!(damaged, Err(BlobError::Damaged(_))), "{damage:?}");
        }
        blobs.put(b"body".to_vec()).await.unwrap();
        assert_eq!(blobs.get(&hash).await.unwrap(), b"body");
    }

    #[tokio::test]
    async fn what_is_set_aside_comes_back_or_goes_without_what_was_put_since() {
        let dir = TempDir::new().unwrap();
        let blobs = FileBlobs::new(dir.path());
        let hash = blobs.put(b"body".to_vec()).await.unwrap();
        // A crash came before the second half.
        blobs.set_aside(&hash).await.unwrap();
        assert_eq!(FileBlobs::new(dir.path()).get(&hash).await.unwrap(), b"body");
        blobs.set_aside(&hash).await.unwrap();
        assert!(blobs.has(&hash).await.unwrap());
        blobs.set_aside(&hash).await.unwrap();
        blobs.put(b"body".to_vec()).await.unwrap();
        blobs.remove_aside(&hash).await.unwrap();
        assert_eq!(blobs.get(&hash).await.unwrap(), b"body");
        blobs.set_aside(&hash).await.unwrap();
        blobs.put_back(&hash).await.unwrap();
        assert_eq!(files(dir.path()).len(), 1);
        blobs.set_aside(&hash).await.unwrap();
        blobs.remove_aside(&hash).await.unwrap();
        assert!(!blobs.has(&hash).await.unwrap() && files(dir.path()).is_empty());
    }

    #[tokio::test]
    async fn a_hash_is_never_a_path() {
        let dir = TempDir::new().unwrap();
        std::fs::write(dir.path().join("secret"), "x").unwrap();
        let blobs = FileBlobs::new(dir.path());
        let long = format!("../../{}", "a".repeat(58));
        for name in ["../secret", "", "ABCD", long.as_str(), "ünï"] {
            let refused = blobs.get(name).await;
            assert!(matches!(refused, Err(BlobError::Missing(_))), "{name}");
        }
    }

    #[tokio::test]
    async fn a_disk_that_refuses_is_told() {
        let dir = TempDir::new().unwrap();
        std::fs::write(dir.path().join("blobs"), "a file in the way").unwrap();
        let blobs = FileBlobs::new(dir.path());
        assert!(matches!(blobs.put(b"x".to_vec()).await, Err(BlobError::Io(_))));
    }

    #[tokio::test]
    async fn many_writers_of_one_blob_agree() {
        let dir = TempDir::new().unwrap();
        let blobs = FileBlobs::new(dir.path());
        let puts = (0..32).map(|_| blobs.put(vec![1; 100_000]));
        let hashes = futures::future::join_all(puts).await;
        assert!(hashes.iter().all(|hash| hash.as_ref().unwrap() == hashes[0].as_ref().unwrap()));
        assert_eq!(files(dir.path()).len(), 1);
    }
}
