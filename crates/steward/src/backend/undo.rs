//! Taking effects back.

use super::{BY, Backend};
use serde::{Deserialize, Serialize};
use serde_json::json;
use steward_core::RunId;
use steward_engine::Undone;

/// What became of one effect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Taken {
    /// The call.
    pub call_id: String,
    /// Its tool.
    pub tool: String,
    /// Whether it was taken back.
    pub undone: bool,
    /// What was restored, or why not.
    pub detail: String,
}

#[derive(Deserialize)]
struct Page {
    items: Vec<Taken>,
}

impl From<Undone> for Taken {
    fn from(one: Undone) -> Self {
        Self {
            call_id: one.call_id,
            tool: one.tool,
            undone: one.result.is_ok(),
            detail: one.result.unwrap_or_else(|why| why),
        }
    }
}

impl Backend {
    /// Takes back what an ended run did, newest first, or only one call.
    pub async fn undo(&self, run: RunId, call: Option<&str>) -> anyhow::Result<Vec<Taken>> {
        match self {
            Self::InProcess(app) => {
                let undone = match call {
                    Some(call) => vec![app.runs.undo_call(run, call, BY).await?],
                    None => app.runs.undo(run, BY).await?,
                };
                Ok(undone.into_iter().map(Into::into).collect())
            }
            Self::Remote(client) => {
                let body = match call {
                    Some(call) => json!({"call_id": call}),
                    None => json!({}),
                };
                let path = format!("/api/runs/{run}/undo");
                Ok(client.post::<Page>(&path, &body).await?.items)
            }
        }
    }
}
