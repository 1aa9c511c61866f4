//! `steward runs`.

mod fork;
mod kept;
mod list;
mod replay;
mod show;
mod steer;
mod stop;
mod undo;

use super::resume;
use crate::args::{self, RunAction};
use crate::client::Client;
use crate::exit::Exit;
use crate::term::Term;

pub use replay::print_differences;

/// Runs the command; `connection`: that of `--connection`.
pub async fn run(client: &Client, args: &args::Runs, connection: Option<&str>, term: Term) -> anyhow::Result<Exit> {
    let as_json = args.json;
    match &args.action {
        None => list::list(client, args, term).await,
        Some(RunAction::Show { run }) => show::show(client, run, as_json, term).await,
        Some(RunAction::Stop { run }) => stop::stop(client, run, term).await,
        Some(RunAction::Steer { run, text }) => steer::steer(client, run, text, as_json, term).await,
        Some(RunAction::Undo { run, call }) => undo::undo(client, run, call.as_deref(), as_json, term).await,
        Some(RunAction::Resume { run }) => resume::run(client, run.as_deref(), term).await,
        Some(RunAction::Fork { run, at, input, yes }) => {
            let wanted = fork::Wanted { at: *at, input: input.clone(), connection, yes: *yes, json: as_json };
            fork::fork(client, run, wanted, term).await
        }
        Some(RunAction::Replay { run }) => replay::replay(client, run, as_json, term).await,
        Some(RunAction::Keep { run, name }) => kept::keep(client, run, name, term).await,
        Some(RunAction::Kept) => kept::list(client, as_json, term).await,
        Some(RunAction::Unkeep { name }) => kept::unkeep(client, name, term).await,
    }
}
