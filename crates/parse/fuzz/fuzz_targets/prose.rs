//! Phrases, claims and plans: no panic, ranges within the text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use steward_parse::{ToolIndex, claims, fuzzy, plan};

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    if let Some(hit) = claims::false_completion(&text) {
        assert!(text.get(hit.range).is_some());
    }
    let _ = fuzzy::Rules::built_in().intents(&text);
    let _ = plan::parse(&text, &ToolIndex::default());
});
