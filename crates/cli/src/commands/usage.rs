use super::rows::Labelled;
use crate::client::Client;
use crate::options::Word;
use crate::term::{Exit, Term};
use clap::{Args, ValueEnum};
use serde::Deserialize;
use steward_core::Timestamp;
use steward_core::ports::UsageRow;
use steward_core::spending::dollars;

/// What calls of models took: tokens and money.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:\n  steward usage\n  steward usage --by agent --days 7")]
pub struct UsageArgs {
    /// What it is summed up by.
    #[arg(long, value_enum, default_value = "day")]
    by: By,
    /// How many days of UTC, today included.
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=3660))]
    days: u32,
    /// JSON instead of a table.
    #[arg(long)]
    json: bool,
}

/// What usage is summed up by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum By {
    /// Days of UTC.
    Day,
    /// Agents.
    Agent,
    /// Users.
    User,
    /// Connections.
    Connection,
    /// Models.
    Model,
    /// Virtual keys.
    Key,
}

#[derive(Deserialize)]
struct Report {
    items: Vec<Labelled<UsageRow>>,
}

pub async fn run(client: &Client, args: &UsageArgs, term: Term) -> anyhow::Result<Exit> {
    let now = client.now();
    let from = Timestamp::of_day(now.day() - i64::from(args.days) + 1);
    let path = format!("/api/usage?by={}&from={}&to={}", args.by.word(), from.0, now.0 + 1);
    let Report { items: rows } = client.get(&path).await?;
    if rows.is_empty() && !args.json {
        return Ok(term.done("No model was called in this time."));
    }
    Ok(term.with_json(args.json).shown(&rows, || table(&rows, term)))
}

fn table(rows: &[Labelled<UsageRow>], term: Term) {
    let width = rows.iter().map(|row| row.label.chars().count()).max();
    let width = width.unwrap_or(0).max(5);
    println!("{:width$}  {:>7}  {:>12}  {:>12}  {:>12}", "", "calls", "prompt", "reply", "cost");
    let (mut calls, mut prompt, mut reply, mut cost, mut unpriced) = (0, 0, 0, 0, 0);
    for row in rows {
        let sum = &row.value;
        println!(
            "{:width$}  {:>7}  {:>12}  {:>12}  {:>12}",
            row.label,
            sum.calls,
            sum.prompt_tokens,
            sum.completion_tokens,
            dollars(sum.cost_micros)
        );
        calls += sum.calls;
        prompt += sum.prompt_tokens;
        reply += sum.completion_tokens;
        cost += sum.cost_micros;
        unpriced += sum.unpriced;
    }
    println!("{:width$}  {calls:>7}  {prompt:>12}  {reply:>12}  {:>12}", "total", dollars(cost));
    if unpriced > 0 {
        term.note(&format!("{unpriced} calls have no known price and are not in the cost"));
    }
}
