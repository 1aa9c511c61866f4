//! What the clock has shown while it was behind: what was written then looks older than it is.

use serde::{Deserialize, Serialize};
use std::time::Duration;
use steward_core::Timestamp;

/// So many of these times are kept.
const MOST: usize = 100;
/// A time is noted with what comes after it, so that it need not be noted at each look.
const AHEAD: Duration = Duration::from_mins(10);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Lag {
    /// The beginning of the first day that the clock showed.
    from: Timestamp,
    until: Timestamp,
    /// When the clock was last right.
    right: Timestamp,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Lags(Vec<Lag>);

impl Lags {
    /// The clock is behind: it says `now`, and was last right at `right`.
    pub(super) fn note(&mut self, now: Timestamp, right: Timestamp) {
        let until = now.plus(AHEAD);
        match self.0.iter_mut().find(|lag| lag.from <= now && now <= lag.until) {
            Some(lag) if lag.until.since(now) < AHEAD / 2 => lag.until = until,
            Some(_) => {}
            None => {
                self.0.drain(..self.0.len().saturating_sub(MOST - 1));
                self.0.push(Lag { from: Timestamp::of_day(now.day()), until, right });
            }
        }
    }

    /// The clock is right.
    pub(super) fn forget(&mut self, now: Timestamp) {
        self.0.retain(|lag| now < lag.from || lag.until < now);
    }

    /// When at the earliest something was written that says `at`.
    pub(super) fn written(&self, at: Timestamp) -> Timestamp {
        let lag = self.0.iter().find(|lag| lag.from <= at && at <= lag.until);
        lag.map_or(at, |lag| lag.right.plus(at.since(lag.from)))
    }
}

#[cfg(test)]
mod tests {
    use super::Lags;
    use std::time::Duration;
    use steward_core::Timestamp;

    #[test]
    fn what_a_clock_behind_has_dated_is_as_old_as_it_is() {
        let minutes = |of: Timestamp, minutes| of.plus(Duration::from_mins(minutes));
        let (behind, right) = (minutes(Timestamp::of_day(16_000), 5), Timestamp::of_day(20_000));
        let mut lags = Lags::default();
        lags.note(behind, right);
        lags.note(minutes(behind, 9), minutes(right, 9));
        assert_eq!(lags.0.len(), 1);
        for at in [behind, minutes(behind, 19)] {
            assert!(lags.written(at) >= right, "{at:?}");
        }
        for at in [minutes(behind, 20), Timestamp(0), right] {
            assert_eq!(lags.written(at), at);
        }
        lags.forget(minutes(behind, 1));
        assert_eq!(lags.written(behind), behind, "it was right");
        for day in 0..200 {
            lags.note(Timestamp::of_day(day), right);
        }
        assert_eq!(lags.0.len(), super::MOST);
    }
}
