//! Files of the workspace whose content came from outside; a result that may quote one brings it into the run.

use super::queries::TERMINALS;
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

/// Where the paths in a call of a tool begin.
#[derive(Debug, Clone, Copy, Default)]
pub struct PathBase<'a> {
    pub workspace: &'a str,
    /// The folder of the workspace that a command starts in; paths may be relative to it. Empty: the workspace itself.
    pub folder: &'a str,
}

impl PathBase<'_> {
    /// All that `text` may name, as paths of the workspace.
    fn named(self, text: &str) -> Vec<String> {
        let from_folder = if self.folder.is_empty() { None } else { self.in_folder(text) };
        // `.` is the folder that the command starts in, not the workspace.
        let from_workspace =
            in_workspace(text, self.workspace).filter(|path| from_folder.is_none() || !path.is_empty());
        from_workspace.into_iter().chain(from_folder).collect()
    }

    /// What a program that starts in the folder means by `text`.
    fn in_folder(self, text: &str) -> Option<String> {
        let text = text.trim();
        if self.folder.is_empty() || text.is_empty() || text.starts_with('/') {
            return in_workspace(text, self.workspace);
        }
        in_workspace(&format!("{}/{text}", self.folder), self.workspace)
    }
}

/// The file from outside that a result of `tool` may quote; `content` is what it says.
pub fn quoted_file(
    tool: &str,
    arguments: &Value,
    content: &str,
    base: PathBase<'_>,
    known: &[OutsideFile],
) -> Option<String> {
    // A command that starts among the uploads needn't name one.
    if let Some(folder) = outside(base.folder, &[], true) {
        return Some(folder);
    }
    let (whole, terminal) = (may_read_workspace(arguments), TERMINALS.contains(&tool));
    let look = |text: &str, folders: bool| {
        let mut paths = base.named(text);
        paths.retain(|path| whole || !path.is_empty());
        paths.iter().find_map(|path| outside(path, known, folders))
    };
    let mut found = None;
    each_text(arguments, &mut |text| {
        let folders = !SAY_PATHS.contains(&tool);
        let value = text.rsplit('=').next().unwrap_or_default();
        found = found
            .take()
            .or_else(|| look(text, folders))
            .or_else(|| look(value, folders))
            .or_else(|| text.split(is_separator).find_map(|piece| look(piece, terminal)))
            .or_else(|| known.iter().find(|file| is_within(file, text, base.folder)).map(described));
    });
    found.or_else(|| {
        content.lines().find_map(|line| {
            let (path, rest) = line.split_once(':')?;
            rest.starts_with(|c: char| c.is_ascii_digit()).then(|| look(path, false))?
        })
    })
}

/// Files that a call has written, as far as its result tells.
pub fn written_files(result: &ToolResult, base: PathBase<'_>) -> Vec<String> {
    let data = match result {
        ToolResult::Ok { data: Some(data), receipt: Some(_), .. } => data,
        ToolResult::Error { data: Some(data), .. } => &**data,
        _ => return Vec::new(),
    };
    let named = data["path"].as_str().into_iter();
    let listed = data["paths"].as_array().into_iter().flatten().filter_map(Value::as_str);
    // Where all that changed is listed, an argument adds nothing but the folders that it lies in.
    let argv = data["argv"].as_array().filter(|_| !data["paths"].is_array());
    let argv = argv.into_iter().flatten().skip(1).filter_map(Value::as_str);
    let told = named.chain(listed).filter_map(|text| in_workspace(text, base.workspace));
    let arguments = argv.filter(|text| !text.starts_with('-')).filter_map(|text| base.in_folder(text));
    told.chain(arguments).filter(|path| !path.is_empty()).collect()
}

/// Whether a command that names the workspace itself may read what is in it: whoever goes back to it by `cd` does not, and to
/// some programs `.` is an expression.
fn may_read_workspace(arguments: &Value) -> bool {
    let line = arguments["command"].as_str().unwrap_or_default().split_whitespace();
    let argv = arguments["argv"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let mut words = line.chain(argv);
    match words.next() {
        Some("cd" | "jq" | "sed" | "awk") => false,
        Some("grep" | "egrep") => words.any(|word| word.starts_with('-') && word.contains(['r', 'R'])),
        _ => true,
    }
}

/// Whether `text` has the path of a file in it, also as it reads from `folder` where blanks keep it from being found.
fn is_within(file: &OutsideFile, text: &str, folder: &str) -> bool {
    let from_folder = file.path.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/'));
    text.contains(&file.path) || from_folder.is_some_and(|rest| rest.contains(is_separator) && text.contains(rest))
}

fn outside(path: &str, known: &[OutsideFile], folders: bool) -> Option<String> {
    let below = |folder: &str, path: &str| {
        folder.is_empty() || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
    };
    if below(UPLOADS, path) || (folders && path == UPLOADS) {
        return Some(path.to_owned());
    }
    // What was recorded may be a folder, or a link to one.
    let is_or_has = |file: &&OutsideFile| {
        file.path == path || (folders && below(path, &file.path)) || (!file.path.is_empty() && below(&file.path, path))
    };
    known.iter().find(is_or_has).map(described)
}

fn described(file: &OutsideFile) -> String {
    format!("{} (from {})", file.path, file.origin)
}

#[cfg(test)]
mod tests {
    use super::{OutsideFile, PathBase, quoted_file, written_files};
    use crate::event::ToolResult;
    use crate::tool::Receipt;
    use serde_json::{Value, json};

    fn base(folder: &str) -> PathBase<'_> {
        PathBase { workspace: "/srv/w", folder }
    }

    fn check(tool: &str, arguments: &Value, content: &str, expect: Option<&str>) {
        check_in("", tool, arguments, content, expect);
    }

    fn check_in(folder: &str, tool: &str, arguments: &Value, content: &str, expect: Option<&str>) {
        let known = [OutsideFile { path: "notes/page.md".to_owned(), origin: "https://example.org".to_owned() }];
        let found = quoted_file(tool, arguments, content, base(folder), &known);
        assert_eq!(found.is_some(), expect.is_some(), "{folder} {tool} {arguments}");
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
    fn a_command_names_files_from_its_folder() {
        let page = Some("https://example.org");
        for (folder, line, expect) in [
            ("", "cd uploads", Some("uploads")),
            ("", "cd notes", page),
            ("", "cd ./notes/", page),
            ("", "cd reports", None),
            ("", "cd", None),
            ("", "grep -rh x notes", page),
            ("", "cat notes/page.md/below.md", page),
            ("", "grep -rh x .", page),
            ("", "cat .", page),
            ("", "jq .[] reports/a.json", None),
            ("", "grep . reports/a.txt", None),
            ("reports", "ls .", None),
            ("uploads", "cat evil.txt", Some("uploads")),
            ("uploads/a", "ls", Some("uploads/a")),
            ("reports", "cat ../uploads/x", Some("uploads/x")),
            ("reports/2026", "cat ../../notes/page.md", page),
            ("notes", "sort page.md", page),
            ("notes", "sort own.md", None),
            ("reports", "cat own.md", None),
            ("reports", "cat /srv/w/notes/page.md", page),
            ("reports", "cd ..", None),
            ("reports", "cd ../notes", page),
        ] {
            check_in(folder, "terminal", &json!({"command": line}), "", expect);
            let words: Vec<&str> = line.split(' ').collect();
            check_in(folder, "terminal_write", &json!({"argv": words}), "", expect);
        }
        check_in("notes", "terminal", &json!({"command": "grep -rn x"}), "page.md:3:x", page);
    }

    #[test]
    fn what_was_written_is_told_by_the_result() {
        let w = PathBase { workspace: "/w", folder: "" };
        let done = |data: Value| ToolResult::Ok {
            content: String::new(),
            data: Some(data),
            truncated: false,
            receipt: Some(Receipt { action: "wrote".to_owned(), object: String::new(), evidence: None }),
            undo: None,
            tainted: false,
            origin: None,
        };
        assert_eq!(written_files(&done(json!({"path": "./a.md"})), w), ["a.md"]);
        let copied = done(json!({"argv": ["cp", "-r", "uploads/x", "/w/y"]}));
        assert_eq!(written_files(&copied, w), ["uploads/x", "y"]);
        assert!(written_files(&done(json!({"rows": 1})), w).is_empty());
        let unpacked = done(json!({"argv": ["unzip", "uploads/pack.zip"], "paths": ["pack/NOTES.md"]}));
        assert_eq!(written_files(&unpacked, w), ["pack/NOTES.md"]);
        let failed = ToolResult::Error {
            message: "exit code 1".to_owned(),
            fatal: false,
            origin: None,
            data: Some(Box::new(json!({"argv": ["cp", "a.md", "b.md", "nowhere/"]}))),
            undo: None,
        };
        assert_eq!(written_files(&failed, w), ["a.md", "b.md", "nowhere"]);
        let below = PathBase { folder: "uploads", ..w };
        let copied = done(json!({"argv": ["cp", "evil.txt", "../out.txt", "/w/c"]}));
        assert_eq!(written_files(&copied, below), ["uploads/evil.txt", "out.txt", "c"]);
        assert!(written_files(&ToolResult::error("gone.md: no such file".to_owned()), w).is_empty());
    }
}
