use super::store_result::StoreError;
use crate::datasource::{DomainText, DomainTextKind, RecordChange, RecordChangeState};
use crate::provenance::Provenance;
use crate::{AgentId, RecordChangeId, RunId, UserId};
use async_trait::async_trait;
use serde_json::Value;
use std::sync::{Arc, OnceLock};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordChangeFilter {
    pub state: Option<RecordChangeState>,
    /// Only those of this user.
    pub owner: Option<UserId>,
    /// Only those older than this one.
    pub before: Option<RecordChangeId>,
    pub limit: u32,
}

/// Who asks about data, or changes how it is described.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DataCaller {
    /// Whose rights hold; `None`: nobody's, which opens only what everybody may see.
    pub user: Option<UserId>,
    pub agent: Option<AgentId>,
    pub run: Option<RunId>,
}

/// What the prompt of a run says about data.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DataBriefing {
    /// Empty: there are no domains that its user may see.
    pub text: String,
    /// That of all texts in it.
    pub provenance: Provenance,
}

/// A described part of a database that may answer.
#[derive(Debug, Clone, PartialEq)]
pub struct SchemaPassage {
    pub domain: String,
    pub text: String,
    /// From 0 to 2: words and meaning.
    pub score: f32,
    /// That of the texts that it is from.
    pub provenance: Provenance,
}

/// Rows as a model may see them.
#[derive(Debug, Clone, PartialEq)]
pub struct DataAnswer {
    pub domain: String,
    pub datasource: String,
    /// What was asked, as it was understood.
    pub query: Value,
    pub columns: Vec<DataColumn>,
    /// Each with the columns' values in order.
    pub rows: Vec<Vec<Value>>,
    /// Rows that the query found, of which `rows` may show some only.
    pub found: usize,
    /// Whether there are more than were read.
    pub truncated: bool,
    /// What the next page begins after.
    pub next: Option<String>,
    /// How it is shown best: `empty`, `number`, `row`, `table` or `series`.
    pub shape: Value,
    /// Why rows are left out, if they are.
    pub note: Option<String>,
    pub sql: String,
    /// Columns with texts that strangers may have written, among the rows.
    pub untrusted: Vec<String>,
    /// Where a trusted datasource lies in the workspace: what is recorded of it there counts all the same.
    pub files: Vec<String>,
    /// That of the domain's text, which the names of columns are from.
    pub described: Provenance,
}

/// A query that was read from the words of a request.
#[derive(Debug, Clone, PartialEq)]
pub struct DataDraft {
    pub query: Value,
    /// The query in a few words.
    pub said: String,
    /// Whether it asks for one number.
    pub number: bool,
    /// Words that were not understood.
    pub unread: Vec<String>,
    /// Whether so much is understood that its answer can be given.
    pub sure: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataColumn {
    pub name: String,
    /// A kind of field: `int`, `string`, `date`, …
    pub kind: String,
}

/// What saving a text has done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedText {
    pub text: DomainText,
    /// Lines that went and came, as in a patch; empty for a text that is new or as it was.
    pub diff: String,
    /// What is not wrong, but may not be meant.
    pub warnings: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum DataError {
    /// What who asks can mend: the message says how.
    #[error("{0}")]
    Refused(String),
    /// The database could not be asked.
    #[error("{0}")]
    Failed(String),
    /// The file or folder of a datasource is gone or is none: trying again doesn't help.
    #[error("the datasource `{datasource}` can't be used: {why}")]
    Unusable { datasource: String, why: String },
    /// The database refused, in its own words, which may quote what strangers wrote into it.
    #[error("the datasource `{datasource}`: {why}")]
    Quoted { datasource: String, why: String },
    /// Too much waits for it already: in a moment it may go.
    #[error("{0}")]
    Busy(String),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Where the domains of a tenant are put once they are there; empty: there are none.
pub type DataSlot = Arc<OnceLock<Arc<dyn DataAccess>>>;

/// Databases through their domains, as runs use them.
#[async_trait]
pub trait DataAccess: Send + Sync {
    /// Standing instructions, the index of domains and worked examples, for the prompt of a run. `request`: where it
    /// clearly means one domain, its fields take the place of the examples.
    async fn briefing(&self, caller: DataCaller, request: &str) -> Result<DataBriefing, DataError>;
    /// The described parts that a request means, the best first.
    async fn search_schema(
        &self,
        caller: DataCaller,
        request: &str,
        limit: usize,
    ) -> Result<Vec<SchemaPassage>, DataError>;
    /// `query`: an object with `domain`, `fields`, `where` and so on, or a text of GraphQL.
    async fn query(&self, caller: DataCaller, query: &Value) -> Result<DataAnswer, DataError>;
    /// The query that a request asks for, made of what its words name, without a model; `None`: they name nothing.
    /// `today`: as `2024-01-31`.
    async fn draft(&self, caller: DataCaller, request: &str, today: &str) -> Result<Option<DataDraft>, DataError>;
    /// All domains and views.
    async fn domain_texts(&self, caller: DataCaller) -> Result<Vec<DomainText>, DataError>;
    async fn domain_source(
        &self,
        caller: DataCaller,
        kind: DomainTextKind,
        name: &str,
    ) -> Result<DomainText, DataError>;
    /// Checks and saves the text of one domain or view. `provenance`: that of the run, which is added to that of the text
    /// that was there.
    async fn save_domain_source(
        &self,
        caller: DataCaller,
        kind: DomainTextKind,
        text: &str,
        provenance: &Provenance,
    ) -> Result<SavedText, DataError>;
    /// Has a person asked whether a record is to be changed.
    async fn propose_change(&self, caller: DataCaller, change: &Value) -> Result<RecordChange, DataError>;
}
