//! When something is due: cron, an interval, one time, or a recurrence rule.

use jiff::Timestamp as Instant;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use steward_core::Timestamp;

use crate::cron::Cron;
use crate::error::TimingError;
use crate::rrule::Rrule;
use crate::wall::{ClockChange, WallTimes, find_next};

/// The longest interval: ten years.
pub const MAX_INTERVAL_SECONDS: u64 = 10 * 366 * 86_400;

/// When something is due. Whoever holds one knows that it is valid: reading it, from JSON too, checks it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Timing {
    /// Wall-clock times by cron expressions.
    Cron { expression: Cron },
    /// Elapsed time, whatever clocks do.
    Interval {
        every_seconds: IntervalSeconds,
        /// One of its instants, from which it counts in both directions; `None`: the start of 1970 (UTC).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        anchor: Option<Timestamp>,
    },
    /// A single time.
    Once { at: OnceTime },
    /// Wall-clock times by a recurrence rule of iCalendar.
    Rrule(Rrule),
}

/// Seconds of an interval: 1 to [`MAX_INTERVAL_SECONDS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u64", into = "u64")]
pub struct IntervalSeconds(u64);

impl IntervalSeconds {
    pub fn new(seconds: u64) -> Result<Self, TimingError> {
        if (1..=MAX_INTERVAL_SECONDS).contains(&seconds) {
            return Ok(Self(seconds));
        }
        Err(TimingError::new(
            "every_seconds",
            format!("an interval of {seconds} s isn't allowed"),
            format!("Choose 1 to {MAX_INTERVAL_SECONDS} seconds; for example 5400 for every 90 minutes"),
        ))
    }

    pub fn get(self) -> u64 {
        self.0
    }
}

impl TryFrom<u64> for IntervalSeconds {
    type Error = TimingError;

    fn try_from(seconds: u64) -> Result<Self, Self::Error> {
        Self::new(seconds)
    }
}

impl From<IntervalSeconds> for u64 {
    fn from(seconds: IntervalSeconds) -> Self {
        seconds.0
    }
}

/// A single time: by the wall clock of the schedule's zone (`2027-03-14T02:30`), or as an instant with `Z` or an offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum OnceTime {
    Wall(DateTime),
    Instant(Instant),
}

impl OnceTime {
    pub fn parse(text: &str) -> Result<Self, TimingError> {
        let text = text.trim();
        if let Ok(instant) = text.parse::<Instant>() {
            return Ok(Self::Instant(instant));
        }
        let has_time = text.len() > 10 && !text.contains('[');
        has_time.then(|| text.parse().ok()).flatten().map(Self::Wall).ok_or_else(|| {
            TimingError::new(
                "at",
                format!("`{text}` isn't a date with a time"),
                "Write it by the wall clock of the zone, for example 2027-03-14T08:00, or with an offset: 2027-03-14T08:00:00+01:00",
            )
        })
    }
}

impl TryFrom<String> for OnceTime {
    type Error = TimingError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text)
    }
}

impl From<OnceTime> for String {
    fn from(time: OnceTime) -> Self {
        match time {
            OnceTime::Wall(at) => at.to_string(),
            OnceTime::Instant(at) => at.to_string(),
        }
    }
}

/// A wall-clock time as a pattern that holds once.
struct Single(DateTime);

impl WallTimes for Single {
    fn find_at_or_after(&self, from: DateTime) -> Option<DateTime> {
        (self.0 >= from).then_some(self.0)
    }

    fn is_every_hour(&self) -> bool {
        false
    }
}

impl Timing {
    /// Reads cron expressions; see [`Cron::parse`].
    pub fn cron(expression: &str) -> Result<Self, TimingError> {
        Ok(Self::Cron { expression: Cron::parse(expression)? })
    }

    /// Every so many seconds, counted from `anchor`.
    pub fn interval(seconds: u64, anchor: Option<Timestamp>) -> Result<Self, TimingError> {
        Ok(Self::Interval { every_seconds: IntervalSeconds::new(seconds)?, anchor })
    }

    /// A single time; see [`OnceTime`].
    pub fn once(at: &str) -> Result<Self, TimingError> {
        Ok(Self::Once { at: OnceTime::parse(at)? })
    }

    /// A recurrence rule with its beginning; see [`Rrule::parse`].
    pub fn rrule(rule: &str, begin: &str) -> Result<Self, TimingError> {
        Ok(Self::Rrule(Rrule::parse(rule, begin)?))
    }

    /// The first instant later than `after`, and how a change of the clock bears on it.
    pub(crate) fn find_next(&self, zone: &TimeZone, after: Instant) -> Option<(Instant, ClockChange)> {
        match self {
            Self::Cron { expression } => {
                expression.lines.iter().filter_map(|line| find_next(line, zone, after)).min_by_key(|(at, _)| *at)
            }
            Self::Interval { every_seconds, anchor } => {
                let every = i64::try_from(every_seconds.get()).ok()?.checked_mul(1000)?;
                let anchor = anchor.unwrap_or_default().0;
                let steps = after.as_millisecond().checked_sub(anchor)?.div_euclid(every) + 1;
                let at = anchor.checked_add(steps.checked_mul(every)?)?;
                Some((Instant::from_millisecond(at).ok()?, ClockChange::None))
            }
            Self::Once { at: OnceTime::Instant(at) } => (*at > after).then_some((*at, ClockChange::None)),
            Self::Once { at: OnceTime::Wall(at) } => find_next(&Single(*at), zone, after),
            Self::Rrule(rule) => find_next(rule, zone, after).filter(|(at, _)| rule.end().is_none_or(|end| *at <= end)),
        }
    }
}
