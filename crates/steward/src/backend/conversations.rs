//! Conversations.

use super::Backend;
use crate::compose::App;
use anyhow::bail;
use reqwest::Method;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use steward_core::message::Role;
use steward_core::ports::{Conversation, ConversationFilter, Conversations as _, RunFilter, RunStatus, RunStore as _};
use steward_core::{AgentId, ConversationId, RunId, Timestamp};
use url::form_urlencoded::byte_serialize;

/// Longest title, characters.
const TITLE: usize = 200;

/// A conversation in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Talk {
    /// Its id.
    pub id: ConversationId,
    /// With whom.
    pub agent_id: AgentId,
    /// What it is about.
    pub title: String,
    /// When it began.
    pub created_at: Timestamp,
    /// When something was last said or changed.
    pub updated_at: Timestamp,
    /// When it was deleted.
    pub deleted_at: Option<Timestamp>,
    /// The conversation that it branched off.
    pub forked_from: Option<ConversationId>,
}

/// What was said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    /// Who said it.
    pub role: Role,
    /// The text.
    pub text: String,
}

#[derive(Deserialize)]
struct Detail {
    messages: Vec<Said>,
}

impl From<Conversation> for Talk {
    fn from(row: Conversation) -> Self {
        Self {
            id: row.id,
            agent_id: row.agent,
            title: row.title,
            created_at: row.created_at,
            updated_at: row.updated_at,
            deleted_at: row.deleted_at,
            forked_from: row.forked_from,
        }
    }
}

impl Backend {
    /// Conversations, newest first, and whether there are more.
    pub async fn talks(&self, text: Option<&str>, deleted: bool, limit: u32) -> anyhow::Result<(Vec<Talk>, bool)> {
        let text = text.filter(|text| !text.trim().is_empty());
        match self {
            Self::InProcess(app) => {
                let filter = ConversationFilter {
                    text: text.map(str::to_owned),
                    deleted,
                    limit,
                    ..ConversationFilter::default()
                };
                let page = app.store.conversations(app.tenant, filter).await?;
                Ok((page.items.into_iter().map(Into::into).collect(), page.more))
            }
            Self::Remote(client) => {
                let mut path = format!("/api/conversations?deleted={deleted}");
                if let Some(text) = text {
                    path.push_str("&q=");
                    path.extend(byte_serialize(text.as_bytes()));
                }
                client.all(&path, limit as usize).await
            }
        }
    }

    /// What was said in one.
    pub async fn said(&self, id: ConversationId) -> anyhow::Result<Vec<Said>> {
        match self {
            Self::InProcess(app) => Ok(app
                .store
                .messages(app.tenant, id)
                .await?
                .into_iter()
                .filter(|message| matches!(message.role, Role::User | Role::Assistant))
                .map(|message| Said { role: message.role, text: message.text })
                .collect()),
            Self::Remote(client) => {
                let detail: Detail = client.get(&format!("/api/conversations/{id}")).await?;
                Ok(detail.messages)
            }
        }
    }

    /// Another title.
    pub async fn rename_talk(&self, id: ConversationId, title: &str) -> anyhow::Result<()> {
        let title = title.trim();
        if title.is_empty() || title.chars().count() > TITLE || title.chars().any(char::is_control) {
            bail!("a title has 1 to {TITLE} characters on one line; choose another");
        }
        match self {
            Self::InProcess(app) => {
                let now = app.clock.now();
                Ok(app.store.rename_conversation(app.tenant, id, title, now).await?)
            }
            Self::Remote(client) => {
                let path = format!("/api/conversations/{id}");
                let body = json!({"title": title});
                client.ask::<Value>(Method::PATCH, &path, Some(&body)).await?;
                Ok(())
            }
        }
    }

    /// Marks one deleted.
    pub async fn delete_talk(&self, id: ConversationId) -> anyhow::Result<()> {
        match self {
            Self::InProcess(app) => {
                if let Some(run) = open_run(app, id).await? {
                    bail!("run {run} of this conversation has not ended; stop it first: steward runs stop {run}");
                }
                let now = app.clock.now();
                Ok(app.store.mark_deleted(app.tenant, id, Some(now)).await?)
            }
            Self::Remote(client) => {
                let path = format!("/api/conversations/{id}");
                client.ask(Method::DELETE, &path, None).await
            }
        }
    }

    /// Takes a deletion back.
    pub async fn restore_talk(&self, id: ConversationId) -> anyhow::Result<()> {
        match self {
            Self::InProcess(app) => Ok(app.store.mark_deleted(app.tenant, id, None).await?),
            Self::Remote(client) => {
                let path = format!("/api/conversations/{id}/restore");
                client.ask::<Value>(Method::POST, &path, None).await?;
                Ok(())
            }
        }
    }

    /// Another conversation with what was said, or with what was said before a run.
    pub async fn fork_talk(&self, id: ConversationId, before: Option<RunId>) -> anyhow::Result<ConversationId> {
        match self {
            Self::InProcess(app) => branch(app, id, before).await,
            Self::Remote(client) => {
                let body = match before {
                    Some(run) => json!({"before_run": run}),
                    None => json!({}),
                };
                let path = format!("/api/conversations/{id}/fork");
                Ok(client.post::<Talk>(&path, &body).await?.id)
            }
        }
    }
}

async fn open_run(app: &App, id: ConversationId) -> anyhow::Result<Option<RunId>> {
    let filter = RunFilter { conversation: Some(id), limit: 1, ..RunFilter::default() };
    // One run at a time: only the newest can be open.
    let newest = app.store.runs(app.tenant, filter).await?.items;
    let open = newest.first().filter(|row| row.status != RunStatus::Finished);
    Ok(open.map(|row| row.id))
}

/// A copy of a conversation, of what was said before a run or of all; the old one stays as it is.
pub(super) async fn branch(app: &App, from: ConversationId, before: Option<RunId>) -> anyhow::Result<ConversationId> {
    let old = app.store.conversation(app.tenant, from).await?;
    if let Some(run) = before
        && app.store.run(app.tenant, run).await?.conversation != Some(from)
    {
        bail!("run {run} does not belong to conversation {from}");
    }
    let now = app.clock.now();
    let copy = Conversation {
        id: ConversationId(app.ids.next()),
        created_at: now,
        updated_at: now,
        deleted_at: None,
        forked_from: Some(from),
        ..old
    };
    app.store.fork_conversation(app.tenant, from, before, &copy).await?;
    Ok(copy.id)
}
