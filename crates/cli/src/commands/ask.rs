use super::follow::Follow;
use super::{Files, Needs, reminders};
use crate::client::{Chat, Client, workspace};
use crate::term::{Exit, Term};
use anyhow::{Context, bail};
use clap::Args;
use std::io::{IsTerminal, Read};
use std::path::PathBuf;
use steward_core::event::Mode;

/// Give an agent one request: plan, approve, do, answer.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  steward ask \"Which files mention Kafka?\"\n  steward ask -y \"How many rows has airports.csv?\" --workspace ~/data\n  echo \"Summarise notes/handover.md\" | steward ask -\n  steward ask --plan-only \"…\""
)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own on the command line")]
pub struct Ask {
    /// The request; `-` or nothing reads it from standard input.
    request: Vec<String>,
    /// Go ahead without asking, except for steps that can't be undone.
    #[arg(short = 'y', long)]
    yes: bool,
    /// Show the plan and stop.
    #[arg(long, conflicts_with = "dry_run")]
    plan_only: bool,
    /// Show what each step would do; do nothing.
    #[arg(long)]
    dry_run: bool,
    /// One JSON object on standard output instead of text.
    #[arg(long)]
    json: bool,
    /// Folder that file tools are confined to [default: the current one; a running server's own].
    #[arg(long, short = 'w', value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// Work in the current folder; refused beside a server that works elsewhere.
    #[arg(long, conflicts_with = "workspace")]
    here: bool,
    /// Let web tools reach this private host and port; may be given often.
    #[arg(long, value_name = "HOST:PORT", value_delimiter = ',')]
    allow: Vec<String>,
    /// Offer the model every tool instead of those that fit the request.
    #[arg(long)]
    no_intent_filter: bool,
    /// Show candidates, scores, prompts' sizes.
    #[arg(short, long)]
    verbose: bool,
    /// The connection that makes the plan, by name; --connection is for all else.
    #[arg(long, value_name = "CONNECTION")]
    planner: Option<String>,
    /// The connection that carries the plan out, by name.
    #[arg(long, value_name = "CONNECTION")]
    executor: Option<String>,
    /// Which agent, by name (see `steward agents`) [default: steward].
    #[arg(long, short = 'a', value_name = "NAME")]
    agent: Option<String>,
}

/// Longest request read from standard input, bytes.
const REQUEST_LIMIT: u64 = 1_000_000;

impl Ask {
    /// Reads the request and refuses a missing folder, both before anything is opened.
    pub fn prepare(&mut self) -> anyhow::Result<()> {
        self.request = vec![request(&self.request)?];
        if self.workspace.is_some() {
            workspace(self.workspace.as_deref())?;
        }
        Ok(())
    }

    pub fn needs(&self) -> Needs {
        Needs {
            web_allow: self.allow.clone(),
            intent_filter: !self.no_intent_filter,
            files: Files::Workspace(self.workspace.clone()),
        }
    }
}

/// `connection` is the value of `--connection`.
pub async fn run(client: &Client, args: &Ask, connection: Option<&str>, term: Term) -> anyhow::Result<Exit> {
    let term = term.with_json(args.json);
    if !term.json {
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
        planner: client.connection_named(args.planner.as_deref()).await?,
        executor: client.connection_named(args.executor.as_deref()).await?,
    };
    let run = client.chat(&chat).await?.run;
    Follow { term, verbose: args.verbose, yes: args.yes }.to_end(client, run, 0).await
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
