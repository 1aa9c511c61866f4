//! Which key a server has: the port, and what is said where it is another one.

use async_trait::async_trait;
use std::fmt;
use std::str::FromStr;

/// A server as one connects to it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// Name or address, lower case, without brackets.
    pub host: String,
    pub port: u16,
}

impl Place {
    /// From fixed text; `Err` says what is wrong with it.
    pub fn new(host: &str, port: u16) -> Result<Self, HostKeysError> {
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let plain = |c: char| c.is_ascii_alphanumeric() || ".-_:%".contains(c);
        if host.is_empty() || host.starts_with('-') || !host.chars().all(plain) || port == 0 {
            return Err(HostKeysError::Place(format!("{host}:{port}")));
        }
        Ok(Self { host: host.to_ascii_lowercase(), port })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

impl FromStr for Place {
    type Err = HostKeysError;

    /// `HOST`, `HOST:PORT` or `[ADDRESS]:PORT`.
    fn from_str(text: &str) -> Result<Self, HostKeysError> {
        let bad = || HostKeysError::Place(text.to_owned());
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
    Place(String),
    #[error(
        "`{0}` is no fingerprint of a host key; it looks like SHA256:… with 43 letters and digits, as `ssh-keygen -lf` and `ssh-keyscan` followed by it show"
    )]
    Fingerprint(String),
    /// The file can't be read or written.
    #[error("the file of known host keys {path} {reason}")]
    File {
        path: String,
        /// What is wrong, and what to do.
        reason: String,
    },
}

/// Known host keys, by their SHA-256 fingerprints (`SHA256:` and base64 without padding).
#[async_trait]
pub trait HostKeys: Send + Sync {
    /// The fingerprint that a person accepted; `None` where nobody has yet.
    async fn pinned(&self, place: &Place) -> Result<Option<String>, HostKeysError>;

    /// Accepts a key from now on, in place of the one before, which is returned.
    async fn accept(&self, place: &Place, fingerprint: &str) -> Result<Option<String>, HostKeysError>;
}

/// Whether `text` is a fingerprint as OpenSSH writes it.
pub(super) fn is_fingerprint(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '+' || c == '/';
    text.strip_prefix("SHA256:").is_some_and(|hash| hash.len() == 43 && hash.chars().all(plain))
}

/// Why a connection to a server with this key is refused; `None` if it is the pinned one.
pub(super) fn verdict(place: &Place, pinned: Option<&str>, offered: &str) -> Option<String> {
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
