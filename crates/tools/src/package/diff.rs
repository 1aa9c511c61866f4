use super::read::Files;
use serde::Serialize;
use similar::TextDiff;
use std::collections::BTreeSet;
use std::time::Duration;
use steward_core::hash::sha256;

/// After this the difference of a file is told in larger pieces.
const TIMEOUT: Duration = Duration::from_millis(500);

const MAX_TEXT_BYTES: usize = 512 << 10;
const CONTEXT: usize = 3;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileDiff {
    pub path: String,
    pub change: Change,
    /// A unified diff; for files that aren't text, sizes and hashes.
    pub diff: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    Added,
    Removed,
    Changed,
}

/// Files that differ between `a` and `b`, by path.
pub fn diff(a: &Files, b: &Files) -> Vec<FileDiff> {
    let paths: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    paths
        .into_iter()
        .filter_map(|path| {
            let (old, new) = (a.get(path), b.get(path));
            let change = match (old, new) {
                (None, None) => return None,
                (Some(old), Some(new)) if old == new => return None,
                (None, Some(_)) => Change::Added,
                (Some(_), None) => Change::Removed,
                (Some(_), Some(_)) => Change::Changed,
            };
            let diff = unified(path, old.map(Vec::as_slice), new.map(Vec::as_slice));
            Some(FileDiff { path: path.clone(), change, diff })
        })
        .collect()
}

fn unified<'a>(path: &str, old: Option<&'a [u8]>, new: Option<&'a [u8]>) -> String {
    let text = |side: Option<&'a [u8]>| {
        let bytes = side.unwrap_or_default();
        std::str::from_utf8(bytes).ok().filter(|_| bytes.len() <= MAX_TEXT_BYTES && !bytes.contains(&0))
    };
    let (Some(before), Some(after)) = (text(old), text(new)) else {
        let side = |side: Option<&[u8]>| {
            let told = side.map(|bytes| format!("{} bytes, sha256 {}", bytes.len(), sha256(bytes)));
            told.unwrap_or_else(|| "not there".to_owned())
        };
        return format!("not compared as text: {} → {}", side(old), side(new));
    };
    let name = |there: Option<&[u8]>| there.map_or("/dev/null", |_| path).to_owned();
    // Of two large texts with little in common the least difference takes very long to find.
    TextDiff::configure()
        .timeout(TIMEOUT)
        .diff_lines(before, after)
        .unified_diff()
        .context_radius(CONTEXT)
        .header(&name(old), &name(new))
        .to_string()
}
