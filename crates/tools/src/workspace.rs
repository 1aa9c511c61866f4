use crate::files::confined;
use crate::sql::databases;
use crate::terminal;
use std::collections::VecDeque;
use std::path::Path;
use steward_core::ports::Entry;

/// Entries that are listed; in a larger workspace those nearest to its top.
const MOST_ENTRIES: usize = 3000;
/// Levels of folders below the workspace that are searched.
const DEEPEST: usize = 6;

/// Reads workspaces on the disk. Every method blocks and stays inside the folder.
#[derive(Debug)]
pub struct LocalWorkspaces;

impl LocalWorkspaces {
    /// Some files and folders, those nearest to the top first; hidden ones and links are left out.
    pub fn entries(workspace: &Path) -> Vec<Entry> {
        let mut found = Vec::new();
        let mut queue = VecDeque::from([(String::new(), 0usize)]);
        while let Some((folder, depth)) = queue.pop_front() {
            let Ok(listing) = std::fs::read_dir(workspace.join(&folder)) else {
                continue;
            };
            let mut here: Vec<Entry> = listing
                .flatten()
                .filter_map(|entry| {
                    let name = entry.file_name().into_string().ok()?;
                    let kind = entry.file_type().ok()?;
                    let plain = kind.is_dir() || kind.is_file();
                    (plain && !name.starts_with('.')).then(|| Entry {
                        path: if folder.is_empty() { name } else { format!("{folder}/{name}") },
                        folder: kind.is_dir(),
                    })
                })
                .collect();
            here.sort_by(|a, b| a.path.cmp(&b.path));
            for entry in &here {
                if entry.folder && depth < DEEPEST {
                    queue.push_back((entry.path.clone(), depth + 1));
                }
            }
            found.extend(here);
            if found.len() >= MOST_ENTRIES {
                found.truncate(MOST_ENTRIES);
                break;
            }
        }
        found
    }

    /// A file of at most `most` bytes.
    pub fn read(workspace: &Path, path: &str, most: u64) -> Option<Vec<u8>> {
        confined(workspace, most)?.read(path).ok()
    }

    pub fn databases(workspace: &Path, entries: &[Entry]) -> Vec<String> {
        databases::databases(workspace, entries)
    }

    pub fn runs(program: &str) -> bool {
        terminal::is_known_command(program)
    }

    pub fn split_command(line: &str) -> Option<Vec<String>> {
        terminal::split_command_line(line).ok()
    }
}
