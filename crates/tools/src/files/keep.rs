//! Files that other tools make in the workspace.

use super::{access, snapshot};
use crate::error::ToolsError;
use crate::handler::Context;
use std::sync::Arc;
use steward_core::ports::Blobs;
use steward_core::tool::Undo;

pub(crate) struct Kept {
    /// Hash of its content.
    pub sha256: String,
    pub undo: Undo,
}

/// Writes `bytes` to `path`, replacing what is there; `tool` is who takes it back.
pub(crate) async fn keep_file(
    tool: &str,
    path: &str,
    bytes: Vec<u8>,
    context: &Context,
    blobs: &Arc<dyn Blobs>,
) -> Result<Kept, ToolsError> {
    let (path, context) = (path.to_owned(), context.clone());
    let (written, after) = access::blocking(move || {
        let workspace = access::open(&context.scope)?;
        context.check()?;
        let written = workspace.write_atomic(&path, &bytes);
        let written = written.map_err(access::explain)?;
        let after = snapshot::state(&workspace, &path).map_err(access::explain)?;
        Ok((written, after))
    })
    .await?;
    Ok(Kept { sha256: after.sha256.clone(), undo: snapshot::undo(tool, written, after, blobs).await? })
}
