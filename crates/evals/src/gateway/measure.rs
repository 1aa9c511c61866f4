use super::load::{Answers, STALL};
use std::time::Duration;

/// One round at one place; times in microseconds.
#[derive(Debug, Clone, Copy, Default)]
pub struct Round {
    pub requests: usize,
    pub errors: usize,
    /// Median of the whole answer.
    pub p50: f64,
    /// 99th percentile of the whole answer.
    pub p99: f64,
    /// Median time to the first byte of the body.
    pub first: f64,
    pub gap: f64,
    /// Waits longer than [`STALL`].
    pub stalls: usize,
    /// CPU time of the place's process for each request.
    pub cpu: f64,
}

impl Round {
    pub fn of(answers: &Answers, cpu: Duration) -> Self {
        let samples = &answers.samples;
        let wholes = sorted(samples.iter().map(|sample| sample.whole));
        let firsts = sorted(samples.iter().map(|sample| sample.first));
        let gaps = sorted(samples.iter().map(|sample| sample.gap));
        #[expect(clippy::cast_precision_loss, reason = "counts of a bench")]
        let requests = samples.len().max(1) as f64;
        Self {
            requests: samples.len(),
            errors: answers.errors,
            p50: at(&wholes, 50),
            p99: at(&wholes, 99),
            first: at(&firsts, 50),
            gap: at(&gaps, 100),
            stalls: samples.iter().filter(|sample| sample.gap > STALL).count(),
            cpu: cpu.as_secs_f64() * 1e6 / requests,
        }
    }
}

fn sorted(times: impl Iterator<Item = Duration>) -> Vec<f64> {
    let mut all: Vec<f64> = times.map(|time| time.as_secs_f64() * 1e6).collect();
    all.sort_by(f64::total_cmp);
    all
}

fn at(sorted: &[f64], percent: usize) -> f64 {
    let last = sorted.len().saturating_sub(1);
    let index = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
    sorted.get(index.min(last)).copied().unwrap_or(0.0)
}

pub fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut all: Vec<f64> = values.collect();
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or(0.0)
}

/// CPU time of a process and its threads, from the scheduler's account in nanoseconds; where the kernel keeps none,
/// utime + stime in ticks.
pub fn cpu_time(process: u32) -> Duration {
    let tasks = std::fs::read_dir(format!("/proc/{process}/task"));
    let sum: u64 = tasks
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|task| std::fs::read_to_string(task.path().join("schedstat")).ok())
        .filter_map(|text| text.split(' ').next().and_then(|first| first.parse::<u64>().ok()))
        .sum();
    if sum > 0 {
        return Duration::from_nanos(sum);
    }
    ticks(process)
}

fn ticks(process: u32) -> Duration {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // Behind the name in brackets, which may hold blanks, utime and stime are the 12th and 13th field.
    let rest = text.rsplit_once(')').map_or("", |(_, rest)| rest);
    let ticks: u64 = rest.split_whitespace().skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 10)
}
