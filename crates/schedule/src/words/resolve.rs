//! From what was said to a timing: nothing is added that wasn't said, except that a bare hour is that of 24.

use jiff::Timestamp as Instant;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, ToSpan};
use steward_core::Timestamp;

use super::days::{CronDays, DayFinder, Days};
use super::lexicon::{Part, Unit};
use super::question::Ask;
use super::said::{Clock, Said, When};
use crate::cron::MAX_CRON_LINES;
use crate::rrule::Rrule;
use crate::timing::{OnceTime, Timing};
use crate::wall::WallTimes;

/// An hour and a minute.
type Time = (u8, u8);

/// One timing, or several that a person chooses from.
#[derive(Debug)]
pub(super) enum Resolved {
    One(Timing),
    Choose(Ask, Vec<Timing>),
}

pub(super) struct Resolver<'a> {
    pub said: &'a Said,
    pub zone: &'a TimeZone,
    pub now: Instant,
}

fn timing(expression: &str) -> Result<Resolved, Ask> {
    Timing::cron(expression).map(Resolved::One).map_err(|_| Ask::NoSuchDay)
}

impl Resolver<'_> {
    pub(super) fn resolve(&self) -> Result<Resolved, Ask> {
        let said = self.said;
        if let Some((n, unit)) = said.step
            && unit < Unit::Day
        {
            return self.resolve_step(n, unit);
        }
        if said.window.is_some() {
            return Err(Ask::WindowUnclear);
        }
        let yearly = said.step == Some((1, Unit::Year));
        if let (Some(when), false) = (said.when, yearly) {
            return self.resolve_once(when);
        }
        let days = match self.days().find_days() {
            Err(Ask::OnceOrAlways) if !said.repeats => return self.offer_repeating(),
            days => days?,
        };
        let times = self.find_times()?;
        match days {
            Days::Cron(days) => Self::build_cron(&days, &times),
            Days::Choose(ask, list) => {
                let mut choices = Vec::new();
                for days in list {
                    let found = match days {
                        Days::Cron(days) => Self::build_cron(&days, &times)?,
                        Days::Rule(rule) => self.build_rule(&rule, &times)?,
                        Days::Choose(..) => continue,
                    };
                    if let Resolved::One(timing) = found {
                        choices.push(timing);
                    }
                }
                Ok(Resolved::Choose(ask, choices))
            }
            Days::Rule(rule) => self.build_rule(&rule, &times),
        }
    }

    /// `Mon, Wed and Fri at 9:30`: most likely each week, but nobody said so.
    fn offer_repeating(&self) -> Result<Resolved, Ask> {
        let said = Said { repeats: true, ..self.said.clone() };
        match (Resolver { said: &said, zone: self.zone, now: self.now }).resolve() {
            Ok(Resolved::One(timing)) => Ok(Resolved::Choose(Ask::OnceOrAlways, vec![timing])),
            _ => Err(Ask::OnceOrAlways),
        }
    }

    fn days(&self) -> DayFinder<'_> {
        DayFinder { said: self.said }
    }

    fn wall_now(&self) -> DateTime {
        self.zone.to_datetime(self.now)
    }

    /// The times of the day that were said, by 24 hours.
    fn find_times(&self) -> Result<Vec<Time>, Ask> {
        let said = self.said;
        if said.times.is_empty() {
            let named = said.step.is_some()
                || said.when.is_some()
                || said.weekdays != 0
                || !said.nth.is_empty()
                || !said.month_days.is_empty();
            return Err(if named || said.part.is_some() { Ask::TimeMissing } else { Ask::Empty });
        }
        // `at 9 and 5 pm`, `8 am and 5`: am or pm may hold for the other one too. `8 and 9 am` is clear.
        let bare = |time: &Clock| time.after_noon.is_none() && time.hour < 12;
        let marked = said.times.iter().any(|time| time.after_noon.is_some() && time.hour != 12 && !time.midnight);
        if marked && said.times.iter().any(bare) {
            let (last, others) = said.times.split_last().ok_or(Ask::TimeMissing)?;
            let clear = last.after_noon == Some(false) && others.iter().all(|time| bare(time) && time.hour < last.hour);
            if !clear {
                return Err(Ask::HourUnclear);
            }
        }
        // `at 9 and 5`: nobody counts back by 24 hours.
        if said.times.windows(2).any(|pair| bare(&pair[1]) && pair[0].hour <= 12 && pair[1].hour < pair[0].hour) {
            return Err(Ask::HourUnclear);
        }
        // `at 3`: few mean the night. `at 3 and 14` is of 24 hours.
        let of_24 = said.times.iter().any(|time| time.after_noon.is_none() && time.hour > 12);
        if !of_24 && said.part.is_none() && said.times.iter().any(is_small) {
            return Err(Ask::HourUnclear);
        }
        let daily = said.step == Some((1, Unit::Day))
            && said.weekdays == 0
            && said.nth.is_empty()
            && said.month_days.is_empty();
        let mut times = Vec::new();
        for time in &said.times {
            if time.midnight && !daily {
                return Err(Ask::MidnightUnclear);
            }
            let hour = fit_part(time, said.part)?;
            if said.part == Some(Part::Night) && hour < 6 && !daily {
                // The night from that day to the next, or the one before?
                return Err(Ask::MidnightUnclear);
            }
            times.push((hour, u8::try_from(time.minute).map_err(|_| Ask::HourUnclear)?));
        }
        times.sort_unstable();
        times.dedup();
        Ok(times)
    }

    fn resolve_once(&self, when: When) -> Result<Resolved, Ask> {
        let said = self.said;
        if said.repeats
            || said.step.is_some()
            || said.weekdays != 0
            || !said.nth.is_empty()
            || !said.month_days.is_empty()
            || said.months != 0
        {
            return Err(Ask::Contradiction);
        }
        // `in 3 days at 8` names a day; `in 3 days` an instant.
        let when = match when {
            When::Delay(n, unit @ (Unit::Day | Unit::Week)) if !said.times.is_empty() && n > 0 => {
                When::Days(i64::from(n) * if unit == Unit::Week { 7 } else { 1 })
            }
            When::Delay(n, unit) => return self.resolve_delay(n, unit),
            when => when,
        };
        let today = self.wall_now().date();
        let times = self.find_times()?;
        let &[(hour, minute)] = &times[..] else { return Err(Ask::TwoTimings) };
        let at = |date: Date| date.at(hour.cast_signed(), minute.cast_signed(), 0, 0);
        let date = match when {
            When::Days(days) => today.checked_add(days.days()).map_err(|_| Ask::NoSuchDay)?,
            When::Date(Some(year), month, day) => Date::new(year, month, day).map_err(|_| Ask::NoSuchDay)?,
            When::Date(None, month, day) => {
                let this_year = Date::new(today.year(), month, day).map_err(|_| Ask::NoSuchDay)?;
                // This day, whose time is past, is hardly that of next year.
                if at(this_year) > self.wall_now() || this_year == today {
                    this_year
                } else {
                    Date::new(today.year() + 1, month, day).map_err(|_| Ask::NoSuchDay)?
                }
            }
            When::Delay(..) => return Err(Ask::Contradiction),
        };
        if at(date) <= self.wall_now() {
            return Err(Ask::Past);
        }
        Ok(Resolved::One(Timing::Once { at: OnceTime::Wall(at(date)) }))
    }

    fn resolve_delay(&self, n: u32, unit: Unit) -> Result<Resolved, Ask> {
        if !self.said.times.is_empty() || self.said.part.is_some() || n == 0 {
            return Err(Ask::Contradiction);
        }
        let seconds = match unit {
            Unit::Second => 1,
            Unit::Minute => 60,
            Unit::Hour => 3_600,
            // The same time on a later day? It wasn't said.
            _ => return Err(Ask::TimeMissing),
        };
        let whole = Instant::from_second(self.now.as_second()).map_err(|_| Ask::NotPossible)?;
        let at = whole.checked_add(SignedDuration::from_secs(i64::from(n) * seconds)).map_err(|_| Ask::NotPossible)?;
        Ok(Resolved::One(Timing::Once { at: OnceTime::Instant(at) }))
    }

    /// `every 15 minutes`, with or without limits.
    fn resolve_step(&self, n: u32, unit: Unit) -> Result<Resolved, Ask> {
        let said = self.said;
        if !said.times.is_empty() || said.when.is_some() || said.part.is_some() {
            return Err(Ask::Contradiction);
        }
        let seconds = u64::from(n)
            * match unit {
                Unit::Second => 1,
                Unit::Minute => 60,
                _ => 3_600,
            };
        let days_are_limited =
            said.weekdays != 0 || !said.nth.is_empty() || !said.month_days.is_empty() || said.months != 0;
        if !days_are_limited && said.window.is_none() {
            let midnight =
                self.zone.to_timestamp(self.wall_now().date().at(0, 0, 0, 0)).map_err(|_| Ask::NotPossible)?;
            let found =
                Timing::interval(seconds, Some(Timestamp(midnight.as_millisecond()))).map_err(|_| Ask::NotPossible)?;
            return Ok(Resolved::One(found));
        }
        if seconds % 60 != 0 {
            return Err(Ask::NotPossible);
        }
        let step = u32::try_from(seconds / 60).map_err(|_| Ask::NotPossible)?;
        let times = self.list_steps(step, days_are_limited)?;
        let Days::Cron(days) = self.days().find_limited_days()? else { return Err(Ask::NotPossible) };
        Self::build_cron(&days, &times)
    }

    /// The times of the day of a step of minutes.
    fn list_steps(&self, step: u32, days_are_limited: bool) -> Result<Vec<Time>, Ask> {
        let minutes = |clock: &Clock| clock.hour * 60 + clock.minute;
        let all: Vec<u32> = match &self.said.window {
            None if 1_440 % step == 0 => (0..1_440).step_by(step as usize).collect(),
            None => return Err(Ask::NotPossible),
            Some((from, to)) => {
                let bare = |clock: &Clock| clock.after_noon.is_none() && clock.hour < 12;
                let (begin, mut end) = (minutes(from), minutes(to));
                if to.midnight {
                    end = 1_440;
                    if days_are_limited {
                        return Err(Ask::WindowUnclear);
                    }
                }
                // `between 9 and 5`, `from 9 to 5 pm`
                if (bare(from) && to.after_noon == Some(true) && !to.midnight)
                    || (bare(to) && end <= begin && begin <= 720)
                    || end == begin
                {
                    return Err(Ask::WindowUnclear);
                }
                if is_small(from) && to.hour <= 12 {
                    return Err(Ask::WindowUnclear);
                }
                if end < begin {
                    if days_are_limited {
                        return Err(Ask::WindowUnclear);
                    }
                    end += 1_440;
                }
                (begin..=end).step_by(step as usize).map(|minute| minute % 1_440).collect()
            }
        };
        let mut times: Vec<Time> = all
            .iter()
            .filter_map(|minute| Some((u8::try_from(minute / 60).ok()?, u8::try_from(minute % 60).ok()?)))
            .collect();
        times.sort_unstable();
        times.dedup();
        Ok(times)
    }

    fn build_cron(days: &CronDays, times: &[Time]) -> Result<Resolved, Ask> {
        // Hours with the same minutes go together.
        let mut groups: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
        for hour in 0..24 {
            let minutes: Vec<u8> = times.iter().filter(|(of, _)| *of == hour).map(|(_, minute)| *minute).collect();
            if minutes.is_empty() {
                continue;
            }
            match groups.iter_mut().find(|(known, _)| *known == minutes) {
                Some((_, hours)) => hours.push(hour),
                None => groups.push((minutes, vec![hour])),
            }
        }
        if groups.len() > MAX_CRON_LINES {
            return Err(Ask::NotPossible);
        }
        let CronDays { month_day, months, weekday } = days;
        let lines: Vec<String> = groups
            .iter()
            .map(|(minutes, hours)| {
                format!("{} {} {month_day} {months} {weekday}", write_field(minutes, 60), write_field(hours, 24))
            })
            .collect();
        timing(&lines.join("; "))
    }

    fn build_rule(&self, rule: &str, times: &[Time]) -> Result<Resolved, Ask> {
        let mut hours: Vec<u8> = times.iter().map(|(hour, _)| *hour).collect();
        let mut minutes: Vec<u8> = times.iter().map(|(_, minute)| *minute).collect();
        hours.sort_unstable();
        hours.dedup();
        minutes.sort_unstable();
        minutes.dedup();
        if hours.len() * minutes.len() != times.len() {
            return Err(Ask::TwoTimings);
        }
        let list = |values: &[u8]| values.iter().map(u8::to_string).collect::<Vec<_>>().join(",");
        let text = format!("{rule};BYHOUR={};BYMINUTE={}", list(&hours), list(&minutes));
        let now = self.wall_now();
        let start = now.with().second(0).subsec_nanosecond(0).build().unwrap_or(now);
        // It counts from the first one that comes, whatever the interval.
        let without_interval: String =
            text.split(';').filter(|part| !part.starts_with("INTERVAL=")).collect::<Vec<_>>().join(";");
        let next = start.checked_add(SignedDuration::from_secs(60)).map_err(|_| Ask::NotPossible)?;
        let first = Rrule::new(&without_interval, next)
            .ok()
            .and_then(|rule| rule.find_at_or_after(next))
            .ok_or(Ask::NoSuchDay)?;
        Rrule::new(&text, first).map(|rule| Resolved::One(Timing::Rrule(rule))).map_err(|_| Ask::NoSuchDay)
    }
}

/// A bare 1 to 5, which may be of the night or of the afternoon.
fn is_small(clock: &Clock) -> bool {
    clock.spoken && clock.after_noon.is_none() && (1..=5).contains(&clock.hour)
}

/// The hour by 24, where a part of the day says which half it is of.
fn fit_part(clock: &Clock, part: Option<Part>) -> Result<u8, Ask> {
    let bare = clock.after_noon.is_none();
    let hour = clock.hour;
    let (later, allowed): (std::ops::RangeInclusive<u32>, fn(u32) -> bool) = match part {
        None => (24..=24, |_| true),
        Some(Part::Morning) => (24..=24, |hour| hour < 12),
        Some(Part::Midday) => (1..=2, |hour| (11..=14).contains(&hour)),
        Some(Part::Afternoon) => (1..=6, |hour| (12..=18).contains(&hour)),
        Some(Part::Evening) => (5..=11, |hour| (17..=23).contains(&hour)),
        Some(Part::Night) => (8..=11, |hour| hour >= 20 || hour <= 5),
    };
    let hour = if bare && later.contains(&hour) { hour + 12 } else { hour };
    if !allowed(hour) {
        return Err(Ask::HourUnclear);
    }
    u8::try_from(hour).map_err(|_| Ask::HourUnclear)
}

/// A field of a cron expression, as short as it can be said.
fn write_field(values: &[u8], size: u8) -> String {
    if values.len() == usize::from(size) {
        return "*".to_owned();
    }
    if let [0, second, .., last] = values
        && values.windows(2).all(|pair| pair[1] - pair[0] == *second)
        && last + second == size
    {
        return format!("*/{second}");
    }
    if let [first, _, .., last] = values
        && usize::from(last - first) + 1 == values.len()
    {
        return format!("{first}-{last}");
    }
    values.iter().map(u8::to_string).collect::<Vec<_>>().join(",")
}
