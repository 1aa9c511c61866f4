//! Users' databases, the texts that describe them, what models are told about them, and changes of records that wait for
//! a person.

use crate::provenance::Provenance;
use crate::{AgentId, CredentialId, DatasourceId, GroupId, RecordChangeId, RunId, Timestamp, UserId};
use crate::{hash, text};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use strum::IntoStaticStr;

/// A user's database.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Datasource {
    /// Its id.
    pub id: DatasourceId,
    /// What domains call it: letters, digits and `_`. Unique.
    pub name: String,
    /// Where it is: `sqlite:PATH` or `folder:PATH` (of CSV, JSON or Parquet files) in the workspace, `postgres://HOST/NAME`, `mysql://HOST/NAME` or `mariadb://HOST/NAME`.
    pub database: String,
    /// Holds its user and password.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub credential: Option<CredentialId>,
    /// How much of the rows models see.
    pub visibility: RowVisibility,
    /// What a query may ask of it.
    pub limits: DatasourceLimits,
    /// Whether people may confirm changes of its rows; else it is only read.
    pub writable: bool,
    /// Whether the database runs statements as its role that is called like the e-mail address of who asks. PostgreSQL only.
    pub as_asking_user: bool,
    /// Whether strangers may have written its texts, unless the text of a domain says otherwise of a field: an agent that
    /// has read them asks before it changes or sends anything.
    #[serde(default = "untrusted")]
    pub untrusted: bool,
    /// Counts its changes.
    pub version: u64,
    /// When it was changed last.
    pub changed_at: Timestamp,
}

impl Datasource {
    /// Its file or folder, where it lies in the workspace.
    pub fn workspace_path(&self) -> Option<&str> {
        self.path().filter(|path| !path.starts_with('/'))
    }

    /// Whether it is a file or a folder, and not on a server.
    pub fn is_file(&self) -> bool {
        self.path().is_some()
    }

    fn path(&self) -> Option<&str> {
        self.database.strip_prefix("sqlite:").or_else(|| self.database.strip_prefix("folder:"))
    }
}

/// Tickets, orders and messages are written by people outside.
pub fn untrusted() -> bool {
    true
}

/// How much of the rows of a datasource models see. People see what the permissions of the domain say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, utoipa::ToSchema, IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum RowVisibility {
    /// All rows of an answer.
    #[default]
    Full,
    /// The first five rows, and how many there are.
    Sample,
    /// Keys only, and how many rows there are.
    Ids,
    /// How many rows there are, and numbers over all of them.
    Counts,
}

impl RowVisibility {
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// What a query may ask of a datasource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DatasourceLimits {
    /// Most rows of an answer.
    #[schema(minimum = 1, maximum = 1000)]
    pub rows: u32,
    /// Longest time of a statement, milliseconds.
    #[schema(minimum = 100, maximum = 60_000)]
    pub timeout_ms: u32,
    /// Most rows that a server may expect to look at, by its own plan; 0: as many as it likes.
    pub planned_rows: u64,
}

impl Default for DatasourceLimits {
    fn default() -> Self {
        Self { rows: 1000, timeout_ms: 5000, planned_rows: 20_000_000 }
    }
}

#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    utoipa::ToSchema,
    strum::Display,
    IntoStaticStr,
    strum::EnumString,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum DomainTextKind {
    /// A described table.
    Domain,
    /// How its rows are shown.
    View,
}

impl DomainTextKind {
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// The text of one domain or view.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct DomainText {
    /// Which of the two.
    pub kind: DomainTextKind,
    /// Unique among those of its kind.
    pub name: String,
    /// As it was written.
    pub text: String,
    /// Counts its changes; 0: not kept yet.
    pub version: u64,
    /// Who wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub changed_by: Option<UserId>,
    /// When it was written.
    pub changed_at: Timestamp,
    /// What of outside it may derive from: what the run had read that wrote it, or a database whose names and values nobody
    /// has looked at yet. A person who saves it answers for it; how confidential it is stays.
    #[serde(default, skip_serializing_if = "Provenance::is_empty")]
    pub provenance: Provenance,
}

/// Which group a name in the text of a domain means. The group may be called something else by now, or be gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DomainGroup {
    pub domain: String,
    pub name: String,
    pub group: GroupId,
}

/// A named part of what models are told before each question about data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct StandingInstruction {
    /// Such as `deletion rules`. Unique.
    pub name: String,
    /// What the model is told.
    pub text: String,
    /// Smaller ones are told first.
    pub position: u32,
    /// Whether it is told at all.
    pub enabled: bool,
    /// Counts its changes; 0: not kept yet.
    pub version: u64,
    /// When it was changed last.
    pub changed_at: Timestamp,
}

/// A question with the query that answers it, as a person found: an example for models, and the answer to whoever asks the
/// same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct VerifiedQuestion {
    /// Of its words: the same question has the same one.
    pub id: String,
    /// The question.
    pub text: String,
    /// The domain that is asked.
    pub domain: String,
    /// The query.
    #[schema(value_type = Object)]
    pub query: Value,
    /// Who found that it is right.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub by: Option<UserId>,
    /// When.
    pub at: Timestamp,
}

impl VerifiedQuestion {
    /// The id of a question, whatever its case and punctuation.
    pub fn id_of(text: &str) -> String {
        let mut id = hash::sha256(text::plain(text).as_bytes());
        id.truncate(16);
        id
    }
}

/// A change of one record that somebody proposed. Nothing is written before a person confirms it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RecordChange {
    /// Its id.
    pub id: RecordChangeId,
    /// The domain of the record.
    pub domain: String,
    /// What is to be done: `{"change": "update", "domain": …, "key": …, "set": {…}}`; `insert` has no key, `delete` no set.
    #[schema(value_type = Object)]
    pub change: Value,
    /// The record as it was when this was proposed; unset for a new one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>, nullable = false)]
    pub before: Option<Map<String, Value>>,
    /// How far it is.
    pub state: RecordChangeState,
    /// Who it is for: only they and operators see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub owner: Option<UserId>,
    /// The run that proposed it; unset: a person did.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub run: Option<RunId>,
    /// The agent of this run.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub agent: Option<AgentId>,
    /// When it was proposed.
    pub proposed_at: Timestamp,
    /// Who confirmed or discarded it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub decided_by: Option<UserId>,
    /// When that was.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub decided_at: Option<Timestamp>,
    /// What was done, or why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub outcome: Option<String>,
    /// The row as it was shown, for noticing that somebody else changes it. Not shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(ignore)]
    pub current: Option<Value>,
    /// What tells whether it was written and takes it back. Not shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(ignore)]
    pub written: Option<Value>,
    /// Counts its changes.
    pub version: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema, IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum RecordChangeState {
    /// It waits for a person.
    Proposed,
    /// It was confirmed, and is being written; after a crash it is found out whether it was.
    Confirmed,
    /// It was written.
    Done,
    /// It was confirmed, and not written: somebody else had changed the record, or the database refused.
    Failed,
    /// A person did not want it.
    Discarded,
    /// It was written and taken back.
    Undone,
}

impl RecordChangeState {
    pub fn name(self) -> &'static str {
        self.into()
    }
}
