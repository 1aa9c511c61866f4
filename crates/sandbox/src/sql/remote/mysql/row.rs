//! Values of the binary protocol as JSON.

use serde_json::{Value, json};
use sqlx::mysql::{MySqlRow, MySqlTypeInfo};
use sqlx::{Column as _, MySql, Row as _, Type, TypeInfo as _, ValueRef as _};

pub(super) fn columns(row: &MySqlRow) -> Vec<String> {
    row.columns().iter().map(|c| c.name().to_owned()).collect()
}

pub(super) fn values(row: &MySqlRow) -> Result<(Vec<Value>, usize), sqlx::Error> {
    let mut bytes = 0;
    let mut values = Vec::with_capacity(row.len());
    for at in 0..row.len() {
        let raw = row.try_get_raw(at)?;
        let info = raw.type_info().into_owned();
        // Times of zeros are null to sqlx, but not to the server.
        let zeros = is_moment(info.name()) && row.try_get_unchecked::<&[u8], _>(at).is_ok();
        let value = if raw.is_null() && !zeros { Value::Null } else { value(row, at, &info)? };
        bytes += match &value {
            Value::Null => 4,
            Value::String(text) => text.len(),
            _ => 8,
        };
        values.push(value);
    }
    Ok((values, bytes))
}

fn is_moment(kind: &str) -> bool {
    matches!(kind, "DATE" | "DATETIME" | "TIMESTAMP")
}

fn value(row: &MySqlRow, at: usize, info: &MySqlTypeInfo) -> Result<Value, sqlx::Error> {
    let bytes = || row.try_get_unchecked::<&[u8], _>(at);
    if <u64 as Type<MySql>>::compatible(info) {
        return Ok(json!(row.try_get_unchecked::<u64, _>(at)?));
    }
    Ok(match info.name() {
        "BOOLEAN" | "TINYINT" | "SMALLINT" | "MEDIUMINT" | "INT" | "BIGINT" => {
            json!(row.try_get_unchecked::<i64, _>(at)?)
        }
        "YEAR" | "BIT" => json!(row.try_get_unchecked::<u64, _>(at)?),
        "FLOAT" => single(row.try_get_unchecked(at)?),
        "DOUBLE" => number(row.try_get_unchecked::<f64, _>(at)?),
        kind if is_moment(kind) => json!(moment(bytes()?, kind == "DATE")),
        "TIME" => json!(span(bytes()?)),
        // The names only say that values compare byte by byte, as texts may; what is text has a character set.
        "BINARY" | "VARBINARY" | "TINYBLOB" | "BLOB" | "MEDIUMBLOB" | "LONGBLOB" | "GEOMETRY"
            if !<str as Type<MySql>>::compatible(info) =>
        {
            crate::sql::value::blob(bytes()?)
        }
        _ => json!(String::from_utf8_lossy(bytes()?)),
    })
}

/// As short as it is as a number of its own width.
fn single(value: f32) -> Value {
    number(value.to_string().parse().unwrap_or(f64::from(value)))
}

fn number(value: f64) -> Value {
    serde_json::Number::from_f64(value).map_or_else(|| json!(value.to_string()), Value::Number)
}

/// The binary protocol: a length, then year (2 bytes), month, day, hour, minute, second, microseconds (4 bytes), as
/// far as they are not zero.
fn moment(bytes: &[u8], date_only: bool) -> String {
    let at = |i: usize| bytes.get(i).copied().unwrap_or(0);
    let year = u16::from_le_bytes([at(1), at(2)]);
    let date = format!("{year:04}-{:02}-{:02}", at(3), at(4));
    if date_only {
        return date;
    }
    let micros = u32::from_le_bytes([at(8), at(9), at(10), at(11)]);
    format!("{date}T{:02}:{:02}:{:02}{}", at(5), at(6), at(7), part(micros))
}

fn part(micros: u32) -> String {
    if micros == 0 { String::new() } else { format!(".{micros:06}") }
}

/// Likewise: a length, a sign, days (4 bytes), hours, minutes, seconds, microseconds (4 bytes).
fn span(bytes: &[u8]) -> String {
    let at = |i: usize| bytes.get(i).copied().unwrap_or(0);
    let days = u32::from_le_bytes([at(2), at(3), at(4), at(5)]);
    let hours = u64::from(days) * 24 + u64::from(at(6));
    let sign = if at(1) == 1 { "-" } else { "" };
    let micros = u32::from_le_bytes([at(9), at(10), at(11), at(12)]);
    format!("{sign}{hours:02}:{:02}:{:02}{}", at(7), at(8), part(micros))
}
