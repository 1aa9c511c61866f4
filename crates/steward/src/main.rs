//! `steward`: one binary.

use clap::Parser;
use std::process::ExitCode;
use steward::cli::{Cli, Command, Eval, Serve, Suite};
use steward::commands;
use steward::exit::Exit;
use steward::start::start;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let command = match cli.command.unwrap_or(Command::Serve(Serve::default())) {
        // Before there are threads, settings or telemetry.
        Command::Child(child) => return child.run(),
        command => command,
    };
    let serving = matches!(command, Command::Serve(_));
    start(&cli.global, serving, |settings, term| async move {
        match command {
            Command::Serve(args) => commands::serve::run(settings, args, term).await,
            Command::Ask(args) => commands::ask::run(settings, args, term).await,
            Command::Chat(args) => commands::chat::run(settings, args, term).await,
            Command::Sample(args) => commands::sample::run(settings, args, term).await,
            Command::Runs(args) => commands::runs::run(settings, args, term).await,
            Command::Resume(args) => commands::resume::run(settings, args, term).await,
            Command::Approvals(args) => commands::approvals::run(settings, args, term).await,
            Command::Conversations(args) => commands::conversations::run(settings, args, term).await,
            Command::Grants(args) => commands::grants::run(settings, args, term).await,
            Command::Agents(args) => commands::agents::run(settings, args, term).await,
            Command::Reminders(args) => commands::reminders::run(settings, args, term).await,
            Command::Doctor(args) => commands::doctor::run(settings, args.json, term).await,
            Command::Connections(args) => commands::connections::run(settings, args, term).await,
            Command::Model(args) => commands::model::run(settings, args, term).await,
            Command::Usage(args) => commands::usage::run(settings, args, term).await,
            Command::Budget(args) => commands::budget::run(settings, args, term).await,
            Command::Key(args) => commands::key::run(settings, args, term).await,
            Command::Eval(Eval { suite: Suite::Kept { json } }) => commands::eval_kept::run(settings, json, term).await,
            Command::Skill(args) => commands::skill::run(settings, args, term).await,
            Command::Credential(args) => commands::credential::run(settings, args, term).await,
            Command::Mcp(args) => commands::mcp::run(settings, args, term).await,
            Command::Sandbox(args) => commands::sandbox::run(settings, args).await,
            Command::Child(_) => Ok(Exit::Failed),
        }
    })
}
