//! Repair: no panic, and sound JSON is never changed.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let read = steward_parse::repair(&text, data.len() % 2 == 0);
    if let (Ok(read), Ok(value)) = (read, serde_json::from_str::<Value>(&text)) {
        assert_eq!(read.value, value);
    }
});
