//! Texts of rows, whose cells are separated by commas, semicolons, tabs or bars.

use std::collections::HashSet;
use std::time::Instant;

use csv::ByteRecord;
use rusqlite::types::Value as SqlValue;
use rusqlite::{Connection, params_from_iter};

use super::error::SqlError;
use super::open::COLUMNS;
use super::table_file::{Room, TableFile, create, free, insertion, real, too_large, unreadable};
use crate::text::Rows;

pub(super) struct Table<'t> {
    rows: Rows<'t>,
    headed: bool,
    columns: Vec<(String, Column)>,
    style: Style,
}

impl<'t> Table<'t> {
    pub fn read(one: &TableFile<'_>, text: &'t str, room: &mut Room) -> Result<Self, SqlError> {
        let rows = Rows::of(text, one.source);
        let mut first: Option<Vec<String>> = None;
        let mut columns: Vec<Column> = Vec::new();
        for record in rows.records() {
            let record = record.map_err(|e| unreadable(one, &e.to_string()))?;
            if record.iter().all(<[u8]>::is_empty) {
                continue;
            }
            room.take(one, Instant::now())?;
            let cells = record.iter().map(Rows::cell);
            if first.is_none() {
                first = Some(cells.map(std::borrow::Cow::into_owned).collect());
                continue;
            }
            for (at, cell) in cells.enumerate() {
                if at >= columns.len() {
                    if cell.is_empty() {
                        continue;
                    }
                    columns.resize(at + 1, Column::default());
                }
                columns[at].add(&cell);
            }
        }
        if rows.has_open_quotation() {
            return Err(unreadable(one, "a quotation mark opens a cell and none closes it"));
        }
        let first = first.ok_or_else(|| unreadable(one, "it holds no rows"))?;
        let width = first.len().max(columns.len());
        if width > COLUMNS {
            return Err(too_large(one, &format!("has {width} columns, and a table at most {COLUMNS}")));
        }
        columns.resize(width, Column::default());
        let headed = is_header(&first, &columns, Style::of(&columns));
        if !headed {
            for (column, cell) in columns.iter_mut().zip(&first) {
                column.add(cell);
            }
        }
        let style = Style::of(&columns);
        let mut names = HashSet::new();
        let columns = columns.into_iter().enumerate().map(|(at, column)| {
            let given = first.get(at).map(|name| name.trim()).filter(|name| headed && !name.is_empty());
            let name = given.map_or_else(|| format!("column_{}", at + 1), ToOwned::to_owned);
            (free(&name, &mut names), column)
        });
        Ok(Self { rows, headed, columns: columns.collect(), style })
    }

    /// Makes a table of it.
    pub fn load(&self, conn: &Connection, name: &str, one: &TableFile<'_>, room: &Room) -> Result<(), SqlError> {
        create(conn, name, self.columns.iter().map(|(name, column)| (name.as_str(), column.kind(self.style).word())))?;
        let kinds: Vec<Kind> = self.columns.iter().map(|(_, column)| column.kind(self.style)).collect();
        let mut insert = insertion(conn, name, kinds.len())?;
        let filled = |record: &ByteRecord| !record.iter().all(<[u8]>::is_empty);
        let rows = self.rows.records().filter_map(Result::ok).filter(filled).skip(usize::from(self.headed));
        for record in rows {
            room.in_time(one, Instant::now())?;
            let values = kinds.iter().enumerate().map(|(at, kind)| {
                let cell = Rows::cell(record.get(at).unwrap_or_default());
                kind.value(&cell).unwrap_or(SqlValue::Null)
            });
            insert.execute(params_from_iter(values)).map_err(SqlError::Sqlite)?;
        }
        Ok(())
    }
}

/// The first row is a header unless a column of numbers has a number there that is not a year over other numbers.
fn is_header(first: &[String], below: &[Column], style: Style) -> bool {
    let mut numbers = false;
    for (cell, column) in first.iter().zip(below) {
        if column.kind(style) == Kind::Text {
            continue;
        }
        let mut with = column.clone();
        with.add(cell);
        if with.kind(style) == Kind::Text && !cell.trim().is_empty() {
            return true;
        }
        let cell = cell.trim();
        let year = cell.len() == 4 && matches!(cell.parse(), Ok(1800..=2200));
        numbers |= !cell.is_empty() && (!year || column.years);
    }
    !numbers
}

// The kind of a column follows from its cells. No digit is lost: what can't be a number exactly stays text, and so do
// codes with leading zeros.
/// Spellings of a missing number.
const ABSENT: [&str; 7] = ["NA", "N/A", "#N/A", "NULL", "null", "NaN", "nan"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Integer,
    Real,
    /// With a comma before the fraction, and points between thousands.
    RealWithComma,
    /// Whole, with commas between thousands.
    Thousands,
    /// With a point before the fraction, and commas between thousands.
    RealWithThousands,
    Text,
}

/// How a file writes its numbers, as far as some column leaves no doubt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Style {
    /// `1,234.50`, `2.5`
    point: bool,
    /// `1.234,50`, `2,5`
    comma: bool,
}

impl Style {
    fn of(columns: &[Column]) -> Self {
        let point = |column: &Column| match column.plain_kind() {
            Kind::Real => column.clear_point && !column.clear_comma,
            Kind::Thousands | Kind::RealWithThousands => true,
            _ => false,
        };
        let comma = |column: &Column| column.plain_kind() == Kind::RealWithComma && !column.is_unclear();
        Self { point: columns.iter().any(point), comma: columns.iter().any(comma) }
    }
}

#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a question of its own to every cell")]
pub(super) struct Column {
    integer: bool,
    real: bool,
    comma: bool,
    thousands: bool,
    any: bool,
    any_comma: bool,
    any_point: bool,
    /// A comma or a point that is not before exactly three digits, so that it can't stand between thousands.
    clear_comma: bool,
    clear_point: bool,
    /// All have four digits.
    years: bool,
}

impl Default for Column {
    fn default() -> Self {
        Self {
            integer: true,
            real: true,
            comma: true,
            thousands: true,
            any: false,
            any_comma: false,
            any_point: false,
            clear_comma: false,
            clear_point: false,
            years: true,
        }
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
        self.thousands = self.thousands && with_thousands(cell).is_some();
        self.any_comma |= cell.contains(',');
        self.any_point |= cell.contains('.');
        self.clear_comma |= cell.contains(',') && !is_grouped(cell, ',');
        self.clear_point |= cell.contains('.') && !is_grouped(cell, '.');
        self.years = self.years && cell.len() == 4;
    }

    /// Whether all its commas, or all its points, may stand between thousands or before a fraction.
    fn is_unclear(&self) -> bool {
        match self.plain_kind() {
            Kind::RealWithComma => self.thousands && !self.clear_comma && !self.any_point,
            Kind::Real => self.comma && self.any_point && !self.clear_point,
            _ => false,
        }
    }

    /// Where the column itself leaves it open, the rest of the file says what a comma is; without that it stays a text.
    /// A point before three digits is a fraction unless the file has commas before fractions.
    pub fn kind(&self, style: Style) -> Kind {
        let kind = self.plain_kind();
        if !self.is_unclear() {
            return kind;
        }
        match (kind, style.point, style.comma) {
            (Kind::RealWithComma, true, false) => Kind::Thousands,
            (Kind::RealWithComma | Kind::Real, false, true) => Kind::RealWithComma,
            (Kind::Real, _, false) => Kind::Real,
            _ => Kind::Text,
        }
    }

    /// As the column's own cells say it.
    fn plain_kind(&self) -> Kind {
        match self {
            Self { any: false, .. } => Kind::Text,
            Self { integer: true, .. } => Kind::Integer,
            Self { real: true, .. } => Kind::Real,
            Self { comma: true, any_comma: true, .. } => Kind::RealWithComma,
            Self { thousands: true, any_comma: true, any_point: false, .. } => Kind::Thousands,
            Self { thousands: true, any_comma: true, .. } => Kind::RealWithThousands,
            _ => Kind::Text,
        }
    }
}

impl Kind {
    pub fn word(self) -> &'static str {
        match self {
            Self::Integer | Self::Thousands => "INTEGER",
            Self::Real | Self::RealWithComma | Self::RealWithThousands => "REAL",
            Self::Text => "TEXT",
        }
    }

    /// `None` for an empty cell.
    pub fn value(self, cell: &str) -> Option<SqlValue> {
        let trimmed = cell.trim();
        match self {
            Self::Integer => integer(trimmed).map(SqlValue::Integer),
            Self::Real => real(trimmed).map(SqlValue::Real),
            Self::RealWithComma => with_comma(trimmed).map(SqlValue::Real),
            Self::Thousands => integer(&trimmed.replace(',', "")).map(SqlValue::Integer),
            Self::RealWithThousands => with_thousands(trimmed).map(SqlValue::Real),
            // What programs write where there is no value.
            Self::Text => (!cell.is_empty() && cell != "NULL").then(|| SqlValue::Text(cell.to_owned())),
        }
    }
}

pub(super) fn integer(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = digits.bytes().all(|b| b.is_ascii_digit()) && (digits == "0" || !digits.starts_with('0'));
    plain.then(|| text.parse().ok()).flatten()
}

/// `1.234,50` and `3,5`; points only between thousands.
fn with_comma(text: &str) -> Option<f64> {
    let (whole, fraction) = text.split_once(',').unwrap_or((text, "0"));
    let mut groups = whole.strip_prefix('-').unwrap_or(whole).split('.');
    let first = groups.next().unwrap_or_default();
    let plain = groups.clone().next().is_none();
    let grouped = (1..=3).contains(&first.len()) && groups.all(|group| group.len() == 3);
    if fraction.contains(['.', 'e', 'E']) || !(plain || grouped) {
        return None;
    }
    real(&format!("{}.{fraction}", whole.replace('.', "")))
}

/// `1,234.50` and `12,500`; commas only between thousands.
fn with_thousands(text: &str) -> Option<f64> {
    let whole = text.split_once('.').map_or(text, |(whole, _)| whole);
    let after = text.get(whole.len()..).unwrap_or_default();
    (!after.contains(',') && (!whole.contains(',') || is_grouped(whole, ','))).then(|| real(&text.replace(',', "")))?
}

/// Whether the sign stands between thousands, as far as one sees: `12,500`, but neither `1,25` nor `0,250`.
fn is_grouped(text: &str, sign: char) -> bool {
    let other = if sign == ',' { '.' } else { ',' };
    let whole = text.split_once(other).map_or(text, |(whole, _)| whole);
    let mut groups = whole.strip_prefix('-').unwrap_or(whole).split(sign);
    let first = groups.next().unwrap_or_default();
    let digits = |group: &str| group.bytes().all(|byte| byte.is_ascii_digit());
    (1..=3).contains(&first.len())
        && digits(first)
        && !first.starts_with('0')
        && groups.all(|group| group.len() == 3 && digits(group))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(cells: &[&str]) -> Kind {
        let mut column = Column::default();
        for cell in cells {
            column.add(cell);
        }
        column.kind(Style::default())
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
            (&["1,234.50", "999"], Kind::RealWithThousands),
            (&["1,250,000", "5,000"], Kind::Thousands),
            (&["1,234.50", "1,5"], Kind::Text),
            // Thousands or a fraction: nothing tells.
            (&["1,250", "999", "12,500"], Kind::Text),
            (&["1,250", "0,250"], Kind::RealWithComma),
            (&["1,250", "2,5"], Kind::RealWithComma),
            (&["1.250", "5.500"], Kind::Real),
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
        assert_eq!(Kind::RealWithThousands.value("-1,234.5"), Some(SqlValue::Real(-1234.5)));
        assert_eq!(Kind::Thousands.value("12,500"), Some(SqlValue::Integer(12500)));
        assert_eq!(Kind::Integer.value("NA"), None);
        assert_eq!(Kind::Text.value(" a "), Some(SqlValue::Text(" a ".to_owned())));
    }

    #[test]
    fn other_columns_say_what_a_comma_is() {
        let kinds = |columns: &[&[&str]]| -> Vec<Kind> {
            let all: Vec<Column> = columns
                .iter()
                .map(|cells| {
                    let mut column = Column::default();
                    cells.iter().for_each(|cell| column.add(cell));
                    column
                })
                .collect();
            let style = Style::of(&all);
            all.iter().map(|column| column.kind(style)).collect()
        };
        let unclear: &[&str] = &["1,250", "999", "12,500"];
        for (other, expect) in [
            (&["1,250.00"][..], Kind::Thousands),
            (&["2.50", "3.5"], Kind::Thousands),
            (&["1,250,000"], Kind::Thousands),
            (&["1.250,00"], Kind::RealWithComma),
            (&["2,5"], Kind::RealWithComma),
            (&["7", "8"], Kind::Text),
            (&["2.500"], Kind::Text),
        ] {
            assert_eq!(kinds(&[unclear, other])[0], expect, "{other:?}");
        }
        assert_eq!(kinds(&[unclear, &["2,5"], &["2.5"]])[0], Kind::Text, "both are written");
        assert_eq!(kinds(&[&["1.250", "12.500"], &["2,5"]])[0], Kind::RealWithComma, "points between thousands");
    }
}
