//! Deep plans: no panic, whatever a model writes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use steward_parse::{ToolIndex, deep};

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let _ = deep::steps(&text, &ToolIndex::default());
});
