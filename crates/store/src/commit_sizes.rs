//! How many writes share a commit, counted over the life of the process.

use std::sync::atomic::{AtomicU64, Ordering};

/// Upper bounds of the buckets; one more holds what is larger.
const BOUNDS: [f64; 8] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];

static BUCKETS: [AtomicU64; BOUNDS.len() + 1] = [const { AtomicU64::new(0) }; BOUNDS.len() + 1];
static SUM: AtomicU64 = AtomicU64::new(0);

/// A histogram.
#[derive(Debug, Clone, PartialEq)]
pub struct CommitSizes {
    pub sum: f64,
    pub count: u64,
    /// Upper bound and how many commits are in each, the last one without a bound.
    pub buckets: Vec<(f64, u64)>,
}

pub(crate) fn committed(writes: usize) {
    let writes = u32::try_from(writes).unwrap_or(u32::MAX);
    let bucket = BOUNDS.iter().position(|bound| f64::from(writes) <= *bound).unwrap_or(BOUNDS.len());
    BUCKETS[bucket].fetch_add(1, Ordering::Relaxed);
    SUM.fetch_add(u64::from(writes), Ordering::Relaxed);
}

pub fn commit_sizes() -> CommitSizes {
    let counts: Vec<u64> = BUCKETS.iter().map(|bucket| bucket.load(Ordering::Relaxed)).collect();
    let bounds = BOUNDS.into_iter().chain([f64::INFINITY]);
    #[expect(clippy::cast_precision_loss, reason = "a count of writes")]
    let sum = SUM.load(Ordering::Relaxed) as f64;
    CommitSizes { sum, count: counts.iter().sum(), buckets: bounds.zip(counts).collect() }
}

#[cfg(test)]
mod tests {
    use super::{commit_sizes, committed};

    #[test]
    fn commits_are_counted_by_their_size() {
        let before = commit_sizes();
        committed(3);
        committed(1000);
        let after = commit_sizes();
        let more = |at: usize| after.buckets[at].1 - before.buckets[at].1;
        assert!(more(2) >= 1 && more(8) >= 1 && after.count >= before.count + 2 && after.sum >= before.sum + 1003.0);
    }
}
