//! `sum`, `total` and `avg` in decimals: 0.1 + 0.2 is 0.3, and a ledger that balances comes to 0.

#![expect(clippy::cast_precision_loss, reason = "where no decimals are left, SQLite's own sums lose it too")]

use rusqlite::functions::{Aggregate, Context, FunctionFlags, WindowAggregate};
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, Error, Result};

/// Exact digits after the point; beyond that, and beyond 38 digits in all, binary arithmetic is used.
const SCALE: u32 = 18;

pub(super) fn register(conn: &Connection) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_INNOCUOUS;
    for (name, which) in [("sum", Which::Sum), ("total", Which::Total), ("avg", Which::Average)] {
        conn.create_window_function(name, 1, flags, which)?;
    }
    Ok(())
}

#[derive(Debug, Clone, Copy)]
enum Which {
    Sum,
    Total,
    Average,
}

#[derive(Debug, Default)]
struct Running {
    /// In units of 10^-18.
    decimal: i128,
    /// For what `decimal` can't hold.
    binary: f64,
    inexact: u64,
    count: u64,
    fractions: u64,
}

impl Running {
    fn change(&mut self, context: &Context<'_>, out: bool) -> Result<()> {
        let (digits, binary, fraction) = match context.get_raw(0) {
            ValueRef::Null => return Ok(()),
            ValueRef::Integer(number) => (number.to_string(), number as f64, false),
            ValueRef::Real(number) => (number.to_string(), number, true),
            ValueRef::Text(bytes) => number(bytes)?,
            ValueRef::Blob(_) => return Err(no_number("a blob")),
        };
        let decimal = scaled(&digits).and_then(|decimal| if out { decimal.checked_neg() } else { Some(decimal) });
        let sum = decimal.and_then(|decimal| self.decimal.checked_add(decimal));
        let sign = if out { -1.0 } else { 1.0 };
        self.binary += sign * binary;
        let step = |count: u64| {
            if out { count.saturating_sub(1) } else { count + 1 }
        };
        self.count = step(self.count);
        if fraction {
            self.fractions = step(self.fractions);
        }
        match sum {
            Some(sum) => self.decimal = sum,
            None => self.inexact = step(self.inexact),
        }
        Ok(())
    }

    fn sum(&self) -> f64 {
        if self.inexact > 0 {
            return self.binary;
        }
        text(self.decimal).parse().unwrap_or(self.binary)
    }
}

/// In units of 10^-18, if that is exact.
fn scaled(number: &str) -> Option<i128> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let width = SCALE as usize;
    if fraction.len() > width {
        return None;
    }
    format!("{whole}{fraction:0<width$}").parse().ok()
}

fn text(decimal: i128) -> String {
    let unit = 10_u128.pow(SCALE);
    let size = decimal.unsigned_abs();
    let sign = if decimal < 0 { "-" } else { "" };
    format!("{sign}{}.{:018}", size / unit, size % unit)
}

/// Its digits, its value, and whether it is a fraction.
fn number(bytes: &[u8]) -> Result<(String, f64, bool)> {
    let text = String::from_utf8_lossy(bytes);
    let trimmed = text.trim();
    if let Ok(number) = trimmed.parse::<i64>() {
        return Ok((number.to_string(), number as f64, false));
    }
    match trimmed.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok((number.to_string(), number, true)),
        _ => Err(no_number(&format!("the text `{}`", trimmed.chars().take(40).collect::<String>()))),
    }
}

fn no_number(what: &str) -> Error {
    Error::UserFunctionError(
        format!(
            "{what} can't be added up; make it a number first, as by CAST(replace(x, ',', '') AS REAL), or leave it out"
        )
        .into(),
    )
}

impl Aggregate<Running, Value> for Which {
    fn init(&self, _: &mut Context<'_>) -> Result<Running> {
        Ok(Running::default())
    }

    fn step(&self, context: &mut Context<'_>, running: &mut Running) -> Result<()> {
        running.change(context, false)
    }

    fn finalize(&self, _: &mut Context<'_>, mut running: Option<Running>) -> Result<Value> {
        self.value(running.as_mut())
    }
}

impl WindowAggregate<Running, Value> for Which {
    fn value(&self, running: Option<&mut Running>) -> Result<Value> {
        let Some(running) = running.filter(|running| running.count > 0) else {
            return Ok(match self {
                Self::Total => Value::Real(0.0),
                Self::Sum | Self::Average => Value::Null,
            });
        };
        Ok(match self {
            Self::Total => Value::Real(running.sum()),
            Self::Average => Value::Real(running.sum() / running.count as f64),
            Self::Sum if running.fractions > 0 || running.inexact > 0 => Value::Real(running.sum()),
            Self::Sum => {
                let unit = 10_i128.pow(SCALE);
                let whole = i64::try_from(running.decimal / unit);
                Value::Integer(whole.map_err(|_| Error::UserFunctionError("integer overflow".into()))?)
            }
        })
    }

    fn inverse(&self, context: &mut Context<'_>, running: &mut Running) -> Result<()> {
        running.change(context, true)
    }
}
