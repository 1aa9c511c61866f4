//! One field of a cron expression.

use crate::error::TimingError;

/// What a field may hold.
pub(super) struct FieldRule {
    pub name: &'static str,
    pub low: u8,
    pub high: u8,
    /// Names of its values, beginning with `low`.
    pub names: &'static [&'static str],
    pub example: &'static str,
}

const MONTHS: &[&str] = &["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const WEEKDAYS: &[&str] = &["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

pub(super) const SECOND: FieldRule =
    FieldRule { name: "second", low: 0, high: 59, names: &[], example: "`0`, `*/10` or `0,30`" };
pub(super) const MINUTE: FieldRule =
    FieldRule { name: "minute", low: 0, high: 59, names: &[], example: "`0`, `*/15` or `0,30`" };
pub(super) const HOUR: FieldRule =
    FieldRule { name: "hour", low: 0, high: 23, names: &[], example: "`8`, `9-17` or `*/2`" };
pub(super) const DAY: FieldRule =
    FieldRule { name: "day of month", low: 1, high: 31, names: &[], example: "`1`, `1,15`, `L`, `L-3`, `15W` or `LW`" };
pub(super) const MONTH: FieldRule =
    FieldRule { name: "month", low: 1, high: 12, names: MONTHS, example: "`1`, `JAN-MAR` or `*/3`" };
/// Sunday is 0, and 7 too.
pub(super) const WEEKDAY: FieldRule =
    FieldRule { name: "day of week", low: 0, high: 7, names: WEEKDAYS, example: "`MON-FRI`, `1`, `FRI#2` or `FRIL`" };

impl FieldRule {
    pub(super) fn refuse(&self, problem: String) -> TimingError {
        let names = match self.names {
            [first, .., last] => format!(" or {first} to {last}"),
            _ => String::new(),
        };
        let hint = format!("Allowed are {} to {}{names}; for example {}", self.low, self.high, self.example);
        TimingError::new(self.name, problem, hint)
    }

    /// A number or a name.
    pub(super) fn read_value(&self, text: &str) -> Result<u8, TimingError> {
        let upper = text.to_uppercase();
        if let Some(at) = self.names.iter().position(|name| *name == upper) {
            return Ok(self.low + u8::try_from(at).unwrap_or(0));
        }
        let digits = !text.is_empty() && text.len() <= 2 && text.bytes().all(|byte| byte.is_ascii_digit());
        let value = digits.then(|| text.parse::<u8>().ok()).flatten();
        value
            .filter(|value| (self.low..=self.high).contains(value))
            .ok_or_else(|| self.refuse(format!("`{text}` isn't a {}", self.name)))
    }

    /// The values of `*`, `a`, `a-b`, `*/n`, `a-b/n` or `a/n` as bits.
    pub(super) fn read_item(&self, text: &str) -> Result<u64, TimingError> {
        let (range, step) = match text.split_once('/') {
            Some((range, step)) => (range, Some(self.read_step(step)?)),
            None => (text, None),
        };
        let (from, to) = if range == "*" {
            // The 7 of a Sunday would count it twice.
            (self.low, if self.high == 7 { 6 } else { self.high })
        } else if let Some((from, to)) = range.split_once('-') {
            let (from, mut to) = (self.read_value(from)?, self.read_value(to)?);
            if self.high == 7 && to == 0 && from > 0 {
                to = 7;
            }
            if from > to {
                let problem = format!("the range `{range}` ends before it begins");
                return Err(TimingError::new(
                    self.name,
                    problem,
                    format!(
                        "Write it as two, for example `{from}-{},{}-{to}`",
                        if self.high == 7 { 6 } else { self.high },
                        self.low
                    ),
                ));
            }
            (from, to)
        } else {
            let value = self.read_value(range)?;
            (value, if step.is_some() { self.high.min(if self.high == 7 { 6 } else { self.high }) } else { value })
        };
        let step = step.unwrap_or(1);
        if step > to.saturating_sub(self.low).max(1) && step > 1 {
            let problem = format!("a step of {step} is longer than the field, so it would start again each time");
            return Err(TimingError::new(
                self.name,
                problem,
                "Use an interval for what doesn't fit into an hour, a day or a year, for example every 90 minutes",
            ));
        }
        Ok((from..=to).step_by(usize::from(step)).fold(0, |bits, value| bits | 1 << value))
    }

    fn read_step(&self, text: &str) -> Result<u8, TimingError> {
        let value = text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse::<u8>().ok()).flatten();
        value.filter(|step| *step > 0).ok_or_else(|| {
            TimingError::new(
                self.name,
                format!("`/{text}` isn't a step"),
                format!("A step is a number from 1 to {}; for example {}", self.high, self.example),
            )
        })
    }

    /// A list of items, as bits.
    pub(super) fn read_list(&self, text: &str) -> Result<u64, TimingError> {
        let text = if text == "?" && (self.name == DAY.name || self.name == WEEKDAY.name) { "*" } else { text };
        text.split(',').try_fold(0, |bits, item| Ok(bits | self.read_item(item)?))
    }
}
