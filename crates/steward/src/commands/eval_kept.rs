//! `steward eval kept`: a command of the API beside suites that are not.

use crate::exit::Exit;
use crate::settings::Settings;
use crate::term::Term;
use steward_cli::Needs;
use steward_cli::commands::eval_kept;

/// Replays all kept runs.
pub async fn run(settings: Settings, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let client = crate::open(&settings, Needs::default(), term).await?;
    let exit = eval_kept::run(&client, as_json, term).await;
    client.close().await;
    exit
}
