use super::rows::{by_id, find_run};
use crate::client::{Client, with_query};
use crate::options::Actions;
use crate::term::{Exit, Term, print_json, print_text};
use clap::{Args, Subcommand};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use steward_core::message::Role;
use steward_core::{AgentId, ConversationId, Timestamp};

/// List conversations; search, show, rename, delete, restore or fork them.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  steward conversations --search kafka\n  steward conversations show 3f2a\n  steward chat --conversation ID"
)]
pub struct Conversations {
    /// Only with this text in the title or a message.
    #[arg(long, short = 's', value_name = "TEXT")]
    search: Option<String>,
    /// Only deleted ones.
    #[arg(long)]
    deleted: bool,
    /// At most so many.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1000))]
    limit: u32,
    #[command(flatten)]
    actions: Actions<ConversationAction>,
}

#[derive(Debug, Clone, Subcommand)]
pub enum ConversationAction {
    /// Show what was said.
    Show {
        /// Its id, or the beginning or end of it.
        id: String,
    },
    /// Give it another title.
    Rename {
        /// Its id, or the beginning or end of it.
        id: String,
        /// The title.
        title: String,
    },
    /// Delete it; `restore` takes that back.
    Delete {
        /// Its id, or the beginning or end of it.
        id: String,
    },
    /// Take a deletion back.
    Restore {
        /// Its id, or the beginning or end of it.
        id: String,
    },
    /// Make another one with what was said.
    Fork {
        /// Its id, or the beginning or end of it.
        id: String,
        /// Only with what was said before this run of it.
        #[arg(long, value_name = "RUN")]
        before: Option<String>,
    },
}

#[derive(Serialize, Deserialize)]
struct Conversation {
    id: ConversationId,
    agent_id: AgentId,
    title: String,
    created_at: Timestamp,
    updated_at: Timestamp,
    deleted_at: Option<Timestamp>,
    forked_from: Option<ConversationId>,
}

#[derive(Serialize, Deserialize)]
struct Message {
    role: Role,
    text: String,
}

#[derive(Deserialize)]
struct Detail {
    messages: Vec<Message>,
}

/// Conversations searched for the beginning or end of an id.
const LOOKED_THROUGH: u32 = 1000;

pub async fn run(client: &Client, args: &Conversations, term: Term) -> anyhow::Result<Exit> {
    let term = term.with_json(args.actions.json);
    match &args.actions.action {
        None => list(client, args, term).await,
        Some(ConversationAction::Show { id }) => {
            let talk = find(client, id, false).await?;
            show(client, &talk, term).await
        }
        Some(ConversationAction::Rename { id, title }) => {
            let talk = find(client, id, false).await?;
            let path = format!("/api/conversations/{}", talk.id);
            client.patch::<Value>(&path, &json!({"title": title})).await?;
            Ok(term.done(&format!("{} is “{}” now", talk.id, title.trim())))
        }
        Some(ConversationAction::Delete { id }) => {
            let talk = find(client, id, false).await?;
            client.delete(&format!("/api/conversations/{}", talk.id)).await?;
            Ok(term.done(&format!("deleted; take it back with: steward conversations restore {}", talk.id)))
        }
        Some(ConversationAction::Restore { id }) => {
            let talk = find(client, id, true).await?;
            client.act::<Value>(&format!("/api/conversations/{}/restore", talk.id)).await?;
            Ok(term.done(&format!("“{}” is back", talk.title)))
        }
        Some(ConversationAction::Fork { id, before }) => {
            let talk = find(client, id, false).await?;
            let mut body = json!({});
            if let Some(text) = before {
                body["before_run"] = json!(find_run(client, text).await?.id);
            }
            let copy: Conversation = client.post(&format!("/api/conversations/{}/fork", talk.id), &body).await?;
            let copy = copy.id;
            if term.json {
                print_json(&json!({"id": copy, "forked_from": talk.id}));
            }
            Ok(term.done(&format!("go on with: steward chat --conversation {copy}")))
        }
    }
}

async fn list(client: &Client, args: &Conversations, term: Term) -> anyhow::Result<Exit> {
    let search = args.search.as_deref();
    let (talks, more) = conversations(client, search, args.deleted, args.limit).await?;
    Ok(term.shown(&json!({"conversations": talks, "more": more}), || {
        if talks.is_empty() {
            term.say(match (search, args.deleted) {
                (Some(_), _) => "No conversation has that text.",
                (None, true) => "No conversation is deleted.",
                (None, false) => "No conversations yet. Begin with: steward chat",
            });
        }
        for talk in &talks {
            println!("{}  {}  {}", talk.id, talk.updated_at.rfc3339(), talk.title);
        }
        if more {
            term.say("there are more; see them with a higher --limit, or narrow them with --search TEXT");
        }
    }))
}

/// Newest first, and whether there are more.
async fn conversations(
    client: &Client,
    text: Option<&str>,
    deleted: bool,
    limit: u32,
) -> anyhow::Result<(Vec<Conversation>, bool)> {
    let parts = [("deleted", Some(deleted.to_string())), ("q", text.map(str::to_owned))];
    client.list(&with_query("/api/conversations", parts), limit as usize).await
}

async fn find(client: &Client, text: &str, deleted: bool) -> anyhow::Result<Conversation> {
    let (rows, _) = conversations(client, None, deleted, LOOKED_THROUGH).await?;
    let none = if deleted {
        format!("no deleted conversation `{text}`; `steward conversations --deleted` lists them")
    } else {
        format!("no conversation `{text}`; `steward conversations` lists them")
    };
    by_id(rows, text, |row| row.id.to_string(), "conversations", &none)
}

async fn show(client: &Client, talk: &Conversation, term: Term) -> anyhow::Result<Exit> {
    let Detail { messages } = client.get(&format!("/api/conversations/{}", talk.id)).await?;
    Ok(term.shown(&json!({"conversation": talk, "messages": messages}), || {
        println!("{}  {}", term.bold(&talk.title), term.dim(&talk.id.to_string()));
        for message in &messages {
            let who = match message.role {
                Role::User => term.bold("you ▸"),
                _ => term.dim("agent ▸"),
            };
            print_text(&format!("{who} {}", message.text.trim_end()));
        }
    }))
}
