//! Producers, and what they measure.

use async_trait::async_trait;
use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// An event log under test.
#[async_trait]
pub trait Log: Send + Sync + 'static {
    /// Makes the `after + 1`st event of a producer's run durable.
    async fn append(&self, producer: usize, after: u64);
}

/// What was measured.
pub struct Figures {
    pub name: &'static str,
    pub producers: usize,
    /// Events of all producers.
    pub events: u64,
    pub seconds: f64,
    sorted_micros: Vec<u32>,
}

impl Figures {
    fn millis(&self, part: f64) -> f64 {
        let last = self.sorted_micros.len().saturating_sub(1);
        #[allow(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "an index into a list that fits in memory"
        )]
        let at = (last as f64 * part).round() as usize;
        f64::from(self.sorted_micros.get(at).copied().unwrap_or(0)) / 1000.0
    }

    fn rate(&self) -> f64 {
        #[allow(clippy::cast_precision_loss, reason = "far below 2^52")]
        let events = self.events as f64;
        events / self.seconds
    }

    fn print(&self) {
        println!(
            "{:<34}{:>10}{:>12.0}{:>10.2}{:>10.2}{:>10.1}",
            self.name,
            self.producers,
            self.rate(),
            self.millis(0.5),
            self.millis(0.99),
            self.millis(1.0)
        );
        std::io::stdout().flush().unwrap();
    }

    /// For the JSON line.
    pub fn json(&self) -> serde_json::Value {
        serde_json::json!({
            "name": self.name,
            "producers": self.producers,
            "events": self.events,
            "events_per_s": self.rate().round(),
            "p50_ms": self.millis(0.5),
            "p99_ms": self.millis(0.99),
            "max_ms": self.millis(1.0),
        })
    }
}

/// Lets the producers append for `time`.
pub async fn drive<L: Log>(name: &'static str, producers: usize, time: Duration, log: &Arc<L>) -> Figures {
    let begin = Instant::now();
    let mut tasks = JoinSet::new();
    for producer in 0..producers {
        let log = Arc::clone(log);
        tasks.spawn(async move {
            let mut micros = Vec::new();
            while begin.elapsed() < time {
                let asked = Instant::now();
                log.append(producer, micros.len() as u64 + 1).await;
                micros.push(u32::try_from(asked.elapsed().as_micros()).unwrap_or(u32::MAX));
            }
            micros
        });
    }
    let mut sorted_micros = Vec::new();
    while let Some(done) = tasks.join_next().await {
        sorted_micros.extend(done.unwrap());
    }
    let seconds = begin.elapsed().as_secs_f64();
    sorted_micros.sort_unstable();
    let figures = Figures { name, producers, events: sorted_micros.len() as u64, seconds, sorted_micros };
    figures.print();
    figures
}

/// What the disk needs for one small durable write: the floor of every figure.
pub fn fsync_micros() -> u128 {
    let mut file = tempfile::tempfile().unwrap();
    let mut micros: Vec<_> = (0..200)
        .map(|_| {
            let begin = Instant::now();
            file.write_all(&[7; 4096]).unwrap();
            file.sync_data().unwrap();
            begin.elapsed().as_micros()
        })
        .collect();
    micros.sort_unstable();
    micros[micros.len() / 2]
}
