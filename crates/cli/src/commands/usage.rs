use crate::args::{UsageArgs, Word};
use crate::client::Client;
use crate::exit::Exit;
use crate::term::Term;
use steward_core::Timestamp;
use steward_core::spending::dollars;

pub async fn run(client: &Client, args: &UsageArgs, term: Term) -> anyhow::Result<Exit> {
    let now = client.now();
    let from = Timestamp::of_day(now.day() - i64::from(args.days) + 1);
    let rows = client.usage(&args.by.word(), from, Timestamp(now.0 + 1)).await?;
    if term.listed(&rows, args.json, "No model was called in this time.") {
        return Ok(Exit::Done);
    }
    let width = rows.iter().map(|row| row.label.chars().count()).max();
    let width = width.unwrap_or(0).max(5);
    println!("{:width$}  {:>7}  {:>12}  {:>12}  {:>12}", "", "calls", "prompt", "reply", "cost");
    let (mut calls, mut prompt, mut reply, mut cost, mut unpriced) = (0, 0, 0, 0, 0);
    for row in &rows {
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
        term.say(&term.dim(&format!("{unpriced} calls have no known price and are not in the cost")));
    }
    Ok(Exit::Done)
}
