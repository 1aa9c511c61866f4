//! Recurrence rules, carried out: the days of each period that a rule keeps.

use super::rule::{Freq, Rule};
use jiff::civil::{Date, DateTime, Time};
use jiff::{Span, ToSpan as _};
use std::collections::VecDeque;

/// Periods in a row without any day before a rule is taken for one that has no more.
fn barren(freq: Freq) -> u32 {
    match freq {
        Freq::Daily => 3_000,
        Freq::Weekly | Freq::Monthly => 1_200,
        Freq::Yearly => 400,
    }
}

/// Every time of a rule from `start` on, by the clock of its zone; `UNTIL` is for the caller.
pub(super) struct Times {
    rule: Rule,
    start: DateTime,
    clocks: Vec<Time>,
    period: i32,
    ready: VecDeque<DateTime>,
    left: Option<u32>,
}

impl Times {
    pub fn new(rule: &Rule, start: DateTime) -> Self {
        let mut rule = rule.clone();
        fill(&mut rule, start);
        let or = |list: &[i16], own: i8| match list {
            [] => vec![i16::from(own)],
            list => list.to_vec(),
        };
        let mut times = Vec::new();
        for hour in or(&rule.hours, start.hour()) {
            for minute in or(&rule.minutes, start.minute()) {
                for second in or(&rule.seconds, start.second()) {
                    let [hour, minute, second] =
                        [hour, minute, second].map(|number| i8::try_from(number).unwrap_or_default());
                    times.extend(Time::new(hour, minute, second, 0));
                }
            }
        }
        times.sort_unstable();
        times.dedup();
        Self { left: rule.count, rule, start, clocks: times, period: 0, ready: VecDeque::new() }
    }

    /// First day and number of days of a period; `None` after the end of time.
    fn days(&self, period: i32) -> Option<(Date, i32)> {
        let start = self.start.date();
        let step = period.checked_mul(self.rule.interval)?;
        let later = |date: Date, span: Span| date.checked_add(span).ok();
        Some(match self.rule.freq {
            Freq::Daily => (later(start, Span::new().try_days(step).ok()?)?, 1),
            Freq::Weekly => {
                let since = start.weekday().since(self.rule.week_start);
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
        for _ in 0..barren(self.rule.freq) {
            let (first, count) = self.days(self.period)?;
            self.period = self.period.checked_add(1)?;
            let mut found: Vec<DateTime> = Vec::new();
            for day in 0..count {
                let Ok(date) = first.checked_add(day.days()) else {
                    break;
                };
                if keeps(&self.rule, date) {
                    found.extend(self.clocks.iter().map(|time| date.to_datetime(*time)));
                }
            }
            let start = self.start;
            let kept = positions(&self.rule.positions, found);
            self.ready.extend(kept.into_iter().filter(|at| *at >= start));
            if !self.ready.is_empty() {
                return Some(());
            }
        }
        None
    }
}

impl Iterator for Times {
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

/// What a rule leaves to its start.
fn fill(rule: &mut Rule, start: DateTime) {
    let free = rule.year_days.is_empty() && rule.month_days.is_empty() && rule.days.is_empty();
    if !free {
        return;
    }
    match rule.freq {
        Freq::Daily => {}
        Freq::Weekly => rule.days.push(super::rule::ByDay { nth: 0, day: start.weekday() }),
        Freq::Monthly => rule.month_days.push(start.day().into()),
        Freq::Yearly => {
            if rule.months.is_empty() {
                rule.months.push(start.month().into());
            }
            rule.month_days.push(start.day().into());
        }
    }
}

fn keeps(rule: &Rule, date: Date) -> bool {
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

/// Those of a period that `BYSETPOS` names; all without it.
fn positions(wanted: &[i16], found: Vec<DateTime>) -> Vec<DateTime> {
    if wanted.is_empty() {
        return found;
    }
    let count = i64::try_from(found.len()).unwrap_or(i64::MAX);
    let is = |at: usize| {
        let at = i64::try_from(at).unwrap_or(i64::MAX) + 1;
        let from_end = at - count - 1;
        wanted.iter().any(|one| i64::from(*one) == at || i64::from(*one) == from_end)
    };
    let kept = found.iter().enumerate().filter(|(at, _)| is(*at));
    kept.map(|(_, time)| *time).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::{Rule, Times};
    use crate::calendar::value::When;

    /// Rules with their first times, made by python-dateutil 2.9: see the first line of the file.
    #[test]
    fn rules_give_the_times_that_dateutil_gives() {
        let mut count = 0;
        for line in include_str!("../../tests/data/rrules.txt").lines() {
            if line.starts_with('#') {
                continue;
            }
            let (head, expect) = line.split_once(" -> ").unwrap();
            let (start, rule) = head.split_once(' ').unwrap();
            let start = When::read(start, None).unwrap().at;
            let rule = Rule::read(rule).unwrap();
            let until = rule.until.as_ref().map(|when| when.at);
            let found: Vec<String> = Times::new(&rule, start)
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
        let start = When::read("20260101T090000", None).unwrap().at;
        let rule = Rule::read("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30").unwrap();
        assert_eq!(Times::new(&rule, start).next(), None);
    }
}
