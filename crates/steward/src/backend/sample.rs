//! The sample workspace.

use super::Backend;
use crate::settings::workspace;
use crate::term::Term;
use reqwest::Method;
use serde::Deserialize;
use steward_tools::sample;

/// What became of the sample's files.
#[derive(Debug, Clone, Deserialize)]
pub struct SampleChange {
    /// Files that were added or removed.
    pub done: Vec<String>,
    /// Files that were left as they are.
    pub left: Vec<String>,
}

impl Backend {
    /// Adds the sample to the server's workspace, else to the current folder, or removes it; says where.
    pub async fn sample(&self, add: bool, term: Term) -> anyhow::Result<(String, SampleChange)> {
        let folder = match self {
            Self::Remote(_) => self.workspace(None, false, term).await?,
            Self::InProcess(_) => workspace(None)?,
        };
        let folder = folder.display().to_string();
        let change = match self {
            Self::Remote(client) => {
                let method = if add { Method::POST } else { Method::DELETE };
                client.ask(method, "/api/sample", None).await?
            }
            Self::InProcess(_) => {
                let change = if add { sample::add(&folder)? } else { sample::remove(&folder)? };
                SampleChange { done: change.done, left: change.left }
            }
        };
        Ok((folder, change))
    }
}
