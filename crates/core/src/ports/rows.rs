//! Storage of everything that is not a run.

use super::store::{Page, StoreResult};
use crate::agent::Agent;
use crate::approval::Approval;
use crate::message::Message;
use crate::model::Connection;
use crate::prompt::Carried;
use crate::{AgentId, ApprovalId, ConnectionId, ConversationId, RunId, TenantId, Timestamp, UserId};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Which inbox entries.
#[derive(Debug, Clone, Default)]
pub struct ApprovalFilter {
    /// Only unanswered ones.
    pub open: bool,
    /// Only answered or withdrawn ones.
    pub closed: bool,
    /// Only of this run.
    pub run: Option<RunId>,
    /// Only those after this one in the order of the list (cursor).
    pub after: Option<ApprovalId>,
    /// At most so many.
    pub limit: u32,
}

/// The inbox.
#[async_trait]
pub trait Approvals: Send + Sync {
    /// Open ones oldest first, else newest first.
    async fn approvals(&self, tenant: TenantId, filter: ApprovalFilter) -> StoreResult<Page<Approval>>;
    /// One entry.
    async fn approval(&self, tenant: TenantId, id: ApprovalId) -> StoreResult<Approval>;
}

/// Agents.
#[async_trait]
pub trait Agents: Send + Sync {
    /// Makes or replaces by id; a name that another has is a conflict.
    async fn save_agent(&self, tenant: TenantId, agent: &Agent) -> StoreResult<()>;
    /// Replaces `before` by `after`, of the same id, and says whether it did: not if the agent is no longer as
    /// `before`, since then `after` was made of what was. [`super::StoreError::NotFound`] if it is gone.
    async fn change_agent(&self, tenant: TenantId, before: &Agent, after: &Agent) -> StoreResult<bool>;
    /// One agent.
    async fn agent(&self, tenant: TenantId, id: AgentId) -> StoreResult<Agent>;
    /// By name.
    async fn agent_by_name(&self, tenant: TenantId, name: &str) -> StoreResult<Option<Agent>>;
    /// All that are not deleted, by name.
    async fn agents(&self, tenant: TenantId) -> StoreResult<Vec<Agent>>;
    /// Marks it deleted: no list shows it and its name is free. Its runs stay.
    async fn delete_agent(&self, tenant: TenantId, id: AgentId, at: Timestamp) -> StoreResult<()>;
    /// Those that are deleted, by name.
    async fn deleted_agents(&self, tenant: TenantId) -> StoreResult<Vec<Agent>>;
    /// Takes a deletion back; [`super::StoreError::Conflict`] if its name was taken meanwhile.
    async fn restore_agent(&self, tenant: TenantId, id: AgentId) -> StoreResult<Agent>;
}

/// A conversation's header.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Conversation {
    /// Its id.
    pub id: ConversationId,
    /// With whom.
    pub agent: AgentId,
    /// Whose.
    pub user: Option<UserId>,
    /// What it is about.
    pub title: String,
    /// When it began.
    pub created_at: Timestamp,
    /// When something was last said or changed.
    pub updated_at: Timestamp,
    /// When it was deleted.
    pub deleted_at: Option<Timestamp>,
    /// The conversation that this one branched off.
    pub forked_from: Option<ConversationId>,
}

/// Which conversations; newest (by when they began) first.
#[derive(Debug, Clone, Default)]
pub struct ConversationFilter {
    /// Only of this user.
    pub user: Option<UserId>,
    /// Beside theirs, those of nobody: of the command line without a server.
    pub nobody: bool,
    /// Only with this agent.
    pub agent: Option<AgentId>,
    /// Only with this text in the title or a message, whatever the case.
    pub text: Option<String>,
    /// Only deleted ones; else only others.
    pub deleted: bool,
    /// Only older than this one (cursor).
    pub before: Option<ConversationId>,
    /// At most so many.
    pub limit: u32,
}

/// Conversations.
#[async_trait]
pub trait Conversations: Send + Sync {
    /// Begins one.
    async fn create_conversation(&self, tenant: TenantId, conversation: &Conversation) -> StoreResult<()>;
    /// Its header.
    async fn conversation(&self, tenant: TenantId, id: ConversationId) -> StoreResult<Conversation>;
    /// What its prompts begin with.
    async fn carried(&self, _tenant: TenantId, _id: ConversationId) -> StoreResult<Carried> {
        Ok(Carried::default())
    }
    /// Its messages, in order.
    async fn messages(&self, tenant: TenantId, id: ConversationId) -> StoreResult<Vec<Message>>;
    /// One page.
    async fn conversations(&self, tenant: TenantId, filter: ConversationFilter) -> StoreResult<Page<Conversation>>;
    /// Another title.
    async fn rename_conversation(
        &self,
        tenant: TenantId,
        id: ConversationId,
        title: &str,
        at: Timestamp,
    ) -> StoreResult<()>;
    /// Marks it deleted (`Some`) or takes that back (`None`). Nothing is lost.
    async fn mark_deleted(&self, tenant: TenantId, id: ConversationId, at: Option<Timestamp>) -> StoreResult<()>;
    /// Begins `copy` with the messages that `from` had when `before` was made (all: `None`).
    async fn fork_conversation(
        &self,
        tenant: TenantId,
        from: ConversationId,
        before: Option<RunId>,
        copy: &Conversation,
    ) -> StoreResult<()>;
}

/// Settings: JSON values by name.
#[async_trait]
pub trait Settings: Send + Sync {
    /// A value.
    async fn setting(&self, tenant: TenantId, name: &str) -> StoreResult<Option<Value>>;
    /// Sets one.
    async fn set_setting(&self, tenant: TenantId, name: &str, value: &Value) -> StoreResult<()>;
}

/// Connections.
#[async_trait]
pub trait Connections: Send + Sync {
    /// Makes or replaces by id; a name that another has is a conflict.
    async fn save_connection(&self, tenant: TenantId, connection: &Connection) -> StoreResult<()>;
    /// All, by name.
    async fn connections(&self, tenant: TenantId) -> StoreResult<Vec<Connection>>;
    /// Removes one.
    async fn remove_connection(&self, tenant: TenantId, id: ConnectionId) -> StoreResult<()>;
}

/// A user. The password hash is in PHC string format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// Its id.
    pub id: UserId,
    /// Lower case.
    pub email: String,
    /// To show.
    pub name: String,
    /// One of [`super::Role`], lower case.
    pub role: String,
    /// Argon2id, PHC format; `None`: no password login.
    pub password_hash: Option<String>,
    /// SHA-256 of the API key, hexadecimal.
    pub api_key_hash: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
}

/// A login that can be prolonged: one per browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoginSession {
    /// Its id.
    pub id: uuid::Uuid,
    /// Whose.
    pub user: UserId,
    /// SHA-256 of the refresh token in force, hexadecimal.
    pub token_hash: String,
    /// That of the one before; it shows theft, but for a moment after a rotation.
    pub previous_hash: Option<String>,
    /// When the token was last rotated.
    pub rotated_at: Timestamp,
    /// When it began.
    pub created_at: Timestamp,
    /// When it ends.
    pub expires_at: Timestamp,
    /// What the browser calls itself.
    pub label: String,
}

/// Logins.
#[async_trait]
pub trait LoginSessions: Send + Sync {
    /// Begins one.
    async fn create_session(&self, tenant: TenantId, session: &LoginSession) -> StoreResult<()>;
    /// By a token's hash, in force or the one before.
    async fn session_by_token(&self, tenant: TenantId, hash: &str) -> StoreResult<Option<LoginSession>>;
    /// Replaces the token if `old` is still in force; `false` if it is not.
    async fn rotate_session(
        &self,
        tenant: TenantId,
        id: uuid::Uuid,
        old: &str,
        new: &str,
        at: Timestamp,
        expires_at: Timestamp,
    ) -> StoreResult<bool>;
    /// Ends one.
    async fn end_session(&self, tenant: TenantId, id: uuid::Uuid) -> StoreResult<()>;
    /// Ends all of a user but `keep`; returns how many.
    async fn end_sessions(&self, tenant: TenantId, user: UserId, keep: Option<uuid::Uuid>) -> StoreResult<u64>;
    /// Those of a user that have not ended by `now`, newest first.
    async fn sessions(&self, tenant: TenantId, user: UserId, now: Timestamp) -> StoreResult<Vec<LoginSession>>;
}

/// What became of a request with an idempotency key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remembered {
    /// First time: do it, then [`Idempotency::remember`].
    New,
    /// Begun, its end is not known.
    Begun,
    /// Same key, other request.
    Other,
    /// Done: the answer then.
    Done {
        /// HTTP status.
        status: u16,
        /// Body.
        body: String,
    },
}

/// Idempotency keys of writes through the API.
#[async_trait]
pub trait Idempotency: Send + Sync {
    /// Notes the key of `owner` with a hash of the request, unless it is known. Keys older than
    /// `forget` are forgotten first.
    async fn begin(
        &self,
        tenant: TenantId,
        owner: &str,
        key: &str,
        request_hash: &str,
        at: Timestamp,
        forget: Timestamp,
    ) -> StoreResult<Remembered>;
    /// Keeps the answer.
    async fn remember(&self, tenant: TenantId, owner: &str, key: &str, status: u16, body: &str) -> StoreResult<()>;
    /// Forgets a key whose request changed nothing.
    async fn forget(&self, tenant: TenantId, owner: &str, key: &str) -> StoreResult<()>;
}

/// A permission that outlives its run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = AgentGrant))]
pub struct StandingGrant {
    /// Its id.
    pub id: uuid::Uuid,
    /// For which agent.
    pub agent: AgentId,
    /// What it covers, and until when.
    pub grant: crate::policy::Grant,
    /// Who gave it.
    pub by: String,
    /// When.
    pub created_at: Timestamp,
}

/// Standing permissions.
#[async_trait]
pub trait Grants: Send + Sync {
    /// Gives one.
    async fn save_grant(&self, tenant: TenantId, grant: &StandingGrant) -> StoreResult<()>;
    /// Those in force at `now`, of one agent or of all, newest first.
    async fn grants(&self, tenant: TenantId, agent: Option<AgentId>, now: Timestamp)
    -> StoreResult<Vec<StandingGrant>>;
    /// Takes one back.
    async fn revoke_grant(&self, tenant: TenantId, id: uuid::Uuid) -> StoreResult<()>;
}

/// A run kept as a regression test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct KeptRun {
    /// Its name, unique.
    pub name: String,
    /// The run.
    #[serde(rename = "run_id")]
    pub run: RunId,
    /// Who kept it.
    pub by: String,
    /// When.
    pub created_at: Timestamp,
}

/// Runs kept as tests.
#[async_trait]
pub trait KeptRuns: Send + Sync {
    /// Keeps one; a name that another has is a conflict.
    async fn keep_run(&self, tenant: TenantId, kept: &KeptRun) -> StoreResult<()>;
    /// All, by name.
    async fn kept_runs(&self, tenant: TenantId) -> StoreResult<Vec<KeptRun>>;
    /// Lets go of one; the run stays.
    async fn drop_kept(&self, tenant: TenantId, name: &str) -> StoreResult<()>;
}

/// Users.
#[async_trait]
pub trait Users: Send + Sync {
    /// Makes or replaces by id; an email that another has is a conflict.
    async fn save_user(&self, tenant: TenantId, user: &User) -> StoreResult<()>;
    /// By id.
    async fn user(&self, tenant: TenantId, id: UserId) -> StoreResult<Option<User>>;
    /// By email.
    async fn user_by_email(&self, tenant: TenantId, email: &str) -> StoreResult<Option<User>>;
    /// By the hash of an API key.
    async fn user_by_api_key(&self, tenant: TenantId, hash: &str) -> StoreResult<Option<User>>;
    /// How many there are.
    async fn user_count(&self, tenant: TenantId) -> StoreResult<u64>;
    /// A number that has changed when a change of a user or a virtual key is acknowledged, so that what was looked up before
    /// can be used until then. `None`: others may change them too, so nothing can be.
    fn identities(&self) -> Option<u64> {
        None
    }
}

/// A note of an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Note {
    /// Unique per agent.
    pub title: String,
    /// Its text.
    pub text: String,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// A reminder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reminder {
    /// Its id, of the call that made it.
    pub id: String,
    /// When.
    pub at: Timestamp,
    /// What.
    pub text: String,
    /// Whether it is done.
    pub done: bool,
}

/// What agents keep for themselves: memory, notes, reminders, drafts.
#[async_trait]
pub trait Facts: Send + Sync {
    /// The memory text and its version (0: none yet).
    async fn memory(&self, tenant: TenantId, agent: AgentId) -> StoreResult<(String, u64)>;
    /// Replaces it if `version` is still the newest, else [`StoreError::Conflict`].
    async fn save_memory(&self, tenant: TenantId, agent: AgentId, text: &str, version: u64) -> StoreResult<()>;
    /// Makes or replaces a note; returns the one before.
    async fn save_note(&self, tenant: TenantId, agent: AgentId, note: &Note) -> StoreResult<Option<Note>>;
    /// Removes a note.
    async fn remove_note(&self, tenant: TenantId, agent: AgentId, title: &str) -> StoreResult<()>;
    /// Notes by title.
    async fn notes(&self, tenant: TenantId, agent: AgentId) -> StoreResult<Vec<Note>>;
    /// Makes or replaces a reminder by id.
    async fn save_reminder(&self, tenant: TenantId, agent: AgentId, reminder: &Reminder) -> StoreResult<()>;
    /// Removes a reminder; its row stays, marked.
    async fn remove_reminder(&self, tenant: TenantId, agent: AgentId, id: &str) -> StoreResult<()>;
    /// Reminders by time.
    async fn reminders(&self, tenant: TenantId, agent: AgentId) -> StoreResult<Vec<Reminder>>;
    /// Those of all agents, by time.
    async fn all_reminders(&self, tenant: TenantId) -> StoreResult<Vec<(AgentId, Reminder)>>;
}
