//! From wall-clock times to instants: the one rule for changes of the clock.
//!
//! A zone is read as segments of constant offset. Within a segment, a wall-clock time is one instant. Where two segments meet
//! with a gap, a wall-clock time that is missing fires at the first instant after the gap, once for all that are missing. Where
//! they overlap, a time that comes twice fires the first time only. A pattern that fires in every hour of the day goes on
//! through both as a clock does: what is missing is left out, and the repeated hour counts again.

use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

/// Wall-clock times, in whole seconds, at which something is due.
pub(crate) trait WallTimes {
    /// The first one at or after `from`; `None`: there is none.
    fn find_at_or_after(&self, from: DateTime) -> Option<DateTime>;
    /// Whether it fires in every hour of the day, so that a change of the clock needs no rule.
    fn is_every_hour(&self) -> bool;
}

/// How a change of the clock bears on an occurrence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClockChange {
    /// Its wall-clock time exists once.
    None,
    /// Its wall-clock time is missing that day: it is due at the first instant after the gap.
    AfterGap,
    /// Its wall-clock time comes twice that day; this is the first.
    FirstOfTwo,
    /// The repeated pass of a time that comes twice, for a pattern of every hour.
    SecondOfTwo,
}

/// How long no change of the clock reaches: the largest one ever was a whole day.
const REACH: SignedDuration = SignedDuration::from_hours(72);

/// Segments looked at before a search ends; each step leaps to the next time of the pattern.
const MAX_SEGMENTS: usize = 5_000;

/// A stretch of time with one offset.
struct Segment {
    offset: Offset,
    /// Its first instant and the offset before; `None`: it has no beginning.
    begin: Option<(Timestamp, Offset)>,
    /// The instant after it; `None`: it has no end.
    end: Option<Timestamp>,
}

fn find_segment(zone: &TimeZone, at: Timestamp) -> Segment {
    let offset = zone.to_offset(at);
    let after = at.checked_add(SignedDuration::from_secs(1)).unwrap_or(at);
    let begin = zone.preceding(after).next().and_then(|change| {
        let before = change.timestamp().checked_sub(SignedDuration::from_secs(1)).ok()?;
        Some((change.timestamp(), zone.to_offset(before)))
    });
    Segment { offset, begin, end: zone.following(at).next().map(|change| change.timestamp()) }
}

/// The first instant of `pattern` in `zone` that is later than `after`.
pub(crate) fn find_next(
    pattern: &impl WallTimes,
    zone: &TimeZone,
    after: Timestamp,
) -> Option<(Timestamp, ClockChange)> {
    let mut at = Timestamp::from_second(after.as_second().checked_add(1)?).ok()?;
    if after.subsec_nanosecond() < 0 {
        // Before 1970 the fraction is negative, and the whole second is the later one.
        at = Timestamp::from_second(after.as_second()).ok()?;
    }
    for _ in 0..MAX_SEGMENTS {
        let segment = find_segment(zone, at);
        let mut from = segment.offset.to_datetime(at);
        let mut repeated_until = None;
        if let Some((begin, before)) = segment.begin {
            let (left, entered) = (before.to_datetime(begin), segment.offset.to_datetime(begin));
            if left > entered {
                repeated_until = Some(left);
            }
            if !pattern.is_every_hour() {
                if at == begin && left < entered && pattern.find_at_or_after(left)? < entered {
                    return Some((begin, ClockChange::AfterGap));
                }
                from = repeated_until.map_or(from, |until| from.max(until));
            }
        }
        let found = pattern.find_at_or_after(from)?;
        let instant = segment.offset.to_timestamp(found).ok()?;
        match segment.end {
            Some(end) if instant >= end => {
                // Nothing is due before `found` by the wall clock, so segments that end well before it are skipped.
                let near = instant.checked_sub(REACH).unwrap_or(end);
                at = end.max(near);
            }
            _ => return Some((instant, tell_change(zone, &segment, found, instant, repeated_until))),
        }
    }
    None
}

fn tell_change(
    zone: &TimeZone,
    segment: &Segment,
    found: DateTime,
    instant: Timestamp,
    repeated_until: Option<DateTime>,
) -> ClockChange {
    if repeated_until.is_some_and(|until| found < until) {
        return ClockChange::SecondOfTwo;
    }
    let comes_again = segment.end.is_some_and(|end| {
        let next = zone.to_offset(end);
        next.to_timestamp(found).is_ok_and(|again| again >= end && again > instant)
    });
    if comes_again { ClockChange::FirstOfTwo } else { ClockChange::None }
}
