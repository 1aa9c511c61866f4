//! Keys in a file: one a line, in hexadecimal, the newest last. Replaced as a whole, and durable before any use.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use steward_core::ports::VaultError;
use zeroize::Zeroizing;

use super::keys::{KeySource, VaultKey};

/// The file is created when the first key is needed; only its owner can read it.
#[derive(Debug, Clone)]
pub struct FileKeys {
    path: PathBuf,
}

impl FileKeys {
    /// The folder of `path` must exist.
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
            let _lock = lock(path)?;
            let mut keys = read(path)?;
            let key = VaultKey::random();
            keys.push(key.clone());
            write(path, &keys)?;
            Ok(key)
        })
        .await
    }

    async fn retire(&self, ids: &[String]) -> Result<(), VaultError> {
        let ids = ids.to_vec();
        self.blocking(move |path| {
            let _lock = lock(path)?;
            let mut keys = read(path)?;
            let before = keys.len();
            keys.retain(|key| !ids.iter().any(|id| id == key.id()));
            if keys.len() == before {
                return Ok(());
            }
            write(path, &keys)
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
    let keys: Vec<_> = lines.map(|line| VaultKey::parse(line, &place)).collect::<Result<_, _>>()?;
    if keys.is_empty() {
        // An empty file is not an absent one: something went wrong, and a new key would hide it.
        return Err(VaultError::Key(format!(
            "{place} is empty; restore it from a backup, or delete it if no credential was kept"
        )));
    }
    Ok(keys)
}

/// Held while the file is changed, so that a key that another process adds does not get lost.
fn lock(path: &Path) -> Result<File, VaultError> {
    let path = beside(path, ".lock");
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(0o600);
    let locked = options.open(&path).and_then(|file| {
        file.lock()?;
        Ok(file)
    });
    locked.map_err(|error| failed("lock", &path, &error))
}

/// Replaces the file, which must be locked.
fn write(path: &Path, keys: &[VaultKey]) -> Result<(), VaultError> {
    replace(path, keys).map_err(|error| failed("write", path, &error))
}

fn replace(path: &Path, keys: &[VaultKey]) -> std::io::Result<()> {
    let temporary = beside(path, ".new");
    // A crash may have left one behind, perhaps with another mode.
    match std::fs::remove_file(&temporary) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut options = OpenOptions::new();
    let mut file = options.write(true).create_new(true).mode(0o600).open(&temporary)?;
    for key in keys {
        file.write_all(key.hexadecimal().as_bytes())?;
        file.write_all(b"\n")?;
    }
    file.sync_all()?;
    std::fs::rename(&temporary, path)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

fn failed(what: &str, path: &Path, error: &std::io::Error) -> VaultError {
    VaultError::Key(format!(
        "cannot {what} the vault's key in {}: {error}; give this user the right to, or name another \
         file in STEWARD_VAULT_KEY_FILE",
        path.display()
    ))
}
