use super::follow::Follow;
use super::reminders;
use crate::args;
use crate::client::{Chat, Client, workspace};
use crate::exit::Exit;
use crate::term::Term;
use anyhow::{Context, bail};
use std::io::{IsTerminal, Read};
use steward_core::event::Mode;

/// Longest request read from standard input, bytes.
const REQUEST_LIMIT: u64 = 1_000_000;

/// Reads the request and refuses a missing folder, both before anything is opened.
pub fn prepare(args: &mut args::Ask) -> anyhow::Result<()> {
    args.request = vec![request(&args.request)?];
    if args.workspace.is_some() {
        workspace(args.workspace.as_deref())?;
    }
    Ok(())
}

/// `connection` is the value of `--connection`.
pub async fn run(client: &Client, args: &args::Ask, connection: Option<&str>, term: Term) -> anyhow::Result<Exit> {
    if !args.json {
        reminders::tell(client, term).await;
    }
    let agent = client.agent_named(args.agent.as_deref()).await?;
    client.workspace(args.workspace.as_deref(), args.here).await?;
    let chat = Chat {
        agent: agent.id,
        message: args.request.join(" "),
        conversation: None,
        mode: match (args.plan_only, args.dry_run) {
            (true, _) => Mode::PlanOnly,
            (_, true) => Mode::DryRun,
            _ => Mode::Plan,
        },
        connection: client.connection_named(connection).await?,
    };
    let run = client.chat(&chat).await?.run;
    let follow =
        Follow { term, verbose: args.verbose, json: args.json, ask: term.can_ask && !args.json, yes: args.yes };
    follow.to_end(client, run, 0).await
}

fn request(words: &[String]) -> anyhow::Result<String> {
    let joined = words.join(" ");
    let piped = joined == "-" || joined.trim().is_empty();
    if !piped {
        return Ok(joined);
    }
    if std::io::stdin().is_terminal() {
        bail!("say what is to be done: steward ask \"…\"");
    }
    let mut text = String::new();
    std::io::stdin().take(REQUEST_LIMIT).read_to_string(&mut text).context("standard input is not text")?;
    Ok(text)
}
