//! What a run is started with.

use steward_core::agent::Agent;
use steward_core::event::{Mode, Origin, RequestSource};
use steward_core::message::Message;
use steward_core::policy::Grant;
use steward_core::ports::StartedBy;
use steward_core::provenance::Provenance;
use steward_core::reference::GivenDocument;
use steward_core::{ConnectionId, ConversationId, KeyId, UserId};

#[derive(Debug, Clone)]
pub struct StartRun {
    pub agent: Agent,
    pub input: String,
    pub conversation: Option<ConversationId>,
    /// Earlier messages that the caller keeps (OpenAI API), with what of outside they may derive from.
    pub history: Vec<Message>,
    /// Documents that are given with it, which its user may read.
    pub documents: Vec<GivenDocument>,
    pub mode: Mode,
    pub origin: Origin,
    pub asked_by: String,
    pub workspace: String,
    pub grants: Vec<Grant>,
    /// For all of its model calls.
    pub connection: Option<ConnectionId>,
    /// For its plans alone, before `connection`.
    pub planner: Option<ConnectionId>,
    /// For all but its plans, before `connection`.
    pub executor: Option<ConnectionId>,
    /// Whether the intent filter narrows the tools.
    pub intent_filter: bool,
    /// Whose it is, if a user asks.
    pub user: Option<UserId>,
    /// Whether its client asks again itself when the model fails in passing, so that the engine does not.
    pub client_retries: bool,
    /// The virtual key they ask with.
    pub key: Option<KeyId>,
    /// Whose account asks, and from where; `None`: the program itself.
    pub source: Option<RequestSource>,
    /// What starts it without a person.
    pub started_by: Option<StartedBy>,
    /// Where its text comes from, if it isn't the words of who asks.
    pub outside: Provenance,
}
