//! A timing in its zone with its limits: which occurrences there are.

use jiff::Timestamp as Instant;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use steward_core::Timestamp;

use crate::error::TimingError;
use crate::timing::Timing;
use crate::wall::ClockChange;
use crate::zone::Zones;

/// The largest jitter, in seconds: a day.
pub const MAX_JITTER_SECONDS: u32 = 86_400;

/// What is stored of a schedule's time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScheduleTime {
    pub timing: Timing,
    /// Name of the IANA time zone.
    pub zone: String,
    /// Nothing is due before this instant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Timestamp>,
    /// Nothing is due after this instant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<Timestamp>,
    /// Each occurrence is put off by up to so many seconds, always the same for the same occurrence.
    #[serde(default)]
    pub jitter_seconds: u32,
}

/// A schedule's time, ready to be asked. Cheap to ask, so it is worth keeping.
#[derive(Debug, Clone)]
pub struct Plan {
    timing: Timing,
    zone: TimeZone,
    start: Option<Instant>,
    end: Option<Instant>,
    jitter_seconds: u32,
    seed: u64,
}

/// One time at which a schedule is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Occurrence {
    /// The instant that the timing says. It tells the occurrences of a schedule apart.
    pub nominal: Timestamp,
    /// When to start: the nominal instant, put off by the jitter.
    pub due: Timestamp,
    /// How a change of the clock bears on it.
    pub change: ClockChange,
}

impl ScheduleTime {
    pub fn new(timing: Timing, zone: &str) -> Self {
        Self { timing, zone: zone.to_owned(), start: None, end: None, jitter_seconds: 0 }
    }

    /// Finds the zone and checks the limits. `id` is the schedule's: it decides its jitter.
    ///
    /// Fails for an unknown zone, an end before the start, or too much jitter.
    pub fn plan(&self, id: &str, zones: &Zones) -> Result<Plan, TimingError> {
        let zone = zones.find(&self.zone)?;
        for (part, at) in [("start", self.start), ("end", self.end)] {
            if at.is_some_and(|at| at.0 < 0 || to_instant(at).is_none()) {
                let hint = "Give milliseconds since 1970 UTC, up to the year 9999; for example 1798786800000";
                return Err(TimingError::new(part, "this is no time", hint));
            }
        }
        if let (Some(start), Some(end)) = (self.start, self.end)
            && end < start
        {
            return Err(TimingError::new("end", "it is before the start", "Choose an end after the start, or none"));
        }
        if self.jitter_seconds > MAX_JITTER_SECONDS {
            return Err(TimingError::new(
                "jitter_seconds",
                format!("{} s are too many", self.jitter_seconds),
                format!("Choose 0 to {MAX_JITTER_SECONDS} seconds"),
            ));
        }
        Ok(Plan {
            timing: self.timing.clone(),
            zone,
            start: self.start.and_then(to_instant),
            end: self.end.and_then(to_instant),
            jitter_seconds: self.jitter_seconds,
            seed: hash(id.as_bytes().iter().copied()),
        })
    }
}

fn to_instant(at: Timestamp) -> Option<Instant> {
    Instant::from_millisecond(at.0).ok()
}

fn to_timestamp(at: Instant) -> Timestamp {
    Timestamp(at.as_millisecond())
}

/// FNV-1a with a last mix. It must never change: stored occurrences are due by it.
fn hash(bytes: impl Iterator<Item = u8>) -> u64 {
    let sum = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let mixed = (sum ^ (sum >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ (mixed >> 29)
}

impl Plan {
    pub fn timing(&self) -> &Timing {
        &self.timing
    }

    pub fn zone(&self) -> &TimeZone {
        &self.zone
    }

    /// The IANA name of the zone.
    pub fn zone_name(&self) -> &str {
        self.zone.iana_name().unwrap_or("UTC")
    }

    /// What clocks of the zone show at an instant.
    pub(crate) fn to_wall(&self, at: Timestamp) -> DateTime {
        self.zone.to_datetime(to_instant(at).unwrap_or_default())
    }

    /// The first occurrence whose nominal instant is later than `after`; `None`: there is none.
    pub fn find_next(&self, after: Timestamp) -> Option<Occurrence> {
        let (nominal, change) = self.find_nominal(to_instant(after)?)?;
        Some(Occurrence { nominal: to_timestamp(nominal), due: to_timestamp(self.put_off(nominal)), change })
    }

    /// The next `count` occurrences after `after`.
    pub fn list_next(&self, after: Timestamp, count: usize) -> Vec<Occurrence> {
        let mut found: Vec<Occurrence> = Vec::new();
        while found.len() < count {
            let Some(next) = self.find_next(found.last().map_or(after, |last| last.nominal)) else { break };
            found.push(next);
        }
        found
    }

    /// Up to `limit` occurrences after `after` and not later than `until`.
    pub fn list_between(&self, after: Timestamp, until: Timestamp, limit: usize) -> Vec<Occurrence> {
        let next = |last: &Occurrence| self.find_next(last.nominal);
        std::iter::successors(self.find_next(after), next)
            .take_while(|found| found.nominal <= until)
            .take(limit)
            .collect()
    }

    /// The last occurrence that is nominal at or before `at` and after `earliest`, without listing those between.
    pub fn find_last(&self, earliest: Timestamp, at: Timestamp) -> Option<Occurrence> {
        let mut back = 1_000;
        loop {
            let from = Timestamp(at.0.saturating_sub(back)).max(earliest);
            if let Some(found) = self.find_next(from).filter(|found| found.nominal <= at) {
                return Some(self.bisect(found, at));
            }
            if from <= earliest {
                return None;
            }
            back *= 2;
        }
    }

    /// The last occurrence at or before `at`, where `found` is an earlier one.
    fn bisect(&self, mut found: Occurrence, at: Timestamp) -> Occurrence {
        let mut none_after = at;
        while found.nominal < none_after {
            let middle = Timestamp(found.nominal.0 + (none_after.0 - found.nominal.0) / 2);
            match self.find_next(middle).filter(|next| next.nominal <= at) {
                Some(next) => found = next,
                None => none_after = middle,
            }
        }
        found
    }

    /// The instant by the wall clock of the zone with its offset: `2027-03-14T03:00:00-04:00`.
    pub fn show(&self, at: Timestamp) -> String {
        let Some(instant) = to_instant(at) else { return at.rfc3339() };
        instant.to_zoned(self.zone.clone()).strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
    }

    fn find_nominal(&self, after: Instant) -> Option<(Instant, ClockChange)> {
        let before_start = self.start.and_then(|start| start.checked_sub(jiff::SignedDuration::from_millis(1)).ok());
        let from = before_start.map_or(after, |start| start.max(after));
        self.timing.find_next(&self.zone, from).filter(|(at, _)| self.end.is_none_or(|end| *at <= end))
    }

    /// Adds the jitter: less than the time to the next occurrence, and not past the end.
    fn put_off(&self, nominal: Instant) -> Instant {
        if self.jitter_seconds == 0 {
            return nominal;
        }
        let at = nominal.as_millisecond();
        let next = self.find_nominal(nominal).map_or(i64::MAX, |(next, _)| next.as_millisecond() - 1);
        let room = next.min(self.end.map_or(i64::MAX, Instant::as_millisecond)) - at;
        let most = (i64::from(self.jitter_seconds) * 1000).min(room).max(0).unsigned_abs();
        let chosen = hash(self.seed.to_le_bytes().into_iter().chain(at.to_le_bytes())) % (most + 1);
        i64::try_from(chosen).ok().and_then(|chosen| Instant::from_millisecond(at + chosen).ok()).unwrap_or(nominal)
    }
}
