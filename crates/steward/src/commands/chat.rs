//! `steward chat`: a conversation on the terminal.

use super::ask::{Follow, grants};
use crate::cli;
use crate::compose::{App, Options};
use crate::exit::Exit;
use crate::settings::{Settings, workspace};
use crate::term::Term;
use anyhow::Context;
use steward_core::ConversationId;
use steward_core::event::{Mode, Origin};
use steward_core::ports::{Conversation, Conversations as _};
use steward_engine::StartRun;

/// Runs the command.
pub async fn run(settings: Settings, args: cli::Chat, term: Term) -> anyhow::Result<Exit> {
    let workspace = workspace(args.workspace.as_deref())?;
    let app = App::open(&settings, Options::default()).await?;
    let agent = app.default_agent().await?;
    let connection = app.connection_named(settings.connection.as_deref())?;
    let conversation = if let Some(text) = &args.conversation {
        let id: ConversationId = text
            .parse()
            .with_context(|| format!("`{text}` is not a conversation id"))?;
        app.store.conversation(app.tenant, id).await?;
        id
    } else {
        let id = ConversationId(app.ids.next());
        let header = Conversation {
            id,
            agent: agent.id,
            user: None,
            title: "chat".to_owned(),
            created_at: app.clock.now(),
        };
        app.store.create_conversation(app.tenant, &header).await?;
        id
    };
    term.say(&term.dim(&format!(
        "conversation {conversation}; an empty line or Ctrl-D ends it"
    )));
    let follow = Follow {
        term,
        verbose: false,
        json: false,
        ask: term.can_ask,
    };
    let mut exit = Exit::Done;
    loop {
        let line = tokio::task::spawn_blocking(move || term.ask(&term.bold("you ▸"))).await?;
        let Some(line) = line.filter(|line| !line.is_empty()) else {
            break;
        };
        let run = app
            .runs
            .start(StartRun {
                agent: agent.clone(),
                input: line,
                conversation: Some(conversation),
                history: Vec::new(),
                mode: Mode::Loop,
                origin: Origin::Cli,
                asked_by: "cli".to_owned(),
                workspace: workspace.display().to_string(),
                grants: grants(args.yes),
                connection,
                intent_filter: true,
            })
            .await?;
        exit = follow.to_end(&app.runs, run, 0).await?;
        if exit == Exit::Waiting {
            break;
        }
    }
    app.close().await;
    Ok(if exit == Exit::Waiting {
        exit
    } else {
        Exit::Done
    })
}
