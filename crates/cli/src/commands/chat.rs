use super::follow::Follow;
use crate::client::{self, Client};
use crate::term::{Exit, Term};
use anyhow::Context;
use clap::Args;
use std::path::PathBuf;
use steward_core::ConversationId;
use steward_core::event::Mode;

/// Talk with an agent.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:\n  steward chat\n  steward chat -y --workspace ~/data")]
pub struct Chat {
    /// Go ahead without asking, except for what can't be undone.
    #[arg(short = 'y', long)]
    yes: bool,
    /// Folder that file tools are confined to [default: the current one; a running server's own].
    #[arg(long, short = 'w', value_name = "DIR")]
    pub(super) workspace: Option<PathBuf>,
    /// Work in the current folder; refused beside a server that works elsewhere.
    #[arg(long, conflicts_with = "workspace")]
    here: bool,
    /// Go on with this conversation.
    #[arg(long, value_name = "ID")]
    conversation: Option<String>,
    /// With which agent, by name (see `steward agents`) [default: steward].
    #[arg(long, short = 'a', value_name = "NAME", conflicts_with = "conversation")]
    agent: Option<String>,
}

/// `connection` is the value of `--connection`.
pub async fn run(client: &Client, args: &Chat, connection: Option<&str>, term: Term) -> anyhow::Result<Exit> {
    client.workspace(args.workspace.as_deref(), args.here).await?;
    let connection = client.connection_named(connection).await?;
    let mut conversation: Option<ConversationId> = None;
    if let Some(text) = &args.conversation {
        conversation = Some(text.parse().with_context(|| format!("`{text}` is not a conversation id"))?);
    }
    let agent = match conversation {
        Some(id) => client.agent_of(id).await?,
        None => client.agent_named(args.agent.as_deref()).await?,
    };
    term.note(&format!("with {}; an empty line or Ctrl-D ends it", agent.name));
    super::reminders::tell(client, term).await;
    let follow = Follow { yes: args.yes, ..Follow::plain(term) };
    let mut exit = Exit::Done;
    loop {
        let line = tokio::task::spawn_blocking(move || term.ask(&term.bold("you ▸"))).await?;
        let Some(line) = line.filter(|line| !line.is_empty()) else {
            break;
        };
        let chat = client::Chat {
            agent: agent.id,
            message: line,
            conversation,
            mode: Mode::Loop,
            connection,
            planner: None,
            executor: None,
        };
        let begun = client.chat(&chat).await?;
        conversation = begun.conversation;
        if follow.to_end(client, begun.run, 0).await? == Exit::Waiting {
            exit = Exit::Waiting;
            break;
        }
    }
    if let Some(id) = conversation {
        term.note(&format!("go on with: steward chat --conversation {id}"));
    }
    Ok(exit)
}
