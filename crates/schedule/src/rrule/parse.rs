//! The text of a recurrence rule.

use jiff::civil::{DateTime, Weekday};
use jiff::tz::Offset;

use super::{Frequency, MAX_COUNT, Parts, Skip, Until};
use crate::error::TimingError;

/// Parts of RFC 5545 and 7529 that aren't supported, with what to write instead.
const UNSUPPORTED: &[(&str, &str)] = &[
    ("BYSECOND", "The second is that of the beginning; use a cron expression of six fields for others"),
    ("BYYEARDAY", "Name the day by BYMONTH and BYMONTHDAY"),
    ("BYWEEKNO", "Name the week by BYMONTH and BYDAY with an ordinal, for example BYDAY=2MO"),
    ("BYEASTER", "It isn't part of the standard"),
    ("DTSTART", "Put the beginning into `begin`"),
    ("TZID", "Put the zone into `zone`"),
    ("EXDATE", "Exceptions can't be stated; pause the schedule for that time"),
    ("RDATE", "Make a second schedule for further dates"),
    ("EXRULE", "Exceptions can't be stated; pause the schedule for that time"),
];

const SUPPORTED: &str = "Supported are FREQ, INTERVAL, COUNT, UNTIL, BYMONTH, BYMONTHDAY, BYDAY, BYHOUR, BYMINUTE, BYSETPOS, \
                         WKST and SKIP; for example FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=8;BYMINUTE=0";

/// Times of the day that BYSETPOS chooses from: all of a period are listed.
const MAX_TIMES_OF_POSITIONS: u32 = 100;

fn refuse(part: &str, problem: impl Into<String>, hint: &str) -> TimingError {
    TimingError::new(part, problem, hint)
}

pub(super) fn read_parts(text: &str) -> Result<Parts, TimingError> {
    let upper = text.trim().to_uppercase();
    let rule = upper.strip_prefix("RRULE:").unwrap_or(&upper);
    if rule.contains(['\n', '\r']) {
        return Err(refuse("RRULE", "there is more than one line", "Write one rule; its beginning goes into `begin`"));
    }
    let mut given: Vec<(&str, &str)> = Vec::new();
    for part in rule.split(';').filter(|part| !part.is_empty()) {
        let Some((name, value)) = part.split_once('=') else {
            return Err(refuse("RRULE", format!("`{part}` isn't NAME=VALUE"), SUPPORTED));
        };
        if given.iter().any(|(known, _)| *known == name) {
            return Err(refuse(
                name,
                "it is given twice",
                "Write each part once; several values stand after one `=`: BYDAY=MO,FR",
            ));
        }
        given.push((name, value));
    }
    let frequency = given.iter().find(|(name, _)| *name == "FREQ").map(|(_, value)| read_frequency(value));
    let mut parts = Parts {
        frequency: frequency.unwrap_or_else(|| Err(refuse("FREQ", "it is missing", SUPPORTED)))?,
        interval: 1,
        count: None,
        until: None,
        months: 0,
        month_days: Vec::new(),
        days: Vec::new(),
        hours: 0,
        minutes: 0,
        positions: Vec::new(),
        week_start: Weekday::Monday,
        skip: Skip::Omit,
    };
    for (name, value) in given {
        read_part(&mut parts, name, value)?;
    }
    check_together(&parts)?;
    Ok(parts)
}

fn read_part(parts: &mut Parts, name: &str, value: &str) -> Result<(), TimingError> {
    match name {
        "FREQ" => {}
        "INTERVAL" => {
            parts.interval = read_number(name, value, 1, 100_000)?;
        }
        "COUNT" => parts.count = Some(read_number(name, value, 1, i64::from(MAX_COUNT))?),
        "UNTIL" => parts.until = Some(read_until(value)?),
        "BYMONTH" => parts.months = read_bits(name, value, 1, 12)?,
        "BYHOUR" => parts.hours = read_bits(name, value, 0, 23)?,
        "BYMINUTE" => parts.minutes = read_bits(name, value, 0, 59)?,
        "BYMONTHDAY" => {
            parts.month_days = read_list(name, value, |item| read_signed(name, item, 31))?;
        }
        "BYSETPOS" => parts.positions = read_list(name, value, |item| read_signed(name, item, 366))?,
        "BYDAY" => parts.days = read_list(name, value, read_day)?,
        "WKST" => parts.week_start = read_weekday(name, value)?,
        "RSCALE" if value == "GREGORIAN" => {}
        "RSCALE" => {
            return Err(refuse(name, format!("the calendar {value} isn't supported"), "Write RSCALE=GREGORIAN"));
        }
        "SKIP" => {
            parts.skip = match value {
                "OMIT" => Skip::Omit,
                "BACKWARD" => Skip::Backward,
                "FORWARD" => Skip::Forward,
                _ => return Err(refuse(name, format!("`{value}` isn't known"), "Write OMIT, BACKWARD or FORWARD")),
            }
        }
        _ => {
            let hint = UNSUPPORTED.iter().find(|(known, _)| *known == name).map_or(SUPPORTED, |(_, hint)| hint);
            return Err(refuse(name, "it isn't supported", hint));
        }
    }
    Ok(())
}

/// Combinations that RFC 5545 forbids, or that say nothing.
fn check_together(parts: &Parts) -> Result<(), TimingError> {
    let ordinals = parts.days.iter().any(|(ordinal, _)| ordinal.is_some());
    if parts.count.is_some() && parts.until.is_some() {
        return Err(refuse("COUNT", "COUNT and UNTIL can't stand together", "Keep one of them"));
    }
    if ordinals && !matches!(parts.frequency, Frequency::Monthly | Frequency::Yearly) {
        return Err(refuse(
            "BYDAY",
            "an ordinal such as 2MO needs a month or a year to count in",
            "Use FREQ=MONTHLY or FREQ=YEARLY, or weekdays without a number",
        ));
    }
    if !parts.month_days.is_empty() && parts.frequency == Frequency::Weekly {
        return Err(refuse("BYMONTHDAY", "it can't stand with FREQ=WEEKLY", "Use FREQ=MONTHLY, or BYDAY"));
    }
    if !parts.positions.is_empty() {
        if matches!(parts.frequency, Frequency::Hourly | Frequency::Minutely) {
            return Err(refuse("BYSETPOS", "it isn't supported below FREQ=DAILY", "Name the minutes by BYMINUTE"));
        }
        if parts.hours.count_ones().max(1) * parts.minutes.count_ones().max(1) > MAX_TIMES_OF_POSITIONS {
            return Err(refuse(
                "BYSETPOS",
                "there are too many times of the day to choose from",
                "Name fewer hours and minutes, 100 times of the day at most",
            ));
        }
        let others = !parts.month_days.is_empty() || !parts.days.is_empty() || parts.months != 0;
        if !others && parts.hours == 0 && parts.minutes == 0 {
            return Err(refuse(
                "BYSETPOS",
                "there is nothing to choose from",
                "Add BYDAY, BYMONTHDAY, BYHOUR or BYMINUTE",
            ));
        }
    }
    Ok(())
}

fn read_frequency(value: &str) -> Result<Frequency, TimingError> {
    Ok(match value {
        "MINUTELY" => Frequency::Minutely,
        "HOURLY" => Frequency::Hourly,
        "DAILY" => Frequency::Daily,
        "WEEKLY" => Frequency::Weekly,
        "MONTHLY" => Frequency::Monthly,
        "YEARLY" => Frequency::Yearly,
        "SECONDLY" => {
            return Err(refuse("FREQ", "SECONDLY isn't supported", "Use an interval of seconds"));
        }
        _ => {
            return Err(refuse(
                "FREQ",
                format!("`{value}` isn't known"),
                "Write MINUTELY, HOURLY, DAILY, WEEKLY, MONTHLY or YEARLY",
            ));
        }
    })
}

fn read_integer(value: &str) -> Option<i64> {
    let digits = value.strip_prefix(['-', '+']).unwrap_or(value);
    let plain = !digits.is_empty() && digits.len() <= 9 && digits.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| value.parse().ok()).flatten()
}

fn read_number<T: TryFrom<i64>>(name: &str, value: &str, low: i64, high: i64) -> Result<T, TimingError> {
    read_integer(value)
        .filter(|number| (low..=high).contains(number))
        .and_then(|number| T::try_from(number).ok())
        .ok_or_else(|| {
            refuse(name, format!("`{value}` isn't allowed"), &format!("Write a number from {low} to {high}"))
        })
}

fn read_signed<T: TryFrom<i64>>(name: &str, value: &str, high: i64) -> Result<T, TimingError> {
    read_integer(value)
        .filter(|number| *number != 0 && number.abs() <= high)
        .and_then(|number| T::try_from(number).ok())
        .ok_or_else(|| {
            let hint = format!("Write numbers from 1 to {high}, or -1 to -{high} counted from the end");
            refuse(name, format!("`{value}` isn't allowed"), &hint)
        })
}

fn read_list<T>(name: &str, value: &str, read: impl Fn(&str) -> Result<T, TimingError>) -> Result<Vec<T>, TimingError> {
    if value.is_empty() {
        return Err(refuse(name, "it has no value", SUPPORTED));
    }
    value.split(',').map(read).collect()
}

fn read_bits(name: &str, value: &str, low: i64, high: i64) -> Result<u64, TimingError> {
    let values = read_list(name, value, |item| read_number::<u8>(name, item, low, high))?;
    Ok(values.into_iter().fold(0, |bits, value| bits | 1 << value))
}

fn read_day(item: &str) -> Result<(Option<i8>, Weekday), TimingError> {
    let at = item.len().saturating_sub(2);
    let (ordinal, day) = item.split_at_checked(at).unwrap_or(("", item));
    let day = read_weekday("BYDAY", day)?;
    let ordinal = if ordinal.is_empty() { None } else { Some(read_signed("BYDAY", ordinal, 53)?) };
    Ok((ordinal, day))
}

fn read_weekday(name: &str, value: &str) -> Result<Weekday, TimingError> {
    const NAMES: [&str; 7] = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"];
    NAMES
        .iter()
        .position(|known| *known == value)
        .and_then(|at| Weekday::from_monday_zero_offset(i8::try_from(at).ok()?).ok())
        .ok_or_else(|| {
            refuse(name, format!("`{value}` isn't a day"), "Write MO, TU, WE, TH, FR, SA or SU; for example -1FR")
        })
}

fn read_until(value: &str) -> Result<Until, TimingError> {
    let hint = "Write a date or a time, for example 20271231, 20271231T235959 or 20271231T225959Z";
    let wrong = || refuse("UNTIL", format!("`{value}` isn't a date or time"), hint);
    let (text, instant) = value.strip_suffix('Z').map_or((value, false), |text| (text, true));
    let time = match text.len() {
        8 if !instant => format!("{text}T235959"),
        15 => text.to_owned(),
        _ => return Err(wrong()),
    };
    let wall = DateTime::strptime("%Y%m%dT%H%M%S", &time).map_err(|_| wrong())?;
    if !instant {
        return Ok(Until::Wall(wall));
    }
    Offset::UTC.to_timestamp(wall).map(Until::Instant).map_err(|_| wrong())
}
