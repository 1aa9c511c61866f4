mod search;

use super::Packages;
use super::activate::is_reference;
use super::bundled::is_bundled;
use super::error::PackageError;
use crate::dispatcher::DispatcherBuilder;
use crate::error::{ToolsError, refused};
use crate::handler::{Context, ToolHandler};
use search::{best_sections, sections};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;
use steward_core::ports::ToolScope;
use steward_core::tool::ToolOutput;

/// Names of these tools; an agent without packages has no use for them.
pub const REFERENCE_TOOLS: [&str; 3] = ["reference_list", "reference_read", "reference_search"];

#[must_use]
pub fn with_references(builder: DispatcherBuilder, packages: &Arc<Packages>) -> DispatcherBuilder {
    builder
        .with(ReferenceList(packages.clone()))
        .with(ReferenceSearch(packages.clone()))
        .with(ReferenceRead(packages.clone()))
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Reference {
    package: String,
    path: String,
    hash: String,
    bytes: u64,
    /// Whether it was written by somebody else: it belongs to no bundled package.
    foreign: bool,
}

impl Packages {
    /// What the packages of an agent say.
    async fn references_of(&self, scope: &ToolScope) -> Result<Vec<Reference>, PackageError> {
        let skills = self.skills.skills_of(scope.tenant, scope.agent).await?;
        let names: BTreeSet<String> =
            skills.into_iter().filter(|skill| skill.enabled).filter_map(|skill| skill.package).collect();
        let mut all = Vec::new();
        for name in names {
            let Some(package) = self.active(scope.tenant, &name).await? else {
                continue;
            };
            let foreign = !is_bundled(&name, &package.hash);
            let files = package.files.into_iter();
            all.extend(files.filter(|(path, _)| is_reference(path)).map(|(path, file)| Reference {
                package: name.clone(),
                path,
                hash: file.hash,
                bytes: file.bytes,
                foreign,
            }));
        }
        Ok(all)
    }

    /// The text of a file; `None` if it isn't text.
    async fn reference_text(&self, file: &Reference) -> Result<Option<String>, PackageError> {
        Ok(String::from_utf8(self.blobs.get(&file.hash).await?).ok())
    }
}

/// The first heading of a Markdown text, else its first line if short.
pub(super) fn first_heading(text: &str) -> Option<String> {
    const MAX_CHARS: usize = 100;
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.clone().next()?;
    let title = lines.find_map(|line| line.strip_prefix("# ")).unwrap_or(first).trim();
    (title.chars().count() <= MAX_CHARS && !title.starts_with("#!")).then(|| title.to_owned())
}

const MAX_LINES: usize = 400;
const MAX_PASSAGES: usize = 4;
const PASSAGE_CHARS: usize = 1800;
const MAX_SEARCHED_BYTES: usize = 8 << 20;

async fn reference_files(
    packages: &Packages,
    scope: &ToolScope,
    package: Option<&str>,
) -> Result<Vec<Reference>, ToolsError> {
    let mut all = packages.references_of(scope).await?;
    if all.is_empty() {
        return Err(ToolsError::refused(
            "this agent has no package with reference files; answer without them, or ask for a package to be attached",
        ));
    }
    if let Some(package) = package.filter(|name| !name.trim().is_empty()) {
        let mut known: Vec<String> = all.iter().map(|one| one.package.clone()).collect();
        known.dedup();
        all.retain(|one| one.package == package);
        if all.is_empty() {
            return Err(refused!("this agent has no package `{package}`; it has {}", known.join(", ")));
        }
    }
    Ok(all)
}

/// Taints the output if strangers wrote any of the shown files.
fn written_by_others<'a>(shown: impl IntoIterator<Item = &'a Reference>) -> ToolOutput {
    let mut names: Vec<&str> = shown.into_iter().filter(|one| one.foreign).map(|one| one.package.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    ToolOutput { provenance: names.iter().map(|name| format!("the package {name}")).collect(), ..ToolOutput::default() }
}

pub struct ReferenceList(pub Arc<Packages>);

#[derive(Debug, Deserialize)]
pub struct ListArgs {
    package: Option<String>,
}

impl ToolHandler for ReferenceList {
    type Args = ListArgs;
    const NAME: &'static str = "reference_list";

    async fn run(&self, args: ListArgs, context: &Context) -> Result<ToolOutput, ToolsError> {
        let all = reference_files(&self.0, &context.scope, args.package.as_deref()).await?;
        let mut text = String::new();
        for one in &all {
            let _ = writeln!(text, "{} {} ({} bytes)", one.package, one.path, one.bytes);
        }
        let data: Vec<Value> =
            all.iter().map(|one| json!({"package": one.package, "path": one.path, "bytes": one.bytes})).collect();
        Ok(ToolOutput { content: text.trim_end().to_owned(), data: Some(json!(data)), ..written_by_others(&all) })
    }
}

pub struct ReferenceRead(pub Arc<Packages>);

#[derive(Debug, Deserialize)]
pub struct ReadArgs {
    path: String,
    package: Option<String>,
    start: Option<usize>,
    lines: Option<usize>,
}

impl ToolHandler for ReferenceRead {
    type Args = ReadArgs;
    const NAME: &'static str = "reference_read";

    async fn run(&self, args: ReadArgs, context: &Context) -> Result<ToolOutput, ToolsError> {
        let all = reference_files(&self.0, &context.scope, args.package.as_deref()).await?;
        let file = find_file(&all, &args.path)?;
        let Some(text) = self.0.reference_text(file).await? else {
            return Err(refused!("{} isn't text; it can't be shown", file.path));
        };
        let lines: Vec<&str> = text.lines().collect();
        let (total, start) = (lines.len(), args.start.unwrap_or(1));
        if start > total.max(1) {
            return Err(refused!("{} has only {total} lines; use a `start` of at most {total}", file.path));
        }
        let end = start.saturating_add(args.lines.unwrap_or(MAX_LINES).min(MAX_LINES) - 1).min(total);
        let shown = lines.get(start - 1..end).unwrap_or_default().join("\n");
        Ok(ToolOutput {
            content: format!("{} of {}, lines {start}-{end} of {total}\n{shown}", file.path, file.package),
            ..written_by_others([file])
        })
    }
}

/// The only file with this path, this end of a path, or this name.
fn find_file<'a>(all: &'a [Reference], path: &str) -> Result<&'a Reference, ToolsError> {
    let path = path.trim().trim_start_matches("./").trim_start_matches('/');
    let exact: Vec<_> = all.iter().filter(|one| one.path == path).collect();
    let ends = |one: &&Reference| {
        let end = one.path.strip_suffix(path);
        end.is_some_and(|left| left.ends_with('/')) || format!("{}/{}", one.package, one.path) == path
    };
    let found = if exact.is_empty() { all.iter().filter(ends).collect() } else { exact };
    match found.as_slice() {
        [one] => Ok(one),
        [] => {
            let known: Vec<_> = all.iter().take(40).map(|one| one.path.as_str()).collect();
            Err(refused!("there is no file `{path}`; there are {}", known.join(", ")))
        }
        several => {
            let known: Vec<_> = several.iter().map(|one| format!("{} of {}", one.path, one.package)).collect();
            Err(refused!("several files are called `{path}`: {}; give the whole path, and `package`", known.join(", ")))
        }
    }
}

pub struct ReferenceSearch(pub Arc<Packages>);

#[derive(Debug, Deserialize)]
pub struct SearchArgs {
    query: String,
    package: Option<String>,
}

impl ToolHandler for ReferenceSearch {
    type Args = SearchArgs;
    const NAME: &'static str = "reference_search";

    async fn run(&self, args: SearchArgs, context: &Context) -> Result<ToolOutput, ToolsError> {
        let all = reference_files(&self.0, &context.scope, args.package.as_deref()).await?;
        let (mut parts, mut size) = (Vec::new(), 0);
        for (index, file) in all.iter().enumerate() {
            context.check()?;
            let text = self.0.reference_text(file).await?.unwrap_or_default();
            size += text.len();
            if size > MAX_SEARCHED_BYTES {
                break;
            }
            parts.extend(sections(index, &text));
        }
        let found = best_sections(&args.query, &parts, MAX_PASSAGES);
        if found.is_empty() {
            let names: Vec<_> = all.iter().take(40).map(|one| one.path.as_str()).collect();
            return Ok(ToolOutput::text(format!(
                "nothing about “{}” in {}; try other words",
                args.query,
                names.join(", ")
            )));
        }
        let (mut text, mut data) = (String::new(), Vec::new());
        let outside = written_by_others(found.iter().map(|section| &all[section.file]));
        for section in found {
            let file = &all[section.file];
            let mut passage: String = section.text.chars().take(PASSAGE_CHARS).collect();
            if passage.len() < section.text.len() {
                let _ = write!(passage, "\n[goes on: reference_read {} from line {}]", file.path, section.line);
            }
            let _ = write!(
                text,
                "{} of {}, line {} ({})\n{passage}\n\n",
                file.path, file.package, section.line, section.title
            );
            data.push(
                json!({"package": file.package, "path": file.path, "line": section.line, "title": section.title}),
            );
        }
        Ok(ToolOutput { content: text.trim_end().to_owned(), data: Some(json!(data)), ..outside })
    }
}
