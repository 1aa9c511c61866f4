//! `steward runs steer`.

use crate::client::Client;
use crate::commands::follow::Follow;
use crate::commands::resume::place;
use crate::exit::Exit;
use crate::term::Term;
use anyhow::bail;
use steward_core::ports::RunStatus;

/// Says something to a run and follows it.
pub async fn steer(client: &Client, run: &str, text: &str, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let row = client.find_run(run).await?;
    if row.status == RunStatus::Finished {
        bail!("run {} has ended; begin another, or fork it: steward runs fork {}", row.id, row.id);
    }
    client.steer(row.id, text).await?;
    Follow::plain(term, as_json).to_end(client, row.id, place(&row)).await
}
