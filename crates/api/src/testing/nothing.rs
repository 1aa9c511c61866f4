//! A store, models and tools that have nothing and refuse everything.

use async_trait::async_trait;
use serde_json::Value;
use std::path::Path;
use steward_core::agent::Agent;
use steward_core::approval::Approval;
use steward_core::event::{Event, EventBody, Setup};
use steward_core::exam::{Check, ExamReport};
use steward_core::message::Message;
use steward_core::model::{Auth, Connection, ModelError, ModelErrorClass, ModelRequest};
use steward_core::ports::{
    Agents, ApprovalFilter, Approvals, Authorized, ChunkStream, Claim, Command, Commit, ConnectionHealth,
    ConnectionTest, ConnectionsError, Conversation, ConversationFilter, Conversations, DueTimer, EmbedError, Embedder,
    EventBus, EventStream, Examiner, Facts, Grants, Intent, IntentError, KeptRun, KeptRuns, KnownConnection, Lease,
    ManagedConnections, ModelCall, Models, NoAnswer, Note, Opened, Page, Proposal, QueuedCommand, Ranking, Recognised,
    Reminder, Route, RouteRequest, RunFilter, RunRow, RunStore, Scored, Settings, SideWrite, StandingGrant, StoreError,
    StoreResult, StoredEvent, ToolScope, Tools, TypedKey,
};
use steward_core::tool::{Preview, Staged, ToolCall, ToolError, ToolOutput, ToolSpec, Undo};
use steward_core::{AgentId, ApprovalId, ConnectionId, ConversationId, RunId, TenantId, Timestamp};
use uuid::Uuid;

pub(crate) struct Nothing;

fn gone() -> StoreError {
    StoreError::Backend("there is no store in this test".to_owned())
}

fn no_model() -> ModelError {
    ModelError {
        class: ModelErrorClass::Connect,
        message: "there is no model in this test".to_owned(),
        hint: "test it elsewhere".to_owned(),
        detail: None,
        retry_after_ms: None,
    }
}

#[async_trait]
impl RunStore for Nothing {
    async fn create_run(
        &self,
        _: RunRow,
        _: Vec<EventBody>,
        _: Vec<SideWrite>,
        _: &str,
        _: Timestamp,
    ) -> StoreResult<Lease> {
        Err(gone())
    }
    async fn commit(&self, _: Commit) -> StoreResult<Vec<Event>> {
        Err(gone())
    }
    async fn events(&self, _: TenantId, _: RunId, _: u64, _: u32) -> StoreResult<Vec<StoredEvent>> {
        Err(gone())
    }
    async fn staged_since(&self, _: TenantId, _: RunId, _: Timestamp) -> StoreResult<Vec<Staged>> {
        Err(gone())
    }
    async fn claim(&self, _: Claim, _: &str, _: Timestamp, _: Timestamp) -> StoreResult<Option<Lease>> {
        Err(gone())
    }
    async fn renew(&self, _: &Lease, _: Timestamp) -> StoreResult<()> {
        Err(gone())
    }
    async fn release(&self, _: &Lease) -> StoreResult<()> {
        Err(gone())
    }
    async fn run(&self, _: TenantId, _: RunId) -> StoreResult<RunRow> {
        Err(gone())
    }
    async fn runs(&self, _: TenantId, _: RunFilter) -> StoreResult<Page<RunRow>> {
        Err(gone())
    }
    async fn push_command(&self, _: TenantId, _: RunId, _: Command) -> StoreResult<()> {
        Err(gone())
    }
    async fn commands(&self, _: TenantId, _: RunId) -> StoreResult<Vec<QueuedCommand>> {
        Err(gone())
    }
    async fn due_timers(&self, _: Timestamp, _: u32) -> StoreResult<Vec<DueTimer>> {
        Err(gone())
    }
    async fn check(&self) -> StoreResult<()> {
        Err(gone())
    }
}

#[async_trait]
impl Approvals for Nothing {
    async fn approvals(&self, _: TenantId, _: ApprovalFilter) -> StoreResult<Page<Approval>> {
        Err(gone())
    }
    async fn approval(&self, _: TenantId, _: ApprovalId) -> StoreResult<Approval> {
        Err(gone())
    }
}

#[async_trait]
impl Agents for Nothing {
    async fn save_agent(&self, _: TenantId, _: &Agent) -> StoreResult<()> {
        Err(gone())
    }
    async fn change_agent(&self, _: TenantId, _: &Agent, _: &Agent) -> StoreResult<bool> {
        Err(gone())
    }
    async fn agent(&self, _: TenantId, _: AgentId) -> StoreResult<Agent> {
        Err(gone())
    }
    async fn agent_by_name(&self, _: TenantId, _: &str) -> StoreResult<Option<Agent>> {
        Err(gone())
    }
    async fn agents(&self, _: TenantId) -> StoreResult<Vec<Agent>> {
        Err(gone())
    }
    async fn delete_agent(&self, _: TenantId, _: AgentId, _: Timestamp) -> StoreResult<()> {
        Err(gone())
    }
    async fn deleted_agents(&self, _: TenantId) -> StoreResult<Vec<Agent>> {
        Err(gone())
    }
    async fn restore_agent(&self, _: TenantId, _: AgentId) -> StoreResult<Agent> {
        Err(gone())
    }
}

#[async_trait]
impl Conversations for Nothing {
    async fn create_conversation(&self, _: TenantId, _: &Conversation) -> StoreResult<()> {
        Err(gone())
    }
    async fn conversation(&self, _: TenantId, _: ConversationId) -> StoreResult<Conversation> {
        Err(gone())
    }
    async fn messages(&self, _: TenantId, _: ConversationId) -> StoreResult<Vec<Message>> {
        Err(gone())
    }
    async fn conversations(&self, _: TenantId, _: ConversationFilter) -> StoreResult<Page<Conversation>> {
        Err(gone())
    }
    async fn rename_conversation(&self, _: TenantId, _: ConversationId, _: &str, _: Timestamp) -> StoreResult<()> {
        Err(gone())
    }
    async fn mark_deleted(&self, _: TenantId, _: ConversationId, _: Option<Timestamp>) -> StoreResult<()> {
        Err(gone())
    }
    async fn fork_conversation(
        &self,
        _: TenantId,
        _: ConversationId,
        _: Option<RunId>,
        _: &Conversation,
    ) -> StoreResult<()> {
        Err(gone())
    }
}

#[async_trait]
impl Settings for Nothing {
    async fn setting(&self, _: TenantId, _: &str) -> StoreResult<Option<Value>> {
        Err(gone())
    }
    async fn set_setting(&self, _: TenantId, _: &str, _: &Value) -> StoreResult<()> {
        Err(gone())
    }
}

#[async_trait]
impl Facts for Nothing {
    async fn memory(&self, _: TenantId, _: AgentId) -> StoreResult<(String, u64)> {
        Err(gone())
    }
    async fn save_memory(&self, _: TenantId, _: AgentId, _: &str, _: u64) -> StoreResult<()> {
        Err(gone())
    }
    async fn save_note(&self, _: TenantId, _: AgentId, _: &Note) -> StoreResult<Option<Note>> {
        Err(gone())
    }
    async fn remove_note(&self, _: TenantId, _: AgentId, _: &str) -> StoreResult<()> {
        Err(gone())
    }
    async fn notes(&self, _: TenantId, _: AgentId) -> StoreResult<Vec<Note>> {
        Err(gone())
    }
    async fn save_reminder(&self, _: TenantId, _: AgentId, _: &Reminder) -> StoreResult<()> {
        Err(gone())
    }
    async fn remove_reminder(&self, _: TenantId, _: AgentId, _: &str) -> StoreResult<()> {
        Err(gone())
    }
    async fn reminders(&self, _: TenantId, _: AgentId) -> StoreResult<Vec<Reminder>> {
        Err(gone())
    }
    async fn all_reminders(&self, _: TenantId) -> StoreResult<Vec<(AgentId, Reminder)>> {
        Err(gone())
    }
}

#[async_trait]
impl Grants for Nothing {
    async fn save_grant(&self, _: TenantId, _: &StandingGrant) -> StoreResult<()> {
        Err(gone())
    }
    async fn grants(&self, _: TenantId, _: Option<AgentId>, _: Timestamp) -> StoreResult<Vec<StandingGrant>> {
        Err(gone())
    }
    async fn revoke_grant(&self, _: TenantId, _: Uuid) -> StoreResult<()> {
        Err(gone())
    }
}

#[async_trait]
impl KeptRuns for Nothing {
    async fn keep_run(&self, _: TenantId, _: &KeptRun) -> StoreResult<()> {
        Err(gone())
    }
    async fn kept_runs(&self, _: TenantId) -> StoreResult<Vec<KeptRun>> {
        Err(gone())
    }
    async fn drop_kept(&self, _: TenantId, _: &str) -> StoreResult<()> {
        Err(gone())
    }
}

#[async_trait]
impl ManagedConnections for Nothing {
    async fn list(&self) -> Vec<KnownConnection> {
        Vec::new()
    }
    async fn save(&self, _: Connection, _: TypedKey) -> Result<(), ConnectionsError> {
        Err(gone().into())
    }
    async fn remove(&self, _: ConnectionId) -> Result<(), ConnectionsError> {
        Err(gone().into())
    }
    async fn set_default(&self, _: ConnectionId) -> Result<(), ConnectionsError> {
        Err(gone().into())
    }
    async fn test(&self, _: ConnectionId) -> Result<ConnectionTest, ModelError> {
        Err(no_model())
    }
}

#[async_trait]
impl Examiner for Nothing {
    async fn examine(
        &self,
        _: ConnectionId,
        _: &(dyn for<'c> Fn(&'c Check) + Send + Sync),
    ) -> Result<ExamReport, ModelError> {
        Err(no_model())
    }
    async fn report(&self, _: ConnectionId) -> Option<ExamReport> {
        None
    }
    async fn recognise(&self, _: &str, _: &Auth, _: TypedKey) -> Result<Recognised, ModelError> {
        Err(no_model())
    }
}

#[async_trait]
impl Models for Nothing {
    async fn select(&self, _: Option<ConnectionId>) -> Result<Connection, ModelError> {
        Err(no_model())
    }
    async fn route(&self, _: RouteRequest<'_>) -> Result<Route, ModelError> {
        Err(no_model())
    }
    async fn open(&self, _: ModelCall<'_>) -> Result<Opened, NoAnswer> {
        Err(NoAnswer { error: no_model(), attempts: Vec::new() })
    }
    async fn health(&self) -> Vec<ConnectionHealth> {
        Vec::new()
    }
    async fn stream(&self, _: ConnectionId, _: ModelRequest) -> Result<ChunkStream, ModelError> {
        Err(no_model())
    }
    async fn score(&self, _: ConnectionId, _: ModelRequest, _: &[String]) -> Result<Vec<Scored>, ModelError> {
        Err(no_model())
    }
}

#[async_trait]
impl Tools for Nothing {
    fn catalogue(&self) -> Vec<ToolSpec> {
        Vec::new()
    }
    async fn preview(&self, _: &ToolCall, _: &ToolScope) -> Preview {
        Preview::default()
    }
    async fn run(&self, _: Authorized, _: &ToolScope) -> Result<ToolOutput, ToolError> {
        Err(ToolError::Fatal("there are no tools in this test".to_owned()))
    }
    async fn undo(&self, _: &Undo, _: &ToolScope) -> Result<String, ToolError> {
        Err(ToolError::Fatal("there are no tools in this test".to_owned()))
    }
}

#[async_trait]
impl Intent for Nothing {
    async fn rank(&self, _: &str, _: &[ToolSpec]) -> Ranking {
        Ranking { tools: Vec::new(), wants_tool: false }
    }
    async fn propose(&self, _: &str, _: &Setup, _: &ToolScope) -> Result<Proposal, IntentError> {
        Err(IntentError::Panicked)
    }
    fn files(&self, _: &Path) -> Vec<String> {
        Vec::new()
    }
    fn tries(&self, _: &[String], _: &str) -> Vec<String> {
        Vec::new()
    }
}

#[async_trait]
impl Embedder for Nothing {
    async fn embed(&self, _: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        Err(EmbedError::Missing("none in this test".to_owned()))
    }
    fn model(&self) -> &'static str {
        "nothing"
    }
    fn dimension(&self) -> usize {
        0
    }
}

impl EventBus for Nothing {
    fn publish(&self, _: &Event) {}
    fn subscribe(&self, _: RunId) -> EventStream {
        Box::pin(futures::stream::pending())
    }
    fn subscribe_all(&self) -> EventStream {
        Box::pin(futures::stream::pending())
    }
}
