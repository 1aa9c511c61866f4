//! `notes_create`, `notes_list`, `notes_read`.

use super::snapshot;
use crate::catalogue;
use crate::error::ToolsError;
use crate::handler::{Context, ToolHandler, proposed};
use crate::suggest;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::sync::Arc;
use steward_core::hash;
use steward_core::policy::RiskClass;
use steward_core::ports::{Facts, Note, StoreResult, ToolScope};
use steward_core::tool::{
    EffectClass, Preview, Receipt, Suggestion, ToolError, ToolOutput, ToolSpec, Undo,
};
use steward_sandbox::files::near_matches;

/// Longest title, characters.
const TITLE: usize = 200;
/// Longest text, characters.
const TEXT: usize = 100_000;

async fn find(facts: &Arc<dyn Facts>, scope: &ToolScope, title: &str) -> StoreResult<Option<Note>> {
    let notes = facts.notes(scope.tenant, scope.agent).await?;
    Ok(notes.into_iter().find(|note| note.title == title))
}

/// Makes or replaces a note.
pub struct NotesCreate {
    facts: Arc<dyn Facts>,
}

impl NotesCreate {
    /// Notes live in `facts`.
    pub fn new(facts: Arc<dyn Facts>) -> Self {
        Self { facts }
    }
}

/// Arguments of [`NotesCreate`].
#[derive(Debug, Clone, Deserialize)]
pub struct CreateArgs {
    title: String,
    text: String,
}

/// What is needed to take a note back.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    title: String,
    before: Option<Note>,
    after: String,
}

impl ToolHandler for NotesCreate {
    type Args = CreateArgs;

    fn spec(&self) -> ToolSpec {
        catalogue::spec(
            "notes_create",
            RiskClass::Write,
            EffectClass::Idempotent,
            json!({
                "type": "object",
                "properties": {
                    "title": {"type": "string", "minLength": 1, "maxLength": TITLE, "description": "Name of the note; one that exists is replaced"},
                    "text": {"type": "string", "minLength": 1, "maxLength": TEXT}
                },
                "required": ["title", "text"],
                "additionalProperties": false
            }),
        )
    }

    async fn suggest(&self, request: &str, scope: &ToolScope) -> Vec<Suggestion> {
        proposed(request, scope, suggest::notes_create::suggest).await
    }

    async fn preview(&self, args: CreateArgs, scope: &ToolScope) -> Preview {
        let title = args.title.trim();
        let (summary, detail) = match find(&self.facts, scope, title).await {
            Ok(None) => (format!("creates the note {title}"), args.text),
            Ok(Some(old)) => (
                format!(
                    "replaces the note {title} ({} characters)",
                    old.text.chars().count()
                ),
                format!("before:\n{}\n\nafter:\n{}", old.text, args.text),
            ),
            Err(error) => (format!("would fail: {error}"), args.text),
        };
        Preview {
            summary,
            detail: Some(detail),
            count: Some(1),
            reversible: true,
        }
    }

    async fn run(&self, args: CreateArgs, context: &Context) -> Result<ToolOutput, ToolError> {
        let title = args.title.trim().to_owned();
        if title.is_empty() {
            return Err(ToolsError::refused("the title is blank; give the note a name").into());
        }
        let note = Note {
            title: title.clone(),
            text: args.text.clone(),
            updated_at: context.scope.now,
        };
        let scope = &context.scope;
        let saved = self.facts.save_note(scope.tenant, scope.agent, &note).await;
        let before = saved.map_err(ToolsError::from)?;
        let verb = if before.is_some() {
            "replaced"
        } else {
            "created"
        };
        let kept = Kept {
            title: title.clone(),
            before,
            after: args.text.clone(),
        };
        Ok(ToolOutput {
            data: Some(json!({"title": title, "text": args.text})),
            receipt: Some(Receipt {
                action: verb.to_owned(),
                object: format!("note {title}"),
                evidence: Some(format!("sha256:{}", hash::sha256(args.text.as_bytes()))),
            }),
            undo: Some(Undo::Snapshot {
                tool: "notes_create".to_owned(),
                snapshot: json!(kept),
            }),
            ..ToolOutput::text(format!("{verb} the note {title}:\n{}", args.text))
        })
    }

    async fn undo(&self, value: &Value, scope: &ToolScope) -> Result<String, ToolError> {
        let kept: Kept = snapshot(value)?;
        let now = find(&self.facts, scope, &kept.title)
            .await
            .map_err(ToolsError::from)?;
        if now.is_none_or(|note| note.text != kept.after) {
            return Err(ToolsError::ChangedSince {
                what: format!("the note {}", kept.title),
                hint: "change it by hand",
            }
            .into());
        }
        let done = if let Some(note) = &kept.before {
            let saved = self.facts.save_note(scope.tenant, scope.agent, note).await;
            saved.map(|_| format!("restored the note {} as it was before", kept.title))
        } else {
            let removed = self
                .facts
                .remove_note(scope.tenant, scope.agent, &kept.title)
                .await;
            removed.map(|()| format!("removed the note {}", kept.title))
        };
        Ok(done.map_err(ToolsError::from)?)
    }
}

/// Lists notes.
pub struct NotesList {
    facts: Arc<dyn Facts>,
}

impl NotesList {
    /// Notes live in `facts`.
    pub fn new(facts: Arc<dyn Facts>) -> Self {
        Self { facts }
    }
}

/// No arguments.
#[derive(Debug, Deserialize)]
pub struct NoArgs {}

impl ToolHandler for NotesList {
    type Args = NoArgs;

    fn spec(&self) -> ToolSpec {
        catalogue::spec(
            "notes_list",
            RiskClass::Read,
            EffectClass::Read,
            json!({"type": "object", "properties": {}, "additionalProperties": false}),
        )
    }

    async fn run(&self, _: NoArgs, context: &Context) -> Result<ToolOutput, ToolError> {
        let scope = &context.scope;
        let notes = self.facts.notes(scope.tenant, scope.agent).await;
        let notes = notes.map_err(ToolsError::from)?;
        if notes.is_empty() {
            return Ok(ToolOutput::text("there are no notes yet"));
        }
        let mut text = format!("{} notes\n", notes.len());
        for note in &notes {
            let first: String = note
                .text
                .lines()
                .next()
                .unwrap_or("")
                .chars()
                .take(80)
                .collect();
            let _ = writeln!(text, "{}: {first}", note.title);
        }
        Ok(ToolOutput {
            data: Some(json!(notes)),
            ..ToolOutput::text(text)
        })
    }
}

/// Reads one note.
pub struct NotesRead {
    facts: Arc<dyn Facts>,
}

impl NotesRead {
    /// Notes live in `facts`.
    pub fn new(facts: Arc<dyn Facts>) -> Self {
        Self { facts }
    }
}

/// Arguments of [`NotesRead`].
#[derive(Debug, Deserialize)]
pub struct ReadArgs {
    title: String,
}

impl ToolHandler for NotesRead {
    type Args = ReadArgs;

    fn spec(&self) -> ToolSpec {
        catalogue::spec(
            "notes_read",
            RiskClass::Read,
            EffectClass::Read,
            json!({
                "type": "object",
                "properties": {
                    "title": {"type": "string", "minLength": 1, "description": "Name of the note"}
                },
                "required": ["title"],
                "additionalProperties": false
            }),
        )
    }

    async fn suggest(&self, request: &str, scope: &ToolScope) -> Vec<Suggestion> {
        proposed(request, scope, suggest::notes_read::suggest).await
    }

    async fn run(&self, args: ReadArgs, context: &Context) -> Result<ToolOutput, ToolError> {
        let scope = &context.scope;
        let notes = self.facts.notes(scope.tenant, scope.agent).await;
        let notes = notes.map_err(ToolsError::from)?;
        let title = args.title.trim();
        let exact = notes.iter().find(|note| note.title == title);
        let lower = title.to_lowercase();
        let found = exact.or_else(|| notes.iter().find(|note| note.title.to_lowercase() == lower));
        let Some(note) = found else {
            let near = near_matches(title, notes.iter().map(|note| note.title.as_str()));
            let hint = match (near.is_empty(), notes.is_empty()) {
                (false, _) => format!("did you mean {}?", near.join(", ")),
                (true, false) => "`notes_list` shows all titles".to_owned(),
                (true, true) => "there are no notes yet".to_owned(),
            };
            return Err(ToolsError::Refused(format!("there is no note {title}; {hint}")).into());
        };
        Ok(ToolOutput {
            data: Some(json!(note)),
            ..ToolOutput::text(format!("{}\n\n{}", note.title, note.text))
        })
    }
}
