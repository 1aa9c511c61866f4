//! What kind of column cells of text make, and their values. Nothing loses a digit: what can't be a number exactly
//! stays text, and so do codes with leading zeros.

use rusqlite::types::Value as SqlValue;

/// Digits that a binary fraction holds whatever they are.
const DIGITS: usize = 15;
/// How tables write that there is no number.
const ABSENT: [&str; 7] = ["NA", "N/A", "#N/A", "NULL", "null", "NaN", "nan"];

/// The kind of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Integer,
    Real,
    /// With a comma before the fraction, and points between thousands.
    RealWithComma,
    Text,
}

/// What its cells have shown so far.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a question of its own to every cell")]
pub(super) struct Column {
    integer: bool,
    real: bool,
    comma: bool,
    any: bool,
    any_comma: bool,
    years: bool,
}

impl Default for Column {
    fn default() -> Self {
        Self { integer: true, real: true, comma: true, any: false, any_comma: false, years: true }
    }
}

impl Column {
    pub fn add(&mut self, cell: &str) {
        let cell = cell.trim();
        if cell.is_empty() || ABSENT.contains(&cell) {
            return;
        }
        self.any = true;
        self.integer = self.integer && integer(cell).is_some();
        self.real = self.real && real(cell).is_some();
        self.comma = self.comma && with_comma(cell).is_some();
        self.any_comma |= cell.contains(',');
        self.years = self.years && cell.len() == 4;
    }

    pub fn kind(&self) -> Kind {
        match self {
            Self { any: false, .. } => Kind::Text,
            Self { integer: true, .. } => Kind::Integer,
            Self { real: true, .. } => Kind::Real,
            Self { comma: true, any_comma: true, .. } => Kind::RealWithComma,
            _ => Kind::Text,
        }
    }

    /// Whether all numbers have four digits.
    pub fn is_of_years(&self) -> bool {
        self.years
    }
}

impl Kind {
    /// The type of a column in SQL.
    pub fn word(self) -> &'static str {
        match self {
            Self::Integer => "INTEGER",
            Self::Real | Self::RealWithComma => "REAL",
            Self::Text => "TEXT",
        }
    }

    /// The value of a cell; `None` for none.
    pub fn value(self, cell: &str) -> Option<SqlValue> {
        let trimmed = cell.trim();
        match self {
            Self::Integer => integer(trimmed).map(SqlValue::Integer),
            Self::Real => real(trimmed).map(SqlValue::Real),
            Self::RealWithComma => with_comma(trimmed).map(SqlValue::Real),
            Self::Text => (!cell.is_empty()).then(|| SqlValue::Text(cell.to_owned())),
        }
    }
}

fn integer(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = digits.bytes().all(|b| b.is_ascii_digit()) && (digits == "0" || !digits.starts_with('0'));
    plain.then(|| text.parse().ok()).flatten()
}

fn real(text: &str) -> Option<f64> {
    let number = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let unsigned = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
    let plain = (whole.is_empty() || digits(whole))
        && digits(fraction)
        && digits(unsigned)
        && (whole.len() < 2 || !whole.starts_with('0'));
    let significant = [whole, fraction].concat();
    let exact = significant.trim_start_matches('0').len() <= DIGITS;
    let value: f64 = (plain && exact).then(|| text.parse().ok()).flatten()?;
    value.is_finite().then_some(value)
}

/// `1.234,50` and `3,5`; points stand between thousands only.
fn with_comma(text: &str) -> Option<f64> {
    let (whole, fraction) = text.split_once(',').unwrap_or((text, "0"));
    let mut groups = whole.strip_prefix('-').unwrap_or(whole).split('.');
    let first = groups.next().unwrap_or_default();
    let mut grouped = false;
    for group in groups {
        grouped = true;
        if group.len() != 3 {
            return None;
        }
    }
    if fraction.contains(['.', 'e', 'E']) || (grouped && !(1..=3).contains(&first.len())) {
        return None;
    }
    real(&format!("{}.{fraction}", whole.replace('.', "")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(cells: &[&str]) -> Kind {
        let mut column = Column::default();
        for cell in cells {
            column.add(cell);
        }
        column.kind()
    }

    #[test]
    fn columns_are_numbers_only_where_no_digit_is_lost() {
        for (cells, expect) in [
            (&["1", "-20", "", "9223372036854775807"][..], Kind::Integer),
            (&["1", "NA", "3"], Kind::Integer),
            (&["1", "2.50", ".5", "-0.25", "1e-7"], Kind::Real),
            (&["123456789012.345"], Kind::Real),
            // One digit more than a binary fraction surely holds.
            (&["1234567890123.4567"], Kind::Text),
            (&["9223372036854775808"], Kind::Text),
            (&["0012", "13"], Kind::Text),
            (&["00.5"], Kind::Text),
            (&["+49 30 1", "+493012"], Kind::Text),
            (&["1,234.50"], Kind::Text),
            (&["1.234,50", "3,5", "7"], Kind::RealWithComma),
            (&["1.23,50"], Kind::Text),
            (&["NA", ""], Kind::Text),
            (&["inf", "nan"], Kind::Text),
            (&["2024-05-06"], Kind::Text),
            (&["0x10"], Kind::Text),
            (&["12", "n. a."], Kind::Text),
        ] {
            assert_eq!(kind(cells), expect, "{cells:?}");
        }
        assert_eq!(Kind::RealWithComma.value("-1.234,5"), Some(SqlValue::Real(-1234.5)));
        assert_eq!(Kind::Integer.value("NA"), None);
        assert_eq!(Kind::Text.value(" a "), Some(SqlValue::Text(" a ".to_owned())));
    }
}
