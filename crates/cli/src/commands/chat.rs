use super::follow::Follow;
use crate::args;
use crate::client::{Chat, Client};
use crate::exit::Exit;
use crate::term::Term;
use anyhow::Context;
use steward_core::ConversationId;
use steward_core::event::Mode;

/// `connection` is the value of `--connection`.
pub async fn run(client: &Client, args: &args::Chat, connection: Option<&str>, term: Term) -> anyhow::Result<Exit> {
    client.workspace(args.workspace.as_deref(), args.here).await?;
    let connection = client.connection_named(connection).await?;
    let mut conversation = args
        .conversation
        .as_deref()
        .map(|text| text.parse::<ConversationId>().with_context(|| format!("`{text}` is not a conversation id")))
        .transpose()?;
    let agent = match conversation {
        Some(id) => {
            let agent = client.agent_of(id).await?;
            client.agent(agent).await?
        }
        None => client.agent_named(args.agent.as_deref()).await?,
    };
    term.say(&term.dim(&format!("with {}; an empty line or Ctrl-D ends it", agent.name)));
    super::reminders::tell(client, term).await;
    let follow = Follow { yes: args.yes, ..Follow::plain(term, false) };
    loop {
        let line = tokio::task::spawn_blocking(move || term.ask(&term.bold("you ▸"))).await?;
        let Some(line) = line.filter(|line| !line.is_empty()) else {
            break;
        };
        let chat = Chat { agent: agent.id, message: line, conversation, mode: Mode::Loop, connection };
        let begun = client.chat(&chat).await?;
        conversation = begun.conversation;
        if follow.to_end(client, begun.run, 0).await? == Exit::Waiting {
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
