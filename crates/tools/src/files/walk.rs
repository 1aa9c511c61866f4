//! Walking a folder of the workspace without following links, without leaving it.

use crate::error::ToolsError;
use crate::handler::Context;
use steward_sandbox::files::{Entry, EntryKind, Workspace};

use super::access;

/// Most entries that one walk looks at.
const ENTRIES: usize = 50_000;

#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Walked {
    /// Names beginning with a dot that were passed over.
    pub hidden: usize,
    /// Whether there was more than is ever looked at.
    pub more: bool,
}

/// Calls `visit` with the path relative to the workspace and the entry, in order of names, folders
/// down to `depth` levels (1: the folder's own entries). Hidden entries are passed over.
pub(super) fn walk(
    workspace: &Workspace,
    folder: &str,
    depth: usize,
    context: &Context,
    visit: &mut dyn FnMut(&str, &Entry) -> Result<bool, ToolsError>,
) -> Result<Walked, ToolsError> {
    let mut walked = Walked::default();
    let mut seen = 0;
    let mut pending = vec![(folder.to_owned(), depth, true)];
    while let Some((at, left, first)) = pending.pop() {
        context.check()?;
        let (entries, more) = match workspace.list(&at) {
            Ok(listed) => listed,
            Err(error) if first => return Err(access::explain(error)),
            // A folder that can't be read, or vanished meanwhile, doesn't end the search.
            Err(_) => continue,
        };
        walked.more |= more;
        let mut below = Vec::new();
        for entry in &entries {
            if entry.name.starts_with('.') {
                walked.hidden += 1;
                continue;
            }
            seen += 1;
            if seen > ENTRIES {
                walked.more = true;
                return Ok(walked);
            }
            let path = join(&at, &entry.name);
            if !visit(&path, entry)? {
                return Ok(walked);
            }
            if entry.kind == EntryKind::Folder && left > 1 {
                below.push((path, left - 1, false));
            }
        }
        below.reverse();
        pending.append(&mut below);
    }
    Ok(walked)
}

fn join(folder: &str, name: &str) -> String {
    match folder.trim_end_matches('/') {
        "" | "." => name.to_owned(),
        folder => format!("{}/{name}", folder.trim_start_matches("./")),
    }
}
