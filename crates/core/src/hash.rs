//! Content hashes, which bind approvals, intents and plans to the exact arguments.

use serde_json::Value;
use sha2::{Digest, Sha256};

/// SHA-256 of `bytes`, lower-case hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

/// SHA-256 of what the pieces are together.
pub fn sha256_of<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> String {
    let digest = pieces.into_iter().fold(Sha256::new(), sha2::Digest::chain_update);
    hex::encode(digest.finalize())
}

/// SHA-256 of what comes piece by piece.
#[derive(Debug, Clone, Default)]
pub struct Hasher(Sha256);

impl Hasher {
    pub fn update(&mut self, piece: &[u8]) {
        self.0.update(piece);
    }

    /// Lower-case hexadecimal.
    pub fn finish(self) -> String {
        hex::encode(self.0.finalize())
    }
}

/// SHA-256 of `value` with object keys sorted, so that equal values have equal hashes.
pub fn of_json(value: &Value) -> String {
    sha256(canonical_json(value).as_bytes())
}

/// The JSON of `value` with object keys sorted.
pub(crate) fn canonical_json(value: &Value) -> String {
    let mut text = String::new();
    canonical(value, &mut text);
    text
}

fn canonical(value: &Value, out: &mut String) {
    match value {
        Value::Object(map) => {
            let mut keys: Vec<_> = map.iter().collect();
            keys.sort_by_key(|(key, _)| *key);
            out.push('{');
            for (index, (key, item)) in keys.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                out.push_str(&Value::String(key.clone()).to_string());
                out.push(':');
                canonical(item, out);
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                canonical(item, out);
            }
            out.push(']');
        }
        scalar => out.push_str(&scalar.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::of_json;
    use serde_json::json;

    #[test]
    fn key_order_does_not_matter_but_values_do() {
        let one = json!({"a": 1, "b": {"x": [1, 2], "y": null}});
        let two = json!({"b": {"y": null, "x": [1, 2]}, "a": 1});
        assert_eq!(of_json(&one), of_json(&two));
        assert_ne!(of_json(&one), of_json(&json!({"a": 1, "b": {"x": [2, 1], "y": null}})));
    }
}
