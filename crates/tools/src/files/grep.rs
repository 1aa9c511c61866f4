use crate::error::{ToolsError, refused};
use crate::files;
use crate::handler::{Context, ToolHandler};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkFinish, SinkMatch};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io;
use steward_core::tool::ToolOutput;
use steward_sandbox::files::{EntryKind, FilesError, Workspace};

const MAX_LINES: usize = 200;
const LINE_CHARS: usize = 300;
const MAX_DEPTH: usize = 32;
const MAX_LINE_BYTES: usize = 8 << 20;

pub struct Grep;

#[derive(Debug, Deserialize)]
pub struct GrepArgs {
    pattern: String,
    #[serde(default = "files::default_path")]
    path: String,
    #[serde(default)]
    ignore_case: bool,
    #[serde(default)]
    fixed: bool,
}

impl ToolHandler for Grep {
    type Args = GrepArgs;
    const NAME: &'static str = "grep";

    async fn run(&self, args: GrepArgs, context: &Context) -> Result<ToolOutput, ToolsError> {
        let context = context.clone();
        files::blocking(move || search(&args, &context)).await
    }
}

fn matcher(args: &GrepArgs) -> Result<RegexMatcher, ToolsError> {
    RegexMatcherBuilder::new()
        .case_insensitive(args.ignore_case)
        .fixed_strings(args.fixed)
        .line_terminator(Some(b'\n'))
        .size_limit(4 << 20)
        .build(&args.pattern)
        .map_err(|error| {
            refused!("the pattern can't be used: {error}; set `fixed` to true to look for it as plain text")
        })
}

struct Search<'a> {
    workspace: &'a Workspace,
    matcher: RegexMatcher,
    searcher: Searcher,
    context: &'a Context,
    found: Matches,
}

#[derive(Default)]
struct Matches {
    lines: String,
    rows: Vec<Value>,
    total: usize,
    files: usize,
    searched: usize,
    binary: Vec<String>,
    unreadable: usize,
}

fn search(args: &GrepArgs, context: &Context) -> Result<ToolOutput, ToolsError> {
    let workspace = files::open_workspace(&context.scope)?;
    let base = files::resolve_base(&workspace, &args.path)?;
    let mut search = Search {
        workspace: &workspace,
        matcher: matcher(args)?,
        searcher: SearcherBuilder::new()
            .line_number(true)
            .heap_limit(Some(MAX_LINE_BYTES))
            .binary_detection(BinaryDetection::quit(0))
            .build(),
        context,
        found: Matches::default(),
    };
    let mut more = false;
    match workspace.open_read(&base) {
        Ok(_) => search.file(&base)?,
        Err(FilesError::Kind { actual: "a folder", .. }) => {
            more = files::walk(&workspace, &base, MAX_DEPTH, context, &mut |path, entry| {
                if entry.kind == EntryKind::File { search.file(path) } else { Ok(()) }
            })?
            .more;
        }
        Err(error) => return Err(error.into()),
    }
    let place = if base == "." { "the workspace" } else { &base };
    let Search { found, .. } = search;
    let quoted: BTreeSet<&str> = found.rows.iter().filter_map(|row| row["file"].as_str()).collect();
    let reads = quoted.into_iter().map(str::to_owned).collect();
    Ok(ToolOutput {
        content: found.heading(&args.pattern, place, more) + &found.lines,
        data: Some(Value::Array(found.rows)),
        reads,
        ..ToolOutput::default()
    })
}

impl Search<'_> {
    fn file(&mut self, path: &str) -> Result<(), ToolsError> {
        self.context.check()?;
        let Ok(file) = self.workspace.open_read(path) else {
            self.found.unreadable += 1;
            return Ok(());
        };
        let before = (self.found.total, self.found.rows.len(), self.found.lines.len());
        let mut sink = Lines { path, context: self.context, found: &mut self.found, binary: false };
        let done = self.searcher.search_reader(&self.matcher, file, &mut sink);
        let binary = sink.binary;
        self.context.check()?;
        self.found.searched += 1;
        if binary {
            // The file is binary: matches before its first NUL byte are dropped.
            self.found.total = before.0;
            self.found.rows.truncate(before.1);
            self.found.lines.truncate(before.2);
            self.found.binary.push(path.to_owned());
        } else if done.is_err() {
            self.found.unreadable += 1;
        }
        if self.found.total > before.0 {
            self.found.files += 1;
        }
        Ok(())
    }
}

struct Lines<'a> {
    path: &'a str,
    context: &'a Context,
    found: &'a mut Matches,
    binary: bool,
}

impl Sink for Lines<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        self.found.total += 1;
        if self.found.total <= MAX_LINES {
            let text = String::from_utf8_lossy(found.bytes());
            let text = text.trim_end_matches(['\n', '\r']);
            let shown: String = text.chars().take(LINE_CHARS).collect();
            let cut = if shown.len() < text.len() { "…" } else { "" };
            let number = found.line_number().unwrap_or(0);
            let _ = writeln!(self.found.lines, "{}:{number}: {shown}{cut}", self.path);
            let row = json!({"file": self.path, "line": number, "text": shown});
            self.found.rows.push(row);
        }
        Ok(!self.found.total.is_multiple_of(256) || !self.context.halted())
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> Result<bool, io::Error> {
        self.binary = true;
        Ok(false)
    }

    fn finish(&mut self, _: &Searcher, finish: &SinkFinish) -> Result<(), io::Error> {
        self.binary |= finish.binary_byte_offset().is_some();
        Ok(())
    }
}

impl Matches {
    fn heading(&self, pattern: &str, place: &str, more: bool) -> String {
        let mut text = if self.total == 0 {
            format!("no line matches {pattern} in {place} ({} files searched)", self.searched)
        } else {
            let lines = plural(self.total, "matching line");
            format!("{lines} in {}", plural(self.files, "file"))
        };
        if self.total > MAX_LINES {
            let _ = write!(text, ", the first {MAX_LINES} shown; narrow the pattern or the path");
        }
        if !self.binary.is_empty() {
            let names: Vec<&str> = self.binary.iter().take(3).map(String::as_str).collect();
            let dots = if self.binary.len() > 3 { ", …" } else { "" };
            let files = plural(self.binary.len(), "binary file");
            let _ = write!(text, "; {files} not searched ({}{dots})", names.join(", "));
        }
        if self.unreadable > 0 {
            let _ = write!(text, "; {} could not be read", plural(self.unreadable, "file"));
        }
        if more {
            text.push_str("; the folder is too large, not all of it was searched");
        }
        text.push('\n');
        text
    }
}

fn plural(count: usize, word: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {word}{s}")
}
