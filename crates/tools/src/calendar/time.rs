use super::ics::Line;
use super::zone::Zone;
use crate::error::{ToolsError, refused};
use crate::facts::parse_time;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Span, Timestamp, ToSpan as _};
use steward_core::ports::Clock;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct EventTime {
    pub at: DateTime,
    pub zone: Zone,
    pub all_day: bool,
}

impl EventTime {
    /// The values of a line, separated by commas; of a period, its start.
    pub fn all(line: &Line) -> Result<Vec<Self>, String> {
        let zone = line.param("TZID").map(Zone::named);
        line.value
            .split(',')
            .map(|text| text.split('/').next().unwrap_or_default().trim())
            .map(|text| Self::read(text, zone.as_ref()))
            .collect()
    }

    pub fn one(line: &Line) -> Result<Self, String> {
        let [when] = Self::all(line)?.try_into().map_err(|_| format!("{} needs exactly one time", line.name))?;
        Ok(when)
    }

    /// `20261123`, `20261123T140000`, `20261123T130000Z`.
    pub fn read(text: &str, zone: Option<&Zone>) -> Result<Self, String> {
        let bad = || format!("`{text}` is no time; write it as 20261123T140000 or 20261123");
        let (plain, utc) = match text.strip_suffix(['Z', 'z']) {
            Some(plain) => (plain, true),
            None => (text, false),
        };
        // The parser also takes other forms of ISO 8601, but this one alone has digits and a T at these places.
        let has_form = |length: usize| {
            let fits = |(at, byte)| if at == 8 { matches!(byte, b'T' | b't') } else { byte.is_ascii_digit() };
            plain.len() == length && plain.bytes().enumerate().all(fits)
        };
        if !utc && has_form(8) {
            let date: Date = plain.parse().map_err(|_| bad())?;
            return Ok(Self { at: date.at(0, 0, 0, 0), zone: Zone::Floating, all_day: true });
        }
        // A leap second becomes the second before it.
        let at = Some(plain).filter(|_| has_form(15)).and_then(|plain| plain.parse().ok()).ok_or_else(bad)?;
        let zone = match zone {
            _ if utc => Zone::Known(TimeZone::UTC),
            Some(zone) => zone.clone(),
            None => Zone::Floating,
        };
        Ok(Self { at, zone, all_day: false })
    }

    pub fn instant(&self, home: &TimeZone) -> Result<Timestamp, String> {
        instant(self.at, self.zone.or(home))
    }
}

/// The instant at which clocks in `zone` show `at`: the first of two, or an hour later where they skip it.
pub(super) fn instant(at: DateTime, zone: &TimeZone) -> Result<Timestamp, String> {
    let zoned = zone.to_zoned(at);
    Ok(zoned.map_err(|error| error.to_string())?.timestamp())
}

#[derive(Debug, Clone, Copy)]
pub(super) enum EventLength {
    Days(i32),
    /// Elapsed time, whatever the clocks do.
    Exact(SignedDuration),
    /// Calendar days, then elapsed time.
    Nominal(Span),
}

impl EventLength {
    /// `PT1H30M`, `P1W`, `P2D`.
    pub fn read(text: &str) -> Result<Self, String> {
        let bad = || format!("`{text}` is no length of time; write it as PT1H30M or P2D");
        if !text.trim().starts_with(['P', '+']) {
            return Err(bad());
        }
        let span: Span = text.trim().parse().map_err(|_| bad())?;
        if span.is_negative() || span.get_years() != 0 || span.get_months() != 0 {
            return Err(bad());
        }
        Ok(Self::Nominal(span))
    }

    pub fn end(self, at: DateTime, zone: &TimeZone) -> Result<Timestamp, String> {
        let start = instant(at, zone)?;
        let far = |error: jiff::Error| error.to_string();
        match self {
            Self::Exact(length) => start.checked_add(length).map_err(far),
            Self::Days(days) => {
                let end = at.checked_add(Span::new().days(days)).map_err(far)?;
                instant(end, zone)
            }
            Self::Nominal(span) => {
                let zoned = start.to_zoned(zone.clone());
                Ok(zoned.checked_add(span).map_err(far)?.timestamp())
            }
        }
    }
}

const USUAL_DAYS: i32 = 14;
const LONGEST_DAYS: i32 = 3 * 366;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GivenTime {
    /// `2026-11-23`
    Day(Date),
    /// `2026-11-23T14:00`, or RFC 3339.
    At(Timestamp),
}

pub(super) fn parse_given(text: &str, clock: &dyn Clock) -> Result<GivenTime, ToolsError> {
    let text = text.trim();
    if text.len() <= "2026-11-23".len() {
        return text
            .parse()
            .map(GivenTime::Day)
            .map_err(|_| refused!("`{text}` is no day; write YYYY-MM-DD for a whole day, or YYYY-MM-DDTHH:MM"));
    }
    let at = parse_time(text, clock)?;
    Ok(GivenTime::At(to_jiff(at)?))
}

pub(super) fn to_jiff(at: steward_core::Timestamp) -> Result<Timestamp, ToolsError> {
    Timestamp::from_millisecond(at.0).map_err(|error| refused!("this time is out of reach: {error}"))
}

fn midnight(day: Date, zone: &TimeZone) -> Result<Timestamp, ToolsError> {
    instant(day.at(0, 0, 0, 0), zone).map_err(out_of_reach)
}

#[expect(clippy::needless_pass_by_value, reason = "it is what map_err hands over")]
fn out_of_reach(why: impl ToString) -> ToolsError {
    refused!("this time is out of reach: {}", why.to_string())
}

/// From a given time or today's midnight, to a given time or a default number of days later.
pub(super) fn time_range(
    from: Option<&str>,
    to: Option<&str>,
    now: Timestamp,
    zone: &TimeZone,
    clock: &dyn Clock,
) -> Result<(Timestamp, Timestamp), ToolsError> {
    let given = |text: Option<&str>| text.map(|text| parse_given(text, clock)).transpose();
    let begin = match given(from)? {
        Some(GivenTime::At(at)) => at,
        Some(GivenTime::Day(day)) => midnight(day, zone)?,
        None => midnight(now.to_zoned(zone.clone()).date(), zone)?,
    };
    let later = |days: i32| -> Result<Timestamp, ToolsError> {
        let day = begin.to_zoned(zone.clone()).date();
        midnight(day.checked_add(days.days()).map_err(out_of_reach)?, zone)
    };
    let end = match given(to)? {
        Some(GivenTime::At(at)) => at,
        Some(GivenTime::Day(day)) => midnight(day.tomorrow().map_err(out_of_reach)?, zone)?,
        None => later(USUAL_DAYS)?,
    };
    if end <= begin {
        return Err(ToolsError::refused("`to` must be later than `from`"));
    }
    if end > later(LONGEST_DAYS)? {
        return Err(refused!("that is more than {LONGEST_DAYS} days; ask for less at a time"));
    }
    Ok((begin, end))
}

/// `Mon 2026-11-23 14:00`.
pub(super) fn show_time(at: Timestamp, zone: &TimeZone) -> String {
    at.to_zoned(zone.clone()).strftime("%a %Y-%m-%d %H:%M").to_string()
}

/// `Mon 2026-11-23`.
pub(super) fn show_day(at: DateTime) -> String {
    at.strftime("%a %Y-%m-%d").to_string()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::{EventLength, EventTime};
    use crate::calendar::ics::Line;
    use crate::calendar::zone::Zone;
    use jiff::civil::date;
    use jiff::tz::TimeZone;

    #[test]
    fn times() {
        let home = TimeZone::get("Europe/Berlin").unwrap();
        for (line, expect) in [
            ("DTSTART:20261123T130000Z", "2026-11-23T13:00:00Z"),
            ("DTSTART:20261123T140000", "2026-11-23T13:00:00Z"),
            ("DTSTART;TZID=America/New_York:20261123T080000", "2026-11-23T13:00:00Z"),
            ("DTSTART;TZID=Eastern Standard Time:20260723T090000", "2026-07-23T13:00:00Z"),
            ("DTSTART;VALUE=DATE:20261123", "2026-11-22T23:00:00Z"),
            // Skipped and repeated by the clocks.
            ("DTSTART:20260329T023000", "2026-03-29T01:30:00Z"),
            ("DTSTART:20261025T023000", "2026-10-25T00:30:00Z"),
        ] {
            let when = EventTime::one(&Line::parse(line).unwrap()).unwrap();
            assert_eq!(when.instant(&home).unwrap().to_string(), expect, "{line}");
        }
        let unknown = EventTime::one(&Line::parse("DTSTART;TZID=Nowhere:20261123T140000").unwrap());
        assert_eq!(unknown.unwrap().zone, Zone::Unknown("Nowhere".into()));
        for bad in ["", "2026", "20261323", "20261123T25", "20261123T990000", "2026112äT000000", "20261123Z"] {
            assert!(EventTime::read(bad, None).unwrap_err().contains("is no time"), "{bad}");
        }
    }

    #[test]
    fn lengths() {
        let home = TimeZone::get("Europe/Berlin").unwrap();
        // The night in which the clocks go forward has 23 hours.
        let eve = date(2026, 3, 28).at(12, 0, 0, 0);
        for (text, expect) in [
            ("PT24H", "2026-03-29T11:00:00Z"),
            ("P1D", "2026-03-29T10:00:00Z"),
            ("P1W", "2026-04-04T10:00:00Z"),
            ("PT1H30M", "2026-03-28T12:30:00Z"),
        ] {
            let length = EventLength::read(text).unwrap();
            assert_eq!(length.end(eve, &home).unwrap().to_string(), expect, "{text}");
        }
        for bad in ["", "1h", "-PT1H", "P1M"] {
            assert!(EventLength::read(bad).is_err(), "{bad}");
        }
    }
}
