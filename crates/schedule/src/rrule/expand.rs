//! The occurrences of a rule by the wall clock, period by period.

use jiff::ToSpan;
use jiff::civil::{Date, DateTime, Weekday};

use super::{Frequency, Parts, Skip};
use crate::cron::{EVERY_MONTH, first_bit};

/// Days that a search looks at: 400 years, after which the calendar repeats.
const MAX_DAYS: i64 = 146_097;

/// The same for rules of hours and minutes, which have more to look at: 40 years, within which each leap day has had each weekday.
const MAX_DAYS_OF_HOURS: i64 = 14_610;

/// The first occurrence at or after `from`, which isn't before `begin`.
pub(super) fn find_at_or_after(parts: &Parts, begin: DateTime, from: DateTime) -> Option<DateTime> {
    let rule = Expansion { parts, begin };
    match parts.frequency {
        Frequency::Daily | Frequency::Hourly | Frequency::Minutely => rule.search_days(from),
        Frequency::Weekly => {
            let first = start_of_week(begin.date(), parts.week_start)?;
            let since = days_between(first, from.date()) / 7;
            let limit = MAX_DAYS / 7;
            rule.search_periods(from, since, limit, |index| {
                Some(rule.expand_week(first.checked_add((index * 7).days()).ok()?))
            })
        }
        Frequency::Monthly => {
            let since = months_between(begin.date(), from.date());
            rule.search_periods(from, since, 4_800, |index| Some(rule.expand_month(add_months(begin.date(), index)?)))
        }
        Frequency::Yearly => {
            let since = i64::from(from.year()) - i64::from(begin.year());
            rule.search_periods(from, since, 400, |index| {
                rule.expand_year(i16::try_from(i64::from(begin.year()) + index).ok()?)
            })
        }
    }
}

struct Expansion<'a> {
    parts: &'a Parts,
    begin: DateTime,
}

fn days_between(from: Date, to: Date) -> i64 {
    i64::from((to - from).get_days())
}

fn months_between(from: Date, to: Date) -> i64 {
    (i64::from(to.year()) - i64::from(from.year())) * 12 + i64::from(to.month()) - i64::from(from.month())
}

/// The first day of the month that is `months` after that of `date`.
fn add_months(date: Date, months: i64) -> Option<Date> {
    date.first_of_month().checked_add(months.months()).ok()
}

fn start_of_week(date: Date, week_start: Weekday) -> Option<Date> {
    date.checked_sub(i64::from(date.weekday().since(week_start)).days()).ok()
}

fn to_day(value: i8) -> u8 {
    u8::try_from(value).unwrap_or(0)
}

impl Expansion<'_> {
    /// Looks at each period that the interval allows, one before `since` first: SKIP can move a day into the next.
    fn search_periods(
        &self,
        from: DateTime,
        since: i64,
        limit: i64,
        expand: impl Fn(i64) -> Option<Vec<Date>>,
    ) -> Option<DateTime> {
        let interval = i64::from(self.parts.interval);
        let mut index = ((since - 1).max(0) / interval) * interval;
        // With an interval, the calendar repeats after so many periods too.
        let last = index + limit.saturating_mul(interval).min(limit * 8);
        let mut best: Option<DateTime> = None;
        let mut further = u8::from(self.parts.skip != Skip::Omit);
        while index <= last {
            let Some(dates) = expand(index) else { break };
            let found = self.find_among(dates, from);
            best = match (best, found) {
                (Some(one), Some(other)) => Some(one.min(other)),
                (one, other) => one.or(other),
            };
            if best.is_some() {
                if further == 0 {
                    break;
                }
                further -= 1;
            }
            index += interval;
        }
        best
    }

    /// The first at or after `from` of each date at each time, or of those that BYSETPOS chooses.
    fn find_among(&self, mut dates: Vec<Date>, from: DateTime) -> Option<DateTime> {
        dates.sort_unstable();
        dates.dedup();
        let times = self.list_times();
        let at_times = |date: Date| times.iter().map(move |&(hour, minute)| self.at(date, hour, minute));
        if self.parts.positions.is_empty() {
            let dates = dates.into_iter().filter(|date| *date >= from.date());
            return dates.flat_map(at_times).find(|at| *at >= from);
        }
        let all: Vec<DateTime> = dates.into_iter().flat_map(at_times).collect();
        let mut chosen: Vec<DateTime> = self
            .parts
            .positions
            .iter()
            .filter_map(|position| {
                let position = isize::from(*position);
                let at = if position > 0 {
                    usize::try_from(position - 1).ok()?
                } else {
                    all.len().checked_sub(position.unsigned_abs())?
                };
                all.get(at).copied()
            })
            .collect();
        chosen.sort_unstable();
        chosen.into_iter().find(|at| *at >= from)
    }

    fn at(&self, date: Date, hour: u8, minute: u8) -> DateTime {
        let as_time = |value: u8| i8::try_from(value).unwrap_or(0);
        date.at(as_time(hour), as_time(minute), self.begin.second(), 0)
    }

    /// Hours and minutes for rules of days and longer.
    fn list_times(&self) -> Vec<(u8, u8)> {
        let or = |bits: u64, own: i8| if bits == 0 { 1 << own } else { bits };
        let hours = or(self.parts.hours, self.begin.hour());
        let minutes = or(self.parts.minutes, self.begin.minute());
        let each = |bits: u64, end: u8| (0..end).filter(move |value| bits & (1 << value) != 0);
        each(hours, 24).flat_map(|hour| each(minutes, 60).map(move |minute| (hour, minute))).collect()
    }

    fn search_days(&self, from: DateTime) -> Option<DateTime> {
        let interval = i64::from(self.parts.interval);
        let begin = self.begin.date();
        let is_daily = self.parts.frequency == Frequency::Daily;
        let step = if is_daily { interval } else { 1 };
        let mut index = days_between(begin, from.date()).max(0).div_euclid(step) * step;
        let last = index + if is_daily { MAX_DAYS.saturating_mul(step).min(MAX_DAYS * 8) } else { MAX_DAYS_OF_HOURS };
        while index <= last {
            let date = begin.checked_add(index.days()).ok()?;
            if self.allows_month(date) && self.is_allowed_day(date) {
                let found = if is_daily { self.find_among(vec![date], from) } else { self.find_time(date, from) };
                if found.is_some() {
                    return found;
                }
            }
            index += step;
        }
        None
    }

    /// The first time of a day for rules of hours and minutes, whose interval counts from the beginning through all days.
    fn find_time(&self, date: Date, from: DateTime) -> Option<DateTime> {
        let parts = self.parts;
        let minutely = parts.frequency == Frequency::Minutely;
        let interval = i64::from(parts.interval);
        let days = days_between(self.begin.date(), date);
        let (hour, minute) = (i64::from(self.begin.hour()), i64::from(self.begin.minute()));
        // Hours or minutes from the beginning to midnight, and from there to the first one that the interval names.
        let (units, until_midnight) =
            if minutely { (1_440, days * 1_440 - hour * 60 - minute) } else { (24, days * 24 - hour) };
        let earliest = match (from.date() == date, minutely) {
            (false, _) => 0,
            (true, true) => i64::from(from.hour()) * 60 + i64::from(from.minute()),
            (true, false) => i64::from(from.hour()),
        };
        let mut unit = earliest + (-(until_midnight + earliest)).rem_euclid(interval);
        while unit < units {
            let hour = u8::try_from(if minutely { unit / 60 } else { unit }).ok()?;
            let found = (parts.hours == 0 || parts.hours & (1 << hour) != 0)
                .then(|| self.find_minute(date, hour, minutely.then_some(unit % 60), from));
            if let Some(at) = found.flatten() {
                return Some(at);
            }
            unit += interval;
        }
        None
    }

    /// The first time in an hour: at its `minute`, or at those that the rule or the beginning names.
    fn find_minute(&self, date: Date, hour: u8, minute: Option<i64>, from: DateTime) -> Option<DateTime> {
        let own = 1 << self.begin.minute();
        let named = match (minute, self.parts.minutes) {
            (Some(minute), 0) => 1 << minute,
            (Some(minute), minutes) => minutes & (1 << minute),
            (None, 0) => own,
            (None, minutes) => minutes,
        };
        let mut next = first_bit(named, 0);
        while let Some(minute) = next {
            let at = self.at(date, hour, minute);
            if at >= from {
                return Some(at);
            }
            next = first_bit(named, minute + 1);
        }
        None
    }

    fn allows_month(&self, date: Date) -> bool {
        self.parts.months == 0 || self.parts.months & (1 << date.month()) != 0
    }

    /// BYMONTHDAY and BYDAY as limits.
    fn is_allowed_day(&self, date: Date) -> bool {
        let last = date.days_in_month();
        let days = &self.parts.month_days;
        let in_month =
            days.is_empty() || days.iter().any(|&day| date.day() == if day > 0 { day } else { last + 1 + day });
        in_month && (self.parts.days.is_empty() || self.parts.days.iter().any(|(_, day)| *day == date.weekday()))
    }

    fn expand_week(&self, first: Date) -> Vec<Date> {
        let days = first.series(1.day()).take(7).filter(|date| self.allows_month(*date));
        let days = days.filter(|date| {
            let named = &self.parts.days;
            if named.is_empty() { date.weekday() == self.begin.weekday() } else { self.is_allowed_day(*date) }
        });
        days.collect()
    }

    fn expand_month(&self, first: Date) -> Vec<Date> {
        if !self.allows_month(first) {
            return Vec::new();
        }
        let parts = self.parts;
        if parts.month_days.is_empty() && !parts.days.is_empty() {
            let days: Vec<Date> = first.series(1.day()).take(usize::from(to_day(first.days_in_month()))).collect();
            return self.choose_weekdays(&days);
        }
        let own = [self.begin.day()];
        let wanted = if parts.month_days.is_empty() { &own[..] } else { &parts.month_days };
        let days = wanted.iter().filter_map(|day| self.find_month_day(first, *day));
        days.filter(|date| self.fits_weekday(*date)).collect()
    }

    /// A day of a month, or what SKIP makes of one that it lacks.
    fn find_month_day(&self, first: Date, day: i8) -> Option<Date> {
        let last = first.days_in_month();
        let number = if day > 0 { day } else { last + 1 + day };
        if (1..=last).contains(&number) {
            return first.with().day(number).build().ok();
        }
        match (self.parts.skip, number > last) {
            (Skip::Omit, _) => None,
            (Skip::Backward, true) => Some(first.last_of_month()),
            (Skip::Forward, true) => first.last_of_month().tomorrow().ok(),
            (Skip::Backward, false) => first.yesterday().ok(),
            (Skip::Forward, false) => Some(first),
        }
    }

    /// BYDAY beside BYMONTHDAY: a limit; an ordinal counts within the month.
    fn fits_weekday(&self, date: Date) -> bool {
        let days = &self.parts.days;
        let nth = (date.day() - 1) / 7 + 1;
        let nth_from_end = -((date.days_in_month() - date.day()) / 7 + 1);
        days.is_empty()
            || days.iter().any(|&(ordinal, day)| {
                day == date.weekday() && ordinal.is_none_or(|ordinal| ordinal == nth || ordinal == nth_from_end)
            })
    }

    /// Of consecutive days, those that BYDAY names; ordinals count within them.
    fn choose_weekdays(&self, days: &[Date]) -> Vec<Date> {
        let mut found = Vec::new();
        for &(ordinal, weekday) in &self.parts.days {
            let all: Vec<Date> = days.iter().copied().filter(|date| date.weekday() == weekday).collect();
            match ordinal {
                None => found.extend(all),
                Some(ordinal) if ordinal > 0 => found.extend(all.get(usize::from(to_day(ordinal - 1)))),
                Some(ordinal) => {
                    let at = all.len().checked_sub(usize::from(ordinal.unsigned_abs()));
                    found.extend(at.and_then(|at| all.get(at)));
                }
            }
        }
        found
    }

    fn expand_year(&self, year: i16) -> Option<Vec<Date>> {
        let parts = self.parts;
        let january = Date::new(year, 1, 1).ok()?;
        if parts.months == 0 && parts.month_days.is_empty() && !parts.days.is_empty() {
            let days: Vec<Date> =
                january.series(1.day()).take(usize::from(january.days_in_year().unsigned_abs())).collect();
            return Some(self.choose_weekdays(&days));
        }
        let own = 1 << self.begin.month();
        let months = match (parts.months, parts.month_days.is_empty()) {
            (0, true) => own,
            (0, false) => EVERY_MONTH,
            (months, _) => months,
        };
        let mut found = Vec::new();
        let mut next = first_bit(months, 1);
        while let Some(month) = next {
            let first = Date::new(year, i8::try_from(month).ok()?, 1).ok()?;
            found.extend(self.expand_month(first));
            next = first_bit(months, month + 1);
        }
        Some(found)
    }
}
