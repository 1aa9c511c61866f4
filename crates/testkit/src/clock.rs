use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use steward_core::Timestamp;
use steward_core::ports::{Clock, Ids};
use uuid::{Builder, Uuid};

/// A clock that only moves when told to.
#[derive(Debug)]
pub struct FakeClock {
    millis: AtomicI64,
    offset_minutes: i32,
}

impl FakeClock {
    /// 2026-11-21T08:00:00Z, in UTC.
    pub const START: Timestamp = Timestamp(1_795_248_000_000);

    /// Starts at `now`, in UTC.
    pub fn at(now: Timestamp) -> Self {
        Self { millis: AtomicI64::new(now.0), offset_minutes: 0 }
    }

    /// The same clock `minutes` east of UTC.
    #[must_use]
    pub fn east(mut self, minutes: i32) -> Self {
        self.offset_minutes = minutes;
        self
    }

    pub fn advance(&self, by: Duration) {
        let by = i64::try_from(by.as_millis()).unwrap_or(i64::MAX);
        self.millis.fetch_add(by, Ordering::SeqCst);
    }

    /// Jumps to `to`, also backwards.
    pub fn set(&self, to: Timestamp) {
        self.millis.store(to.0, Ordering::SeqCst);
    }
}

impl Default for FakeClock {
    fn default() -> Self {
        Self::at(Self::START)
    }
}

impl Clock for FakeClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.millis.load(Ordering::SeqCst))
    }

    fn utc_offset_minutes(&self, _at: Timestamp) -> i32 {
        self.offset_minutes
    }
}

/// Ids of version 7 that are the same in every test run: one millisecond apart, in order.
#[derive(Debug)]
pub struct SeqIds {
    series: u64,
    next: AtomicU64,
}

impl SeqIds {
    /// Ids of two series never collide.
    pub fn new(series: u64) -> Self {
        Self { series, next: AtomicU64::new(0) }
    }
}

impl Default for SeqIds {
    fn default() -> Self {
        Self::new(0)
    }
}

impl Ids for SeqIds {
    fn next(&self) -> Uuid {
        let n = self.next.fetch_add(1, Ordering::SeqCst);
        let mut tail = [0; 10];
        tail[2..].copy_from_slice(&self.series.to_be_bytes());
        let start = u64::try_from(FakeClock::START.0).unwrap_or_default();
        Builder::from_unix_timestamp_millis(start + n, &tail).into_uuid()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_moves_only_when_told() {
        let clock = FakeClock::default().east(120);
        assert_eq!(clock.now().rfc3339(), "2026-11-21T08:00:00Z");
        clock.advance(Duration::from_mins(1));
        assert_eq!(clock.now().rfc3339(), "2026-11-21T08:01:00Z");
        clock.set(Timestamp(0));
        assert_eq!(clock.now(), Timestamp(0));
        assert_eq!(clock.utc_offset_minutes(clock.now()), 120);
    }

    #[test]
    fn ids_are_ordered_repeatable_and_apart() {
        let take = |series| {
            let ids = SeqIds::new(series);
            [ids.next(), ids.next(), ids.next()]
        };
        let first = take(1);
        assert_eq!(first, take(1));
        assert!(first.is_sorted() && first[0] != first[1]);
        assert!(take(2).iter().all(|id| !first.contains(id)));
        assert_eq!(first[0].get_version_num(), 7);
    }
}
