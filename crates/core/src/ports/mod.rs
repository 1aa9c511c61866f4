//! Ports: what the core and the engine need from the world. Adapters implement them.
//!
//! Traits are object-safe (`async_trait`); the binary composes them.

mod access;
mod knowledge;
mod models;
mod runtime;
mod store;
mod tools;

pub use access::{Authenticator, LoginError, Principal, Role};
pub use knowledge::{EmbedError, Embedder};
pub use models::{ChunkStream, Models, Scored};
pub use runtime::{BlobError, Blobs, Clock, EventBus, EventStream, Ids};
pub use store::{
    Agents, ApprovalFilter, Approvals, Claim, Command, Commit, Connections, Conversation,
    Conversations, DueTimer, Facts, Lease, Note, Page, QueuedCommand, Reminder, RunFilter, RunRow,
    RunStatus, RunStore, Settings, SideWrite, StoreError, StoreResult, StoredEvent, User, Users,
};
pub use tools::{Authorized, ToolScope, Tools};
