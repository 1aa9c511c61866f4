//! SQL values as JSON and back.

use rusqlite::types::{Value as SqlValue, ValueRef};
use serde_json::{Value, json};

use super::error::SqlError;

/// How much of a blob is shown.
const BLOB_PREFIX: usize = 32;

/// A value of a result: integers and text as they are, infinite numbers as text, a blob as its size and beginning.
pub(super) fn to_json(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(i) => Value::from(i),
        ValueRef::Real(r) => serde_json::Number::from_f64(r).map_or_else(|| Value::from(r.to_string()), Value::Number),
        ValueRef::Text(bytes) => Value::from(String::from_utf8_lossy(bytes)),
        ValueRef::Blob(bytes) => blob(bytes),
    }
}

/// Bytes as a result shows them.
pub(super) fn blob(bytes: &[u8]) -> Value {
    json!({ "blob_bytes": bytes.len(), "hex_prefix": hex(bytes) })
}

/// Bytes that count against the result's size limit.
pub(super) fn size(value: ValueRef<'_>) -> usize {
    match value {
        ValueRef::Null => 4,
        ValueRef::Integer(_) | ValueRef::Real(_) => 8,
        ValueRef::Text(bytes) => bytes.len(),
        ValueRef::Blob(bytes) => bytes.len().min(BLOB_PREFIX) * 2 + 32,
    }
}

/// A JSON value as a bound parameter.
pub(super) fn from_json(index: usize, value: &Value) -> Result<SqlValue, SqlError> {
    let bad = |reason: &str| SqlError::Parameter { index, reason: reason.to_owned() };
    match value {
        Value::Null => Ok(SqlValue::Null),
        Value::Bool(b) => Ok(SqlValue::Integer(i64::from(*b))),
        Value::Number(n) => match (n.as_i64(), n.as_f64()) {
            (Some(i), _) => Ok(SqlValue::Integer(i)),
            (None, Some(f)) => Ok(SqlValue::Real(f)),
            (None, None) => Err(bad("the number is out of range")),
        },
        Value::String(s) => Ok(SqlValue::Text(s.clone())),
        Value::Array(_) | Value::Object(_) => Err(bad("use a text, number, boolean or null")),
    }
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().take(BLOB_PREFIX).fold(String::new(), |mut out, b| {
        let _ = write!(out, "{b:02x}");
        out
    })
}
