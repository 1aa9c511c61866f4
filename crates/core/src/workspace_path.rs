//! Paths of a workspace, as calls of tools name them.

use serde_json::Value;

/// Longest path that is looked for, bytes.
const LONGEST: usize = 4096;

/// All that may be paths of the workspace in the arguments of a call, and those that its result names line by line.
pub(crate) fn paths_in(arguments: &Value, content: &str, workspace: &str) -> Vec<String> {
    let mut paths = Vec::new();
    each_text(arguments, &mut |text| {
        let value = text.rsplit('=').next().unwrap_or_default();
        let pieces = text.split(is_separator).filter(|piece| !piece.is_empty());
        let pieces = [text, value].into_iter().chain(pieces).map(str::trim).filter(|piece| !piece.contains('\n'));
        paths.extend(pieces.filter_map(|piece| in_workspace(piece, workspace)));
    });
    let named = content.lines().filter_map(|line| line.split_once(':')).map(|(path, _)| path);
    paths.extend(
        named.filter(|path| !path.contains(char::is_whitespace)).filter_map(|path| in_workspace(path, workspace)),
    );
    paths.retain(|path| !path.is_empty());
    paths
}

/// `text` as a path below the workspace, plainly written; empty for the workspace itself. Blanks and line breaks belong to it.
pub(crate) fn in_workspace(text: &str, workspace: &str) -> Option<String> {
    if text.is_empty() || text.len() > LONGEST {
        return None;
    }
    let root = workspace.trim_end_matches('/');
    let inner = match text.strip_prefix(root) {
        Some(rest) if !root.is_empty() && (rest.is_empty() || rest.starts_with('/')) => rest,
        _ if text.starts_with('/') => return None,
        _ => text,
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in inner.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// What stands around a path in a statement, a program or an option.
pub(crate) fn is_separator(c: char) -> bool {
    c.is_whitespace() || "\"'`=,;:()[]{}<>|&".contains(c)
}

pub(crate) fn each_text(value: &Value, see: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) => see(text),
        Value::Array(items) => items.iter().for_each(|item| each_text(item, see)),
        Value::Object(fields) => fields.values().for_each(|field| each_text(field, see)),
        _ => {}
    }
}
