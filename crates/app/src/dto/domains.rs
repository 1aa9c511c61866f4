use serde::{Deserialize, Serialize};
use serde_json::Value;
pub use steward_core::datasource::{
    Datasource, DatasourceLimits, DomainText, DomainTextKind, RecordChange, RecordChangeState, RowVisibility,
    StandingInstruction, VerifiedQuestion,
};
use steward_core::ports::{DataAnswer, DataColumn, SavedText, SchemaPassage};
use steward_core::{CredentialId, Timestamp};
use steward_domains::change::Difference;
use utoipa::ToSchema;

/// A user's database as it is configured.
#[derive(Debug, Clone, PartialEq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DatasourceInput {
    /// What domains call it. Unique.
    #[schema(min_length = 1, max_length = 40, pattern = "^[A-Za-z_][A-Za-z0-9_]*$")]
    pub name: String,
    /// `sqlite:PATH` or `folder:PATH` (of CSV, JSON or Parquet files) in the workspace, `postgres://HOST/NAME`, `mysql://HOST/NAME` or `mariadb://HOST/NAME`.
    #[schema(min_length = 1, max_length = 500)]
    pub database: String,
    /// Holds its user and password.
    pub credential: Option<CredentialId>,
    /// How much of the rows models see.
    #[serde(default)]
    pub visibility: RowVisibility,
    /// What a query may ask of it.
    #[serde(default)]
    pub limits: DatasourceLimits,
    /// Whether people may confirm changes of its rows.
    #[serde(default)]
    pub writable: bool,
    /// Whether the database runs statements as its role that is called like the e-mail address of who asks. PostgreSQL only.
    #[serde(default)]
    pub as_asking_user: bool,
    /// Whether strangers may have written its texts, unless the text of a domain says otherwise of a field: an agent that
    /// has read them asks before it changes or sends anything. On unless it is switched off.
    #[serde(default = "steward_core::datasource::untrusted")]
    pub untrusted: bool,
    /// The version that was read; left out for a new one.
    #[serde(default)]
    pub version: u64,
}

/// What a datasource has.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct DatasourceSchema {
    /// Its tables and views that may be read, by name.
    pub tables: Vec<DatasourceTable>,
    /// Files of a folder that are no tables, each with the reason.
    pub left_out: Vec<String>,
}

/// A table or view of a datasource.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct DatasourceTable {
    /// Its name.
    pub name: String,
    /// Whether it is a view.
    pub view: bool,
    /// About how many rows it has; null: that is not known.
    #[schema(required)]
    pub rows: Option<u64>,
    /// Its columns in order.
    pub columns: Vec<DatasourceColumn>,
    /// The domains that describe it.
    pub domains: Vec<String>,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct DatasourceColumn {
    /// Its name.
    pub name: String,
    /// The type as the database says it.
    #[serde(rename = "type")]
    pub kind: String,
    /// Whether it is of the primary key.
    pub key: bool,
}

/// Which tables to describe.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DatasourceInit {
    /// Their names; empty: all that no domain describes.
    pub tables: Vec<String>,
    /// Whether to save the texts; else they are only returned. What is saved unseen of a datasource that is not trusted counts as
    /// from outside until a person saves it.
    pub save: bool,
}

/// First texts of domains and views.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct InitTexts {
    /// All of them, one after the other.
    pub text: String,
    /// Names of the domains.
    pub domains: Vec<String>,
    /// Whether they are saved.
    pub saved: bool,
}

/// A domain as its caller may use it.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct DomainInfo {
    /// Its name.
    pub name: String,
    /// Where its rows are.
    pub datasource: String,
    /// What it is about.
    #[schema(required)]
    pub scope: Option<String>,
    /// The fields that name a row; empty: rows can't be named.
    pub key: Vec<String>,
    /// Its fields in order.
    pub fields: Vec<FieldInfo>,
    /// The relations that the caller may follow.
    pub relations: Vec<RelationInfo>,
    /// Whether the caller may change and add rows.
    pub write: bool,
    /// Whether the caller may delete rows.
    pub delete: bool,
}

/// A field of a domain.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct FieldInfo {
    /// Its name.
    pub name: String,
    /// `int`, `float`, `string`, `text`, `bool`, `date` or `datetime`.
    pub kind: String,
    /// Whether people can't change it.
    pub readonly: bool,
    /// The comparisons that conditions on it may make; empty: none may stand on it.
    pub ops: Vec<String>,
    /// Whether it has a list of choices.
    pub choices: bool,
}

/// A relation of a domain.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct RelationInfo {
    /// Its name.
    pub name: String,
    /// `has_many`, `belongs_to` or `has_one`.
    pub kind: String,
    /// The other domain.
    pub domain: String,
    /// Pairs of a field of this domain and one of the other.
    pub bind: Vec<(String, String)>,
}

/// A value that a field can take.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Choice {
    /// The value.
    #[schema(value_type = Object)]
    pub value: Value,
    /// What people read.
    pub label: String,
}

/// A view to be shown.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ViewInfo {
    /// Its name.
    pub name: String,
    /// What people read.
    pub title: String,
    /// The domain whose rows it shows.
    pub domain: String,
    /// Toolbar, tables and sections, as the language has them.
    #[schema(value_type = Object)]
    pub view: Value,
}

/// A text to save.
#[derive(Debug, Clone, PartialEq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TextInput {
    /// One or more domains and views.
    #[schema(max_length = 1_048_576)]
    pub text: String,
    /// The version that was read, if it is one text; left out: whatever is there is replaced.
    pub version: Option<u64>,
}

/// A text that was saved.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct SavedDomainText {
    /// The text with its version.
    pub text: DomainText,
    /// Lines that went and came, as in a patch.
    pub diff: String,
    /// What is not wrong, but may not be meant.
    pub warnings: Vec<String>,
}

impl From<SavedText> for SavedDomainText {
    fn from(saved: SavedText) -> Self {
        Self { text: saved.text, diff: saved.diff, warnings: saved.warnings }
    }
}

/// A place in a text that is being written.
#[derive(Debug, Clone, PartialEq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TextPlace {
    /// The whole text.
    #[schema(max_length = 1_048_576)]
    pub text: String,
    /// Where the cursor stands, in UTF-16 code units as editors count.
    #[serde(default)]
    pub offset: u32,
    /// The new name, for renaming.
    pub name: Option<String>,
}

/// What is wrong with a text, and how it is coloured.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct TextReport {
    /// In the order of the text.
    pub diagnostics: Vec<TextDiagnostic>,
    /// Names of the domains and views that it has.
    pub names: Vec<String>,
}

/// One thing that is wrong or may not be meant.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct TextDiagnostic {
    /// Where it begins, in UTF-16 code units.
    pub from: u32,
    /// Where it ends.
    pub to: u32,
    /// The line, from 1.
    pub line: u32,
    /// Whether it keeps the text from being saved.
    pub error: bool,
    /// A word for programs.
    pub code: String,
    /// What is wrong.
    pub message: String,
    /// What to do.
    #[schema(required)]
    pub hint: Option<String>,
}

/// What can be written at a place.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct TextCompletion {
    /// What people read.
    pub label: String,
    /// What is written.
    pub insert: String,
    /// What it is, in a word.
    pub kind: String,
    /// More about it.
    pub detail: String,
    /// What it takes the place of, in UTF-16 code units.
    pub from: u32,
    /// Where that ends.
    pub to: u32,
}

/// What stands at a place.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct TextHover {
    /// Where it begins, in UTF-16 code units.
    pub from: u32,
    /// Where it ends.
    pub to: u32,
    /// What it is, in Markdown; empty: nothing is known about it.
    pub text: String,
}

/// A text after a change of it.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct WrittenText {
    /// The whole text.
    pub text: String,
}

/// What is asked of a domain.
#[derive(Debug, Clone, PartialEq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DomainQuery {
    /// `{domain, fields, where, order, limit, group, aggregate, with, after}`.
    #[schema(value_type = Object)]
    pub query: Value,
}

/// Rows that were asked for.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct DomainAnswer {
    /// The domain.
    pub domain: String,
    /// Where its rows are.
    pub datasource: String,
    /// What was asked, as it was understood.
    #[schema(value_type = Object)]
    pub query: Value,
    /// The columns in order.
    pub columns: Vec<AnswerColumn>,
    /// Each row has the columns' values in order.
    #[schema(value_type = Vec<Vec<Object>>)]
    pub rows: Vec<Vec<Value>>,
    /// Whether there are more.
    pub truncated: bool,
    /// What the next page begins after.
    #[schema(required)]
    pub next: Option<String>,
    /// How it is shown best: `{"shape": "empty" | "number" | "row" | "table" | "series", …}`.
    #[schema(value_type = Object)]
    pub shape: Value,
    /// The statement that was run.
    pub sql: String,
    /// When the rows were read, ms since 1970 UTC.
    pub read_at: Timestamp,
    /// How long that took, milliseconds.
    pub took_ms: f64,
}

/// A column of an answer.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct AnswerColumn {
    /// Its name.
    pub name: String,
    /// A kind of field, or `rows` for rows that are embedded.
    pub kind: String,
}

impl DomainAnswer {
    pub fn of(answer: DataAnswer, read_at: Timestamp, took_ms: f64) -> Self {
        let DataAnswer { domain, datasource, query, columns, rows, truncated, next, shape, sql, .. } = answer;
        let column = |DataColumn { name, kind }| AnswerColumn { name, kind };
        let columns = columns.into_iter().map(column).collect();
        Self { domain, datasource, query, columns, rows, truncated, next, shape, sql, read_at, took_ms }
    }
}

/// What is looked for among the domains.
#[derive(Debug, Clone, PartialEq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SchemaSearch {
    /// In people's words.
    #[schema(min_length = 1, max_length = 1000)]
    pub query: String,
    /// Most domains; 5 if left out.
    #[schema(minimum = 1, maximum = 50)]
    pub limit: Option<u32>,
}

/// A domain that was found.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct FoundDomain {
    /// Its name.
    pub domain: String,
    /// What a model reads of it.
    pub text: String,
    /// From 0 to 2: words and meaning.
    pub score: f32,
}

impl From<SchemaPassage> for FoundDomain {
    fn from(found: SchemaPassage) -> Self {
        Self { domain: found.domain, text: found.text, score: found.score }
    }
}

/// A standing instruction as it is written.
#[derive(Debug, Clone, PartialEq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct InstructionInput {
    /// What models are told.
    #[schema(max_length = 20_000)]
    pub text: String,
    /// Smaller ones are told first.
    #[serde(default)]
    pub position: u32,
    /// Whether it is told at all.
    #[serde(default = "super::yes")]
    pub enabled: bool,
    /// The version that was read; left out for a new one.
    #[serde(default)]
    pub version: u64,
}

/// A question with the query that answers it.
#[derive(Debug, Clone, PartialEq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct VerifiedInput {
    /// The question, as people ask it.
    #[schema(min_length = 1, max_length = 1000)]
    pub text: String,
    /// The query over a domain that answers it.
    #[schema(value_type = Object)]
    pub query: Value,
}

/// A change of one record.
#[derive(Debug, Clone, PartialEq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ChangeInput {
    /// `{"change": "update", "domain": …, "key": …, "set": {…}}`; `insert` has no key, `delete` no set.
    #[schema(value_type = Object)]
    pub change: Value,
}

/// A change with what it does.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ChangeInfo {
    /// The change.
    pub change: RecordChange,
    /// What differs, field by field.
    pub difference: Vec<FieldDifference>,
    /// Whether it was written and can be taken back.
    pub undoable: bool,
}

/// A field before and after a change.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct FieldDifference {
    /// Its name.
    pub field: String,
    /// Its kind.
    pub kind: String,
    /// Its value before; null also for a new record.
    #[schema(value_type = Object)]
    pub before: Value,
    /// Its value after; null also for one that is deleted.
    #[schema(value_type = Object)]
    pub after: Value,
}

impl From<Difference> for FieldDifference {
    fn from(one: Difference) -> Self {
        Self { field: one.field, kind: one.kind.name().to_owned(), before: one.before, after: one.after }
    }
}
