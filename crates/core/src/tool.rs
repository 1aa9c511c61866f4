//! Tools: what a model can call, what a call is, and what comes back.

use std::fmt::Write as _;

use crate::policy::RiskClass;
use crate::provenance::Provenance;
use crate::skill::SkillRef;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// What may be done with a call whose outcome was lost in a crash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = Effect)]
#[serde(rename_all = "lowercase")]
pub enum EffectClass {
    /// Changes nothing: run again.
    Read,
    /// Twice is the same as once: run again.
    Idempotent,
    /// The other side deduplicates by an idempotency key: run again with the same key.
    Keyed,
    /// Anything else: never repeated silently; a person is asked.
    #[default]
    Write,
}

/// A tool as a model and a policy see it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ToolSpec {
    /// Name as called, `[a-z0-9_]+`.
    pub name: String,
    /// What it does, one or two sentences for the model.
    pub description: String,
    /// JSON Schema (object) of the arguments.
    #[schema(value_type = Object)]
    pub parameters: Arc<Value>,
    /// What a crash in mid-call means.
    pub effect: EffectClass,
    /// What a policy decides on.
    pub risk: RiskClass,
    /// Whether it sends something to others although its class is not `external`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sends_out: bool,
    /// Requests that this tool answers, in people's words: for the intent filter, never for a model.
    #[serde(default, skip_serializing_if = "<[String]>::is_empty")]
    #[schema(value_type = Vec<String>)]
    pub utterances: Arc<[String]>,
    /// Longest result given to a model, in characters.
    pub result_limit: usize,
    /// The skill that it stands for; none for a built-in tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub skill: Option<SkillRef>,
}

/// The tool that asks databases through their domains.
pub const DATA_QUERY: &str = "oos_query";
pub const SAVE_MEMORY: &str = "save_memory";
pub const DB_QUERY: &str = "db_query";
pub const UPDATE_DB_SCHEMA: &str = "update_db_schema";

impl ToolSpec {
    /// What a policy decides on for just this call.
    pub fn risk_of(&self, call: &ToolCall) -> RiskClass {
        let statement = call.arguments["sql"].as_str().unwrap_or_default();
        if self.name == DB_QUERY && self.skill.is_none() && is_judged_as_reading(statement) {
            RiskClass::Read
        } else {
            self.risk
        }
    }

    /// Whether a call may take data out of the house, whatever harm it does there.
    pub fn takes_data_out(&self) -> bool {
        let by_skill = self.skill.as_ref().is_some_and(|skill| skill.kind.sends_out());
        self.sends_out || by_skill || self.risk == RiskClass::External
    }
}

/// Whether a statement of [`DB_QUERY`] is judged as one that only looks. The tool then opens the database for reading
/// only, so a statement that this takes for another one fails and changes nothing.
pub fn is_judged_as_reading(statement: &str) -> bool {
    let word: String = statement.trim_start().chars().take_while(char::is_ascii_alphabetic).collect();
    ["SELECT", "VALUES", "EXPLAIN"].iter().any(|one| one.eq_ignore_ascii_case(&word))
}

pub const TOOL_SEARCH: &str = "tool_search";
/// The tool by which a trusted model plans.
pub const PLAN: &str = "plan";
/// Longest answer of `tool_search`, characters.
const SEARCH_RESULT: usize = 4000;

/// The tool that searches for other tools, offered if some are left out of a prompt. The engine executes it.
pub fn tool_search() -> ToolSpec {
    ToolSpec {
        name: TOOL_SEARCH.to_owned(),
        description: "Finds more tools. Not all tools are listed here: say what is to be done, and those that can do it are described and can be called from then on.".to_owned(),
        parameters: serde_json::json!({
            "type": "object",
            "properties": {"query": {
                "type": "string",
                "minLength": 1,
                "maxLength": 400,
                "description": "What is to be done, in a few words.",
            }},
            "required": ["query"],
            "additionalProperties": false,
        }).into(),
        effect: EffectClass::Read,
        risk: RiskClass::Read,
        sends_out: false,
        utterances: Arc::default(),
        result_limit: SEARCH_RESULT,
        skill: None,
    }
}

/// How a call was understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CallSource {
    /// The provider's own tool-call field.
    Native,
    /// The model's own form of a call, found in its text.
    Dialect,
    /// JSON under a schema.
    GuidedJson,
    /// `Action:` / `Action Input:` text.
    React,
    /// `[TOOL:…]` markers.
    Marker,
    /// Repaired from broken output.
    Repaired,
    /// Phrases that imply a call.
    Fuzzy,
    /// Found in reasoning text only.
    Reasoning,
    /// Dispatched by the intent of the request.
    Intent,
    /// A step of an approved plan.
    Plan,
    /// Asked for by a person or program directly.
    Direct,
}

impl CallSource {
    /// Whether a call understood in this way may only reach `read` tools without approval.
    pub fn is_weak(self) -> bool {
        matches!(self, Self::Fuzzy | Self::Reasoning | Self::Intent)
    }
}

/// One call of a tool, whatever strategy found it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ToolCall {
    /// Unique within its run.
    pub id: String,
    /// Name of the tool.
    pub name: String,
    /// A JSON object.
    #[schema(value_type = Object)]
    pub arguments: Value,
    /// How it was understood.
    pub source: CallSource,
    /// 0 to 1.
    pub confidence: f32,
    /// The provider's sign of the thought that led to it, which it wants back with the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub signature: Option<String>,
}

/// A call with less confidence counts as guessed.
const SURE: f32 = 0.5;

impl ToolCall {
    /// A call that is sure and comes from no provider.
    pub fn new(id: impl Into<String>, name: impl Into<String>, arguments: Value, source: CallSource) -> Self {
        Self { id: id.into(), name: name.into(), arguments, source, confidence: 1.0, signature: None }
    }

    /// Whether it was guessed rather than made; then it may only reach `read` tools without approval.
    pub fn is_guessed(&self) -> bool {
        self.source.is_weak() || self.confidence < SURE
    }
}

/// The logged proof of a tool's effect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Receipt {
    /// What happened, in the past tense: `wrote`, `created`, `remembered`, `ran`.
    pub action: String,
    /// To what: a path, a name, a command.
    pub object: String,
    /// Evidence, such as a content hash or a row id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub evidence: Option<String>,
}

impl Receipt {
    pub fn new(action: &str, object: impl Into<String>, evidence: Option<String>) -> Self {
        Self { action: action.to_owned(), object: object.into(), evidence }
    }
}

/// How an effect can be taken back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = EffectUndo)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Undo {
    /// The tool that made the effect restores it from `snapshot`, its own format.
    Snapshot {
        /// Name of the tool.
        tool: String,
        /// What the tool needs to restore.
        snapshot: Value,
    },
    /// It can't be taken back.
    Impossible {
        /// Why, for a person.
        reason: String,
    },
}

/// What a tool returns when it worked, or when it failed and has changed something all the same.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ToolOutput {
    /// Text for the model and the reader, not yet truncated.
    pub content: String,
    /// The same as data, where there is a natural form (rows, files).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub data: Option<Value>,
    /// Present for each real effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub receipt: Option<Receipt>,
    /// Present where the effect can, or certainly can't, be taken back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub undo: Option<Undo>,
    /// Whether it failed: it proves nothing, `content` says what went wrong, `undo` takes back what it has changed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
    /// Where the content comes from, as far as the tool knows it: a text from outside taints what follows.
    #[serde(default, skip_serializing_if = "Provenance::is_empty")]
    pub provenance: Provenance,
    /// Files and folders of the workspace whose content it shows, or could look at: their provenance is the result's too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reads: Vec<String>,
    /// Files of the workspace that it created or changed; they come from where the result and its run come from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<String>,
}

impl ToolOutput {
    pub fn text(content: impl Into<String>) -> Self {
        Self { content: content.into(), ..Self::default() }
    }
}

/// What a tool is about to do, told once everything is ready and nothing has happened yet.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Staged {
    /// What the call returns once it is done.
    pub output: ToolOutput,
    /// By what the tool recognises after a crash whether it is done; its own format.
    pub proof: Value,
}

/// The outcome of a call that a crash cut off, as far as the world shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Settled {
    /// It happened; the text says what shows that, for a person.
    Happened(String),
    /// It did not happen and may run again; the text says what shows that, for a person.
    NotHappened(String),
    /// Nothing shows it for certain; the text says why, for the person who is asked.
    Unknown(String),
}

/// Why a tool call failed: either the model may recover or the run ends.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(tag = "kind", content = "message", rename_all = "snake_case")]
pub enum ToolError {
    /// Returned to the model as a JSON result.
    #[error("{0}")]
    RespondToModel(String),
    #[error("{0}")]
    Fatal(String),
}

/// What a call would change, before it does.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Preview {
    /// One line: "overwrites notes.md (511 bytes)".
    pub summary: String,
    /// A unified diff, rows, or a command line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub detail: Option<String>,
    /// Files, rows or resources touched, where the tool can tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub count: Option<u64>,
    /// Whether the effect can be undone.
    pub reversible: bool,
}

impl Preview {
    /// A change of one thing that can be undone.
    pub fn undoable(summary: impl Into<String>, detail: Option<String>) -> Self {
        Self { summary: summary.into(), detail, count: Some(1), reversible: true }
    }
}

/// `text` cut to `limit` characters, with a note of how many were omitted.
pub fn truncate(text: &str, limit: usize) -> (String, bool) {
    let total = text.chars().count();
    if total <= limit {
        return (text.to_owned(), false);
    }
    let mut kept: String = text.chars().take(limit).collect();
    let _ = write!(kept, "\n[truncated: {} chars omitted]", total - limit);
    (kept, true)
}
