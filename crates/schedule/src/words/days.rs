//! The days that were said, as fields of a cron expression or as a recurrence rule without its times.

use super::lexicon::Unit;
use super::question::Ask;
use super::said::{Said, Target, When};

const WORKDAYS: u64 = 0b011_1110;
const EVERY_DAY: u64 = 0b111_1111;

/// The fields of days of a cron expression.
#[derive(Debug, Clone)]
pub(super) struct CronDays {
    pub month_day: String,
    pub months: String,
    pub weekday: String,
}

#[derive(Debug, Clone)]
pub(super) enum Days {
    Cron(CronDays),
    /// A recurrence rule without its times.
    Rule(String),
    Choose(Ask, Vec<Days>),
}

fn cron_days(month_day: &str, months: &str, weekday: &str) -> Days {
    Days::Cron(CronDays { month_day: month_day.to_owned(), months: months.to_owned(), weekday: weekday.to_owned() })
}

const RULE_DAYS: [&str; 7] = ["SU", "MO", "TU", "WE", "TH", "FR", "SA"];

fn write_bits(bits: u64, name: impl Fn(usize) -> String) -> String {
    (0..13).filter(|bit| bits & (1 << bit) != 0).map(name).collect::<Vec<_>>().join(",")
}

pub(super) struct DayFinder<'a> {
    pub said: &'a Said,
}

impl DayFinder<'_> {
    fn months(&self) -> String {
        if self.said.months == 0 { "*".to_owned() } else { write_bits(self.said.months, |month| month.to_string()) }
    }

    fn weekday_field(&self) -> String {
        match self.said.weekdays {
            0 | EVERY_DAY => "*".to_owned(),
            WORKDAYS => "MON-FRI".to_owned(),
            bits => write_bits(bits, |day| day.to_string()),
        }
    }

    /// Days beside a step of hours or minutes, where no limit means each day.
    pub(super) fn find_limited_days(&self) -> Result<Days, Ask> {
        if self.said.nth.is_empty() && self.said.month_days.is_empty() {
            return Ok(cron_days("*", &self.months(), &self.weekday_field()));
        }
        self.find_days()
    }

    pub(super) fn find_days(&self) -> Result<Days, Ask> {
        let said = self.said;
        let kinds = [said.weekdays != 0, !said.nth.is_empty(), !said.month_days.is_empty()];
        if kinds.iter().filter(|given| **given).count() > 1 {
            return Err(Ask::Contradiction);
        }
        let (n, unit) = said.step.filter(|(_, unit)| *unit >= Unit::Day).map_or((1, None), |(n, unit)| (n, Some(unit)));
        let named = kinds.contains(&true) || said.when.is_some() || unit.is_some();
        if !named && (said.months != 0 || said.repeats) {
            return Err(Ask::DayMissing);
        }
        if !said.repeats {
            return Err(if named || !said.times.is_empty() { Ask::OnceOrAlways } else { Ask::Empty });
        }
        if let Some(When::Date(None, month, day)) = said.when {
            return if n == 1 && !kinds.contains(&true) {
                Ok(Self::find_yearly(month, day))
            } else {
                Err(Ask::Contradiction)
            };
        }
        if said.weekdays != 0 {
            return self.find_by_weekdays(n, unit);
        }
        if !said.nth.is_empty() || !said.month_days.is_empty() {
            return self.find_in_period(n, unit);
        }
        match unit {
            Some(Unit::Day) if n == 1 => Ok(cron_days("*", &self.months(), "*")),
            Some(Unit::Day) if said.months == 0 => Ok(Days::Rule(format!("FREQ=DAILY;INTERVAL={n}"))),
            Some(Unit::Day) => Err(Ask::NotPossible),
            _ => Err(Ask::DayMissing),
        }
    }

    fn find_yearly(month: i8, day: i8) -> Days {
        let (month_text, day_text) = (month.to_string(), day.to_string());
        let plain = cron_days(&day_text, &month_text, "*");
        if (month, day) == (2, 29) {
            let backward = Days::Rule("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;SKIP=BACKWARD".to_owned());
            return Days::Choose(Ask::DayNotInEachMonth, vec![plain, backward]);
        }
        plain
    }

    fn find_by_weekdays(&self, n: u32, unit: Option<Unit>) -> Result<Days, Ask> {
        // `every day on Monday` says two things.
        if (n, unit) == (1, Some(Unit::Day)) && self.said.weekdays.is_power_of_two() {
            return Err(Ask::Contradiction);
        }
        // `alle 14 Tage freitags`
        let (n, unit) =
            if unit == Some(Unit::Day) && n.is_multiple_of(7) { (n / 7, Some(Unit::Week)) } else { (n, unit) };
        match unit {
            None | Some(Unit::Day | Unit::Week) if n == 1 => Ok(cron_days("*", &self.months(), &self.weekday_field())),
            Some(Unit::Week) if self.said.months == 0 => {
                let days = write_bits(self.said.weekdays, |day| RULE_DAYS[day].to_owned());
                Ok(Days::Rule(format!("FREQ=WEEKLY;INTERVAL={n};BYDAY={days};WKST=MO")))
            }
            Some(Unit::Month | Unit::Quarter | Unit::Year) => Err(Ask::DayMissing),
            _ => Err(Ask::Contradiction),
        }
    }

    /// Days that count in a month, a quarter or a year.
    fn find_in_period(&self, n: u32, unit: Option<Unit>) -> Result<Days, Ask> {
        let said = self.said;
        let period = match (said.period, unit) {
            (Some(period), None) => period,
            (Some(period), Some(unit))
                if period == unit || (period == Unit::Month && (unit == Unit::Year || unit == Unit::Day)) =>
            {
                if unit == Unit::Year && said.months == 0 {
                    return Err(Ask::Contradiction);
                }
                period
            }
            (None, None) => Unit::Month,
            (None, Some(Unit::Month | Unit::Quarter | Unit::Year)) => unit.unwrap_or(Unit::Month),
            (_, Some(_)) => return Err(Ask::Contradiction),
        };
        if period == Unit::Month || (period == Unit::Year && said.months != 0) {
            return self.find_in_month(n);
        }
        if n != 1 || said.months != 0 {
            return Err(Ask::NotPossible);
        }
        // Of a quarter or a year: what lies in its first or its last month.
        let (first, last) = if period == Unit::Quarter { ("1,4,7,10", "3,6,9,12") } else { ("1", "12") };
        let positions: Vec<i32> = match said.nth.first() {
            Some(_) => said.nth.iter().map(|(n, _)| *n).collect(),
            None => said.month_days.iter().map(|day| i32::try_from(*day).unwrap_or(0)).collect(),
        };
        let target = said.nth.first().map_or(Target::Day, |(_, target)| *target);
        match (&positions[..], target) {
            ([1], Target::Day) => Ok(cron_days("1", first, "*")),
            ([-1], Target::Day) => Ok(cron_days("L", last, "*")),
            ([1], Target::Workday) => Ok(cron_days("1W", first, "*")),
            ([-1], Target::Workday) => Ok(cron_days("LW", last, "*")),
            ([n @ 1..=4], Target::Weekday(day)) => Ok(cron_days("*", first, &format!("{day}#{n}"))),
            ([-1], Target::Weekday(day)) => Ok(cron_days("*", last, &format!("{day}L"))),
            _ => Err(Ask::DayMissing),
        }
    }

    fn find_in_month(&self, n: u32) -> Result<Days, Ask> {
        let said = self.said;
        let by_day: Vec<i32> = match said.nth.first() {
            None => said.month_days.iter().map(|day| i32::try_from(*day).unwrap_or(0)).collect(),
            Some((_, Target::Day)) => said.nth.iter().map(|(n, _)| *n).collect(),
            Some(_) => Vec::new(),
        };
        if by_day.is_empty() {
            return self.find_nth_in_month(n);
        }
        if by_day.iter().any(|day| !(-2..=31).contains(day) || *day == 0) {
            return Err(Ask::NoSuchDay);
        }
        let rule_months = if said.months == 0 { String::new() } else { format!(";BYMONTH={}", self.months()) };
        let list = by_day.iter().map(i32::to_string).collect::<Vec<_>>().join(",");
        let rule = |skip: &str| Days::Rule(format!("FREQ=MONTHLY;INTERVAL={n}{rule_months};BYMONTHDAY={list}{skip}"));
        let fields: Vec<String> = by_day
            .iter()
            .map(|day| match day {
                -1 => "L".to_owned(),
                -2 => "L-1".to_owned(),
                day => day.to_string(),
            })
            .collect();
        let plain = if n == 1 { cron_days(&fields.join(","), &self.months(), "*") } else { rule("") };
        let lacking = by_day.iter().any(|day| !self.is_in_each_month(*day));
        if lacking {
            return Ok(Days::Choose(Ask::DayNotInEachMonth, vec![plain, rule(";SKIP=BACKWARD")]));
        }
        Ok(plain)
    }

    fn is_in_each_month(&self, day: i32) -> bool {
        const SHORTEST: [i32; 13] = [0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
        let months = if self.said.months == 0 { crate::cron::EVERY_MONTH } else { self.said.months };
        (1..13).filter(|month| months & (1 << month) != 0).all(|month| day <= SHORTEST[month])
    }

    /// The nth weekday or workday of a month.
    fn find_nth_in_month(&self, n: u32) -> Result<Days, Ask> {
        let said = self.said;
        let months = self.months();
        let rule_months = if said.months == 0 { String::new() } else { format!(";BYMONTH={months}") };
        let positions: Vec<i32> = said.nth.iter().map(|(n, _)| *n).collect();
        let Some(&(_, target)) = said.nth.first() else { return Err(Ask::DayMissing) };
        if positions.iter().any(|n| !(-2..=5).contains(n) || *n == 0) {
            return Err(Ask::NoSuchDay);
        }
        match target {
            Target::Weekday(_) if positions.contains(&5) => Err(Ask::DayNotInEachMonth),
            Target::Weekday(day) if n == 1 && !positions.contains(&-2) => {
                let fields: Vec<String> =
                    positions.iter().map(|n| if *n == -1 { format!("{day}L") } else { format!("{day}#{n}") }).collect();
                Ok(cron_days("*", &months, &fields.join(",")))
            }
            Target::Weekday(day) => {
                let list: Vec<String> =
                    positions.iter().map(|n| format!("{n}{}", RULE_DAYS[usize::from(day)])).collect();
                Ok(Days::Rule(format!("FREQ=MONTHLY;INTERVAL={n}{rule_months};BYDAY={}", list.join(","))))
            }
            Target::Workday => {
                if n == 1 && positions == [1] {
                    return Ok(cron_days("1W", &months, "*"));
                }
                if n == 1 && positions == [-1] {
                    return Ok(cron_days("LW", &months, "*"));
                }
                let list = positions.iter().map(i32::to_string).collect::<Vec<_>>().join(",");
                Ok(Days::Rule(format!("FREQ=MONTHLY;INTERVAL={n}{rule_months};BYDAY=MO,TU,WE,TH,FR;BYSETPOS={list}")))
            }
            Target::Day => Err(Ask::DayMissing),
        }
    }
}
