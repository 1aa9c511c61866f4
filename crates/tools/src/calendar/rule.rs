//! Recurrence rules (RFC 5545, 3.3.10), read.

use super::value::When;
use jiff::civil::Weekday;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Freq {
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

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rule {
    pub freq: Freq,
    pub interval: i32,
    pub count: Option<u32>,
    pub until: Option<When>,
    pub months: Vec<i16>,
    pub month_days: Vec<i16>,
    pub year_days: Vec<i16>,
    pub days: Vec<ByDay>,
    pub hours: Vec<i16>,
    pub minutes: Vec<i16>,
    pub seconds: Vec<i16>,
    pub positions: Vec<i16>,
    pub week_start: Weekday,
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
    fn new(freq: Freq) -> Self {
        Self {
            freq,
            interval: 1,
            count: None,
            until: None,
            months: Vec::new(),
            month_days: Vec::new(),
            year_days: Vec::new(),
            days: Vec::new(),
            hours: Vec::new(),
            minutes: Vec::new(),
            seconds: Vec::new(),
            positions: Vec::new(),
            week_start: Weekday::Monday,
        }
    }

    /// Reads `FREQ=WEEKLY;BYDAY=MO,WE`, or one of the words daily, weekly, monthly, yearly.
    pub fn read(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let text = text.strip_prefix("RRULE:").unwrap_or(text);
        if let Some(freq) = freq(text) {
            return Ok(Self::new(freq));
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
        let found = freq(named).ok_or_else(|| bad("FREQ must be daily, weekly, monthly or yearly"))?;
        let mut rule = Self::new(found);
        for (name, value) in &parts {
            rule.part(name, value).map_err(|why| bad(&why))?;
        }
        rule.check().map_err(|why| bad(&why))?;
        Ok(rule)
    }

    fn part(&mut self, name: &str, value: &str) -> Result<(), String> {
        match name {
            "FREQ" => {}
            "INTERVAL" => self.interval = i32::from(numbers(name, value, 1, 10_000)?[0]),
            "COUNT" => {
                let count = value.parse().ok().filter(|count| *count > 0);
                self.count = Some(count.ok_or("COUNT must be a number above 0")?);
            }
            "UNTIL" => self.until = Some(When::read(value, None)?),
            "BYMONTH" => self.months = numbers(name, value, 1, 12)?,
            "BYMONTHDAY" => self.month_days = signed(name, value, 31)?,
            "BYYEARDAY" => self.year_days = signed(name, value, 366)?,
            "BYDAY" => self.days = days(value)?,
            "BYHOUR" => self.hours = numbers(name, value, 0, 23)?,
            "BYMINUTE" => self.minutes = numbers(name, value, 0, 59)?,
            "BYSECOND" => self.seconds = numbers(name, value, 0, 59)?,
            "BYSETPOS" => self.positions = signed(name, value, 366)?,
            "WKST" => {
                self.week_start = weekday(value).ok_or("WKST must be a day such as MO")?;
            }
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

fn days(value: &str) -> Result<Vec<ByDay>, String> {
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

fn signed(name: &str, value: &str, most: i16) -> Result<Vec<i16>, String> {
    let all = numbers(name, value, -most, most)?;
    if all.contains(&0) {
        return Err(format!("{name} counts from 1 or from -1"));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::{Freq, Rule};

    #[test]
    fn rules_are_read_or_refused() {
        assert_eq!(Rule::read("weekly").unwrap().freq, Freq::Weekly);
        let rule = Rule::read("RRULE:FREQ=MONTHLY;INTERVAL=2;BYDAY=-1FR;COUNT=3;WKST=SU").unwrap();
        assert_eq!((rule.interval, rule.count, rule.days[0].nth), (2, Some(3), -1));
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
}
