//! `steward runs`.

mod fork;
mod kept;
mod list;
mod replay;
mod show;
mod steer;
mod stop;
mod undo;

use super::resume::resume;
use crate::backend::Backend;
use crate::cli::{self, RunAction};
use crate::compose::Options;
use crate::exit::Exit;
use crate::settings::Settings;
use crate::term::Term;

pub use replay::print_differences;

/// Runs the command.
pub async fn run(settings: Settings, args: cli::Runs, term: Term) -> anyhow::Result<Exit> {
    let backend = Backend::open(&settings, Options::default(), term).await?;
    let exit = act(&backend, &settings, &args, term).await;
    backend.close().await;
    exit
}

async fn act(backend: &Backend, settings: &Settings, args: &cli::Runs, term: Term) -> anyhow::Result<Exit> {
    let as_json = args.json;
    match &args.action {
        None => list::list(backend, args, term).await,
        Some(RunAction::Show { run }) => show::show(backend, run, as_json, term).await,
        Some(RunAction::Stop { run }) => stop::stop(backend, run, term).await,
        Some(RunAction::Steer { run, text }) => steer::steer(backend, run, text, as_json, term).await,
        Some(RunAction::Undo { run, call }) => undo::undo(backend, run, call.as_deref(), as_json, term).await,
        Some(RunAction::Resume { run }) => resume(backend, run.as_deref(), term).await,
        Some(RunAction::Fork { run, at, input, yes }) => {
            let wanted = fork::Wanted {
                at: *at,
                input: input.clone(),
                connection: settings.connection.as_deref(),
                yes: *yes,
                json: as_json,
            };
            fork::fork(backend, run, wanted, term).await
        }
        Some(RunAction::Replay { run }) => replay::replay(backend, run, as_json, term).await,
        Some(RunAction::Keep { run, name }) => kept::keep(backend, run, name, term).await,
        Some(RunAction::Kept) => kept::list(backend, as_json, term).await,
        Some(RunAction::Unkeep { name }) => kept::unkeep(backend, name, term).await,
    }
}
