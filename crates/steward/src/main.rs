//! `steward`: one binary.

use clap::Parser;
use std::process::ExitCode;
use steward::cli::{Cli, Command};
use steward::commands;
use steward::exit::Exit;
use steward::settings::Settings;
use steward::term::{self, Term};
use steward::{processes, telemetry};

fn main() -> ExitCode {
    let cli = Cli::parse();
    match cli.command {
        // These two must not have threads, settings or telemetry of the parent.
        Some(Command::SandboxExec { args }) => processes::sandbox_exec(args),
        Some(Command::ModelServer(args)) => processes::model_server(&args),
        command => start(&cli.global, command),
    }
}

fn start(global: &steward::cli::Global, command: Option<Command>) -> ExitCode {
    let settings = match Settings::read(global) {
        Ok(settings) => settings,
        Err(error) => return fail(Term::detect(true), &error),
    };
    let term = Term::detect(settings.no_color);
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return fail(term, &anyhow::anyhow!("cannot start: {error}")),
    };
    let serving = matches!(command, None | Some(Command::Serve(_)));
    if !serving {
        term::end_without_a_reader();
    }
    let exit = runtime.block_on(async {
        #[cfg(feature = "failpoints")]
        steward::crash::arm();
        telemetry::init(&settings, serving);
        match command.unwrap_or(Command::Serve(steward::cli::Serve::default())) {
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
            Command::Eval(args) => commands::eval::run(settings, args.suite, term).await,
            Command::Skill(args) => commands::skill::run(settings, args, term).await,
            Command::Credential(args) => commands::credential::run(settings, args, term).await,
            Command::Mcp(args) => commands::mcp::run(settings, args, term).await,
            Command::Sandbox(args) => commands::sandbox::run(settings, args).await,
            Command::ModelServer(_) | Command::SandboxExec { .. } => Ok(Exit::Failed),
        }
    });
    // Blocking reads of a terminal never end by themselves.
    runtime.shutdown_background();
    match exit {
        Ok(exit) => exit.into(),
        Err(error) => fail(term, &error),
    }
}

fn fail(term: Term, error: &anyhow::Error) -> ExitCode {
    term.clear();
    term.say(&format!("{} {error:#}", term.red("error:")));
    Exit::Failed.into()
}
