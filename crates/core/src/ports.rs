//! Ports: object-safe traits for what the rooms without a database of their own need from the world, and the rows of
//! tables. What only `app` asks of the database are methods of `steward_store::Store`.

mod access;
mod agents;
mod audit;
mod conversations;
mod documents;
mod domains;
mod groups;
mod hooks;
mod installation;
mod intent;
mod knowledge;
mod models;
mod runtime;
mod schedules;
mod scim;
mod sign_on;
mod skills;
mod spending;
mod store;
mod store_result;
mod subscriptions;
mod tools;
mod users;
mod vault;

pub use crate::started_by::{DeliveryKey, OccurrenceKey, StartedBy};
pub use access::{Authenticator, Challenge, LoginError, Principal, Role, VirtualKey};
pub use agents::{AgentEditors, Agents, Facts, Memory, Note, Reminder};
pub use audit::{AuditFilter, AuditOrder, ChainEnds, Pruned};
pub use conversations::{Conversation, ConversationFilter, Conversations};
pub use documents::{
    Added, ChunkKey, ChunkRow, ChunkVector, ClaimEnd, ClaimedDocument, CollectionChange, CollectionVectors,
    DocumentChange, DocumentFacts, DocumentFilter, IngestWork, JobFilter, NewDocument, ReadDocument,
};
pub use domains::{
    DataAccess, DataAnswer, DataBriefing, DataCaller, DataColumn, DataDraft, DataError, DataSlot, RecordChangeFilter,
    SavedText, SchemaPassage,
};
pub use groups::{ExternalGroups, Group, GroupChange, Groups, ResourceGrants};
pub use hooks::{
    Accepted, DeliveryContent, DeliveryFate, DeliveryRow, FATE_STARTED, HookBody, HookFilter, HookRow, HookSecret,
    NewDelivery,
};
pub use installation::{
    DeletedRows, DialectAnswer, MaskMapRow, Remembered, RetainedFilter, Settings, Tenant, TenantChange,
};
pub use intent::{
    Entry, FileDraft, FileForm, FileQuestion, FileWish, Intent, IntentError, Proposal, Ranking, WorkspaceReader,
};
pub use knowledge::{
    Classifier, DocumentPassage, EmbedError, Embedder, Extractor, FoundPassages, Knowledge, KnowledgeError,
    KnowledgeSlot, Labelled, PageReader, PassageQuery, PersonalData, PictureModel, RoughCounter, TokenCounter,
};
pub use models::{
    Assigned, Breaker, ByteStream, ChunkStream, ConnectionHealth, ConnectionTest, ConnectionsError, ExamState,
    Examiner, Gateway, KeptResponse, KnownConnection, ManagedConnections, ModelCall, Models, NoAnswer, Opened, Passage,
    Passed, Recognised, RequestFor, Route, RouteRequest, Scored, TypedKey,
};
pub use runtime::{BlobError, Blobs, Clock, EventBus, EventStream, Ids};
pub use schedules::{
    FATE_RAN, OccurrenceRow, ScheduleBody, ScheduleFilter, ScheduleRow, SettledFate, Settlement, StartedOccurrence,
};
pub use scim::{
    Counted, MemberChange, ScimDirectory, ScimGroupFilter, ScimRecord, ScimToken, ScimUser, ScimUserFilter,
};
pub use sign_on::{ExternalAccount, ExternalAccounts, LoginSecrets, SecondFactor, SecondFactors};
pub use skills::{McpServers, SkillFilter, SkillPackages, Skills};
pub use spending::{
    BudgetScope, Period, ReserveError, Reserved, SpendLimit, SpendLimits, SpendState, Spender, SpentRecord, UsageBy,
    UsageRow, VirtualKeys,
};
pub use store::{
    ApprovalFilter, Approvals, Claim, Command, Commit, DueTimer, FileProvenanceEntry, Grants, KeptRun, Lease, OpenRuns,
    QueuedCommand, RunCount, RunFilter, RunRow, RunStatus, RunStore, SideWrite, StoredEvent,
};
pub use store_result::{Page, StoreError, StoreResult};
pub use subscriptions::{
    DispatchOutcome, DispatchRow, DispatchTry, NewDispatch, SubscriptionBody, SubscriptionFilter, SubscriptionRow,
};
pub use tools::{AgentTools, Authorized, Interrupted, Stage, ToolScope, Tools};
pub use users::{
    Invitation, LoginSession, LoginSessions, User, UserChange, UserChangeError, UserFilter, UserState, Users,
};
pub use vault::{
    AutomationSecrets, ConnectionKeys, CredentialChange, CredentialRows, NewCredential, Opened as OpenedCredential,
    RunUser, SealedCredential, Vault, VaultError, given,
};
