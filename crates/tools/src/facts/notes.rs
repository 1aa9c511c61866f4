use super::{Keeper, owner_of, settle_text, snapshot, writable_owner_of};
use crate::error::{ToolsError, refused};
use crate::handler::{Context, ToolHandler};
use crate::text::did_you_mean;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fmt::Write as _;
use steward_core::agent::KeptFor;
use steward_core::hash;
use steward_core::ports::{Facts, Interrupted, Note, ToolScope};
use steward_core::provenance::Provenance;
use steward_core::tool::{Preview, Receipt, Settled, ToolOutput, Undo};

const TEXT_CHARS: usize = 100_000;

async fn find(facts: &dyn Facts, scope: &ToolScope, of: KeptFor, title: &str) -> Result<Option<Note>, ToolsError> {
    let notes = facts.notes(scope.tenant, scope.agent, of).await?;
    Ok(notes.into_iter().find(|note| note.title == title))
}

pub struct NotesCreate(pub Keeper);

#[derive(Debug, Clone, Deserialize)]
pub struct CreateArgs {
    title: String,
    text: String,
    #[serde(default)]
    mode: Mode,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Mode {
    #[default]
    Replace,
    Append,
}

fn merged(args: &CreateArgs, before: Option<&Note>) -> Result<String, ToolsError> {
    let old = match (args.mode, before) {
        (Mode::Append, Some(note)) => note.text.trim_end_matches('\n'),
        _ => "",
    };
    let added = args.text.trim_end_matches('\n');
    // A repeat after a crash must not add it twice.
    if format!("\n{old}").ends_with(&format!("\n{added}")) {
        return Ok(old.to_owned());
    }
    let text = if old.is_empty() { args.text.clone() } else { format!("{old}\n{}", args.text) };
    if text.chars().count() > TEXT_CHARS {
        return Err(refused!(
            "the note would be longer than {TEXT_CHARS} characters; nothing was added: begin another one"
        ));
    }
    Ok(text)
}

#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    title: String,
    before: Option<Note>,
    after: String,
}

/// What the call returns once the note is saved.
fn created(args: &CreateArgs, note: &Note, before: Option<Note>) -> ToolOutput {
    let verb = match (&before, args.mode) {
        (None, _) => "created",
        (Some(_), Mode::Replace) => "replaced",
        (Some(_), Mode::Append) => "added to",
    };
    let title = &note.title;
    let added_to = before.as_ref().filter(|_| args.mode == Mode::Append);
    let provenance = added_to.map(|old| old.provenance.clone()).unwrap_or_default();
    let kept = Kept { title: title.clone(), before, after: note.text.clone() };
    ToolOutput {
        data: Some(json!({"title": title, "text": note.text})),
        receipt: Some(Receipt::new(
            verb,
            format!("note {title}"),
            Some(format!("sha256:{}", hash::sha256(note.text.as_bytes()))),
        )),
        undo: Some(Undo::Snapshot { tool: NotesCreate::NAME.to_owned(), snapshot: json!(kept) }),
        provenance,
        ..ToolOutput::text(format!("{verb} the note {title}:\n{}", args.text))
    }
}

impl NotesCreate {
    async fn find_written(&self, proof: &Value, scope: &ToolScope) -> Result<Settled, ToolsError> {
        let kept: Kept = snapshot(proof)?;
        let now = find(&*self.0.facts, scope, owner_of(scope)?, &kept.title).await?;
        let text = |note: &Option<Note>| note.as_ref().map(|note| note.text.clone());
        let (now, before) = (text(&now), text(&kept.before));
        Ok(settle_text(&format!("the note {}", kept.title), now.as_deref(), before.as_deref(), &kept.after))
    }
}

impl ToolHandler for NotesCreate {
    type Args = CreateArgs;
    const NAME: &'static str = "notes_create";

    async fn preview(&self, args: CreateArgs, scope: &ToolScope) -> Result<Preview, ToolsError> {
        let title = args.title.trim();
        let of = writable_owner_of(&*self.0.editors, scope).await?;
        let old = find(&*self.0.facts, scope, of, title).await?;
        let (summary, detail) = match (&old, args.mode) {
            (None, _) => (format!("creates the note {title}"), args.text),
            (Some(_), Mode::Append) => (format!("adds to the note {title}"), args.text),
            (Some(old), Mode::Replace) if is_above(old, scope) => {
                (format!("replaces the confidential note {title}"), args.text)
            }
            (Some(old), Mode::Replace) => (
                format!("replaces the note {title} ({} characters)", old.text.chars().count()),
                format!("before:\n{}\n\nafter:\n{}", old.text, args.text),
            ),
        };
        Ok(Preview::undoable(summary, Some(detail)))
    }

    async fn run(&self, args: CreateArgs, context: &Context) -> Result<ToolOutput, ToolsError> {
        let title = args.title.trim().to_owned();
        if title.is_empty() {
            return Err(ToolsError::refused("the title is blank; give the note a name"));
        }
        let scope = &context.scope;
        let (facts, of) = (&self.0.facts, writable_owner_of(&*self.0.editors, scope).await?);
        let old = find(&**facts, scope, of, &title).await?;
        let mut provenance = scope.provenance.clone();
        if let Some(old) = old.as_ref().filter(|_| args.mode == Mode::Append) {
            provenance.join(&old.provenance);
        }
        let note = Note { title: title.clone(), text: merged(&args, old.as_ref())?, updated_at: scope.now, provenance };
        let proof = json!(Kept { title, before: old.clone(), after: note.text.clone() });
        context.stage(&created(&args, &note, old), proof).await?;
        let before = facts.save_note(scope.tenant, scope.agent, of, &note).await?;
        Ok(created(&args, &note, before))
    }

    async fn settle(&self, call: Interrupted, scope: &ToolScope) -> Settled {
        let Some(staged) = call.staged else {
            return Settled::NotHappened("the note had not been written".to_owned());
        };
        self.find_written(&staged.proof, scope).await.unwrap_or_else(|error| Settled::Unknown(error.to_string()))
    }

    async fn undo(&self, value: &Value, scope: &ToolScope) -> Result<String, ToolsError> {
        let kept: Kept = snapshot(value)?;
        let (facts, of) = (&self.0.facts, writable_owner_of(&*self.0.editors, scope).await?);
        let now = find(&**facts, scope, of, &kept.title).await?;
        if now.is_none_or(|note| note.text != kept.after) {
            return Err(ToolsError::ChangedSince {
                what: format!("the note {}", kept.title),
                hint: "change it by hand",
            });
        }
        let Some(note) = &kept.before else {
            facts.remove_note(scope.tenant, scope.agent, of, &kept.title).await?;
            return Ok(format!("removed the note {}", kept.title));
        };
        facts.save_note(scope.tenant, scope.agent, of, note).await?;
        Ok(format!("restored the note {} as it was before", kept.title))
    }
}

/// Whether a note is more confidential than all that the run has seen.
fn is_above(note: &Note, scope: &ToolScope) -> bool {
    let level = |seen: &Provenance| seen.level.as_ref().map(|seen| seen.classification);
    level(&note.provenance) > level(&scope.provenance)
}

pub struct NotesList(pub Keeper);

#[derive(Debug, Deserialize)]
pub struct ListArgs {
    #[serde(default)]
    query: Option<String>,
}

/// The line that a list shows of a note: the first with a word of the query, else the first.
fn shown(note: &Note, words: &[String]) -> String {
    let has = |line: &&str| {
        let line = line.to_lowercase();
        words.iter().any(|word| line.contains(word))
    };
    let found = note.text.lines().find(has);
    let line = found.or_else(|| note.text.lines().next()).unwrap_or_default();
    line.chars().take(80).collect()
}

impl ToolHandler for NotesList {
    type Args = ListArgs;
    const NAME: &'static str = "notes_list";

    async fn run(&self, args: ListArgs, context: &Context) -> Result<ToolOutput, ToolsError> {
        let scope = &context.scope;
        let mut notes = self.0.facts.notes(scope.tenant, scope.agent, owner_of(scope)?).await?;
        if notes.is_empty() {
            return Ok(ToolOutput::text("there are no notes yet"));
        }
        let query = args.query.unwrap_or_default();
        let words: Vec<String> = query.to_lowercase().split_whitespace().map(str::to_owned).collect();
        let all = notes.len();
        notes.retain(|note| {
            let text = format!("{}\n{}", note.title, note.text).to_lowercase();
            words.iter().all(|word| text.contains(word))
        });
        let mut text = match (words.is_empty(), notes.len()) {
            (true, count) => format!("{count} notes\n"),
            (false, 0) => format!("none of the {all} notes mentions {query}"),
            (false, count) => format!("{count} of {all} notes mention {query}\n"),
        };
        for note in &notes {
            let _ = writeln!(text, "{}: {}", note.title, shown(note, &words));
        }
        let mut provenance = Provenance::default();
        for note in &notes {
            provenance.join(&note.provenance);
        }
        Ok(ToolOutput { data: Some(json!(notes)), provenance, ..ToolOutput::text(text) })
    }
}

pub struct NotesRead(pub Keeper);

#[derive(Debug, Deserialize)]
pub struct ReadArgs {
    title: String,
}

impl ToolHandler for NotesRead {
    type Args = ReadArgs;
    const NAME: &'static str = "notes_read";

    async fn run(&self, args: ReadArgs, context: &Context) -> Result<ToolOutput, ToolsError> {
        let scope = &context.scope;
        let notes = self.0.facts.notes(scope.tenant, scope.agent, owner_of(scope)?).await?;
        let title = args.title.trim();
        let exact = notes.iter().find(|note| note.title == title);
        let lower = title.to_lowercase();
        let found = exact.or_else(|| notes.iter().find(|note| note.title.to_lowercase() == lower));
        let Some(note) = found else {
            let hint = if notes.is_empty() { "there are no notes yet" } else { "`notes_list` shows all titles" };
            // An error must bring in nothing that others wrote or that is confidential.
            let known = notes.iter().filter(|note| note.provenance.is_empty());
            let hint = did_you_mean(title, known.map(|note| note.title.as_str()), hint);
            return Err(refused!("there is no note {title}; {hint}"));
        };
        Ok(ToolOutput {
            data: Some(json!(note)),
            provenance: note.provenance.clone(),
            ..ToolOutput::text(format!("{}\n\n{}", note.title, note.text))
        })
    }
}
