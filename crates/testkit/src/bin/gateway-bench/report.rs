//! The table.

use crate::load::Place;
use crate::measure::{Round, median};
use crate::upstream::CHUNKS;

/// Prints what each place adds to `direct`, the first of `places`; medians over the rounds.
pub fn show(places: &[Place], connections: usize, whole: &[Vec<Round>], streamed: &[Vec<Round>]) {
    println!(
        "\n{connections} connection(s), medians of {} rounds; times in µs",
        whole.len()
    );
    println!(
        "| {:<34} | {:>9} | {:>9} | {:>9} | {:>9} | {:>9} | {:>9} | {:>11} | {:>10} | {:>7} | {:>6} |",
        "",
        "requests",
        "p50",
        "added p50",
        "p99",
        "added p99",
        "CPU/req",
        "added first",
        "CPU/chunk",
        "gap ms",
        "stalls"
    );
    for (index, place) in places.iter().enumerate() {
        let of = |rounds: &[Vec<Round>], figure: fn(&Round) -> f64| {
            median(rounds.iter().map(|round| figure(&round[index])))
        };
        let added = |rounds: &[Vec<Round>], figure: fn(&Round) -> f64| {
            median(
                rounds
                    .iter()
                    .map(|round| figure(&round[index]) - figure(&round[0])),
            )
        };
        let requests: usize = whole.iter().map(|round| round[index].requests).sum();
        let stalls: usize = streamed.iter().map(|round| round[index].stalls).sum();
        let gap = streamed
            .iter()
            .map(|round| round[index].gap)
            .fold(0.0, f64::max);
        println!(
            "| {:<34} | {requests:>9} | {:>9.0} | {:>9.0} | {:>9.0} | {:>9.0} | {:>9.0} | {:>11.0} | {:>10.1} | {:>7.1} | {stalls:>6} |",
            place.name,
            of(whole, |round| round.p50),
            added(whole, |round| round.p50),
            of(whole, |round| round.p99),
            added(whole, |round| round.p99),
            of(whole, |round| round.cpu),
            added(streamed, |round| round.first),
            per_chunk(index, whole, streamed),
            gap / 1000.0,
        );
    }
}

/// CPU that a streamed answer takes beyond a whole one, for each of its chunks.
fn per_chunk(index: usize, whole: &[Vec<Round>], streamed: &[Vec<Round>]) -> f64 {
    let pairs = whole.iter().zip(streamed);
    #[expect(clippy::cast_precision_loss, reason = "a small count")]
    let chunks = CHUNKS as f64;
    median(pairs.map(|(whole, streamed)| (streamed[index].cpu - whole[index].cpu) / chunks))
}
