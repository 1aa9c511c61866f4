//! `write`: a file, whole or at its end. The new content is staged beside the file before the effect is announced, and
//! only renaming uses it up: after a crash, a staged file tells that the write has not happened.

use super::snapshot::{self, FileState};
use super::text_form::TextForm;
use crate::error::{ToolsError, refused};
use crate::files;
use crate::handler::{Context, ToolHandler};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use similar::TextDiff;
use std::sync::Arc;
use std::time::Duration;
use steward_core::ports::{Blobs, Interrupted, ToolScope};
use steward_core::tool::{Preview, Receipt, Settled, ToolOutput};
use steward_sandbox::files::{Before, FilesError, Staged, Workspace};
use tokio::sync::Mutex;

/// Writes to different files that may run at once.
const LOCKS: usize = 64;
const MAX_DIFF_BYTES: usize = 16 << 10;
/// Characters of the tag of staged content.
const TAG_CHARS: usize = 24;

pub struct Write {
    blobs: Arc<dyn Blobs>,
    /// Locks by hash of the file name, so that writes to one file wait for each other.
    turns: Vec<Mutex<()>>,
}

impl Write {
    /// Prior content of large files is kept in `blobs`.
    pub fn new(blobs: Arc<dyn Blobs>) -> Self {
        Self { blobs, turns: (0..LOCKS).map(|_| Mutex::default()).collect() }
    }

    fn lock_for(&self, path: &str) -> &Mutex<()> {
        let name = path.rsplit('/').next().unwrap_or_default();
        let sum = name.bytes().fold(0, |sum: usize, byte| sum.wrapping_mul(31).wrapping_add(usize::from(byte)));
        &self.turns[sum % LOCKS]
    }

    /// What the call will return, and the proof that it has happened.
    async fn output_and_proof(&self, tool: &str, ready: &PreparedWrite) -> Result<(ToolOutput, Value), ToolsError> {
        let (staged, after, bytes) = (&ready.staged, &ready.after, ready.bytes);
        let path = staged.path.display().to_string();
        let old = known_bytes(&ready.before).len();
        let (action, what) = if ready.before == Before::Absent {
            ("created", format!("created {path} ({bytes} bytes)"))
        } else if ready.adds {
            let kept = ready.kept_encoding();
            let what = format!("appended {bytes} bytes to {path} (was {old} bytes, now {}){kept}", after.size);
            ("appended", what)
        } else {
            let ends = ready.ends.map(|name| format!("; its lines end in {name} as before")).unwrap_or_default();
            let kept = ready.kept_encoding();
            ("wrote", format!("wrote {bytes} bytes to {path}, replacing {old} bytes{kept}{ends}"))
        };
        let was = snapshot::prior_state(&ready.before);
        let before = match &ready.before {
            // Truncating it undoes an append.
            Before::File { bytes, .. } if ready.adds => Before::Size { size: bytes.len() as u64 },
            before => before.clone(),
        };
        let undo = snapshot::undo_record(tool, path.clone(), (before, was.clone()), after.clone(), &self.blobs);
        let output = ToolOutput {
            data: Some(json!({"path": path, "bytes": bytes, "size": after.size})),
            receipt: Some(Receipt::new(action, path.clone(), Some(format!("sha256:{}", after.sha256)))),
            undo: Some(undo.await?),
            writes: vec![path.clone()],
            ..ToolOutput::text(what)
        };
        let proof =
            json!(WriteProof { path, tag: ready.tag.clone(), before: was, after: after.clone(), adds: ready.adds });
        Ok((output, proof))
    }

    /// Writes a file for `tool`, which undoes and settles it as this one does. `told`: what `tool` returns, made of what
    /// `write` would return.
    pub(crate) async fn write_for(
        &self,
        tool: &str,
        args: WriteArgs,
        context: &Context,
        told: impl FnOnce(ToolOutput) -> ToolOutput + Send,
    ) -> Result<ToolOutput, ToolsError> {
        let _turn = self.lock_for(&args.path).lock().await;
        let at = context.clone();
        let mut ready = files::blocking(move || prepare(&args, &at)).await?;
        let (output, proof) = self.output_and_proof(tool, &ready).await?;
        let output = told(output);
        ready.staged.leave();
        context.stage(&output, proof).await?;
        files::blocking(move || commit_write(ready)).await?;
        Ok(output)
    }
}

#[derive(Debug, Clone, Deserialize)]
pub struct WriteArgs {
    path: String,
    content: String,
    #[serde(default)]
    mode: Mode,
    /// The format demands UTF-8, whatever stood there.
    #[serde(skip)]
    is_utf_8: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Mode {
    Create,
    #[default]
    Overwrite,
    Append,
}

impl WriteArgs {
    /// Replaces the file, or creates it, in UTF-8.
    pub(crate) fn whole(path: String, content: String) -> Self {
        Self { path, content, mode: Mode::Overwrite, is_utf_8: true }
    }
}

impl ToolHandler for Write {
    type Args = WriteArgs;
    const NAME: &'static str = "write";

    async fn preview(&self, args: WriteArgs, scope: &ToolScope) -> Result<Preview, ToolsError> {
        let scope = scope.clone();
        files::blocking(move || preview_write(&args, &files::open_workspace(&scope)?)).await
    }

    async fn run(&self, args: WriteArgs, context: &Context) -> Result<ToolOutput, ToolsError> {
        self.write_for(Self::NAME, args, context, |output| output).await
    }

    async fn settle(&self, call: Interrupted, scope: &ToolScope) -> Settled {
        let Some(staged) = call.staged else {
            return Settled::NotHappened("it had not begun to write".to_owned());
        };
        let scope = scope.clone();
        let looked = files::blocking(move || find_written(&staged.proof, &scope)).await;
        looked.unwrap_or_else(|error| Settled::Unknown(error.to_string()))
    }

    async fn undo(&self, snapshot: &Value, scope: &ToolScope) -> Result<String, ToolsError> {
        snapshot::restore(snapshot, scope, &self.blobs).await
    }
}

/// The content of `path`; something too large to keep is refused.
fn current_content(workspace: &Workspace, path: &str) -> Result<Before, ToolsError> {
    match workspace.snapshot(path) {
        Ok(before) => Ok(before),
        Err(FilesError::Kind { actual: "a folder", path, .. }) => {
            Err(refused!("{path} is a folder; give the name of a file in it"))
        }
        Err(error) => Err(error.into()),
    }
}

fn check(args: &WriteArgs, before: &Before) -> Result<(), ToolsError> {
    match (args.mode, before) {
        (Mode::Create, Before::Absent) => Ok(()),
        (Mode::Create, _) => Err(refused!(
            "{} exists already; use mode overwrite to replace it, append to add to it, or another name",
            args.path
        )),
        (_, Before::TooLarge { size, .. }) => {
            Err(refused!("{} has {size} bytes, too many to keep for undo; write to another file", args.path))
        }
        _ => Ok(()),
    }
}

struct PreparedWrite {
    workspace: Workspace,
    staged: Staged,
    tag: String,
    before: Before,
    after: FileState,
    adds: bool,
    /// The name of the line ends that it keeps.
    ends: Option<&'static str>,
    /// The encoding of the file if it isn't UTF-8.
    encoding: Option<&'static str>,
    bytes: usize,
}

impl PreparedWrite {
    fn kept_encoding(&self) -> String {
        self.encoding.map(|name| format!("; it is in {name} as before")).unwrap_or_default()
    }
}

fn prepare(args: &WriteArgs, context: &Context) -> Result<PreparedWrite, ToolsError> {
    let workspace = files::open_workspace(&context.scope)?;
    let before = current_content(&workspace, &args.path)?;
    check(args, &before)?;
    context.check()?;
    let New { whole, bytes, form, ends } = new_content(args, &before)?;
    let tag = context.stable_id(TAG_CHARS);
    Ok(PreparedWrite {
        staged: workspace.stage(&args.path, &whole, &tag)?,
        workspace,
        tag,
        after: FileState::of(&whole),
        ends,
        encoding: form.other_encoding(),
        before,
        adds: args.mode == Mode::Append,
        bytes,
    })
}

/// Renames the new content into place, if the file is still what it was.
fn commit_write(ready: PreparedWrite) -> Result<(), ToolsError> {
    let path = ready.staged.path.display().to_string();
    let place = snapshot::exactly(&path);
    if current_content(&ready.workspace, &place)? != ready.before {
        ready.workspace.unstage(&place, &ready.tag)?;
        return Err(refused!(
            "{path} was changed by somebody else just now, nothing was written; look at it and call again"
        ));
    }
    ready.staged.place()?;
    Ok(())
}

fn known_bytes(before: &Before) -> &[u8] {
    match before {
        Before::File { bytes, .. } => bytes,
        _ => &[],
    }
}

/// What a file is to hold.
struct New {
    whole: Vec<u8>,
    /// How many of them are new.
    bytes: usize,
    /// Of what stood there.
    form: TextForm,
    /// The line ends of what stood there, if content that has only LF gets them.
    ends: Option<&'static str>,
}

/// What is appended gets lines of its own. What is written is in the encoding of the file, or refused: a file in two encodings
/// can't be read. Models write line ends as LF, also into a file that has CRLF: they become those of the file.
fn new_content(args: &WriteArgs, before: &Before) -> Result<New, ToolsError> {
    let old = known_bytes(before);
    let form = TextForm::of(if args.is_utf_8 { b"" } else { old });
    let refuse = |why: String| {
        let path = &args.path;
        refused!("nothing was written to {path}: {why}; write to a new file, which will be in UTF-8")
    };
    if args.mode == Mode::Append {
        let added = form.added(&args.content).map_err(refuse)?;
        return Ok(New { whole: [old, &added].concat(), bytes: added.len(), form, ends: None });
    }
    let has_only_lf = args.content.contains('\n') && !args.content.contains('\r');
    let ends = form.other_ends().filter(|_| args.mode == Mode::Overwrite && has_only_lf);
    let text = if ends.is_some() { form.with_line_ends(&args.content) } else { args.content.clone() };
    let whole = form.whole(&text).map_err(refuse)?;
    Ok(New { bytes: whole.len(), whole, form, ends })
}

fn preview_write(args: &WriteArgs, workspace: &Workspace) -> Result<Preview, ToolsError> {
    let before = current_content(workspace, &args.path)?;
    check(args, &before)?;
    let path = &args.path;
    let old = known_bytes(&before);
    let New { whole: new, bytes, form, .. } = new_content(args, &before)?;
    let summary = match &before {
        Before::Absent => format!("creates {path} ({bytes} bytes)"),
        _ if args.mode == Mode::Append => format!("appends {bytes} bytes to {path} ({} bytes)", old.len()),
        _ if new == old => format!("{path} has this content already"),
        _ => format!("overwrites {path} ({} bytes) with {bytes} bytes", old.len()),
    };
    let summary = match form.other_encoding() {
        Some(name) if new != old => format!("{summary}, in {name} as it is"),
        _ => summary,
    };
    Ok(Preview::undoable(summary, unified_diff(path, form, old, &new)))
}

fn unified_diff(path: &str, form: TextForm, old: &[u8], new: &[u8]) -> Option<String> {
    if old == new {
        return None;
    }
    let (Some(old), Some(new)) = (form.read(old), form.read(new)) else {
        return Some("the old content is no text; no comparison".to_owned());
    };
    let diff = TextDiff::configure().timeout(Duration::from_secs(1)).diff_lines(&old, &new);
    let text = diff.unified_diff().header(&format!("a/{path}"), &format!("b/{path}")).to_string();
    Some(steward_core::tool::truncate(&text, MAX_DIFF_BYTES).0)
}

#[derive(Debug, Serialize, Deserialize)]
struct WriteProof {
    path: String,
    /// Names the staged content beside the file.
    tag: String,
    /// `None`: the file did not exist.
    before: Option<FileState>,
    after: FileState,
    adds: bool,
}

fn find_written(proof: &Value, scope: &ToolScope) -> Result<Settled, ToolsError> {
    let proof = WriteProof::deserialize(proof).map_err(|error| refused!("what it told can't be read: {error}"))?;
    let WriteProof { path, tag, .. } = &proof;
    let workspace = files::open_workspace(scope)?;
    let place = snapshot::exactly(path);
    let now = snapshot::read_all(&workspace, path)?;
    let waiting = workspace.staged(&place, tag)?;
    Ok(match (waiting, now) {
        (Some(bytes), now) if FileState::of(&bytes) == proof.after => {
            if proof.adds || now.as_deref().map(FileState::of) == proof.before {
                return Ok(Settled::NotHappened(format!("what it was to hold still waits beside {path}")));
            }
            workspace.unstage(&place, tag)?;
            Settled::Unknown(format!("{path} was not written, but somebody else has changed it since"))
        }
        (Some(_), _) => Settled::Unknown(format!("what waits beside {path} is not what was written there")),
        (None, Some(bytes)) if proof.after.is_prefix_of(&bytes) => {
            Settled::Happened(format!("{path} holds what this call wrote, sha256:{}", proof.after.sha256))
        }
        (None, Some(bytes)) if Some(FileState::of(&bytes)) == proof.before => {
            Settled::Unknown(format!("{path} is as it was before, but what was to take its place is gone"))
        }
        (None, Some(_)) => Settled::Unknown(format!("somebody else has changed {path} since")),
        (None, None) => Settled::Unknown(format!("somebody else has removed {path} since")),
    })
}
