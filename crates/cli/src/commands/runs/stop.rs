//! `steward runs stop`.

use crate::client::Client;
use crate::exit::Exit;
use crate::term::Term;
use anyhow::bail;
use futures::StreamExt;
use std::time::Duration;
use steward_core::event::EventBody;
use steward_core::ports::RunStatus;

/// Longest wait for a run that was told to stop; a lease left by a crash ends before.
const LIMIT: Duration = Duration::from_secs(30);

/// Stops a run and waits until it has ended.
pub async fn stop(client: &Client, text: &str, term: Term) -> anyhow::Result<Exit> {
    let row = client.find_run(text).await?;
    if row.status == RunStatus::Finished {
        term.say(&format!("run {} has ended already", row.id));
        return Ok(Exit::Done);
    }
    let mut events = client.events(row.id, row.last_seq);
    client.stop(row.id).await?;
    let ended = tokio::time::timeout(LIMIT, async {
        while let Some(event) = events.next().await {
            if matches!(event?.body, EventBody::RunFinished { .. }) {
                return Ok(());
            }
        }
        bail!("the log of run {} ended early", row.id)
    });
    match ended.await {
        Ok(outcome) => outcome?,
        Err(_) => bail!(
            "run {} was told to stop but has not ended in {} s; another process may hold it, see `steward runs`",
            row.id,
            LIMIT.as_secs()
        ),
    }
    term.say(&format!("stopped {}", row.id));
    Ok(Exit::Done)
}
