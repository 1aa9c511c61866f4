use super::rows::{SCHEDULE, describe_occurrence, find};
use crate::client::Client;
use crate::term::{Exit, Term};
use clap::Args;
use serde_json::{Value, json};

/// When it was due, what became of each time, and when it is due next; the latest first.
#[derive(Debug, Clone, Args)]
pub struct History {
    /// Its name, or the beginning or end of its id.
    name: String,
    /// At most so many.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1000))]
    limit: u32,
}

pub(super) async fn show(client: &Client, wanted: &History, term: Term) -> anyhow::Result<Exit> {
    let row = find(client, &wanted.name).await?;
    let path = format!("{}/occurrences", SCHEDULE.path_of(&row));
    let (found, more): (Vec<Value>, bool) = client.list(&path, wanted.limit as usize).await?;
    Ok(term.shown(&json!({"occurrences": found, "more": more}), || {
        if found.is_empty() {
            term.say("It was never due, and won't be.");
        }
        for one in &found {
            println!("{}", describe_occurrence(one));
        }
        if more {
            term.say("there are more; see them with a higher --limit");
        }
    }))
}
