//! Recurrence rules (RFC 5545, 3.3.10): parsed, and expanded into the times that a rule gives.

use super::time::EventTime;
use jiff::civil::{Date, DateTime, Time, Weekday};
use jiff::{Span, ToSpan as _};
use std::collections::{BTreeSet, VecDeque};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Freq {
    #[default]
    Daily,
    Weekly,
    Monthly,
    Yearly,
}

/// `MO`, `2MO`, `-1FR`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ByDay {
    /// Which one of the month or year, from the end if negative; 0 for each.
    pub nth: i16,
    pub day: Weekday,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Rule {
    pub freq: Freq,
    pub interval: Option<i32>,
    pub count: Option<u32>,
    pub until: Option<EventTime>,
    pub months: Vec<i16>,
    pub month_days: Vec<i16>,
    pub year_days: Vec<i16>,
    pub days: Vec<ByDay>,
    pub hours: Vec<i16>,
    pub minutes: Vec<i16>,
    pub seconds: Vec<i16>,
    pub positions: Vec<i16>,
    /// Monday if none is given.
    pub week_start: Option<Weekday>,
}

const WEEKDAYS: [(&str, Weekday); 7] = [
    ("MO", Weekday::Monday),
    ("TU", Weekday::Tuesday),
    ("WE", Weekday::Wednesday),
    ("TH", Weekday::Thursday),
    ("FR", Weekday::Friday),
    ("SA", Weekday::Saturday),
    ("SU", Weekday::Sunday),
];

impl Rule {
    /// Reads `FREQ=WEEKLY;BYDAY=MO,WE`, or one of the words daily, weekly, monthly, yearly.
    pub fn read(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let text = text.strip_prefix("RRULE:").unwrap_or(text);
        if let Some(freq) = freq(text) {
            return Ok(Self { freq, ..Self::default() });
        }
        let bad = |why: &str| {
            format!(
                "`{text}` is no rule of repetition ({why}); write it as weekly, or as FREQ=WEEKLY;BYDAY=MO,WE;COUNT=10"
            )
        };
        let mut parts = Vec::new();
        for part in text.trim_end_matches(';').split(';') {
            let (name, value) = part.split_once('=').ok_or_else(|| bad("a part has no ="))?;
            parts.push((name.trim().to_uppercase(), value.trim()));
        }
        let named = parts.iter().find(|(name, _)| name == "FREQ");
        let (_, named) = named.ok_or_else(|| bad("FREQ is missing"))?;
        let freq = freq(named).ok_or_else(|| bad("FREQ must be daily, weekly, monthly or yearly"))?;
        let mut rule = Self { freq, ..Self::default() };
        for (name, value) in &parts {
            rule.part(name, value).map_err(|why| bad(&why))?;
        }
        rule.check().map_err(|why| bad(&why))?;
        Ok(rule)
    }

    fn part(&mut self, name: &str, value: &str) -> Result<(), String> {
        match name {
            "FREQ" => {}
            "INTERVAL" => self.interval = Some(i32::from(numbers(name, value, 1, 10_000)?[0])),
            "COUNT" => {
                let count = value.parse().ok().filter(|count| *count > 0);
                self.count = Some(count.ok_or("COUNT must be a number above 0")?);
            }
            "UNTIL" => self.until = Some(EventTime::read(value, None)?),
            "BYMONTH" => self.months = numbers(name, value, 1, 12)?,
            "BYMONTHDAY" => self.month_days = signed_numbers(name, value, 31)?,
            "BYYEARDAY" => self.year_days = signed_numbers(name, value, 366)?,
            "BYDAY" => self.days = parse_days(value)?,
            "BYHOUR" => self.hours = numbers(name, value, 0, 23)?,
            "BYMINUTE" => self.minutes = numbers(name, value, 0, 59)?,
            "BYSECOND" => self.seconds = numbers(name, value, 0, 59)?,
            "BYSETPOS" => self.positions = signed_numbers(name, value, 366)?,
            "WKST" => self.week_start = Some(weekday(value).ok_or("WKST must be a day such as MO")?),
            other => return Err(format!("{other} is not supported")),
        }
        Ok(())
    }

    fn check(&self) -> Result<(), String> {
        let wide = matches!(self.freq, Freq::Monthly | Freq::Yearly);
        if !wide && self.days.iter().any(|day| day.nth != 0) {
            return Err("a number before a day needs FREQ=MONTHLY or YEARLY".to_owned());
        }
        if self.freq == Freq::Weekly && !self.month_days.is_empty() {
            return Err("BYMONTHDAY does not go with FREQ=WEEKLY".to_owned());
        }
        if self.freq != Freq::Yearly && !self.year_days.is_empty() {
            return Err("BYYEARDAY needs FREQ=YEARLY".to_owned());
        }
        if self.count.is_some() && self.until.is_some() {
            return Err("COUNT and UNTIL exclude each other".to_owned());
        }
        Ok(())
    }
}

fn freq(text: &str) -> Option<Freq> {
    Some(match text.to_uppercase().as_str() {
        "DAILY" => Freq::Daily,
        "WEEKLY" => Freq::Weekly,
        "MONTHLY" => Freq::Monthly,
        "YEARLY" => Freq::Yearly,
        _ => return None,
    })
}

fn weekday(text: &str) -> Option<Weekday> {
    let found = WEEKDAYS.iter().find(|(name, _)| name.eq_ignore_ascii_case(text));
    found.map(|(_, day)| *day)
}

fn parse_days(value: &str) -> Result<Vec<ByDay>, String> {
    let one = |text: &str| {
        let at = text.len().checked_sub(2)?;
        let (number, day) = text.split_at_checked(at)?;
        let nth: i16 = match number {
            "" => 0,
            number => number.parse().ok().filter(|n| *n != 0 && i16::abs(*n) <= 53)?,
        };
        Some(ByDay { nth, day: weekday(day)? })
    };
    value
        .split(',')
        .map(|text| one(text.trim()).ok_or_else(|| format!("`{text}` is no day; write MO, 2MO or -1FR")))
        .collect()
}

fn numbers(name: &str, value: &str, least: i16, most: i16) -> Result<Vec<i16>, String> {
    let one = |text: &str| {
        let number = text.trim().parse().ok();
        number
            .filter(|number| (least..=most).contains(number))
            .ok_or_else(|| format!("{name} takes numbers from {least} to {most}"))
    };
    value.split(',').map(one).collect()
}

fn signed_numbers(name: &str, value: &str, most: i16) -> Result<Vec<i16>, String> {
    let all = numbers(name, value, -most, most)?;
    if all.contains(&0) {
        return Err(format!("{name} counts from 1 or from -1"));
    }
    Ok(all)
}

/// Empty periods in a row after which a rule is taken to have ended.
fn max_empty_periods(freq: Freq) -> u32 {
    match freq {
        Freq::Daily => 3_000,
        Freq::Weekly | Freq::Monthly => 1_200,
        Freq::Yearly => 400,
    }
}

/// Every time of a rule from `start` on, by its zone's clock. `UNTIL` is left to the caller.
pub(super) struct RuleTimes {
    rule: Rule,
    start: DateTime,
    clocks: BTreeSet<Time>,
    period: i32,
    ready: VecDeque<DateTime>,
    left: Option<u32>,
}

impl RuleTimes {
    pub fn new(rule: &Rule, start: DateTime) -> Self {
        let mut rule = rule.clone();
        fill_from_start(&mut rule, start);
        let or = |list: &[i16], own: i8| match list {
            [] => vec![own],
            list => list.iter().filter_map(|number| i8::try_from(*number).ok()).collect(),
        };
        let mut times = BTreeSet::new();
        for hour in or(&rule.hours, start.hour()) {
            for minute in or(&rule.minutes, start.minute()) {
                for second in or(&rule.seconds, start.second()) {
                    times.extend(Time::new(hour, minute, second, 0));
                }
            }
        }
        Self { left: rule.count, rule, start, clocks: times, period: 0, ready: VecDeque::new() }
    }

    /// First day and number of days of a period; `None` after the last representable date.
    fn days(&self, period: i32) -> Option<(Date, i32)> {
        let start = self.start.date();
        let step = period.checked_mul(self.rule.interval.unwrap_or(1))?;
        let later = |date: Date, span: Span| date.checked_add(span).ok();
        Some(match self.rule.freq {
            Freq::Daily => (later(start, Span::new().try_days(step).ok()?)?, 1),
            Freq::Weekly => {
                let since = start.weekday().since(self.rule.week_start.unwrap_or(Weekday::Monday));
                let first = later(start, (-i32::from(since)).days())?;
                (later(first, Span::new().try_weeks(step).ok()?)?, 7)
            }
            Freq::Monthly => {
                let first = later(start.first_of_month(), Span::new().try_months(step).ok()?)?;
                (first, first.days_in_month().into())
            }
            Freq::Yearly => {
                let first = later(start.first_of_year(), Span::new().try_years(step).ok()?)?;
                (first, first.days_in_year().into())
            }
        })
    }

    fn fill(&mut self) -> Option<()> {
        for _ in 0..max_empty_periods(self.rule.freq) {
            let (first, count) = self.days(self.period)?;
            self.period = self.period.checked_add(1)?;
            let mut found: Vec<DateTime> = Vec::new();
            for day in 0..count {
                let Ok(date) = first.checked_add(day.days()) else {
                    break;
                };
                if keeps_day(&self.rule, date) {
                    found.extend(self.clocks.iter().map(|time| date.to_datetime(*time)));
                }
            }
            let start = self.start;
            let kept = at_positions(&self.rule.positions, found);
            self.ready.extend(kept.into_iter().filter(|at| *at >= start));
            if !self.ready.is_empty() {
                return Some(());
            }
        }
        None
    }
}

impl Iterator for RuleTimes {
    type Item = DateTime;

    fn next(&mut self) -> Option<DateTime> {
        if self.left == Some(0) {
            return None;
        }
        if self.ready.is_empty() {
            self.fill()?;
        }
        self.left = self.left.map(|left| left - 1);
        self.ready.pop_front()
    }
}

fn fill_from_start(rule: &mut Rule, start: DateTime) {
    let free = rule.year_days.is_empty() && rule.month_days.is_empty() && rule.days.is_empty();
    if !free {
        return;
    }
    match rule.freq {
        Freq::Daily => {}
        Freq::Weekly => rule.days.push(ByDay { nth: 0, day: start.weekday() }),
        Freq::Monthly => rule.month_days.push(start.day().into()),
        Freq::Yearly => {
            if rule.months.is_empty() {
                rule.months.push(start.month().into());
            }
            rule.month_days.push(start.day().into());
        }
    }
}

fn keeps_day(rule: &Rule, date: Date) -> bool {
    let any = |list: &[i16], from_start: i16, length: i16| {
        list.is_empty() || list.contains(&from_start) || list.contains(&(from_start - length - 1))
    };
    let (day, month_length) = (i16::from(date.day()), i16::from(date.days_in_month()));
    let (year_day, year_length) = (date.day_of_year(), date.days_in_year());
    if !(rule.months.is_empty() || rule.months.contains(&i16::from(date.month())))
        || !any(&rule.month_days, day, month_length)
        || !any(&rule.year_days, year_day, year_length)
    {
        return false;
    }
    let in_month = rule.freq == Freq::Monthly || !rule.months.is_empty();
    let (at, length) = if in_month { (day, month_length) } else { (year_day, year_length) };
    let nth = (at - 1) / 7 + 1;
    let nth_last = -((length - at) / 7 + 1);
    rule.days.is_empty()
        || rule.days.iter().any(|by| by.day == date.weekday() && (by.nth == 0 || by.nth == nth || by.nth == nth_last))
}

/// The times of a period that `BYSETPOS` picks; all without it.
fn at_positions(wanted: &[i16], found: Vec<DateTime>) -> Vec<DateTime> {
    if wanted.is_empty() {
        return found;
    }
    let index = |position: &i16| match usize::from(position.unsigned_abs()) {
        from_end if *position < 0 => found.len().checked_sub(from_end),
        from_start => from_start.checked_sub(1),
    };
    let kept: BTreeSet<usize> = wanted.iter().filter_map(index).collect();
    kept.into_iter().filter_map(|at| found.get(at).copied()).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::{Freq, Rule, RuleTimes};
    use crate::calendar::time::EventTime;

    #[test]
    fn rules_are_read_or_refused() {
        assert_eq!(Rule::read("weekly").unwrap().freq, Freq::Weekly);
        let rule = Rule::read("RRULE:FREQ=MONTHLY;INTERVAL=2;BYDAY=-1FR;COUNT=3;WKST=SU").unwrap();
        assert_eq!((rule.interval, rule.count, rule.days[0].nth), (Some(2), Some(3), -1));
        for (bad, expect) in [
            ("", "no ="),
            ("sometimes", "no ="),
            ("COUNT=3", "FREQ is missing"),
            ("FREQ=HOURLY", "FREQ must be"),
            ("FREQ=DAILY;INTERVAL=0", "INTERVAL takes"),
            ("FREQ=DAILY;COUNT=0", "COUNT must"),
            ("FREQ=DAILY;COUNT=2;UNTIL=20270101", "exclude each other"),
            ("FREQ=WEEKLY;BYDAY=2MO", "needs FREQ=MONTHLY"),
            ("FREQ=WEEKLY;BYDAY=XX", "is no day"),
            ("FREQ=WEEKLY;BYDAY=é", "is no day"),
            ("FREQ=MONTHLY;BYMONTHDAY=0", "counts from 1"),
            ("FREQ=YEARLY;BYWEEKNO=20", "BYWEEKNO is not supported"),
            ("FREQ=DAILY;UNTIL=soon", "is no time"),
        ] {
            let error = Rule::read(bad).unwrap_err();
            assert!(error.contains(expect), "{bad}: {error}");
        }
    }

    /// Rules with their first times by python-dateutil 2.9: see the first line of the file.
    #[test]
    fn rules_give_the_times_that_dateutil_gives() {
        let mut count = 0;
        for line in include_str!("../../tests/data/rrules.txt").lines() {
            if line.starts_with('#') {
                continue;
            }
            let (head, expect) = line.split_once(" -> ").unwrap();
            let (start, rule) = head.split_once(' ').unwrap();
            let start = EventTime::read(start, None).unwrap().at;
            let rule = Rule::read(rule).unwrap();
            let until = rule.until.as_ref().map(|when| when.at);
            let found: Vec<String> = RuleTimes::new(&rule, start)
                .take_while(|at| until.is_none_or(|until| *at <= until))
                .take(20)
                .map(|at| at.strftime("%Y%m%dT%H%M%S").to_string())
                .collect();
            assert_eq!(found.join(" "), expect, "{head}");
            count += 1;
        }
        assert!(count >= 200, "{count}");
    }

    #[test]
    fn a_rule_that_never_comes_true_ends() {
        let start = EventTime::read("20260101T090000", None).unwrap().at;
        let rule = Rule::read("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30").unwrap();
        assert_eq!(RuleTimes::new(&rule, start).next(), None);
    }
}
