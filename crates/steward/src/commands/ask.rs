//! `steward ask`: plan, ask, do, answer.

use super::follow::Follow;
use crate::backend::{Backend, Begin};
use crate::cli;
use crate::compose::Options;
use crate::exit::Exit;
use crate::settings::Settings;
use crate::term::Term;
use anyhow::{Context, bail};
use std::io::{IsTerminal, Read};
use steward_core::event::Mode;

/// Longest request read from standard input, bytes.
const REQUEST_LIMIT: u64 = 1_000_000;

/// Runs the command.
pub async fn run(settings: Settings, args: cli::Ask, term: Term) -> anyhow::Result<Exit> {
    let input = request(&args)?;
    if args.workspace.is_some() {
        // A folder that isn't there is refused before anything is opened.
        crate::settings::workspace(args.workspace.as_deref())?;
    }
    let options = Options { web_allow: args.allow.clone() };
    let backend = Backend::open(&settings, options, term).await?;
    let exit = ask(&backend, &settings, &args, input, term).await;
    backend.close().await;
    exit
}

async fn ask(
    backend: &Backend,
    settings: &Settings,
    args: &cli::Ask,
    input: String,
    term: Term,
) -> anyhow::Result<Exit> {
    if !args.json {
        super::reminders::tell(backend, term).await;
    }
    let begin = Begin {
        agent: backend.agent_named(args.agent.as_deref()).await?,
        input,
        converse: false,
        conversation: None,
        mode: match (args.plan_only, args.dry_run) {
            (true, _) => Mode::PlanOnly,
            (_, true) => Mode::DryRun,
            _ => Mode::Plan,
        },
        workspace: backend.workspace(args.workspace.as_deref(), args.here, term).await?,
        yes: args.yes,
        connection: backend.connection_named(settings.connection.as_deref()).await?,
        intent_filter: !args.no_intent_filter,
    };
    let run = backend.begin(begin).await?.run;
    let follow =
        Follow { term, verbose: args.verbose, json: args.json, ask: term.can_ask && !args.json, yes: args.yes };
    follow.to_end(backend, run, 0).await
}

fn request(args: &cli::Ask) -> anyhow::Result<String> {
    let joined = args.request.join(" ");
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
