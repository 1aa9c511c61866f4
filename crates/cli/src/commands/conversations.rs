use super::picked::by_id;
use crate::args::{self, ConversationAction};
use crate::client::{Client, Conversation};
use crate::exit::Exit;
use crate::term::Term;
use http::Method;
use serde_json::{Value, json};
use steward_core::message::Role;

/// Conversations searched for the beginning or end of an id.
const LOOKED_THROUGH: u32 = 1000;

pub async fn run(client: &Client, args: &args::Conversations, term: Term) -> anyhow::Result<Exit> {
    match &args.action {
        None => list(client, args, term).await,
        Some(ConversationAction::Show { id }) => {
            let talk = find(client, id, false).await?;
            show(client, &talk, args.json, term).await
        }
        Some(ConversationAction::Rename { id, title }) => {
            let talk = find(client, id, false).await?;
            let path = format!("/api/conversations/{}", talk.id);
            client.request::<Value>(Method::PATCH, &path, Some(&json!({"title": title}))).await?;
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
            let before = match before {
                Some(text) => Some(client.find_run(text).await?.id),
                None => None,
            };
            let copy = client.fork_conversation(talk.id, before).await?;
            if args.json {
                println!("{}", json!({"id": copy, "forked_from": talk.id}));
            }
            Ok(term.done(&format!("go on with: steward chat --conversation {copy}")))
        }
    }
}

async fn list(client: &Client, args: &args::Conversations, term: Term) -> anyhow::Result<Exit> {
    let search = args.search.as_deref();
    let (talks, more) = client.conversations(search, args.deleted, args.limit).await?;
    if args.json {
        println!("{}", json!({"conversations": talks, "more": more}));
        return Ok(Exit::Done);
    }
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
    Ok(Exit::Done)
}

async fn find(client: &Client, text: &str, deleted: bool) -> anyhow::Result<Conversation> {
    let (rows, _) = client.conversations(None, deleted, LOOKED_THROUGH).await?;
    let none = if deleted {
        format!("no deleted conversation `{text}`; `steward conversations --deleted` lists them")
    } else {
        format!("no conversation `{text}`; `steward conversations` lists them")
    };
    by_id(rows, text, |row| row.id.to_string(), "conversations", &none)
}

async fn show(client: &Client, talk: &Conversation, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let messages = client.messages(talk.id).await?;
    if as_json {
        println!("{}", json!({"conversation": talk, "messages": messages}));
        return Ok(Exit::Done);
    }
    println!("{}  {}", term.bold(&talk.title), term.dim(&talk.id.to_string()));
    for message in &messages {
        let who = match message.role {
            Role::User => term.bold("you ▸"),
            _ => term.dim("agent ▸"),
        };
        println!("{who} {}", message.text.trim_end());
    }
    Ok(Exit::Done)
}
