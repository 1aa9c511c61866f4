//! Cron expressions: five fields (minute, hour, day of month, month, day of week) or six with seconds first.
//!
//! As POSIX and crontab say, a day of the month **and** a day of the week that are both restricted mean that either is enough;
//! only `*` (or `?`) doesn't restrict, so `*/2` does. `+MON` asks for both. Several expressions can stand together, with `;`
//! between them, for what one can't say: `15 8 * * *; 30 17 * * *`.

mod days;
mod field;

use jiff::civil::DateTime;
use serde::{Deserialize, Serialize};

use crate::error::TimingError;
use crate::wall::WallTimes;
use days::Months;
pub(crate) use days::{DayRule, MonthDay, MonthDays, WeekDays};

/// Expressions that may stand together.
pub const MAX_CRON_LINES: usize = 12;

/// Cron expressions as they were read. In JSON they are their text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Cron {
    text: String,
    pub(crate) lines: Vec<CronLine>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CronLine {
    /// Bits 0 to 59.
    pub seconds: u64,
    pub minutes: u64,
    /// Bits 0 to 23.
    pub hours: u64,
    /// Bits 1 to 12.
    pub months: u64,
    pub days: DayRule,
}

pub(crate) const EVERY_HOUR: u64 = (1 << 24) - 1;
pub(crate) const EVERY_MONTH: u64 = 0b1_1111_1111_1110;

const ALIASES: &[(&str, &str)] = &[
    ("@yearly", "0 0 1 1 *"),
    ("@annually", "0 0 1 1 *"),
    ("@monthly", "0 0 1 * *"),
    ("@weekly", "0 0 * * 0"),
    ("@daily", "0 0 * * *"),
    ("@midnight", "0 0 * * *"),
    ("@hourly", "0 * * * *"),
];

impl Cron {
    /// Reads five or six fields, an alias such as `@daily`, or several of them with `;` between.
    ///
    /// Fails with the field that is wrong, what it may hold, and an example; and for what never happens (`0 0 30 2 *`).
    pub fn parse(text: &str) -> Result<Self, TimingError> {
        let lines: Vec<&str> = text.split(';').map(str::trim).filter(|line| !line.is_empty()).collect();
        if lines.is_empty() || lines.len() > MAX_CRON_LINES {
            return Err(TimingError::new(
                "cron",
                format!("{} expressions were given", lines.len()),
                format!("Write 1 to {MAX_CRON_LINES}, with `;` between them; for example `0 8 * * MON-FRI`"),
            ));
        }
        let text = lines.join("; ");
        Ok(Self { lines: lines.into_iter().map(CronLine::parse).collect::<Result<_, _>>()?, text })
    }

    /// The expressions as they were written.
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl TryFrom<String> for Cron {
    type Error = TimingError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text)
    }
}

impl From<Cron> for String {
    fn from(cron: Cron) -> Self {
        cron.text
    }
}

impl CronLine {
    fn parse(text: &str) -> Result<Self, TimingError> {
        let known = ALIASES.iter().find(|(name, _)| text.eq_ignore_ascii_case(name));
        let fields: Vec<&str> = known.map_or(text, |(_, fields)| fields).split_whitespace().collect();
        let (second, minute, hour, day, month, weekday) = match fields[..] {
            [minute, hour, day, month, weekday] => ("0", minute, hour, day, month, weekday),
            [second, minute, hour, day, month, weekday] => (second, minute, hour, day, month, weekday),
            _ => {
                return Err(TimingError::new(
                    "cron",
                    if text.starts_with('@') {
                        format!("`{text}` isn't known")
                    } else {
                        format!("`{text}` has {} fields", fields.len())
                    },
                    "Write five fields (minute, hour, day of month, month, day of week) or six with the seconds first; for \
                     example `0 8 * * MON-FRI`, or @hourly, @daily, @weekly, @monthly, @yearly",
                ));
            }
        };
        let line = Self {
            seconds: field::SECOND.read_list(second)?,
            minutes: field::MINUTE.read_list(minute)?,
            hours: field::HOUR.read_list(hour)?,
            months: field::MONTH.read_list(month)?,
            days: DayRule::parse(day, weekday)?,
        };
        let begin = DateTime::constant(2000, 1, 1, 0, 0, 0, 0);
        if line.find_at_or_after(begin).is_none() {
            return Err(TimingError::new(
                "day of month",
                format!("`{text}` never happens: no month that it names has such a day"),
                "Choose a day that the month has; `L` is its last day",
            ));
        }
        Ok(line)
    }

    fn find_time(&self, from: (u8, u8, u8)) -> Option<(u8, u8, u8)> {
        let first = (first_bit(self.hours, 0)?, first_bit(self.minutes, 0)?, first_bit(self.seconds, 0)?);
        let hour = first_bit(self.hours, from.0)?;
        if hour > from.0 {
            return Some((hour, first.1, first.2));
        }
        if let Some(minute) = first_bit(self.minutes, from.1) {
            if minute > from.1 {
                return Some((hour, minute, first.2));
            }
            if let Some(second) = first_bit(self.seconds, from.2) {
                return Some((hour, minute, second));
            }
            if let Some(minute) = first_bit(self.minutes, from.1 + 1) {
                return Some((hour, minute, first.2));
            }
        }
        first_bit(self.hours, from.0 + 1).map(|hour| (hour, first.1, first.2))
    }
}

/// The first value at or after `from` that is set.
pub(crate) fn first_bit(bits: u64, from: u8) -> Option<u8> {
    let rest = bits.checked_shr(u32::from(from))?;
    (rest != 0).then(|| from + u8::try_from(rest.trailing_zeros()).unwrap_or(0))
}

impl WallTimes for CronLine {
    fn find_at_or_after(&self, from: DateTime) -> Option<DateTime> {
        let mut date = from.date();
        let parts = |value: i8| u8::try_from(value).unwrap_or(0);
        let mut time = (parts(from.hour()), parts(from.minute()), parts(from.second()));
        if from.subsec_nanosecond() > 0 {
            let next = from.checked_add(jiff::SignedDuration::from_secs(1)).ok()?;
            date = next.date();
            time = (parts(next.hour()), parts(next.minute()), parts(next.second()));
        }
        let months = Months { months: self.months, rule: &self.days };
        for _ in 0..2 {
            let day = months.find_at_or_after(date)?;
            let begin = if day == date { time } else { (0, 0, 0) };
            if let Some((hour, minute, second)) = self.find_time(begin) {
                let as_time = |value: u8| i8::try_from(value).unwrap_or(0);
                return Some(day.at(as_time(hour), as_time(minute), as_time(second), 0));
            }
            date = day.tomorrow().ok()?;
            time = (0, 0, 0);
        }
        None
    }

    fn is_every_hour(&self) -> bool {
        self.hours == EVERY_HOUR
    }
}
