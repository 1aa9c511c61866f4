use crate::error::ToolsError;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::str::FromStr;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SshAddress {
    /// Name or address, lower case, without brackets.
    pub host: String,
    pub port: u16,
}

impl SshAddress {
    pub fn new(host: &str, port: u16) -> Result<Self, HostKeysError> {
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let plain = |c: char| c.is_ascii_alphanumeric() || ".-_:%".contains(c);
        if host.is_empty() || host.starts_with('-') || !host.chars().all(plain) || port == 0 {
            return Err(HostKeysError::Host(format!("{host}:{port}")));
        }
        Ok(Self { host: host.to_ascii_lowercase(), port })
    }
}

impl fmt::Display for SshAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

impl FromStr for SshAddress {
    type Err = HostKeysError;

    fn from_str(text: &str) -> Result<Self, HostKeysError> {
        let bad = || HostKeysError::Host(text.to_owned());
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) if !host.contains(':') || host.ends_with(']') => {
                (host, port.parse().map_err(|_| bad())?)
            }
            _ => (text, 22),
        };
        Self::new(host, port).map_err(|_| bad())
    }
}

#[derive(Debug, thiserror::Error)]
pub enum HostKeysError {
    #[error("`{0}` is no host; write HOST:PORT, such as db1.example.org:22 or [fd00::1]:22")]
    Host(String),
    #[error(
        "`{0}` is no fingerprint of a host key; it looks like SHA256:… with 43 letters and digits, as `ssh-keygen -lf` and `ssh-keyscan` followed by it show"
    )]
    Fingerprint(String),
    #[error("the file of known host keys {path} {reason}")]
    File { path: String, reason: String },
}

impl From<HostKeysError> for ToolsError {
    fn from(error: HostKeysError) -> Self {
        Self::Refused(error.to_string())
    }
}

fn is_fingerprint(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '+' || c == '/';
    text.strip_prefix("SHA256:").is_some_and(|hash| hash.len() == 43 && hash.chars().all(plain))
}

/// Why a server with this key is refused; `None` if its key is the accepted one.
pub(super) fn host_key_refusal(place: &SshAddress, pinned: Option<&str>, offered: &str) -> Option<String> {
    match pinned {
        Some(pinned) if pinned == offered => None,
        Some(pinned) => Some(format!(
            "THE HOST KEY OF {place} HAS CHANGED: accepted was {pinned}, now it shows {offered}. Somebody may be in between, so nothing was sent. If an administrator of the server confirms the new key, an operator accepts it by: steward skill trust-host {place} {offered}"
        )),
        None => Some(format!(
            "the host key of {place} is not known yet: it shows {offered}. Nothing was sent. An operator compares it with what `ssh-keygen -lf` shows on the server and accepts it by: steward skill trust-host {place} {offered}"
        )),
    }
}

/// Known host keys by their SHA-256 fingerprints, in a file `{"hosts": {"HOST:PORT": "SHA256:…"}}`, which is read for each
/// connection, so that other processes' changes count at once.
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
    /// The file may be missing; its folder is created when a key is accepted.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    fn error(&self, reason: impl fmt::Display) -> HostKeysError {
        HostKeysError::File { path: self.path.display().to_string(), reason: reason.to_string() }
    }

    fn read(&self) -> Result<Hosts, HostKeysError> {
        let text = match fs::read(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Hosts::default()),
            Err(error) => return Err(self.error(format!("can't be read: {error}"))),
        };
        // A broken file must not count as empty: a changed key would pass as a new one.
        serde_json::from_slice(&text).map_err(|error| {
            self.error(format!("is broken ({error}); mend it, or remove it and accept the keys again"))
        })
    }

    /// Changes the file under a lock, so that two processes don't lose each other's hosts.
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
        let text = serde_json::to_vec_pretty(&all).map_err(|error| self.error(error))?;
        let mut file = tempfile::NamedTempFile::new_in(folder).map_err(fail)?;
        file.write_all(&text).map_err(fail)?;
        file.as_file().sync_all().map_err(fail)?;
        file.persist(&self.path).map_err(|error| fail(error.error))?;
        fs::File::open(folder).and_then(|folder| folder.sync_all()).map_err(fail)?;
        Ok(done)
    }

    pub fn all(&self) -> Result<Vec<(SshAddress, String)>, HostKeysError> {
        let hosts = self.read()?.hosts.into_iter();
        hosts.map(|(place, fingerprint)| Ok((place.parse()?, fingerprint))).collect()
    }

    /// Removes a server's key; returns it.
    pub fn forget(&self, place: &SshAddress) -> Result<Option<String>, HostKeysError> {
        if !self.read()?.hosts.contains_key(&place.to_string()) {
            return Ok(None);
        }
        self.changed(|hosts| hosts.remove(&place.to_string()))
    }

    /// The fingerprint that a person accepted; `None` if nobody has.
    pub async fn pinned(&self, place: &SshAddress) -> Result<Option<String>, HostKeysError> {
        let (keys, name) = (self.clone(), place.to_string());
        let read = tokio::task::spawn_blocking(move || Ok(keys.read()?.hosts.remove(&name)));
        read.await.map_err(|error| self.error(error))?
    }

    /// Accepts a key from now on; returns the one that it replaces.
    pub async fn accept(&self, place: &SshAddress, fingerprint: &str) -> Result<Option<String>, HostKeysError> {
        let (path, place, fingerprint) = (self.path.clone(), place.clone(), fingerprint.to_owned());
        let work = tokio::task::spawn_blocking(move || trust_host(&path, &place.host, place.port, &fingerprint));
        work.await.map_err(|error| self.error(error))?
    }
}

/// Accepts a server's key in the file at `path`: `steward skill trust-host`. Returns the fingerprint that it replaces.
pub fn trust_host(path: &Path, host: &str, port: u16, fingerprint: &str) -> Result<Option<String>, HostKeysError> {
    let place = SshAddress::new(host, port)?;
    if !is_fingerprint(fingerprint) {
        return Err(HostKeysError::Fingerprint(fingerprint.chars().take(80).collect()));
    }
    let keys = FileHostKeys::new(path);
    keys.changed(|hosts| hosts.insert(place.to_string(), fingerprint.to_owned()))
}
