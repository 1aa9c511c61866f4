//! `steward runs fork`.

use crate::client::{Client, Fork};
use crate::commands::follow::Follow;
use crate::exit::Exit;
use crate::term::Term;

/// How to branch off.
pub struct Wanted<'a> {
    /// Last event to take over.
    pub at: Option<u64>,
    /// Another request.
    pub input: Option<String>,
    /// Another connection, by name.
    pub connection: Option<&'a str>,
    /// Whether to say yes to everything but what can't be undone.
    pub yes: bool,
    /// One JSON object instead of text.
    pub json: bool,
}

/// Branches a run off and follows the new one.
pub async fn fork(client: &Client, text: &str, wanted: Wanted<'_>, term: Term) -> anyhow::Result<Exit> {
    let row = client.find_run(text).await?;
    let fork =
        Fork { seq: wanted.at, connection: client.connection_named(wanted.connection).await?, input: wanted.input };
    let run = client.fork(row.id, &fork).await?;
    term.say(&term.dim(&format!("run {run}, forked from {}", row.id)));
    let follow = Follow { yes: wanted.yes, ..Follow::plain(term, wanted.json) };
    follow.to_end(client, run, 0).await
}
