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
            Command::Client(command) => {
                let open = async |needs| steward::open(&settings, needs, term).await;
                steward_cli::run(command, settings.connection.as_deref(), term, open).await
            }
            Command::Doctor(args) => commands::doctor::run(settings, args.json, term).await,
            Command::Eval(args) => commands::eval::run(settings, args.suite, term).await,
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
