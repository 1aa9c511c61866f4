//! Scrubs JSON values, whose numbers and keys may be secrets too.

use super::Scrubber;
use serde_json::{Map, Value};
use std::borrow::Cow;

impl Scrubber {
    pub fn scrub_json(&self, value: &mut Value) {
        if self.is_empty() {
            return;
        }
        match value {
            Value::String(text) => {
                if let Cow::Owned(scrubbed) = self.scrub(text) {
                    *text = scrubbed;
                }
            }
            Value::Number(number) => {
                if let Cow::Owned(scrubbed) = self.scrub(&number.to_string()) {
                    *value = Value::String(scrubbed);
                }
            }
            Value::Array(items) => {
                for item in items {
                    self.scrub_json(item);
                }
            }
            Value::Object(map) => {
                for item in map.values_mut() {
                    self.scrub_json(item);
                }
                if map.keys().any(|key| matches!(self.scrub(key), Cow::Owned(_))) {
                    *map = self.other_keys(std::mem::take(map));
                }
            }
            Value::Null | Value::Bool(_) => {}
        }
    }

    /// Numbers two keys that become equal, so that no value is lost.
    fn other_keys(&self, map: Map<String, Value>) -> Map<String, Value> {
        let mut out = Map::new();
        for (key, item) in map {
            let scrubbed = self.scrub(&key).into_owned();
            let mut free = scrubbed.clone();
            let mut number = 2_u64;
            while out.contains_key(&free) {
                free = format!("{scrubbed} {number}");
                number += 1;
            }
            out.insert(free, item);
        }
        out
    }
}
