//! The days that a cron expression names.

use jiff::civil::Date;

use super::field::{DAY, WEEKDAY};
use crate::error::TimingError;

/// A day of the month that isn't a plain number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MonthDay {
    /// So many days before the last: `L` is 0, `L-3` is 3.
    BeforeLast(u8),
    /// The weekday (Monday to Friday) nearest to a day, in the same month: `15W`. A month without that day has none.
    NearestWeekday(u8),
    /// The last weekday: `LW`.
    LastWeekday,
}

/// Which days of a month.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DayRule {
    /// `None`: the field is `*`.
    pub month_days: Option<MonthDays>,
    pub week_days: Option<WeekDays>,
    /// `+MON`: both fields must hold; else either is enough.
    pub both: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct MonthDays {
    /// Bits 1 to 31.
    pub days: u64,
    pub special: Vec<MonthDay>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct WeekDays {
    /// Every such day of the week; bit 0 is Sunday.
    pub every: u64,
    /// `(day of the week, n)`: the nth of the month.
    pub nth: Vec<(u8, u8)>,
    /// The last of the month: `FRIL`; bit 0 is Sunday.
    pub last: u64,
}

impl DayRule {
    pub(super) fn parse(month_day: &str, week_day: &str) -> Result<Self, TimingError> {
        let (both, week_day) = week_day.strip_prefix('+').map_or((false, week_day), |rest| (true, rest));
        let month_days = match month_day {
            "*" | "?" => None,
            _ => Some(MonthDays::parse(month_day)?),
        };
        let week_days = match week_day {
            "*" | "?" => None,
            _ => Some(WeekDays::parse(week_day)?),
        };
        Ok(Self { both: both && month_days.is_some() && week_days.is_some(), month_days, week_days })
    }

    fn holds(&self, date: Date) -> bool {
        let in_month = self.month_days.as_ref().map(|days| days.hold(date));
        let in_week = self.week_days.as_ref().map(|days| days.hold(date));
        match (in_month, in_week) {
            (None, None) => true,
            (Some(held), None) | (None, Some(held)) => held,
            (Some(month), Some(week)) => {
                if self.both {
                    month && week
                } else {
                    month || week
                }
            }
        }
    }
}

impl MonthDays {
    fn parse(text: &str) -> Result<Self, TimingError> {
        let mut found = Self::default();
        for item in text.split(',') {
            let upper = item.to_uppercase();
            let special = match upper.as_str() {
                "L" => Some(MonthDay::BeforeLast(0)),
                "LW" | "WL" => Some(MonthDay::LastWeekday),
                _ => {
                    if let Some(before) = upper.strip_prefix("L-") {
                        let days = before.parse::<u8>().ok().filter(|days| (1..=30).contains(days));
                        Some(MonthDay::BeforeLast(days.ok_or_else(|| {
                            DAY.refuse(format!("`{item}` isn't a number of days, 1 to 30, before the last"))
                        })?))
                    } else if let Some(day) = upper.strip_suffix('W') {
                        Some(MonthDay::NearestWeekday(DAY.read_value(day)?))
                    } else {
                        None
                    }
                }
            };
            match special {
                Some(special) => found.special.push(special),
                None => found.days |= DAY.read_item(item)?,
            }
        }
        Ok(found)
    }

    fn hold(&self, date: Date) -> bool {
        let day = u8::try_from(date.day()).unwrap_or(0);
        self.days & (1 << day) != 0 || self.special.iter().any(|special| special.find_day(date) == Some(day))
    }
}

impl MonthDay {
    /// The day of the month of `date` that it means; `None`: that month has none.
    fn find_day(self, date: Date) -> Option<u8> {
        let last = u8::try_from(date.days_in_month()).ok()?;
        match self {
            Self::BeforeLast(days) => last.checked_sub(days).filter(|day| *day > 0),
            Self::LastWeekday => find_nearest_weekday(date, last, last),
            Self::NearestWeekday(day) => (day <= last).then(|| find_nearest_weekday(date, day, last)).flatten(),
        }
    }
}

fn find_nearest_weekday(month: Date, day: u8, last: u8) -> Option<u8> {
    let date = Date::new(month.year(), month.month(), i8::try_from(day).ok()?).ok()?;
    Some(match date.weekday().to_monday_zero_offset() {
        // A Saturday moves to the Friday before, on the 1st to the Monday after.
        5 if day == 1 => 3,
        5 => day - 1,
        6 if day == last => day - 2,
        6 => day + 1,
        _ => day,
    })
}

impl WeekDays {
    fn parse(text: &str) -> Result<Self, TimingError> {
        let mut found = Self::default();
        // Sunday is written 0 and 7.
        let fold = |day: u8| if day == 7 { 0 } else { day };
        for item in text.split(',') {
            if let Some((day, nth)) = item.split_once('#') {
                let day = fold(WEEKDAY.read_value(day)?);
                if nth.eq_ignore_ascii_case("L") {
                    found.last |= 1 << day;
                    continue;
                }
                let nth = nth.parse::<u8>().ok().filter(|nth| (1..=5).contains(nth));
                let nth = nth.ok_or_else(|| WEEKDAY.refuse(format!("`{item}` isn't the 1st to 5th of a month")))?;
                found.nth.push((day, nth));
            } else if let Some(day) = item.strip_suffix(['L', 'l']).filter(|day| !day.is_empty()) {
                found.last |= 1 << fold(WEEKDAY.read_value(day)?);
            } else {
                let bits = WEEKDAY.read_item(item)?;
                found.every |= (bits & 0b111_1111) | (bits >> 7);
            }
        }
        Ok(found)
    }

    fn hold(&self, date: Date) -> bool {
        let weekday = u8::try_from(date.weekday().to_sunday_zero_offset()).unwrap_or(0);
        let day = u8::try_from(date.day()).unwrap_or(0);
        let bit = 1 << weekday;
        self.every & bit != 0
            || (self.last & bit != 0 && date.day() + 7 > date.days_in_month())
            || self.nth.iter().any(|&(of, nth)| of == weekday && day.div_ceil(7) == nth)
    }
}

/// The dates of some months that a rule holds.
pub(crate) struct Months<'a> {
    /// Bits 1 to 12.
    pub months: u64,
    pub rule: &'a DayRule,
}

/// The Gregorian calendar, with its days of the week, repeats after 400 years: what isn't found until then never is.
const MAX_MONTHS: usize = 400 * 12;

impl Months<'_> {
    pub(crate) fn find_at_or_after(&self, from: Date) -> Option<Date> {
        let mut date = from;
        for _ in 0..=MAX_MONTHS {
            let month = u8::try_from(date.month()).ok()?;
            if self.months & (1 << month) != 0 {
                let last = date.last_of_month();
                loop {
                    if self.rule.holds(date) {
                        return Some(date);
                    }
                    if date == last {
                        break;
                    }
                    date = date.tomorrow().ok()?;
                }
            }
            date = date.last_of_month().tomorrow().ok()?;
        }
        None
    }
}
