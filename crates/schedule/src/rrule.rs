//! Recurrence rules of iCalendar: the parts of RFC 5545 that a schedule needs, and SKIP of RFC 7529.
//!
//! The beginning (DTSTART) gives what the rule leaves open, its time, day or weekday, and from where intervals count. It isn't an
//! occurrence unless the rule names it. A part that isn't supported is refused by its name.

mod expand;
mod parse;

use jiff::civil::{DateTime, Weekday};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::error::TimingError;
use crate::wall::WallTimes;

/// The largest COUNT: all are counted when a rule is read.
pub const MAX_COUNT: u32 = 1_000;

/// COUNT is counted for so many years; a rule that isn't through by then ends.
const MAX_COUNTED_YEARS: i16 = 200;

/// A rule with its beginning. In JSON `{"rule": "FREQ=…", "begin": "2027-01-04T08:00:00"}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "RruleText", into = "RruleText")]
pub struct Rrule {
    rule: String,
    pub(crate) begin: DateTime,
    pub(crate) parts: Parts,
    /// The last occurrence that COUNT leaves, by the wall clock.
    last: Option<DateTime>,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RruleText {
    rule: String,
    begin: String,
}

/// How often a rule repeats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Frequency {
    Minutely,
    Hourly,
    Daily,
    Weekly,
    Monthly,
    Yearly,
}

/// What happens to a day that a month lacks (RFC 7529).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Skip {
    Omit,
    Backward,
    Forward,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Until {
    /// By the wall clock of the schedule's zone.
    Wall(DateTime),
    /// Written with `Z`.
    Instant(Timestamp),
}

/// The parts of a rule as they are written; empty: not given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Parts {
    pub frequency: Frequency,
    pub interval: u32,
    pub count: Option<u32>,
    pub until: Option<Until>,
    /// Bits 1 to 12; 0: not given.
    pub months: u64,
    pub month_days: Vec<i8>,
    pub days: Vec<(Option<i8>, Weekday)>,
    /// Bits 0 to 23; 0: not given.
    pub hours: u64,
    /// Bits 0 to 59; 0: not given.
    pub minutes: u64,
    pub positions: Vec<i16>,
    pub week_start: Weekday,
    pub skip: Skip,
}

impl Rrule {
    /// Reads `FREQ=…;…`, with or without `RRULE:` before it, and a beginning by the wall clock such as `2027-01-04T08:00`.
    ///
    /// Fails with the part that is wrong or isn't supported, and for what never happens.
    pub fn parse(rule: &str, begin: &str) -> Result<Self, TimingError> {
        let wall: DateTime = begin.trim().parse().map_err(|_| {
            TimingError::new(
                "begin",
                format!("`{begin}` isn't a date and time"),
                "Write the wall-clock time from which the rule counts, for example 2027-01-04T08:00",
            )
        })?;
        if begin.trim().ends_with(['Z', 'z']) || !begin.contains(['T', 't', ' ']) {
            return Err(TimingError::new(
                "begin",
                format!("`{begin}` isn't a wall-clock time"),
                "Write date and time without a zone, for example 2027-01-04T08:00; the zone is the schedule's",
            ));
        }
        Self::new(rule, wall)
    }

    pub(crate) fn new(rule: &str, begin: DateTime) -> Result<Self, TimingError> {
        let parts = parse::read_parts(rule)?;
        let begin = begin.with().subsec_nanosecond(0).build().unwrap_or(begin);
        let text = rule.trim();
        let text = text.strip_prefix("RRULE:").unwrap_or(text).to_uppercase();
        let mut found = Self { rule: text, begin, parts, last: None };
        let first = found.find_at_or_after(begin);
        let Some(first) = first else {
            return Err(TimingError::new(
                "RRULE",
                format!("`{}` never happens after {begin}", found.rule),
                "Choose days that its months have, and an UNTIL after the beginning; BYMONTHDAY=-1 is the last day",
            ));
        };
        if let Some(count) = found.parts.count {
            let mut last = first;
            for _ in 1..count {
                if last.year() > begin.year().saturating_add(MAX_COUNTED_YEARS) {
                    break;
                }
                let Some(next) = following(last).and_then(|from| found.find_at_or_after(from)) else { break };
                last = next;
            }
            found.last = Some(last);
        }
        Ok(found)
    }

    /// The rule without its beginning, in capital letters.
    pub fn rule(&self) -> &str {
        &self.rule
    }

    /// The instant after which nothing is due, where UNTIL was written as one.
    pub(crate) fn end(&self) -> Option<Timestamp> {
        match self.parts.until {
            Some(Until::Instant(end)) => Some(end),
            _ => None,
        }
    }
}

fn following(at: DateTime) -> Option<DateTime> {
    at.checked_add(SignedDuration::from_secs(1)).ok()
}

impl WallTimes for Rrule {
    fn find_at_or_after(&self, from: DateTime) -> Option<DateTime> {
        let from = if from.subsec_nanosecond() > 0 {
            following(from)?.with().subsec_nanosecond(0).build().ok()?
        } else {
            from
        };
        let found = expand::find_at_or_after(&self.parts, self.begin, from.max(self.begin))?;
        let in_time = match self.parts.until {
            Some(Until::Wall(until)) => found <= until,
            _ => true,
        };
        (in_time && self.last.is_none_or(|last| found <= last)).then_some(found)
    }

    fn is_every_hour(&self) -> bool {
        let parts = &self.parts;
        match parts.frequency {
            Frequency::Minutely => parts.hours == 0 && parts.interval <= 60 && parts.minutes == 0,
            Frequency::Hourly => parts.hours == 0 && parts.interval == 1,
            _ => parts.hours == crate::cron::EVERY_HOUR,
        }
    }
}

impl TryFrom<RruleText> for Rrule {
    type Error = TimingError;

    fn try_from(text: RruleText) -> Result<Self, Self::Error> {
        Self::parse(&text.rule, &text.begin)
    }
}

impl From<Rrule> for RruleText {
    fn from(rule: Rrule) -> Self {
        Self { rule: rule.rule, begin: rule.begin.to_string() }
    }
}
