//! Beginning runs.

use super::{BY, Backend, wire};
use crate::compose::App;
use anyhow::bail;
use serde::Deserialize;
use serde_json::json;
use std::path::PathBuf;
use steward_core::agent::Agent;
use steward_core::event::{Mode, Origin};
use steward_core::policy::{Grant, GrantScope};
use steward_core::ports::{Conversation, Conversations as _};
use steward_core::{AgentId, ConnectionId, ConversationId, RunId};
use steward_engine::StartRun;

/// Longest title of a conversation, characters.
const TITLE: usize = 120;

/// A request.
#[derive(Debug, Clone)]
pub struct Begin {
    /// Whom.
    pub agent: Agent,
    /// What.
    pub input: String,
    /// Whether it belongs to a conversation; a new one unless `conversation` says which.
    pub converse: bool,
    /// The conversation that goes on.
    pub conversation: Option<ConversationId>,
    /// Whether to plan first.
    pub mode: Mode,
    /// Folder of the file tools; a server has its own.
    pub workspace: PathBuf,
    /// Whether everything is allowed but what can't be undone.
    pub yes: bool,
    /// Another connection than the agent's.
    pub connection: Option<ConnectionId>,
    /// Whether only tools are offered that fit.
    pub intent_filter: bool,
}

/// A run that has begun.
#[derive(Debug, Clone, Copy)]
pub struct Begun {
    /// The run.
    pub run: RunId,
    /// Its conversation.
    pub conversation: Option<ConversationId>,
}

#[derive(Deserialize)]
struct Talk {
    agent_id: AgentId,
    deleted_at: Option<i64>,
}

impl Backend {
    /// Begins a run. When this returns, the request is durable.
    pub async fn begin(&self, begin: Begin) -> anyhow::Result<Begun> {
        match self {
            Self::InProcess(app) => begin_here(app, begin).await,
            Self::Remote(client) => {
                if !begin.intent_filter {
                    bail!(
                        "a running server does the work, and it always chooses the tools that fit; stop it to use --no-intent-filter"
                    );
                }
                let mut body = json!({"message": begin.input, "mode": begin.mode});
                if let Some(id) = begin.conversation {
                    body["conversation_id"] = json!(id);
                }
                if let Some(id) = begin.connection {
                    body["connection_id"] = json!(id);
                }
                let path = format!("/api/chat/{}", begin.agent.id);
                let started: wire::Started = client.post(&path, &body).await?;
                Ok(Begun { run: started.run_id, conversation: started.conversation_id })
            }
        }
    }

    /// The agent of a conversation that can go on.
    pub async fn agent_of(&self, conversation: ConversationId) -> anyhow::Result<AgentId> {
        let talk = match self {
            Self::InProcess(app) => {
                let row = app.store.conversation(app.tenant, conversation).await?;
                Talk { agent_id: row.agent, deleted_at: row.deleted_at.map(|at| at.0) }
            }
            Self::Remote(client) => client.get(&format!("/api/conversations/{conversation}")).await?,
        };
        if talk.deleted_at.is_some() {
            bail!("conversation {conversation} is deleted; restore it in the studio, or begin a new one");
        }
        Ok(talk.agent_id)
    }
}

async fn begin_here(app: &App, begin: Begin) -> anyhow::Result<Begun> {
    let conversation = match begin.conversation {
        None if begin.converse => Some(new_conversation(app, &begin).await?),
        given => given,
    };
    let grants = if begin.yes { vec![Grant { scope: GrantScope::AllButDestructive, until: None }] } else { Vec::new() };
    let run = app
        .runs
        .start(StartRun {
            agent: begin.agent,
            input: begin.input,
            conversation,
            history: Vec::new(),
            mode: begin.mode,
            origin: Origin::Cli,
            asked_by: BY.to_owned(),
            workspace: begin.workspace.display().to_string(),
            grants,
            connection: begin.connection,
            intent_filter: begin.intent_filter,
            user: None,
            key: None,
        })
        .await?;
    Ok(Begun { run, conversation })
}

async fn new_conversation(app: &App, begin: &Begin) -> anyhow::Result<ConversationId> {
    let now = app.clock.now();
    let first = begin.input.lines().map(str::trim).find(|line| !line.is_empty());
    let header = Conversation {
        id: ConversationId(app.ids.next()),
        agent: begin.agent.id,
        user: None,
        title: first.unwrap_or("chat").chars().take(TITLE).collect(),
        created_at: now,
        updated_at: now,
        deleted_at: None,
        forked_from: None,
    };
    app.store.create_conversation(app.tenant, &header).await?;
    Ok(header.id)
}
