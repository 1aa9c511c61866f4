//! Phrases and plans: no panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use steward_parse::{ToolIndex, fuzzy, plan};

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let _ = fuzzy::Rules::built_in().intents(&text);
    let _ = plan::parse(&text, &ToolIndex::default());
});
