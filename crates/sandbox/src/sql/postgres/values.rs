//! Reads rows that the server has written as JSON, without losing a digit.

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Number, Value};

struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        from.deserialize_map(Reader)
    }
}

/// The values of a row's object, and their bytes.
pub(crate) fn row(text: &str) -> Result<(Vec<Value>, usize), serde_json::Error> {
    let Members(members) = serde_json::from_str(text)?;
    let bytes = members.iter().map(|(_, raw)| raw.get().len()).sum();
    let values = members.iter().map(|(_, raw)| value(raw.get())).collect();
    Ok((values, bytes))
}

/// The value as JSON, or as its text if it is nested too deeply or has characters that no text can have.
fn value(raw: &str) -> Value {
    match serde_json::from_str(raw) {
        Err(_) => Value::from(raw),
        Ok(_) if long_number(raw) => exact(raw),
        Ok(value) => value,
    }
}

/// Whether there may be a number with more digits than an `f64` holds.
fn long_number(raw: &str) -> bool {
    raw.as_bytes()
        .split(|b| !b.is_ascii_digit() && *b != b'.')
        .any(|run| run.len() > usize::try_from(f64::DIGITS).unwrap_or(0))
}

/// Reads number by number; `raw` is not nested too deeply.
fn exact(raw: &str) -> Value {
    let read = match raw.as_bytes().first() {
        Some(b'[') => {
            serde_json::from_str::<Vec<&RawValue>>(raw).map(|all| all.iter().map(|raw| exact(raw.get())).collect())
        }
        Some(b'{') => serde_json::from_str(raw).map(|Members(all)| {
            let members = all.into_iter().map(|(key, raw)| (key, exact(raw.get())));
            Value::Object(members.collect::<Map<_, _>>())
        }),
        Some(b'-' | b'0'..=b'9') => serde_json::from_str(raw).map(|n| number(raw, n)),
        _ => serde_json::from_str(raw),
    };
    read.unwrap_or_else(|_| Value::from(raw))
}

fn number(text: &str, read: Number) -> Value {
    if read.is_f64() && normal(text) != normal(&read.to_string()) { Value::from(text) } else { Value::Number(read) }
}

/// The significant digits and the exponent of the last one.
fn normal(text: &str) -> (String, i64) {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{}{part}", whole.trim_start_matches('-'));
    let cut = digits.trim_end_matches('0');
    if cut.is_empty() {
        return (String::new(), 0);
    }
    let places = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
    let exponent = exponent.parse::<i64>().unwrap_or(i64::MAX);
    let exponent = exponent.saturating_sub(places(part.len())).saturating_add(places(digits.len() - cut.len()));
    (cut.trim_start_matches('0').to_owned(), exponent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn no_digit_is_lost() {
        for (raw, expected) in [
            ("1.50", json!(1.5)),
            ("0.30000000000000004", json!(0.300_000_000_000_000_04)),
            ("-0.1234567890123456789", json!("-0.1234567890123456789")),
            ("12345678901234567890.1234567891", json!("12345678901234567890.1234567891")),
            ("18446744073709551615", json!(u64::MAX)),
            ("18446744073709551617", json!("18446744073709551617")),
            ("100000000000000000000", json!(1e20)),
            ("1000000000000000.00000", json!(1e15)),
            ("\"12345678901234567890.12\"", json!("12345678901234567890.12")),
            ("[1, 0.12345678901234567891, {\"a\": 1.5}]", json!([1, "0.12345678901234567891", {"a": 1.5}])),
            ("\"\\ud800\"", json!("\"\\ud800\"")),
        ] {
            assert_eq!(value(raw), expected, "{raw}");
        }
        let deep = format!("{}{}", "[".repeat(500), "]".repeat(500));
        assert_eq!(value(&deep), json!(deep));
        let (values, bytes) = row("{\"c1\":1,\"c2\":\"a\",\"c1\":[2]}").unwrap();
        assert_eq!((values, bytes), (vec![json!(1), json!("a"), json!([2])], 7));
    }
}
