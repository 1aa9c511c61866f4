//! `steward chat`: a conversation on the terminal.

use super::follow::Follow;
use crate::backend::{Backend, Begin};
use crate::cli;
use crate::compose::Options;
use crate::exit::Exit;
use crate::settings::Settings;
use crate::term::Term;
use anyhow::Context;
use steward_core::ConversationId;
use steward_core::event::Mode;

/// Runs the command.
pub async fn run(settings: Settings, args: cli::Chat, term: Term) -> anyhow::Result<Exit> {
    let backend = Backend::open(&settings, Options::default(), term).await?;
    let exit = chat(&backend, &settings, &args, term).await;
    backend.close().await;
    exit
}

async fn chat(backend: &Backend, settings: &Settings, args: &cli::Chat, term: Term) -> anyhow::Result<Exit> {
    let workspace = backend.workspace(args.workspace.as_deref(), args.here, term).await?;
    let connection = backend.connection_named(settings.connection.as_deref()).await?;
    let mut conversation = args
        .conversation
        .as_deref()
        .map(|text| text.parse::<ConversationId>().with_context(|| format!("`{text}` is not a conversation id")))
        .transpose()?;
    let agent = match conversation {
        Some(id) => {
            let agent = backend.agent_of(id).await?;
            backend.agent(agent).await?
        }
        None => backend.agent_named(args.agent.as_deref()).await?,
    };
    term.say(&term.dim(&format!("with {}; an empty line or Ctrl-D ends it", agent.name)));
    super::reminders::tell(backend, term).await;
    let follow = Follow { yes: args.yes, ..Follow::plain(term, false) };
    loop {
        let line = tokio::task::spawn_blocking(move || term.ask(&term.bold("you ▸"))).await?;
        let Some(line) = line.filter(|line| !line.is_empty()) else {
            break;
        };
        let begun = backend
            .begin(Begin {
                agent: agent.clone(),
                input: line,
                converse: true,
                conversation,
                mode: Mode::Loop,
                workspace: workspace.clone(),
                yes: args.yes,
                connection,
                intent_filter: true,
            })
            .await?;
        conversation = begun.conversation;
        if follow.to_end(backend, begun.run, 0).await? == Exit::Waiting {
            go_on(term, conversation);
            return Ok(Exit::Waiting);
        }
    }
    go_on(term, conversation);
    Ok(Exit::Done)
}

fn go_on(term: Term, conversation: Option<ConversationId>) {
    if let Some(id) = conversation {
        term.say(&term.dim(&format!("go on with: steward chat --conversation {id}")));
    }
}
