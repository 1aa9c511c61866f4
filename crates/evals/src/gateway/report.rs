use super::load::{Kind, Place};
use super::measure::{Round, median};
use super::upstream::CHUNKS;

/// Rounds of one number of connections; in each, the places in turn.
#[derive(Debug, Default)]
pub struct Table {
    whole: Vec<Vec<Round>>,
    paced: Vec<Vec<Round>>,
    burst: Vec<Vec<Round>>,
}

impl Table {
    pub fn add(&mut self, kind: Kind, rounds: Vec<Round>) {
        match kind {
            Kind::Whole => self.whole.push(rounds),
            Kind::Paced => self.paced.push(rounds),
            Kind::Burst => self.burst.push(rounds),
        }
    }

    /// Prints what each place adds to `direct`, the first of `places`; medians over the rounds.
    pub fn show(&self, places: &[Place], connections: usize) {
        println!(
            "\n{connections} connection(s), medians of {} rounds; times in µs; chunks paced and without a pause",
            self.whole.len()
        );
        println!(
            "| {:<32} | {:>8} | {:>7} | {:>9} | {:>7} | {:>9} | {:>7} | {:>11} | {:>9} | {:>9} | {:>9} | {:>6} | {:>6} | {:>6} |",
            "",
            "requests",
            "p50",
            "added p50",
            "p99",
            "added p99",
            "CPU/req",
            "added first",
            "unpaced",
            "CPU/chunk",
            "unpaced",
            "gap ms",
            "stalls",
            "errors"
        );
        for (index, place) in places.iter().enumerate() {
            println!("{}", self.line(index, &place.name));
        }
    }

    fn line(&self, index: usize, name: &str) -> String {
        let of = |figure: fn(&Round) -> f64| median(self.whole.iter().map(|round| figure(&round[index])));
        let all = || [&self.whole, &self.paced, &self.burst].into_iter().flatten();
        let sum = |figure: fn(&Round) -> usize| all().map(|round| figure(&round[index])).sum::<usize>();
        let requests: usize = self.whole.iter().map(|round| round[index].requests).sum();
        let gap = self.paced.iter().chain(&self.burst).map(|round| round[index].gap);
        format!(
            "| {name:<32} | {requests:>8} | {:>7.0} | {:>9.0} | {:>7.0} | {:>9.0} | {:>7.0} | {:>11.0} | {:>9.0} | {:>9.1} | {:>9.1} | {:>6.1} | {:>6} | {:>6} |",
            of(|round| round.p50),
            added(index, &self.whole, |round| round.p50),
            of(|round| round.p99),
            added(index, &self.whole, |round| round.p99),
            of(|round| round.cpu),
            added(index, &self.paced, |round| round.first),
            added(index, &self.burst, |round| round.first),
            per_chunk(index, &self.whole, &self.paced),
            per_chunk(index, &self.whole, &self.burst),
            gap.fold(0.0, f64::max) / 1000.0,
            sum(|round| round.stalls),
            sum(|round| round.errors),
        )
    }
}

/// Difference to the first place.
fn added(index: usize, rounds: &[Vec<Round>], figure: fn(&Round) -> f64) -> f64 {
    median(rounds.iter().map(|round| figure(&round[index]) - figure(&round[0])))
}

/// CPU that a streamed answer takes beyond a whole one, for each of its chunks.
fn per_chunk(index: usize, whole: &[Vec<Round>], streamed: &[Vec<Round>]) -> f64 {
    let pairs = whole.iter().zip(streamed);
    #[expect(clippy::cast_precision_loss, reason = "a small count")]
    let chunks = CHUNKS as f64;
    median(pairs.map(|(whole, streamed)| (streamed[index].cpu - whole[index].cpu) / chunks))
}
