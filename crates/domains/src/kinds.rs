//! Kinds of fields: the operators that compare them, and the declared types of columns that they stand for.

use crate::model::FieldKind::{self, Bool, Date, Datetime, Float, Int, String, Text};
use steward_core::Timestamp;

/// The kinds in the order in which they are listed.
pub const ALL: [FieldKind; 7] = [Int, Float, String, Text, Bool, Date, Datetime];

/// What an operator compares, and how it is described to a person.
pub const OPERATORS: [(&str, &str); 7] = [
    ("eq", "is equal to"),
    ("ne", "differs from"),
    ("gt", "is greater than"),
    ("gte", "is at least"),
    ("lt", "is less than"),
    ("lte", "is at most"),
    ("contains", "has the text in it"),
];

/// The operators that may compare a field of this kind.
pub fn operators(kind: FieldKind) -> &'static [&'static str] {
    match kind {
        String | Text => &["contains", "eq", "ne"],
        Int | Float => &["eq", "ne", "gt", "gte", "lt", "lte"],
        Bool => &["eq"],
        Date | Datetime => &["eq", "gt", "lt"],
    }
}

/// The operator that a word stands for; `neq` and `like` are other words for two of them.
pub fn operator(word: &str) -> Option<&'static str> {
    let word = match word {
        "neq" => "ne",
        "like" => "contains",
        word => word,
    };
    OPERATORS.iter().map(|(name, _)| *name).find(|name| *name == word)
}

/// What a declared type holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Whole,
    /// Numbers that may have decimals.
    Decimal,
    /// `NUMERIC` and the like without decimals.
    WholeDecimal,
    /// `NUMERIC` and the like that do not say so.
    AnyDecimal,
    Truth,
    /// `TINYINT(1)` and `BIT(1)`, which hold truth values on some servers.
    OneBit,
    Day,
    Moment,
    /// A text; `true` if it can be long.
    Text(bool),
    Bytes,
    Undeclared,
    /// A type of the database's own, such as an enumeration.
    Other,
}

/// A text that is declared longer than this is a long one.
const LONG: u32 = 255;

fn classify(declared: &str) -> Class {
    let upper = declared.trim().to_uppercase();
    let base = upper.split('(').next().unwrap_or_default().trim();
    let has = |words: &[&str]| words.iter().any(|word| base.contains(word));
    let sizes = sizes(&upper);
    if base.is_empty() {
        Class::Undeclared
    } else if matches!(base, "TINYINT" | "BIT")
        && sizes.first().is_none_or(|bits| *bits == 1)
        && (base == "BIT" || !sizes.is_empty())
    {
        Class::OneBit
    } else if has(&["BOOL"]) {
        Class::Truth
    } else if has(&["TIMESTAMP", "DATETIME"]) {
        Class::Moment
    } else if has(&["DATE"]) {
        Class::Day
    } else if has(&["BLOB", "BINARY", "BYTEA", "IMAGE"]) {
        Class::Bytes
    } else if has(&["INTERVAL", "POINT", "TIME"]) {
        Class::Other
    } else if has(&["CHAR", "TEXT", "CLOB", "STRING", "UUID", "ENUM", "JSON", "XML"]) {
        let long = has(&["CLOB", "MEDIUMTEXT", "LONGTEXT", "NTEXT", "JSON", "XML"])
            || sizes.first().is_some_and(|size| *size > LONG);
        Class::Text(long)
    } else if has(&["INT", "SERIAL"]) || base == "YEAR" {
        Class::Whole
    } else if has(&["REAL", "FLOA", "DOUB", "MONEY"]) {
        Class::Decimal
    } else if has(&["NUM", "DEC"]) {
        match sizes.as_slice() {
            [] => Class::AnyDecimal,
            [_, scale, ..] if *scale > 0 => Class::Decimal,
            _ => Class::WholeDecimal,
        }
    } else {
        Class::Other
    }
}

/// The numbers in parentheses.
fn sizes(declared: &str) -> Vec<u32> {
    let inner = declared.split_once('(').and_then(|(_, rest)| rest.split_once(')')).map_or("", |(inner, _)| inner);
    inner.split(',').filter_map(|size| size.trim().parse().ok()).collect()
}

/// The kinds that a column with this declared type can have, the best first. None for bytes.
pub fn of_column(declared: &str) -> &'static [FieldKind] {
    match classify(declared) {
        Class::Whole => &[Int, Float, Bool],
        Class::Decimal => &[Float],
        Class::WholeDecimal => &[Int, Float],
        Class::AnyDecimal => &[Float, Int],
        Class::Truth => &[Bool],
        Class::OneBit => &[Bool, Int],
        Class::Day => &[Date, Datetime],
        Class::Moment => &[Datetime, Date],
        Class::Text(false) => &[String, Text, Date, Datetime],
        Class::Text(true) => &[Text, String, Date, Datetime],
        Class::Bytes => &[],
        Class::Undeclared | Class::Other => &[String, Text, Int, Float, Bool, Date, Datetime],
    }
}

/// Whether a value as it is written can be compared with a field of this kind.
pub fn value_fits(kind: FieldKind, value: &str) -> bool {
    match kind {
        String | Text => true,
        Int => value.parse::<i64>().is_ok(),
        Float => value.parse::<f64>().is_ok_and(f64::is_finite),
        Bool => matches!(value, "true" | "false"),
        Date => Timestamp::of_date(value).is_some(),
        Datetime => {
            let (day, time) = value.split_once(['T', ' ']).map_or((value, None), |(day, time)| (day, Some(time)));
            Timestamp::of_date(day).is_some() && time.is_none_or(is_time)
        }
    }
}

/// `10:30`, `10:30:59.123`, with `Z` or an offset such as `+02:00` after it or not.
fn is_time(value: &str) -> bool {
    let value = match value.strip_suffix(['Z', 'z']) {
        Some(rest) => rest,
        None => match value.rfind(['+', '-']) {
            Some(at) if is_clock(&value[at + 1..], false) => &value[..at],
            Some(_) => return false,
            None => value,
        },
    };
    is_clock(value, true)
}

fn is_clock(value: &str, seconds: bool) -> bool {
    let (value, fraction) = value.split_once('.').unwrap_or((value, "0"));
    let parts: Vec<&str> = value.split(':').collect();
    let in_range = |part: &str, limit: u32| part.len() == 2 && part.parse::<u32>().is_ok_and(|number| number < limit);
    let digits = !fraction.is_empty() && fraction.bytes().all(|b| b.is_ascii_digit());
    match parts.as_slice() {
        [hour, minute] => in_range(hour, 24) && in_range(minute, 60) && fraction == "0",
        [hour, minute, second] if seconds => {
            digits && in_range(hour, 24) && in_range(minute, 60) && in_range(second, 60)
        }
        _ => false,
    }
}

/// Whether values of two declared types can be equal.
pub fn comparable(one: &str, other: &str) -> bool {
    let family = |declared| match classify(declared) {
        Class::Whole | Class::Decimal | Class::WholeDecimal | Class::AnyDecimal => Some(0),
        Class::Text(_) => Some(1),
        Class::Day | Class::Moment => Some(2),
        Class::Bytes => Some(3),
        Class::Truth | Class::OneBit | Class::Undeclared | Class::Other => None,
    };
    family(one).zip(family(other)).is_none_or(|(one, other)| one == other)
}
