use serde::{Deserialize, Serialize};
use serde_json::Value;
use steward_core::Timestamp;
use steward_core::agent::Agent;
use steward_core::ports::{Memory, Note};
use steward_tools::own_database::{Imported, Rows};
use utoipa::ToSchema;

/// A text that an agent keeps, and that people can change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct KeptText {
    /// The text; empty if there is none.
    pub text: String,
    /// Counts its changes; 0: it was never written.
    pub version: u64,
    /// Its length, characters.
    pub characters: u64,
    /// Most characters that fit.
    pub limit: u64,
    /// What of outside it may derive from; each run of the agent then does, too. A change by a person empties this.
    pub origins: Vec<String>,
}

/// What a text becomes.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct KeptTextInput {
    /// The whole text.
    pub text: String,
    /// The version that was read and is replaced.
    pub version: u64,
}

/// A note that an agent keeps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct KeptNote {
    /// Its title.
    pub title: String,
    /// Its text.
    pub text: String,
    /// When it was last changed, ms since 1970 UTC.
    pub updated_at: Timestamp,
    /// What of outside it may derive from: runs that read it then do, too.
    pub origins: Vec<String>,
}

/// The private database of an agent: the caller's own, or the one that all share.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct OwnDatabase {
    /// Whether the agent can use it; if not, what is in it stays.
    pub enabled: bool,
    /// Whether all users of the agent share it.
    pub shared: bool,
    /// Its tables and views by name.
    pub tables: Vec<OwnTable>,
    /// Its size on disk, bytes.
    pub bytes: u64,
    /// Its largest size, bytes.
    pub most_bytes: u64,
    /// Whether there is a copy from before its tables were last changed, or from before it was cleared.
    pub has_copy: bool,
    /// What of outside its rows may derive from: runs that read them then do, too. Emptied with the database.
    pub origins: Vec<String>,
    /// What the agent has written down about its tables.
    pub documentation: KeptText,
}

/// A table of an agent.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct OwnTable {
    /// Its name.
    pub name: String,
    /// Whether it is a view.
    pub view: bool,
    /// Its columns.
    pub columns: Vec<OwnColumn>,
    /// Its rows, counted up to 100000; null for a view.
    #[schema(required)]
    pub rows: Option<u64>,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct OwnColumn {
    /// Its name.
    pub name: String,
    /// Its type as declared; may be empty.
    pub kind: String,
}

/// Rows of a table or of a query.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct OwnRows {
    /// Names of the columns; they can repeat.
    pub columns: Vec<String>,
    /// Values in the order of the columns.
    #[schema(value_type = Vec<Vec<Object>>)]
    pub rows: Vec<Vec<Value>>,
    /// Where the next page begins; null: this is the last.
    #[schema(required)]
    pub next: Option<u64>,
    /// Whether rows were left out.
    pub truncated: bool,
}

/// A statement that only reads.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OwnQuery {
    /// One SELECT.
    #[schema(min_length = 1, max_length = 100_000)]
    pub sql: String,
}

/// What an import took over.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ImportedAgent {
    /// The agent as it is now.
    pub agent: Agent,
    /// Tables that were copied.
    pub tables: Vec<String>,
    /// Their rows.
    pub rows: u64,
    /// What could not be taken over, and why.
    pub left_out: Vec<String>,
}

impl KeptText {
    pub fn of(kept: Memory, limit: usize) -> Self {
        let characters = kept.text.chars().count() as u64;
        let origins = kept.provenance.origins.into_iter().collect();
        Self { text: kept.text, version: kept.version, characters, limit: limit as u64, origins }
    }
}

impl From<Note> for KeptNote {
    fn from(note: Note) -> Self {
        let Note { title, text, updated_at, provenance } = note;
        Self { title, text, updated_at, origins: provenance.origins.into_iter().collect() }
    }
}

impl OwnRows {
    pub fn of(page: Rows, skipped: Option<u64>) -> Self {
        let more = page.truncated.is_some();
        let next = skipped.filter(|_| more).map(|skipped| skipped + page.rows.len() as u64);
        Self { columns: page.columns, rows: page.rows, next, truncated: more && skipped.is_none() }
    }
}

impl ImportedAgent {
    pub fn of(agent: Agent, imported: Imported) -> Self {
        Self { agent, tables: imported.tables, rows: imported.rows, left_out: imported.left_out }
    }
}
