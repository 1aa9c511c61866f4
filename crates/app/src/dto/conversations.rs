use super::runs::Run;
use serde::{Deserialize, Serialize};
use steward_core::event::Mode;
use steward_core::message::{self, Role};
use steward_core::reference::{Citation, GivenDocument};
use steward_core::{AgentId, ConnectionId, ConversationId, DocumentId, RunId, Timestamp, ports};
use utoipa::ToSchema;

/// A conversation in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Conversation {
    /// Its id.
    pub id: ConversationId,
    /// With whom.
    pub agent_id: AgentId,
    /// The agent's name.
    #[schema(required)]
    pub agent_name: Option<String>,
    /// What it is about.
    pub title: String,
    /// When it began.
    pub created_at: Timestamp,
    /// When something was last said or changed.
    pub updated_at: Timestamp,
    /// When it was deleted.
    #[schema(required)]
    pub deleted_at: Option<Timestamp>,
    /// The conversation that it branched off.
    #[schema(required)]
    pub forked_from: Option<ConversationId>,
    /// Its run that has not ended.
    #[schema(required)]
    pub open_run: Option<RunId>,
    /// Whether that run waits for a person or an alarm.
    pub waits: bool,
}

/// What was said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Message {
    /// Who said it.
    pub role: Role,
    /// The text.
    pub text: String,
    /// The passages of documents that it cites as `[1]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub citations: Vec<Citation>,
    /// The documents that were given with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub documents: Vec<GivenDocument>,
}

/// A conversation with all that its page shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ConversationDetail {
    /// The header.
    #[serde(flatten)]
    pub conversation: Conversation,
    /// What was said, oldest first.
    pub messages: Vec<Message>,
    /// Its newest 100 runs, oldest first.
    pub runs: Vec<Run>,
}

/// Another title.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Rename {
    /// The title.
    #[schema(min_length = 1, max_length = 200)]
    pub title: String,
}

/// Where to branch off.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ForkConversation {
    /// With what was said before this run; else with everything.
    pub before_run: Option<RunId>,
}

/// A message to an agent.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Chat {
    /// The message.
    #[schema(min_length = 1, max_length = 199_000)]
    pub message: String,
    /// Where it belongs; a new conversation if left out.
    pub conversation_id: Option<ConversationId>,
    /// Whether to plan first.
    #[serde(default = "loop_mode")]
    pub mode: Mode,
    /// A connection for all of its model calls, in place of the agent's.
    pub connection_id: Option<ConnectionId>,
    /// A connection for its plans alone, before `connection_id`.
    pub planner_connection_id: Option<ConnectionId>,
    /// A connection for all but its plans, before `connection_id`.
    pub executor_connection_id: Option<ConnectionId>,
    /// Files of the workspace that belong to it.
    #[serde(default)]
    #[schema(max_items = 20)]
    pub attachments: Vec<String>,
    /// Documents that it is about: passages of these come before all others, also for later messages of the conversation.
    #[serde(default)]
    #[schema(max_items = 20)]
    pub documents: Vec<DocumentId>,
}

fn loop_mode() -> Mode {
    Mode::Loop
}

/// A run that was begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ChatStarted {
    /// The run.
    pub run_id: RunId,
    /// Its conversation; null only for forks of runs without one.
    #[schema(required)]
    pub conversation_id: Option<ConversationId>,
}

impl Conversation {
    pub fn named(
        agent_name: Option<String>,
        row: ports::Conversation,
        open_run: Option<&ports::RunRow>,
        waits: bool,
    ) -> Self {
        let ports::Conversation { id, agent, title, created_at, updated_at, deleted_at, forked_from, .. } = row;
        let (agent_id, open_run) = (agent, open_run.map(|run| run.id));
        Self { id, agent_id, agent_name, title, created_at, updated_at, deleted_at, forked_from, open_run, waits }
    }
}

impl From<message::Message> for Message {
    fn from(message: message::Message) -> Self {
        Self { role: message.role, text: message.text, citations: message.citations, documents: message.documents }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::Chat;
    use serde_json::json;
    use steward_core::event::Mode;

    #[test]
    fn a_chat_needs_no_more_than_its_message() {
        let chat: Chat = serde_json::from_value(json!({"message": "Hello"})).unwrap();
        assert_eq!(chat.mode, Mode::Loop);
        assert!(chat.attachments.is_empty() && chat.conversation_id.is_none());
        let wrong = json!({"message": "Hello", "mode": "plan_first"});
        assert!(serde_json::from_value::<Chat>(wrong).is_err());
    }
}
