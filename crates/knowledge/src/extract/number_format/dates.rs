//! Dates, times and lengths of time.

use super::code::{Part, Section};
use std::sync::LazyLock;
use steward_core::Timestamp;

const DAYS_BEFORE_1970: i64 = 25_569;
/// From the first day of the calendar that begins in 1900 to that of the one that begins in 1904.
const BETWEEN: i64 = 1462;
/// Windows' number of English.
const ENGLISH: u32 = 9;

/// Names of months and days by languages: 12 months, short ones, 7 days, short ones.
static NAMES: LazyLock<Vec<(u32, Vec<&'static str>)>> = LazyLock::new(|| {
    let lines = include_str!("../../../data/months.txt").lines().filter(|line| !line.starts_with('#'));
    lines
        .filter_map(|line| {
            let mut fields = line.split('|');
            let language = u32::from_str_radix(fields.next()?, 16).ok()?;
            Some((language, fields.skip(1).collect()))
        })
        .collect()
});

/// A name of a language that isn't known is English.
fn name(language: Option<u32>, at: usize) -> &'static str {
    let of = |language: u32| NAMES.iter().find(|(known, _)| *known == language).map(|(_, names)| names);
    let names = language.and_then(of).or_else(|| of(ENGLISH));
    names.and_then(|names| names.get(at)).copied().unwrap_or_default()
}

struct Moment {
    /// Since the first one.
    days: i64,
    /// As `2024-03-01`.
    date: String,
    year: i64,
    month: usize,
    day: usize,
    /// From Sunday.
    weekday: usize,
    /// Of the day.
    seconds: i64,
    /// Of the second, in billionths.
    nanoseconds: i64,
}

impl Moment {
    /// Days since 1899-12-30, or since 1904-01-01, rounded to so many digits of a second.
    #[expect(clippy::cast_possible_truncation, reason = "checked first")]
    fn of(number: f64, from_1904: bool, digits: usize) -> Option<Self> {
        if !(0.0..2_958_466.0).contains(&number) {
            return None;
        }
        let scale = 10_i64.pow(u32::try_from(digits.min(9)).unwrap_or(0));
        #[expect(clippy::cast_precision_loss, reason = "at most a billion")]
        let units = ((number - number.floor()) * 86_400.0 * scale as f64).round() as i64;
        let a_day = 86_400 * scale;
        let whole_days = number.floor() as i64 + units.div_euclid(a_day);
        let mut days = whole_days;
        let units = units.rem_euclid(a_day);
        days += if from_1904 { BETWEEN } else { 0 };
        // A leap day that never was.
        if days < 60 && !from_1904 {
            days += 1;
        }
        let day = days - DAYS_BEFORE_1970;
        let date = Timestamp::of_day(day).date();
        let mut fields = date.split('-').map(|field| field.parse::<i64>().unwrap_or(0));
        let (year, month, day_of_month) = (fields.next()?, fields.next()?, fields.next()?);
        Some(Self {
            days: whole_days,
            year,
            month: usize::try_from(month).ok()?,
            day: usize::try_from(day_of_month).ok()?,
            weekday: usize::try_from((day + 4).rem_euclid(7)).ok()?,
            seconds: units / scale,
            nanoseconds: units % scale * (1_000_000_000 / scale),
            date,
        })
    }
}

/// `None` for numbers that are no dates.
pub(super) fn show(section: &Section, number: f64, from_1904: bool) -> Option<String> {
    let parts = &section.parts;
    let digits = parts.iter().map(|part| if let Part::Subsecond(digits) = part { *digits } else { 0 }).max();
    let is_elapsed = parts.iter().any(|part| matches!(part, Part::Elapsed(..)));
    let magnitude = if is_elapsed { number.abs() } else { number };
    let moment = Moment::of(magnitude, from_1904, digits.unwrap_or(0))?;
    let has = |fields: &[char]| parts.iter().any(|part| matches!(part, Part::Date(field, _) if fields.contains(field)));
    if section.is_system_date {
        let time = time_of(&moment);
        return Some(if has(&['h', 's']) { time } else { moment.date });
    }
    let mut shown = String::new();
    if number < 0.0 {
        shown.push('-');
    }
    let is_half = parts.iter().any(|part| matches!(part, Part::HalfDay(_)));
    for part in parts {
        match part {
            Part::Date(field, count) => shown.push_str(&show_field(section, &moment, (*field, *count), is_half)),
            Part::Elapsed(unit, count) => shown.push_str(&show_elapsed(*unit, *count, &moment)?),
            Part::Subsecond(digits) => {
                let fraction = format!("{:09}", moment.nanoseconds);
                shown.push('.');
                shown.push_str(fraction.get(..(*digits).min(9)).unwrap_or(&fraction));
            }
            Part::HalfDay(is_long) => {
                let half = if moment.seconds < 43_200 { "AM" } else { "PM" };
                shown.push_str(if *is_long { half } else { &half[..1] });
            }
            Part::Literal(text) => shown.push_str(text),
            Part::Slash => shown.push('/'),
            Part::Comma => shown.push(','),
            Part::Point => shown.push('.'),
            Part::Digit('0') => shown.push('0'),
            _ => {}
        }
    }
    // A time of day has no date to speak of.
    if !has(&['y', 'd', 'm', 'b']) || is_clear(parts) {
        return Some(shown);
    }
    Some(format!("{} ({})", shown.trim(), moment.date))
}

/// Whether nobody can take a date for another one: its year is whole, and a day and a month in numbers come after the
/// year or have points between them.
fn is_clear(parts: &[Part]) -> bool {
    let place = |wanted: char| {
        parts.iter().position(|part| matches!(part, Part::Date(field, count) if *field == wanted && *count < 3))
    };
    let year = parts.iter().position(|part| matches!(part, Part::Date('y' | 'b', 3..)));
    let Some(year) = year else { return false };
    match (place('d'), place('m')) {
        (Some(day), Some(month)) => {
            let between = &parts[day.min(month)..day.max(month)];
            year < day.min(month)
                || day < month
                    && between.iter().any(|part| match part {
                        Part::Point => true,
                        Part::Literal(text) => text.contains('.'),
                        _ => false,
                    })
        }
        _ => true,
    }
}

fn show_field(section: &Section, moment: &Moment, (field, count): (char, usize), is_half: bool) -> String {
    let two = |number: i64| if count > 1 { format!("{number:02}") } else { number.to_string() };
    let small = |number: usize| two(i64::try_from(number).unwrap_or(0));
    let year = |year: i64| if count < 3 { format!("{:02}", year % 100) } else { format!("{year:04}") };
    let month = moment.month.saturating_sub(1);
    match (field, count) {
        ('y', _) => year(moment.year),
        // Of the Buddhist calendar.
        ('b', _) => year(moment.year + 543),
        ('m', 1 | 2) => small(moment.month),
        ('m', 3) => name(section.language, 12 + month).to_owned(),
        ('m', 5) => name(section.language, month).chars().take(1).collect(),
        ('m', _) => name(section.language, month).to_owned(),
        ('d', 1 | 2) => small(moment.day),
        ('d', 3) => name(section.language, 31 + moment.weekday).to_owned(),
        ('d', _) => name(section.language, 24 + moment.weekday).to_owned(),
        ('h', _) => {
            let hour = moment.seconds / 3600;
            two(if is_half { (hour + 11) % 12 + 1 } else { hour })
        }
        ('n', _) => two(moment.seconds / 60 % 60),
        ('s', _) => two(moment.seconds % 60),
        _ => String::new(),
    }
}

/// The fraction of a second, where there is one, stands behind it.
fn show_elapsed(unit: char, count: usize, moment: &Moment) -> Option<String> {
    let seconds = moment.days * 86_400 + moment.seconds;
    let number = match unit {
        'h' => seconds / 3600,
        'm' => seconds / 60,
        _ => seconds,
    };
    (count < 20).then(|| format!("{number:0count$}"))
}

/// The number of a date as ISO 8601 writes it, with or without a time: days since 1899-12-30. `None`: it is none, or is
/// before that.
pub(in super::super) fn serial_number(text: &str) -> Option<f64> {
    let text = text.trim().trim_end_matches('Z');
    let (date, time) = match text.split_once('T') {
        Some((date, time)) => (Some(date), Some(time)),
        None if text.contains(':') => (None, Some(text)),
        None => (Some(text), None),
    };
    let mut days = 0;
    if let Some(date) = date {
        let mut fields = date.splitn(3, '-').map(|field| field.parse::<i64>().ok());
        let (year, month, day) = (fields.next()??, fields.next()??, fields.next()??);
        if !(1899..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
            return None;
        }
        // Years begin in March, so that leap days are the last of theirs.
        let (year, month) = if month < 3 { (year - 1, month + 9) } else { (year, month - 3) };
        let of_year = year * 365 + year / 4 - year / 100 + year / 400;
        days = of_year + (month * 153 + 2) / 5 + day - 1 - 719_468 + DAYS_BEFORE_1970;
        // Before the leap day that never was.
        days -= i64::from(days < 61);
        if days < 0 {
            return None;
        }
    }
    let mut seconds = 0.0;
    if let Some(time) = time {
        let mut fields = time.splitn(3, ':').map(|field| field.parse::<f64>().ok());
        let (hours, minutes, rest) = (fields.next()??, fields.next()??, fields.next().unwrap_or(Some(0.0))?);
        seconds = hours * 3600.0 + minutes * 60.0 + rest;
    }
    #[expect(clippy::cast_precision_loss, reason = "below 2,958,466")]
    let days = days as f64;
    Some(days + seconds / 86_400.0)
}

fn time_of(moment: &Moment) -> String {
    let (hours, minutes, seconds) = (moment.seconds / 3600, moment.seconds / 60 % 60, moment.seconds % 60);
    if seconds == 0 { format!("{hours:02}:{minutes:02}") } else { format!("{hours:02}:{minutes:02}:{seconds:02}") }
}
