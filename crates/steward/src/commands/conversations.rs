//! `steward conversations`: what was said.

use crate::backend::{Backend, Talk};
use crate::cli::{self, ConversationAction};
use crate::compose::Options;
use crate::exit::Exit;
use crate::settings::Settings;
use crate::term::Term;
use anyhow::bail;
use serde_json::json;
use steward_core::message::Role;

/// Conversations looked through for the beginning or end of an id.
const LOOKED_THROUGH: u32 = 1000;

/// Runs the command.
pub async fn run(settings: Settings, args: cli::Conversations, term: Term) -> anyhow::Result<Exit> {
    let backend = Backend::open(&settings, Options::default(), term).await?;
    let exit = act(&backend, &args, term).await;
    backend.close().await;
    exit
}

async fn act(backend: &Backend, args: &cli::Conversations, term: Term) -> anyhow::Result<Exit> {
    match &args.action {
        None => list(backend, args, term).await,
        Some(ConversationAction::Show { id }) => {
            let talk = find(backend, id, false).await?;
            show(backend, &talk, args.json, term).await
        }
        Some(ConversationAction::Rename { id, title }) => {
            let talk = find(backend, id, false).await?;
            backend.rename_talk(talk.id, title).await?;
            Ok(said(term, &format!("{} is “{}” now", talk.id, title.trim())))
        }
        Some(ConversationAction::Delete { id }) => {
            let talk = find(backend, id, false).await?;
            backend.delete_talk(talk.id).await?;
            Ok(said(term, &format!("deleted; take it back with: steward conversations restore {}", talk.id)))
        }
        Some(ConversationAction::Restore { id }) => {
            let talk = find(backend, id, true).await?;
            backend.restore_talk(talk.id).await?;
            Ok(said(term, &format!("“{}” is back", talk.title)))
        }
        Some(ConversationAction::Fork { id, before }) => {
            let talk = find(backend, id, false).await?;
            let before = match before {
                Some(text) => Some(backend.find_run(text).await?.id),
                None => None,
            };
            let copy = backend.fork_talk(talk.id, before).await?;
            if args.json {
                println!("{}", json!({"id": copy, "forked_from": talk.id}));
            }
            Ok(said(term, &format!("go on with: steward chat --conversation {copy}")))
        }
    }
}

fn said(term: Term, text: &str) -> Exit {
    term.say(text);
    Exit::Done
}

async fn list(backend: &Backend, args: &cli::Conversations, term: Term) -> anyhow::Result<Exit> {
    let search = args.search.as_deref();
    let (talks, more) = backend.talks(search, args.deleted, args.limit).await?;
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

async fn find(backend: &Backend, text: &str, deleted: bool) -> anyhow::Result<Talk> {
    let (mut talks, _) = backend.talks(None, deleted, LOOKED_THROUGH).await?;
    talks.retain(|talk| {
        let id = talk.id.to_string();
        id.starts_with(text) || id.ends_with(text)
    });
    match (talks.len(), deleted) {
        (1, _) => Ok(talks.remove(0)),
        (0, true) => {
            bail!("no deleted conversation `{text}`; `steward conversations --deleted` lists them")
        }
        (0, false) => bail!("no conversation `{text}`; `steward conversations` lists them"),
        (many, _) => bail!("`{text}` fits {many} conversations; give more of the id"),
    }
}

async fn show(backend: &Backend, talk: &Talk, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let messages = backend.said(talk.id).await?;
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
