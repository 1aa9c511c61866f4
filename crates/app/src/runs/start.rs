//! Beginning runs: a message of a conversation, or a request of a program that keeps its own history.

use crate::agent_lookup::of;
use crate::app::{Action, App, AppError, AppResult, Caller, Resource, authorize};
use crate::dto::conversations::{Chat, ChatStarted};
use steward_core::agent::Agent;
use steward_core::event::{Mode, Origin};
use steward_core::message::Message;
use steward_core::ports::{Conversation, RunStatus, RunStore as _, StoreError};
use steward_core::provenance::Provenance;
use steward_core::{AgentId, ConnectionId, ConversationId, RunId};
use steward_engine::{EngineError, StartRun};

/// Longest message, characters; the engine takes a little more for the whole request.
pub const MAX_MESSAGE: usize = 199_000;
const MAX_TITLE: usize = 120;

#[derive(Debug, Clone)]
pub struct RunRequest {
    pub agent: Agent,
    pub input: String,
    /// Messages before it, as the program tells them or as an earlier run has them.
    pub history: Vec<Message>,
    pub asked_by: String,
    /// Whether its client asks again itself when the model fails in passing, and goes on from this run then.
    pub client_retries: bool,
}

#[derive(Debug)]
pub enum EarlierMessages {
    /// There is no such run, or it is not for this caller.
    Missing,
    /// The run has not ended.
    Open,
    /// What was said up to and with its answer; the request says what of outside entered its run.
    Said(Vec<Message>),
}

impl App {
    /// The messages of an earlier answer that a program goes on from: only the key that asked for it may, if it still
    /// opens the agent, whatever else its user may see.
    pub async fn earlier_messages(&self, caller: &Caller, answer: &str) -> Result<EarlierMessages, EngineError> {
        let Some(id) = self.own_answer(caller, answer).await?.and_then(|answer| answer.run) else {
            return Ok(EarlierMessages::Missing);
        };
        let row = match self.store.run(self.tenant(), id).await {
            Ok(row) => row,
            Err(StoreError::NotFound(_)) => return Ok(EarlierMessages::Missing),
            Err(error) => return Err(error.into()),
        };
        if row.status != RunStatus::Finished {
            return Ok(EarlierMessages::Open);
        }
        let ended = self.runs.state(id).await?;
        let taint = ended.sources();
        let opened = |agent: &Agent| authorize(caller, Action::Read, of(agent)).is_ok();
        let Some(setup) = ended.setup.filter(|setup| opened(&setup.agent)) else {
            return Ok(EarlierMessages::Missing);
        };
        let mut said = setup.history.clone();
        said.push(Message { taint, classified: ended.classified.clone(), ..Message::user(&setup.input) });
        if let Some(answer) = row.answer.filter(|answer| !answer.is_empty()) {
            said.push(Message::assistant(answer));
        }
        Ok(EarlierMessages::Said(said))
    }

    /// Says something to an agent. The run is durable when this returns.
    pub async fn chat(&self, caller: &Caller, agent: AgentId, chat: Chat) -> AppResult<ChatStarted> {
        authorize(caller, Action::Ask, Resource::Agents)?;
        self.require_disk_room()?;
        let agent = self.agent_for(caller, Action::Ask, agent).await?;
        let input = self.with_attachments(checked_message(&chat)?, &chat.attachments).await?;
        let documents = self.given_documents(caller, &chat.documents).await?;
        let wanted = chat.connection_id;
        for named in [chat.planner_connection_id, chat.executor_connection_id].into_iter().flatten() {
            self.may_ask_connection(caller, named).await?;
        }
        self.check_connection(caller, &agent, wanted).await?;
        let (conversation, fresh) = match chat.conversation_id {
            Some(id) => (self.continued(caller, id, &agent).await?, false),
            None => (self.begin_conversation(caller, &agent, &chat.message).await?, true),
        };
        let start = StartRun {
            conversation: Some(conversation),
            documents,
            mode: chat.mode,
            connection: wanted,
            planner: chat.planner_connection_id,
            executor: chat.executor_connection_id,
            ..self.run_of_agent(caller, agent, input)
        };
        match self.runs.start(start).await {
            Ok(run) => Ok(ChatStarted { run_id: run, conversation_id: Some(conversation) }),
            Err(error) => {
                if fresh {
                    self.discard_conversation(conversation).await;
                }
                Err(error.into())
            }
        }
    }

    pub async fn start_run(&self, caller: &Caller, request: RunRequest) -> Result<RunId, EngineError> {
        let RunRequest { agent, input, history, asked_by, client_retries } = request;
        let allowed = authorize(caller, Action::Ask, of(&agent));
        allowed.map_err(|error| EngineError::Invalid(error.to_string()))?;
        if let Some(shortage) = self.disk.shortage() {
            return Err(StoreError::Full(AppError::from(shortage).detail.title).into());
        }
        let start = StartRun {
            history,
            origin: Origin::Api,
            asked_by,
            intent_filter: true,
            client_retries,
            key: caller.principal.key.as_ref().map(|key| key.id),
            ..self.run_of_agent(caller, agent, input)
        };
        self.runs.start(start).await
    }

    /// Whether the caller may name this connection, and there is a model. Asked before anything is written: without one
    /// there is no run and no conversation.
    pub(crate) async fn check_connection(
        &self,
        caller: &Caller,
        agent: &Agent,
        wanted: Option<ConnectionId>,
    ) -> AppResult<()> {
        if let Some(id) = wanted {
            self.may_ask_connection(caller, id).await?;
        }
        self.deps().models.select(wanted.or(agent.connection)).await?;
        Ok(())
    }

    /// A run that the caller begins here, all else as usual.
    pub(crate) fn run_of_agent(&self, caller: &Caller, agent: Agent, input: String) -> StartRun {
        StartRun {
            agent,
            input,
            conversation: None,
            history: Vec::new(),
            documents: Vec::new(),
            mode: Mode::Loop,
            origin: caller.origin,
            asked_by: caller.by(),
            workspace: self.workspace.copy(),
            grants: self.grants.clone(),
            connection: None,
            planner: None,
            executor: None,
            intent_filter: self.intent_filter,
            client_retries: false,
            key: None,
            user: Some(caller.user()),
            source: Some(caller.source()),
            started_by: None,
            outside: Provenance::default(),
        }
    }

    async fn continued(&self, caller: &Caller, id: ConversationId, agent: &Agent) -> AppResult<ConversationId> {
        let row = self.conversation_of(caller, Action::Operate, id).await?;
        if row.deleted_at.is_some() {
            return Err(AppError::conflict(
                "deleted",
                format!("conversation {id} is deleted"),
                "restore it first, or leave `conversation_id` out to begin a new one",
            ));
        }
        if row.agent != agent.id {
            return Err(AppError::invalid(
                "conversation_id",
                format!("conversation {id} is with another agent ({})", row.agent),
                "send it to that agent, or leave `conversation_id` out to begin a new one",
            ));
        }
        Ok(id)
    }

    async fn begin_conversation(&self, caller: &Caller, agent: &Agent, message: &str) -> AppResult<ConversationId> {
        let now = self.now();
        let row = Conversation {
            id: ConversationId(self.new_id()),
            agent: agent.id,
            user: Some(caller.user()),
            title: title(message),
            created_at: now,
            updated_at: now,
            deleted_at: None,
            forked_from: None,
        };
        self.store.create_conversation(self.tenant(), &row).await?;
        Ok(row.id)
    }
}

fn checked_message(chat: &Chat) -> AppResult<&str> {
    if chat.message.trim().is_empty() {
        return Err(AppError::invalid("message", "the message is empty", "say what is to be done"));
    }
    if chat.message.chars().count() > MAX_MESSAGE {
        return Err(AppError::invalid(
            "message",
            format!("the message has more than {MAX_MESSAGE} characters"),
            "upload the text with POST /api/files and name it in `attachments`",
        ));
    }
    Ok(&chat.message)
}

fn title(message: &str) -> String {
    let line = message.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    line.chars().filter(|c| !c.is_control()).take(MAX_TITLE).collect()
}

#[cfg(test)]
mod tests {
    use super::title;

    #[test]
    fn the_title_is_the_first_line_that_says_something() {
        assert_eq!(title("\n  \n Sum up the report \nplease"), "Sum up the report");
        assert_eq!(title(&"ä".repeat(500)).chars().count(), 120);
    }
}
