//! The application: one method of [`App`] for each use case, with its authorization, rules and limits. HTTP, the MCP
//! server and the command line are skins over it.

mod agent_editors;
mod agent_lookup;
mod agents;
mod app;
mod approvals;
mod audit;
mod authorize;
mod automation;
mod backups;
mod budgets;
mod caller;
mod collections;
pub mod config;
mod connections;
mod conversations;
mod credentials;
mod data_rules;
mod datasources;
mod disk_room;
mod document_service;
mod documents;
mod domain_service;
mod domains;
pub mod dto;
mod erasure;
mod error;
mod files;
mod gateway;
mod governance;
mod groups;
mod health;
mod heavy_work;
mod hook_doors;
mod hooks;
mod host_paths;
mod identity;
mod inputs;
mod keys;
mod mcp_servers;
mod metrics;
mod monitoring;
mod own_data;
mod packages;
mod policies;
mod quotas;
mod record_changes;
mod reminders;
mod resource_access;
mod responses;
mod retention;
mod routing;
mod runs;
mod sample;
mod schedules;
mod scim;
mod settings;
mod skills;
mod storage;
mod subscriptions;
mod tenants;
mod tool_calls;
mod unattended;
mod usage;
mod users;
mod workspace_tables;

pub use agent_editors::StoredEditors;
pub use agents::default_agent;
pub use app::{App, AppParts};
pub use approvals::ApprovalsWanted;
pub use audit::{AuditFormat, seal_audit};
pub use authorize::{Action, Resource, authorize, require_role};
pub use automation::Automation;
pub use backups::{
    BackupError, BackupHead, BackupManifest, ErasedPerson, RestoredCheck, TenantCheck, Unpacked, backup_is_sealed,
    read_erased, unpack,
};
pub use caller::Caller;
pub use connections::{ConnectionRegistry, ExamPrompts, KeyVariables, NoConnection, RegistryParts, RegistrySettings};
pub use conversations::ConversationSearch;
pub use disk_room::{DiskRoom, DiskSpace};
pub use document_service::{
    CallMeter, DocumentParts, DocumentService, EmbeddingModels, EmbeddingStatus, EndpointParts, OriginalsProgress,
    VisionModel, VisionUse,
};
pub use documents::{DocumentUpload, DocumentWish, Whose};
pub use domain_service::{DomainParts, DomainService};
pub use error::{AppError, ErrorKind, FieldProblem};
pub use files::FileUpload;
pub use gateway::{NotPassed, Reservation, UsageWriter};
pub use health::{AboutFacts, Check, Found, Health, checks};
pub use hooks::{HookCall, HookSearch, Received};
pub use metrics::{CountingBus, Metrics, MetricsFormat};
pub use packages::PackageSource;
pub use quotas::UploadLedger;
pub use responses::{AnswerRequest, Attached, AwaitedStart, Starting};
pub use runs::{EarlierMessages, MAX_MESSAGE, RunRequest, RunSearch};
pub use schedules::ScheduleSearch;
pub use scim::{ScimCaller, ScimError, ScimQuery};
pub use steward_access::{
    AcceptInvitation, Access, AccessError, Account, Arrival, Enrolment, Identity, LogIn, OpenSession, SecondStep,
    SignOnError, claimed_tenant,
};
pub use steward_engine::EngineError;
pub use steward_models::embed::CrossEncoder;
pub use steward_tools::mcp::LoginAnswer;
pub use tenants::{TenantOpener, Tenants, keep_tenants, work_in_background};
pub use tool_calls::ReadingToolError;
pub use workspace_tables::WorkspaceTables;
