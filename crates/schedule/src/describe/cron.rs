//! Cron expressions in words.

use jiff::civil::Weekday;

use crate::cron::{Cron, CronLine, DayRule, EVERY_MONTH, MonthDay, MonthDays, WeekDays};
use crate::texts::Texts;

/// Times that are listed one by one; more are said as a pattern.
const MAX_LISTED: usize = 12;

const WORKDAYS: u64 = 0b011_1110;
const EVERY_WEEKDAY: u64 = 0b111_1111;

pub(super) fn describe(texts: &Texts, cron: &Cron) -> String {
    let mut said: Vec<(String, Vec<String>)> = Vec::new();
    for line in &cron.lines {
        let (days, times) = (describe_days(texts, line), describe_times(texts, line));
        match said.iter_mut().find(|(known, _)| *known == days) {
            Some((_, all)) => all.extend(times),
            None => said.push((days, times)),
        }
    }
    let sentences: Vec<String> = said
        .into_iter()
        .map(|(days, times)| {
            let (clock, others): (Vec<String>, Vec<String>) = times.into_iter().partition(|time| is_clock(time));
            let mut parts = others;
            if !clock.is_empty() {
                let mut clock = clock;
                clock.sort_unstable();
                clock.dedup();
                parts.push(texts.fill("at_times", &[("list", &texts.join(&clock, &texts.and))]));
            }
            format!("{days} {}", texts.join(&parts, &texts.and))
        })
        .collect();
    sentences.join("; ")
}

fn is_clock(text: &str) -> bool {
    matches!(text.as_bytes(), [a, b, b':', c, d] | [a, b, b':', c, d, b':', _, _] if [a, b, c, d].iter().all(|byte| byte.is_ascii_digit()))
}

pub(super) fn show_clock(hour: u8, minute: u8) -> String {
    format!("{hour:02}:{minute:02}")
}

/// The values of a field in their order.
pub(super) fn list_bits(bits: u64) -> Vec<u8> {
    (0..64).filter(|bit| bits & (1 << bit) != 0).collect()
}

fn describe_days(texts: &Texts, line: &CronLine) -> String {
    let DayRule { month_days, week_days, both } = &line.days;
    if let (Some(days), None, true) = (month_days, week_days, line.months != EVERY_MONTH)
        && days.special.is_empty()
    {
        let values = [("list", &*join_days(texts, days.days)), ("months", &join_months(texts, line.months))];
        return texts.fill("month_days_of", &values);
    }
    let in_month = month_days.as_ref().map(|days| describe_month_days(texts, days));
    let in_week = week_days.as_ref().map(|days| describe_week_days(texts, days));
    let days = match (in_month, in_week) {
        (None, None) => texts.fill("every_day", &[]),
        (Some(one), None) | (None, Some(one)) => one,
        (Some(a), Some(b)) if *both => texts.fill("if_also", &[("a", &a), ("b", &b)]),
        (Some(a), Some(b)) => texts.join(&[a, b], &texts.or),
    };
    match describe_months(texts, line.months) {
        Some(months) => format!("{days} {months}"),
        None => days,
    }
}

/// `in January and July`; `None`: in all.
pub(super) fn describe_months(texts: &Texts, months: u64) -> Option<String> {
    let limits = months != EVERY_MONTH && months != 0;
    limits.then(|| texts.fill("in_months", &[("list", &join_months(texts, months))]))
}

fn join_months(texts: &Texts, months: u64) -> String {
    let names: Vec<String> = list_bits(months).into_iter().map(|month| texts.month(month).to_owned()).collect();
    texts.join(&names, &texts.and)
}

/// `1st and 15th`.
fn join_days(texts: &Texts, days: u64) -> String {
    let days: Vec<String> = list_bits(days).into_iter().map(|day| texts.day(u16::from(day))).collect();
    texts.join(&days, &texts.and)
}

fn describe_month_days(texts: &Texts, days: &MonthDays) -> String {
    let mut said = Vec::new();
    if days.days != 0 {
        said.push(texts.fill("month_days", &[("list", &join_days(texts, days.days))]));
    }
    for special in &days.special {
        said.push(match special {
            MonthDay::BeforeLast(0) => texts.fill("last_day", &[]),
            MonthDay::BeforeLast(1) => texts.fill("one_before_last", &[]),
            MonthDay::BeforeLast(n) => texts.fill("before_last", &[("n", &n.to_string())]),
            MonthDay::LastWeekday => texts.fill("last_workday", &[]),
            MonthDay::NearestWeekday(day) => texts.fill("nearest_workday", &[("day", &texts.day(u16::from(*day)))]),
        });
    }
    texts.join(&said, &texts.and)
}

fn describe_week_days(texts: &Texts, days: &WeekDays) -> String {
    let mut said = Vec::new();
    if days.every != 0 {
        said.push(describe_weekdays(texts, days.every));
    }
    for &(weekday, nth) in &days.nth {
        said.push(describe_nth(texts, i16::from(nth), weekday));
    }
    for weekday in list_bits(days.last) {
        said.push(describe_nth(texts, -1, weekday));
    }
    texts.join(&said, &texts.and)
}

fn describe_nth(texts: &Texts, nth: i16, weekday: u8) -> String {
    texts.fill("nth_weekday", &[("nth", &texts.ordinal(nth)), ("weekday", texts.weekday(to_weekday(weekday)))])
}

fn to_weekday(from_sunday: u8) -> Weekday {
    i8::try_from(from_sunday).ok().and_then(|day| Weekday::from_sunday_zero_offset(day).ok()).unwrap_or(Weekday::Sunday)
}

/// Every such day of the week, Monday first; bit 0 is Sunday.
pub(super) fn describe_weekdays(texts: &Texts, bits: u64) -> String {
    match bits {
        WORKDAYS => texts.fill("every_workday", &[]),
        EVERY_WEEKDAY => texts.fill("every_day", &[]),
        _ => texts.fill("every_weekdays", &[("list", &texts.join(&list_weekdays(texts, bits), &texts.and))]),
    }
}

pub(super) fn list_weekdays(texts: &Texts, bits: u64) -> Vec<String> {
    let monday_first = [1, 2, 3, 4, 5, 6, 0].into_iter().filter(|day| bits & (1 << day) != 0);
    monday_first.map(|day| texts.weekday(to_weekday(day)).to_owned()).collect()
}

/// The step of evenly spaced values, and whether they go around the whole field of `size` values.
fn find_step(values: &[u8], size: u8) -> Option<(u8, bool)> {
    let [first, second, ..] = values else { return None };
    let step = second - first;
    let even = values.windows(2).all(|pair| pair[1] - pair[0] == step);
    let around = values.last().is_some_and(|last| first + size - last == step);
    even.then_some((step, around))
}

/// Times of the day: clock times one by one, or patterns.
fn describe_times(texts: &Texts, line: &CronLine) -> Vec<String> {
    let (seconds, minutes, hours) = (list_bits(line.seconds), list_bits(line.minutes), list_bits(line.hours));
    if seconds.len() * minutes.len() * hours.len() <= MAX_LISTED {
        let with_seconds = seconds != [0];
        let mut found = Vec::new();
        for &hour in &hours {
            for &minute in &minutes {
                for second in &seconds {
                    let clock = show_clock(hour, minute);
                    found.push(if with_seconds { format!("{clock}:{second:02}") } else { clock });
                }
            }
        }
        return found;
    }
    let pattern = describe_minutes(texts, &minutes, &hours);
    if seconds == [0] {
        return vec![pattern];
    }
    let said = match find_step(&seconds, 60) {
        Some((1, true)) => texts.fill("every_second", &[]),
        Some((step, true)) => texts.fill("every_seconds", &[("n", &step.to_string())]),
        _ => texts.fill("at_seconds", &[("list", &join_numbers(texts, &seconds))]),
    };
    if minutes.len() == 60 && hours.len() == 24 { vec![said] } else { vec![format!("{pattern}{}{said}", texts.comma)] }
}

fn join_numbers(texts: &Texts, numbers: &[u8]) -> String {
    texts.join(&numbers.iter().map(u8::to_string).collect::<Vec<_>>(), &texts.and)
}

fn describe_minutes(texts: &Texts, minutes: &[u8], hours: &[u8]) -> String {
    let step = find_step(minutes, 60).and_then(|(step, around)| around.then_some(step));
    let (Some(&first), Some(&last)) = (minutes.first(), minutes.last()) else { return String::new() };
    let range = match hours {
        [from, .., to] if usize::from(to - from) + 1 == hours.len() => Some((*from, *to)),
        [hour] => Some((*hour, *hour)),
        _ => None,
    };
    if hours.len() == 24 {
        return match (step, minutes) {
            (Some(1), _) => texts.fill("every_minute", &[]),
            (Some(step), [0, ..]) => texts.fill("every_minutes", &[("n", &step.to_string())]),
            (_, [0]) => texts.fill("every_full_hour", &[]),
            _ => texts.fill("every_hour_at", &[("list", &join_numbers(texts, minutes))]),
        };
    }
    match (range, step, minutes) {
        (Some((from, to)), Some(step), _) => {
            let values = [("n", &*step.to_string()), ("from", &show_clock(from, first)), ("to", &show_clock(to, last))];
            texts.fill(if step == 1 { "minutely_from" } else { "stepping_from" }, &values)
        }
        (Some((from, to)), _, [minute]) => {
            texts.fill("hourly_from", &[("from", &show_clock(from, *minute)), ("to", &show_clock(to, *minute))])
        }
        _ => texts.fill(
            "minutes_in_hours",
            &[("minutes", &join_numbers(texts, minutes)), ("hours", &join_numbers(texts, hours))],
        ),
    }
}
