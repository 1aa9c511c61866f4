//! `write`: a file, whole or at its end.

use super::{access, snapshot};
use crate::catalogue;
use crate::error::ToolsError;
use crate::handler::{Context, ToolHandler, proposed};
use crate::suggest;
use serde::Deserialize;
use serde_json::{Value, json};
use similar::TextDiff;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::sync::Arc;
use std::time::Duration;
use steward_core::policy::RiskClass;
use steward_core::ports::{Blobs, ToolScope};
use steward_core::tool::{
    EffectClass, Preview, Receipt, Suggestion, ToolError, ToolOutput, ToolSpec,
};
use steward_sandbox::files::{Before, FilesError, Workspace, Written};

/// Longest diff shown, characters.
const DIFF: usize = 16 << 10;

/// Creates, replaces or extends a file.
pub struct Write {
    blobs: Arc<dyn Blobs>,
}

impl Write {
    /// Prior content of large files is kept in `blobs`.
    pub fn new(blobs: Arc<dyn Blobs>) -> Self {
        Self { blobs }
    }
}

/// Arguments of [`Write`].
#[derive(Debug, Clone, Deserialize)]
pub struct WriteArgs {
    path: String,
    content: String,
    #[serde(default)]
    mode: Mode,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Mode {
    Create,
    #[default]
    Overwrite,
    Append,
}

impl ToolHandler for Write {
    type Args = WriteArgs;

    fn spec(&self) -> ToolSpec {
        catalogue::spec(
            "write",
            RiskClass::Write,
            EffectClass::Write,
            json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string", "minLength": 1, "description": "File in the workspace; folders are made as needed"},
                    "content": {"type": "string", "description": "Text of the file, or what is added to it"},
                    "mode": {"type": "string", "enum": ["create", "overwrite", "append"], "default": "overwrite", "description": "create: only if there is no such file; overwrite: replace it; append: add at its end"}
                },
                "required": ["path", "content"],
                "additionalProperties": false
            }),
        )
    }

    async fn suggest(&self, request: &str, scope: &ToolScope) -> Vec<Suggestion> {
        proposed(request, scope, suggest::write::suggest).await
    }

    async fn preview(&self, args: WriteArgs, scope: &ToolScope) -> Preview {
        let scope = scope.clone();
        let done = access::blocking(move || foresee(&args, &access::open(&scope)?)).await;
        done.unwrap_or_else(|error| Preview {
            summary: format!("would fail: {error}"),
            ..Preview::default()
        })
    }

    async fn run(&self, args: WriteArgs, context: &Context) -> Result<ToolOutput, ToolError> {
        // What can't be kept can't be undone, so it is kept before anything changes.
        let (scope, path) = (context.scope.clone(), args.path.clone());
        let before = access::blocking(move || held(&access::open(&scope)?, &path)).await?;
        if args.mode != Mode::Append
            && snapshot::is_big(&before)
            && let Before::File { bytes, .. } = before
        {
            self.blobs.put(bytes).await.map_err(ToolsError::from)?;
        }
        let context = context.clone();
        let (written, after, bytes) = access::blocking(move || change(&args, &context)).await?;
        let path = written.path.display().to_string();
        let (action, what) = match &written.before {
            Before::Absent => ("created", format!("created {path} ({bytes} bytes)")),
            Before::Size { size } => (
                "appended",
                format!(
                    "appended {bytes} bytes to {path} (was {size} bytes, now {})",
                    after.size
                ),
            ),
            Before::File { bytes: old, .. } => (
                "wrote",
                format!(
                    "wrote {bytes} bytes to {path}, replacing {} bytes",
                    old.len()
                ),
            ),
            Before::TooLarge { size, .. } => (
                "wrote",
                format!("wrote {bytes} bytes to {path}, replacing {size} bytes"),
            ),
        };
        Ok(ToolOutput {
            data: Some(json!({"path": path, "bytes": bytes, "size": after.size})),
            receipt: Some(Receipt {
                action: action.to_owned(),
                object: path,
                evidence: Some(format!("sha256:{}", after.sha256)),
            }),
            undo: Some(snapshot::undo("write", written, after, &self.blobs).await?),
            ..ToolOutput::text(what)
        })
    }

    async fn undo(&self, snapshot: &Value, scope: &ToolScope) -> Result<String, ToolError> {
        snapshot::restore(snapshot, scope, &self.blobs).await
    }
}

/// What `path` holds; something too large to keep is refused.
fn held(workspace: &Workspace, path: &str) -> Result<Before, ToolsError> {
    match workspace.snapshot(path) {
        Ok(before) => Ok(before),
        Err(FilesError::Kind {
            actual: "a folder",
            path,
            ..
        }) => Err(ToolsError::Refused(format!(
            "{path} is a folder; give the name of a file in it"
        ))),
        Err(error) => Err(access::explain(error)),
    }
}

fn check(args: &WriteArgs, before: &Before) -> Result<(), ToolsError> {
    match (args.mode, before) {
        (Mode::Create, Before::Absent) => Ok(()),
        (Mode::Create, _) => Err(ToolsError::Refused(format!(
            "{} exists already; use mode overwrite to replace it, append to add to it, or another name",
            args.path
        ))),
        (Mode::Overwrite, Before::TooLarge { size, .. }) => Err(ToolsError::Refused(format!(
            "{} has {size} bytes, too many to keep for undo; write to another file",
            args.path
        ))),
        _ => Ok(()),
    }
}

/// Carries it out: what was there, what is there, bytes of ours.
fn change(
    args: &WriteArgs,
    context: &Context,
) -> Result<(Written, snapshot::State, usize), ToolsError> {
    let workspace = access::open(&context.scope)?;
    check(args, &held(&workspace, &args.path)?)?;
    context.check()?;
    let (written, bytes) = if args.mode == Mode::Append {
        let added = added(args, &workspace)?;
        let written = workspace.append(&args.path, added.as_bytes());
        (written.map_err(access::explain)?, added.len())
    } else {
        let written = workspace.write_atomic(&args.path, args.content.as_bytes());
        (written.map_err(access::explain)?, args.content.len())
    };
    let after = snapshot::state(&workspace, &args.path).map_err(access::explain)?;
    Ok((written, after, bytes))
}

/// What is added at the end: begins on a line of its own, and ends one.
fn added(args: &WriteArgs, workspace: &Workspace) -> Result<String, ToolsError> {
    let start = if ends_in_line(workspace, &args.path)? {
        ""
    } else {
        "\n"
    };
    let end = if args.content.ends_with('\n') || args.content.is_empty() {
        ""
    } else {
        "\n"
    };
    Ok(format!("{start}{}{end}", args.content))
}

fn ends_in_line(workspace: &Workspace, path: &str) -> Result<bool, ToolsError> {
    let mut file = match workspace.open_read(path) {
        Ok(file) => file,
        Err(FilesError::NotFound { .. }) => return Ok(true),
        Err(error) => return Err(access::explain(error)),
    };
    let io = |error: std::io::Error| ToolsError::Refused(format!("{path}: {error}"));
    if file.metadata().map_err(io)?.len() == 0 {
        return Ok(true);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1)).map_err(io)?;
    file.read_exact(&mut last).map_err(io)?;
    Ok(last == *b"\n")
}

fn foresee(args: &WriteArgs, workspace: &Workspace) -> Result<Preview, ToolsError> {
    let before = held(workspace, &args.path)?;
    check(args, &before)?;
    let path = &args.path;
    let old: &[u8] = match &before {
        Before::File { bytes, .. } => bytes,
        _ => &[],
    };
    let (new, summary) = if args.mode == Mode::Append {
        let added = added(args, workspace)?;
        let summary = match &before {
            Before::Absent => format!("creates {path} ({} bytes)", added.len()),
            Before::TooLarge { size, .. } => {
                format!("appends {} bytes to {path} ({size} bytes)", added.len())
            }
            _ => format!(
                "appends {} bytes to {path} ({} bytes)",
                added.len(),
                old.len()
            ),
        };
        ([old, added.as_bytes()].concat(), summary)
    } else {
        let new = args.content.clone().into_bytes();
        let summary = match &before {
            Before::Absent => format!("creates {path} ({} bytes)", new.len()),
            _ if new == old => format!("{path} has this content already"),
            _ => format!(
                "overwrites {path} ({} bytes) with {} bytes",
                old.len(),
                new.len()
            ),
        };
        (new, summary)
    };
    Ok(Preview {
        summary,
        detail: diff(path, old, &new),
        count: Some(1),
        reversible: true,
    })
}

fn diff(path: &str, old: &[u8], new: &[u8]) -> Option<String> {
    let (Ok(old), Ok(new)) = (std::str::from_utf8(old), std::str::from_utf8(new)) else {
        return Some("the old content is no text; no comparison".to_owned());
    };
    if old == new {
        return None;
    }
    let diff = TextDiff::configure()
        .timeout(Duration::from_secs(1))
        .diff_lines(old, new);
    let text = diff
        .unified_diff()
        .header(&format!("a/{path}"), &format!("b/{path}"))
        .to_string();
    Some(steward_core::tool::truncate(&text, DIFF).0)
}
