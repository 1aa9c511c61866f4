//! Moments and spans of time as models write them.

use super::value::instant;
use crate::error::ToolsError;
use crate::facts::moment;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};
use steward_core::ports::Clock;

/// Days that are looked at unless asked otherwise.
pub(super) const DAYS: i32 = 14;
/// Longest span, days.
const LONGEST: i32 = 3 * 366;

/// What a model may call a point in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Given {
    /// `2026-11-23`
    Day(Date),
    /// `2026-11-23T14:00`, or RFC 3339.
    At(Timestamp),
}

/// Reads a day or a moment.
pub(super) fn read(text: &str, clock: &dyn Clock) -> Result<Given, ToolsError> {
    let text = text.trim();
    if text.len() <= "2026-11-23".len() {
        return text.parse().map(Given::Day).map_err(|_| {
            ToolsError::Refused(format!("`{text}` is no day; write YYYY-MM-DD for a whole day, or YYYY-MM-DDTHH:MM"))
        });
    }
    let at = moment::parse(text, clock)?;
    Ok(Given::At(stamp(at)?))
}

/// A timestamp of ours as one of jiff's.
pub(super) fn stamp(at: steward_core::Timestamp) -> Result<Timestamp, ToolsError> {
    Timestamp::from_millisecond(at.0)
        .map_err(|error| ToolsError::Refused(format!("this time is out of reach: {error}")))
}

fn midnight(day: Date, zone: &TimeZone) -> Result<Timestamp, ToolsError> {
    instant(day.at(0, 0, 0, 0), zone).map_err(far)
}

#[expect(clippy::needless_pass_by_value, reason = "it is what map_err hands over")]
fn far(why: impl ToString) -> ToolsError {
    ToolsError::Refused(format!("this time is out of reach: {}", why.to_string()))
}

/// From the start of a day, or from today, to the end of a day, or of so many later.
pub(super) fn span(
    from: Option<&str>,
    to: Option<&str>,
    now: Timestamp,
    zone: &TimeZone,
    clock: &dyn Clock,
) -> Result<(Timestamp, Timestamp), ToolsError> {
    let given = |text: Option<&str>| text.map(|text| read(text, clock)).transpose();
    let begin = match given(from)? {
        Some(Given::At(at)) => at,
        Some(Given::Day(day)) => midnight(day, zone)?,
        None => midnight(now.to_zoned(zone.clone()).date(), zone)?,
    };
    let later = |days: i32| -> Result<Timestamp, ToolsError> {
        let day = begin.to_zoned(zone.clone()).date();
        midnight(day.checked_add(days.days()).map_err(far)?, zone)
    };
    let end = match given(to)? {
        Some(Given::At(at)) => at,
        Some(Given::Day(day)) => midnight(day.tomorrow().map_err(far)?, zone)?,
        None => later(DAYS)?,
    };
    if end <= begin {
        return Err(ToolsError::refused("`to` must be later than `from`"));
    }
    if end > later(LONGEST)? {
        return Err(ToolsError::Refused(format!("that is more than {LONGEST} days; ask for less at a time")));
    }
    Ok((begin, end))
}

/// `Mon 2026-11-23 14:00`.
pub(super) fn show(at: Timestamp, zone: &TimeZone) -> String {
    at.to_zoned(zone.clone()).strftime("%a %Y-%m-%d %H:%M").to_string()
}

/// `Mon 2026-11-23`.
pub(super) fn show_day(at: DateTime) -> String {
    at.strftime("%a %Y-%m-%d").to_string()
}
