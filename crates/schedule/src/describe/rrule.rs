//! Recurrence rules in words.

use super::cron::{describe_months, list_bits, list_weekdays, show_clock};
use super::show_time;
use crate::rrule::{Frequency, Rrule, Skip, Until};
use crate::texts::Texts;

/// What it says by the wall clock, and what is said after the zone.
pub(super) fn describe(texts: &Texts, rule: &Rrule) -> (String, Vec<String>) {
    let parts = &rule.parts;
    let unit = match parts.frequency {
        Frequency::Minutely => 0,
        Frequency::Hourly => 1,
        Frequency::Daily => 2,
        Frequency::Weekly => 3,
        Frequency::Monthly => 4,
        Frequency::Yearly => 5,
    };
    let mut said = Vec::new();
    said.push(match (parts.interval, unit) {
        (1, 0) => texts.fill("every_minute", &[]),
        (1, 2) => texts.fill("every_day", &[]),
        (1, _) => texts.fill("every_unit", &[("unit", &texts.units[unit])]),
        (n, _) => texts.fill("every_count", &[("n", &n.to_string()), ("unit", &texts.plural_units[unit])]),
    });
    said.extend(describe_days(texts, rule));
    said.extend(describe_months(texts, own_months(rule)));
    said.push(describe_times(texts, rule));
    let text = said.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
    let mut further = Vec::new();
    if !parts.positions.is_empty() {
        let list: Vec<String> = parts.positions.iter().map(|position| texts.ordinal(*position)).collect();
        further.push(texts.fill("chosen", &[("list", &texts.join(&list, &texts.and))]));
    }
    match parts.skip {
        Skip::Omit => {}
        Skip::Backward => further.push(texts.fill("skip_backward", &[])),
        Skip::Forward => further.push(texts.fill("skip_forward", &[])),
    }
    if parts.interval > 1 || parts.count.is_some() {
        further.push(texts.fill("counted_from", &[("date", &show_time(rule.begin))]));
    }
    match parts.count {
        Some(1) => further.push(texts.fill("once_in_all", &[])),
        Some(n) => further.push(texts.fill("times_in_all", &[("n", &n.to_string())])),
        None => {}
    }
    match parts.until {
        Some(Until::Wall(until)) => further.push(texts.fill("until", &[("date", &show_time(until))])),
        Some(Until::Instant(until)) => further.push(texts.fill("until", &[("date", &until.to_string())])),
        None => {}
    }
    (text, further)
}

/// BYMONTH, or the beginning's month where that is what the rule means.
fn own_months(rule: &Rrule) -> u64 {
    let parts = &rule.parts;
    let by_begin = parts.frequency == Frequency::Yearly
        && parts.months == 0
        && parts.month_days.is_empty()
        && parts.days.is_empty();
    if by_begin { 1 << rule.begin.month() } else { parts.months }
}

fn describe_days(texts: &Texts, rule: &Rrule) -> Vec<String> {
    let parts = &rule.parts;
    let mut said = Vec::new();
    let plain = parts.days.iter().filter(|(ordinal, _)| ordinal.is_none());
    let mut bits = plain.fold(0_u64, |bits, (_, day)| bits | 1 << day.to_sunday_zero_offset());
    if parts.days.is_empty() && parts.frequency == Frequency::Weekly {
        bits = 1 << rule.begin.weekday().to_sunday_zero_offset();
    }
    if bits != 0 {
        said.push(texts.fill("on_weekdays", &[("list", &texts.join(&list_weekdays(texts, bits), &texts.and))]));
    }
    let of_year = parts.frequency == Frequency::Yearly && parts.months == 0;
    let name = if of_year { "nth_weekday_of_year" } else { "nth_weekday" };
    for (ordinal, day) in &parts.days {
        if let Some(ordinal) = ordinal {
            said.push(
                texts.fill(name, &[("nth", &texts.ordinal(i16::from(*ordinal))), ("weekday", texts.weekday(*day))]),
            );
        }
    }
    let mut month_days = parts.month_days.clone();
    let by_month = matches!(parts.frequency, Frequency::Monthly | Frequency::Yearly);
    if month_days.is_empty() && parts.days.is_empty() && by_month {
        month_days.push(rule.begin.day());
    }
    let days: Vec<String> = month_days
        .iter()
        .map(|day| if *day > 0 { texts.day(u16::from(day.unsigned_abs())) } else { texts.ordinal(i16::from(*day)) })
        .collect();
    if !days.is_empty() {
        let days = texts.fill("month_days", &[("list", &texts.join(&days, &texts.and))]);
        // Beside weekdays it limits them.
        said =
            vec![if said.is_empty() { days } else { texts.fill("if_also", &[("a", &days), ("b", &said.join(" "))]) }];
    }
    said
}

fn describe_times(texts: &Texts, rule: &Rrule) -> String {
    let parts = &rule.parts;
    let own = |bits: u64, value: i8| if bits == 0 { 1 << value } else { bits };
    let minutes = list_bits(own(parts.minutes, rule.begin.minute()));
    let numbers = |values: &[u8]| texts.join(&values.iter().map(u8::to_string).collect::<Vec<_>>(), &texts.and);
    match parts.frequency {
        Frequency::Minutely | Frequency::Hourly if parts.hours != 0 => {
            let given = parts.frequency == Frequency::Hourly || parts.minutes != 0;
            let minutes = if given { minutes } else { (0..60).collect() };
            let hours = numbers(&list_bits(parts.hours));
            texts.fill("minutes_in_hours", &[("minutes", &numbers(&minutes)), ("hours", &hours)])
        }
        Frequency::Minutely if parts.minutes == 0 => String::new(),
        Frequency::Minutely | Frequency::Hourly => texts.fill("at_minutes", &[("list", &numbers(&minutes))]),
        _ => {
            let hours = list_bits(own(parts.hours, rule.begin.hour()));
            let clock = |hour: u8, minute: u8| match rule.begin.second() {
                0 => show_clock(hour, minute),
                second => format!("{}:{second:02}", show_clock(hour, minute)),
            };
            let times: Vec<String> =
                hours.iter().flat_map(|hour| minutes.iter().map(move |minute| clock(*hour, *minute))).collect();
            texts.fill("at_times", &[("list", &texts.join(&times, &texts.and))])
        }
    }
}
