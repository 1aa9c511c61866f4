mod chat;
mod connections;
mod events;
mod pinned;
mod requests;
mod runs;
mod socket;
mod sse;
#[cfg(test)]
mod tests;
mod workspace;

pub use chat::{Chat, DEFAULT_AGENT, Started};
pub use connections::KnownConnection;
pub use requests::{ByteStream, Client, Transport, encoded, with_query};
pub use runs::is_already_decided;
pub use socket::{Absent, ServeFile, Socket};
pub use workspace::{workspace, workspace_apart};

use serde::Deserialize;
use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Refused {
    pub title: String,
    #[serde(default)]
    pub hint: String,
    #[serde(default)]
    pub status: u16,
    #[serde(default)]
    pub code: Option<String>,
}

impl Refused {
    pub fn read(status: u16, body: &str) -> Self {
        let mut refused = serde_json::from_str(body).unwrap_or_else(|_| Self {
            title: format!("the server answered {status}"),
            hint: body.chars().take(200).collect(),
            status,
            code: None,
        });
        refused.status = status;
        refused
    }

    /// Whether the server refused with this status.
    pub fn is(error: &anyhow::Error, status: u16) -> bool {
        error.downcast_ref::<Self>().is_some_and(|refused| refused.status == status)
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.title)?;
        if self.hint.is_empty() { Ok(()) } else { write!(f, " ({})", self.hint) }
    }
}

impl std::error::Error for Refused {}
