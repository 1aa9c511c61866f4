use crate::error::{ToolsError, refused};
use crate::files;
use crate::handler::{Context, ToolHandler};
use crate::outside_watch::telling_names;
use globset::{GlobBuilder, GlobMatcher};
use serde::Deserialize;
use serde_json::{Value, json};
use std::fmt::Write as _;
use steward_core::Timestamp;
use steward_core::tool::ToolOutput;
use steward_sandbox::files::{Entry, EntryKind};

const MAX_ENTRIES: usize = 500;
const MAX_DEPTH: usize = 5;

pub struct List;

#[derive(Debug, Deserialize)]
pub struct ListArgs {
    #[serde(default = "files::default_path")]
    path: String,
    pattern: Option<String>,
    depth: Option<usize>,
}

impl ToolHandler for List {
    type Args = ListArgs;
    const NAME: &'static str = "list";

    async fn run(&self, args: ListArgs, context: &Context) -> Result<ToolOutput, ToolsError> {
        let context = context.clone();
        files::blocking(move || list_folder(&args, &context)).await
    }
}

/// A glob, and whether it is matched against the whole path (it contains `/`) or the name alone.
fn matcher(pattern: &str) -> Result<(GlobMatcher, bool), ToolsError> {
    let glob = GlobBuilder::new(pattern)
        .literal_separator(true)
        .build()
        .map_err(|error| refused!("{error}; use * for any name and ** for any folders"))?;
    Ok((glob.compile_matcher(), pattern.contains('/')))
}

fn list_folder(args: &ListArgs, context: &Context) -> Result<ToolOutput, ToolsError> {
    let workspace = files::open_workspace(&context.scope)?;
    let glob = args.pattern.as_deref().map(matcher).transpose()?;
    let depth = args.depth.unwrap_or(if glob.is_some() { MAX_DEPTH } else { 1 });
    let base = files::resolve_base(&workspace, &args.path)?;
    let (mut lines, mut rows, mut total) = (String::new(), Vec::new(), 0_usize);
    let walked = files::walk(&workspace, &base, depth, context, &mut |path, entry| {
        if matches(glob.as_ref(), &base, path, entry) {
            total += 1;
            if total <= MAX_ENTRIES {
                line(&mut lines, path, entry);
                rows.push(row(path, entry));
            }
        }
        Ok(())
    })?;
    let shown = rows.iter().filter_map(|row| row["path"].as_str().map(str::to_owned));
    let reads = telling_names(&context.scope, shown);
    let text = heading(args, &base, total, &walked) + &lines;
    Ok(ToolOutput { data: Some(Value::Array(rows)), reads, ..ToolOutput::text(text) })
}

fn matches(glob: Option<&(GlobMatcher, bool)>, base: &str, path: &str, entry: &Entry) -> bool {
    match glob {
        None => true,
        Some((glob, false)) => glob.is_match(&entry.name),
        Some((glob, true)) => {
            let below = path.strip_prefix(base).map_or(path, |rest| rest.trim_start_matches('/'));
            glob.is_match(below) || glob.is_match(path)
        }
    }
}

fn heading(args: &ListArgs, base: &str, total: usize, walked: &files::WalkSummary) -> String {
    let place = if base == "." { "the workspace" } else { base };
    let what = if total == 1 { "entry" } else { "entries" };
    let mut text = match &args.pattern {
        Some(pattern) => format!("{total} {what} matching {pattern} in {place}"),
        None => format!("{total} {what} in {place}"),
    };
    if total > MAX_ENTRIES {
        let _ = write!(text, ", the first {MAX_ENTRIES} shown; narrow it with `pattern` or `path`");
    }
    if walked.more {
        text.push_str("; there are more than can be listed");
    }
    if walked.hidden > 0 {
        let _ = write!(text, "; {} hidden left out", walked.hidden);
    }
    text.push('\n');
    text
}

fn line(out: &mut String, path: &str, entry: &Entry) {
    let _ = match entry.kind {
        EntryKind::Folder => writeln!(out, "{path}/"),
        EntryKind::File => writeln!(out, "{path}  {}", files::human_size(entry.size)),
        EntryKind::Link => writeln!(out, "{path}  link"),
        EntryKind::Special => writeln!(out, "{path}  special"),
    };
}

fn row(path: &str, entry: &Entry) -> Value {
    json!({
        "path": path,
        "kind": entry.kind,
        "bytes": entry.size,
        "modified": Timestamp(entry.modified.saturating_mul(1000)).rfc3339(),
    })
}
