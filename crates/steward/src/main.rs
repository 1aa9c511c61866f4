use clap::Parser;
use std::process::ExitCode;
use steward::cli::{Cli, Command, Serve};
use steward::commands;
use steward::exit::Exit;
use steward::start::start;
use steward_cli::commands::eval::{Eval, Suite};

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
            Command::Client(steward_cli::Command::Eval(Eval { suite: Suite::Retrieval(args) })) => {
                commands::retrieval::run(&settings, args, term).await
            }
            Command::Serve(args) => commands::serve::run(settings, args, term).await,
            Command::Client(command) => {
                let open = async |needs| steward::open(&settings, needs, term).await;
                steward_cli::run(command, settings.connection.as_deref(), term, open).await
            }
            Command::Doctor(args) => commands::doctor::run(settings, args.json, term).await,
            Command::Sandbox(args) => commands::sandbox::run(settings, args).await,
            Command::Child(_) => Ok(Exit::Failed),
        }
    })
}
