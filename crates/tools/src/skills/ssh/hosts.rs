//! Known host keys in a file.

use super::known::{HostKeys, HostKeysError, Place, is_fingerprint};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

/// `{"hosts": {"HOST:PORT": "SHA256:…"}}`, read anew for each connection, so that a key that is accepted
/// by another process counts at once.
#[derive(Debug, Clone)]
pub struct FileHostKeys {
    path: PathBuf,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Hosts {
    #[serde(default)]
    hosts: BTreeMap<String, String>,
}

impl FileHostKeys {
    /// The file need not be there yet; its folder is made when a key is accepted.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    fn error(&self, reason: impl std::fmt::Display) -> HostKeysError {
        HostKeysError::File { path: self.path.display().to_string(), reason: reason.to_string() }
    }

    fn read(&self) -> Result<Hosts, HostKeysError> {
        let text = match fs::read(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Hosts::default()),
            Err(error) => return Err(self.error(format!("can't be read: {error}"))),
        };
        // A broken file must not read as "no host is known yet": a changed key would pass as new.
        serde_json::from_slice(&text).map_err(|error| {
            self.error(format!("is broken ({error}); mend it, or remove it and accept the keys again"))
        })
    }

    /// Changes them; two processes that do so at once don't lose one another's hosts.
    fn changed<T>(&self, how: impl FnOnce(&mut BTreeMap<String, String>) -> T) -> Result<T, HostKeysError> {
        let fail = |error: std::io::Error| self.error(format!("can't be written: {error}"));
        let folder = match self.path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        fs::create_dir_all(folder).map_err(fail)?;
        let lock = File::create(self.path.with_extension("lock")).map_err(fail)?;
        lock.lock().map_err(fail)?;
        let mut all = self.read()?;
        let done = how(&mut all.hosts);
        self.write(folder, &all)?;
        Ok(done)
    }

    pub fn all(&self) -> Result<Vec<(Place, String)>, HostKeysError> {
        let hosts = self.read()?.hosts.into_iter();
        hosts.map(|(place, fingerprint)| Ok((place.parse()?, fingerprint))).collect()
    }

    /// Accepts no key of a server any more; returns the one that counted.
    pub fn forget(&self, place: &Place) -> Result<Option<String>, HostKeysError> {
        if !self.read()?.hosts.contains_key(&place.to_string()) {
            return Ok(None);
        }
        self.changed(|hosts| hosts.remove(&place.to_string()))
    }

    fn write(&self, folder: &Path, hosts: &Hosts) -> Result<(), HostKeysError> {
        let fail = |error: std::io::Error| self.error(format!("can't be written: {error}"));
        let text = serde_json::to_vec_pretty(hosts).map_err(|error| self.error(error))?;
        let mut file = tempfile::NamedTempFile::new_in(folder).map_err(fail)?;
        file.write_all(&text).map_err(fail)?;
        file.as_file().sync_all().map_err(fail)?;
        file.persist(&self.path).map_err(|error| fail(error.error))?;
        Ok(())
    }
}

/// Accepts the key of a server in the file at `path`: what `steward skill trust-host` does. Returns
/// the fingerprint that counted before.
pub fn accept(path: &Path, host: &str, port: u16, fingerprint: &str) -> Result<Option<String>, HostKeysError> {
    let place = Place::new(host, port)?;
    if !is_fingerprint(fingerprint) {
        return Err(HostKeysError::Fingerprint(fingerprint.chars().take(80).collect()));
    }
    let keys = FileHostKeys::new(path);
    keys.changed(|hosts| hosts.insert(place.to_string(), fingerprint.to_owned()))
}

#[async_trait]
impl HostKeys for FileHostKeys {
    async fn pinned(&self, place: &Place) -> Result<Option<String>, HostKeysError> {
        let (keys, name) = (self.clone(), place.to_string());
        let read = tokio::task::spawn_blocking(move || Ok(keys.read()?.hosts.remove(&name)));
        read.await.map_err(|error| self.error(error))?
    }

    async fn accept(&self, place: &Place, fingerprint: &str) -> Result<Option<String>, HostKeysError> {
        let (path, place, fingerprint) = (self.path.clone(), place.clone(), fingerprint.to_owned());
        let work = tokio::task::spawn_blocking(move || accept(&path, &place.host, place.port, &fingerprint));
        work.await.map_err(|error| self.error(error))?
    }
}
