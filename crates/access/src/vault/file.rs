//! Keys in a file: one a line, hexadecimal, the newest last. The file is replaced as a whole, and what
//! is written is on the disk before anything is sealed with it.

use super::key::VaultKey;
use super::source::KeySource;
use async_trait::async_trait;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use steward_core::ports::VaultError;
use zeroize::Zeroizing;

/// A file of keys, made when the first one is needed; only its owner can read it.
#[derive(Debug, Clone)]
pub struct FileKeys {
    path: PathBuf,
}

impl FileKeys {
    /// Keys in the file at `path`; its folder must be there.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Path) -> Result<T, VaultError> + Send + 'static,
    ) -> Result<T, VaultError> {
        let path = self.path.clone();
        tokio::task::spawn_blocking(move || work(&path))
            .await
            .map_err(|error| VaultError::Key(format!("cannot use the vault's key: {error}")))?
    }
}

#[async_trait]
impl KeySource for FileKeys {
    async fn keys(&self) -> Result<Vec<VaultKey>, VaultError> {
        self.blocking(read).await
    }

    async fn add(&self) -> Result<VaultKey, VaultError> {
        self.blocking(|path| {
            let mut keys = read(path)?;
            let key = VaultKey::random();
            let first = keys.is_empty();
            keys.push(key.clone());
            match write(path, &keys, first) {
                // Another process made the first key meanwhile.
                Err(error) if first && error.kind() == ErrorKind::AlreadyExists => {
                    let last = read(path)?.pop();
                    last.ok_or_else(|| failed("read", path, &error))
                }
                Err(error) => Err(failed("write", path, &error)),
                Ok(()) => Ok(key),
            }
        })
        .await
    }

    async fn retire(&self, ids: &[String]) -> Result<(), VaultError> {
        let ids = ids.to_vec();
        self.blocking(move |path| {
            let mut keys = read(path)?;
            let before = keys.len();
            keys.retain(|key| !ids.iter().any(|id| id == key.id()));
            if keys.len() == before {
                return Ok(());
            }
            write(path, &keys, false).map_err(|error| failed("write", path, &error))
        })
        .await
    }

    fn place(&self) -> String {
        format!("file {}", self.path.display())
    }
}

fn read(path: &Path) -> Result<Vec<VaultKey>, VaultError> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => Zeroizing::new(text),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed("read", path, &error)),
    };
    let place = format!("the file {}", path.display());
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let keys: Vec<_> = lines
        .map(|line| VaultKey::parse(line, &place))
        .collect::<Result<_, _>>()?;
    if keys.is_empty() {
        // Empty is not absent: something went wrong, and a new key would hide it.
        return Err(VaultError::Key(format!(
            "{place} is empty; restore it from a backup, or delete it if no credential was kept"
        )));
    }
    Ok(keys)
}

/// Replaces the file; with `new`, fails if there is one.
fn write(path: &Path, keys: &[VaultKey], new: bool) -> std::io::Result<()> {
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(format!(".{}", std::process::id()));
    let temporary = PathBuf::from(temporary);
    let _ = std::fs::remove_file(&temporary);
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&temporary)?;
    for key in keys {
        file.write_all(key.hexadecimal().as_bytes())?;
        file.write_all(b"\n")?;
    }
    file.sync_all()?;
    let placed = if new {
        // A rename would replace what another process has just made.
        let linked = std::fs::hard_link(&temporary, path);
        let _ = std::fs::remove_file(&temporary);
        linked
    } else {
        std::fs::rename(&temporary, path)
    };
    placed?;
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

fn failed(what: &str, path: &Path, error: &std::io::Error) -> VaultError {
    VaultError::Key(format!(
        "cannot {what} the vault's key in {}: {error}; give this user the right to, or name another \
         file in STEWARD_VAULT_KEY_FILE",
        path.display()
    ))
}
