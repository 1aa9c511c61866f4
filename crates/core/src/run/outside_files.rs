//! Files of the workspace whose content came from outside; a result that may quote one brings it into the run.

use crate::event::ToolResult;
use crate::workspace_path::{each_text, in_workspace, is_separator};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Folder of a workspace in which uploads lie.
pub const UPLOADS: &str = "uploads";
/// Tools that say which file each line is from; naming a folder to them brings in nothing yet.
const SAY_PATHS: [&str; 2] = ["list", "grep"];

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutsideFile {
    /// Its path in the workspace.
    pub path: String,
    /// Where its content comes from: an address, a sender, another file.
    pub origin: String,
}

/// The file from outside that a result of `tool` may quote; `content` is what it says.
pub fn quoted_file(
    tool: &str,
    arguments: &Value,
    content: &str,
    workspace: &str,
    known: &[OutsideFile],
) -> Option<String> {
    let mut found = None;
    each_text(arguments, &mut |text| {
        let folders = !SAY_PATHS.contains(&tool);
        let value = text.rsplit('=').next().unwrap_or_default();
        found = found
            .take()
            .or_else(|| outside(text, workspace, known, folders))
            .or_else(|| outside(value, workspace, known, folders))
            .or_else(|| {
                let mut pieces = text.split(is_separator);
                pieces.find_map(|piece| outside(piece, workspace, known, false))
            })
            .or_else(|| known.iter().find(|file| text.contains(&file.path)).map(described));
    });
    found.or_else(|| {
        content.lines().find_map(|line| {
            let (path, rest) = line.split_once(':')?;
            rest.starts_with(|c: char| c.is_ascii_digit()).then(|| outside(path, workspace, known, false))?
        })
    })
}

/// Files that a call has written, as far as its result tells.
pub fn written_files(result: &ToolResult, workspace: &str) -> Vec<String> {
    let data = match result {
        ToolResult::Ok { data: Some(data), receipt: Some(_), .. } => data,
        ToolResult::Error { data: Some(data), .. } => &**data,
        _ => return Vec::new(),
    };
    let named = data["path"].as_str().into_iter();
    let listed = data["paths"].as_array().into_iter().flatten();
    let argv = data["argv"].as_array().into_iter().flatten().skip(1);
    named
        .chain(listed.chain(argv).filter_map(Value::as_str))
        .filter(|text| !text.starts_with('-'))
        .filter_map(|text| in_workspace(text, workspace))
        .filter(|path| !path.is_empty())
        .collect()
}

fn outside(text: &str, workspace: &str, known: &[OutsideFile], folders: bool) -> Option<String> {
    let path = in_workspace(text, workspace)?;
    let below = |folder: &str, path: &str| {
        folder.is_empty() || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
    };
    if below(UPLOADS, &path) || (folders && path == UPLOADS) {
        return Some(path);
    }
    known.iter().find(|file| file.path == path || (folders && below(&path, &file.path))).map(described)
}

fn described(file: &OutsideFile) -> String {
    format!("{} (from {})", file.path, file.origin)
}

#[cfg(test)]
mod tests {
    use super::{OutsideFile, quoted_file, written_files};
    use crate::event::ToolResult;
    use crate::tool::Receipt;
    use serde_json::{Value, json};

    fn check(tool: &str, arguments: &Value, content: &str, expect: Option<&str>) {
        let known = [OutsideFile { path: "notes/page.md".to_owned(), origin: "https://example.org".to_owned() }];
        let found = quoted_file(tool, arguments, content, "/srv/w", &known);
        assert_eq!(found.is_some(), expect.is_some(), "{tool} {arguments}");
        if let (Some(found), Some(expect)) = (found, expect) {
            assert!(found.contains(expect), "{found}");
        }
    }

    #[test]
    fn whatever_names_a_file_from_outside_brings_it_in() {
        let (upload, page) = (Some("uploads/a b.csv"), Some("https://example.org"));
        for (tool, arguments, expect) in [
            ("read", json!({"path": "uploads/a b.csv"}), upload),
            ("read", json!({"path": "./x/..//uploads/a b.csv"}), upload),
            ("read", json!({"path": "/srv/w/uploads/a b.csv"}), upload),
            ("read", json!({"path": "/etc/uploads/a"}), None),
            ("read", json!({"path": "uploads.md"}), None),
            ("read", json!({"path": "notes/page.md"}), page),
            ("read", json!({"path": "notes/own.md"}), None),
            ("sql", json!({"database": "uploads/x.db", "query": {"sql": "select 1"}}), Some("uploads/x.db")),
            ("sql", json!({"sql": "select * from read_csv('notes/page.md')"}), page),
            ("terminal", json!({"argv": ["sort", "--files=notes/page.md"]}), page),
            ("terminal", json!({"argv": ["grep", "-rh", "x", "notes"]}), page),
            ("terminal", json!({"argv": ["cat", "."]}), page),
            ("python", json!({"code": "print(open(\"uploads/x\").read())"}), Some("uploads/x")),
            ("grep", json!({"pattern": "x", "path": "notes"}), None),
            ("list", json!({"path": "uploads"}), None),
        ] {
            check(tool, &arguments, "", expect);
        }
        check("grep", &json!({"pattern": "x"}), "a.md:1: x\nnotes/page.md:3: x", page);
        check("list", &json!({}), "notes/page.md: 3 bytes", None);
    }

    #[test]
    fn what_was_written_is_told_by_the_result() {
        let done = |data: Value| ToolResult::Ok {
            content: String::new(),
            data: Some(data),
            truncated: false,
            receipt: Some(Receipt { action: "wrote".to_owned(), object: String::new(), evidence: None }),
            undo: None,
            tainted: false,
            origin: None,
        };
        assert_eq!(written_files(&done(json!({"path": "./a.md"})), "/w"), ["a.md"]);
        let copied = done(json!({"argv": ["cp", "-r", "uploads/x", "/w/y"]}));
        assert_eq!(written_files(&copied, "/w"), ["uploads/x", "y"]);
        assert!(written_files(&done(json!({"rows": 1})), "/w").is_empty());
        let unpacked = done(json!({"argv": ["unzip", "uploads/pack.zip"], "paths": ["pack/NOTES.md"]}));
        assert_eq!(written_files(&unpacked, "/w"), ["pack/NOTES.md", "uploads/pack.zip"]);
        let failed = ToolResult::Error {
            message: "exit code 1".to_owned(),
            fatal: false,
            origin: None,
            data: Some(Box::new(json!({"argv": ["cp", "a.md", "b.md", "nowhere/"]}))),
            undo: None,
        };
        assert_eq!(written_files(&failed, "/w"), ["a.md", "b.md", "nowhere"]);
        assert!(written_files(&ToolResult::error("gone.md: no such file".to_owned()), "/w").is_empty());
    }
}
