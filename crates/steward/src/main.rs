use clap::parser::ValueSource;
use clap::{CommandFactory as _, FromArgMatches as _};
use std::io::Write as _;
use std::process::ExitCode;
use steward::cli::{Cli, Command, Serve};
use steward::compose::{python_config, sandbox_helper};
use steward::start::start;
use steward::term::Exit;
use steward::{doctor, restore, retrieval, serve};
use steward_cli::commands::backup::{Backup, BackupAction};
use steward_cli::commands::eval::{Eval, Suite};

fn main() -> ExitCode {
    let matches = Cli::command().get_matches();
    let mut cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    // Said here, not by the environment, which means all commands.
    let said = matches.value_source("connection") == Some(ValueSource::CommandLine);
    if let (true, Some(name), Some(Command::Client(command))) = (said, &cli.global.connection, &mut cli.command) {
        command.take_connection(name);
    }
    let command = match cli.command.unwrap_or(Command::Serve(Serve::default())) {
        // Before there are threads, settings or telemetry.
        Command::Child(child) => return child.run(),
        command => command,
    };
    let serving = matches!(command, Command::Serve(_));
    let global = cli.global.clone();
    start(&cli.global, serving, |settings, term| async move {
        match command {
            Command::Client(steward_cli::Command::Eval(Eval { suite: Suite::Retrieval(args) })) => {
                retrieval::run(&settings, args, term).await
            }
            Command::Client(steward_cli::Command::Backup(Backup {
                action: Some(BackupAction::Verify(args)),
                json,
                ..
            })) => restore::verify(&global, args, term.with_json(json)).await,
            Command::Restore(args) => restore::restore(&global, settings, args, term).await,
            Command::Serve(args) => serve::run(settings, args, term).await,
            Command::Client(command) => {
                let open = async |needs| steward::open(&settings, needs, term).await;
                steward_cli::run(command, settings.connection.as_deref(), term, open).await
            }
            Command::Doctor(args) => doctor::run(settings, args.json, term).await,
            Command::Sandbox(attempt) => {
                let answer = attempt.run(sandbox_helper(&settings), python_config(&settings)).await;
                // A reader that has left needs nothing more.
                let _ = writeln!(std::io::stdout(), "{answer}");
                Ok(if answer["ok"] == true { Exit::Done } else { Exit::Failed })
            }
            Command::Child(_) => Ok(Exit::Failed),
        }
    })
}
