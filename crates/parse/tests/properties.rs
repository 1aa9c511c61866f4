//! What holds for any reply at all.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod support;

use proptest::prelude::*;
use steward_core::model::{ModelChunk, Strategy};
use steward_parse::{PlanStream, ToolIndex, complete, plan, repair};
use support::{feed, pieces, specs};

const ALL: [Strategy; 3] = [Strategy::Native, Strategy::GuidedJson, Strategy::React];

/// Fragments that grammars care about, so that random texts reach deep into them.
const FRAGMENTS: &[&str] = &[
    "Thought: ",
    "Action: ",
    "Action Input: ",
    "ACTION_INPUT:",
    "Observation: ",
    "Final Answer: ",
    "**Action:** ",
    "read",
    "web-search",
    "`write`",
    "done",
    "\n",
    "\n\n",
    " ",
    "\t",
    "```",
    "```json\n",
    "`",
    "{",
    "}",
    "[",
    "]",
    "\"",
    "\\",
    "\\\"",
    "\\u00e4",
    "\\ud83d\\ude00",
    "\\ud83d",
    ":",
    ",",
    "\"reasoning\":",
    "\"tool_calls\":",
    "\"done\":",
    "true",
    "12",
    "{\"path\": \"a.md\"}",
    "{\"name\": \"read\", \"arguments\": {\"path\": \"ä\"}}",
    "\"plan\":",
    "{\"tool\":\"read\",\"args\":{}}",
    "Grüße",
    "مرحبا",
    "😀",
    "：",
    "null",
    "text",
];

fn reply() -> impl Strategy2<Value = String> {
    prop_oneof![
        3 => prop::collection::vec(prop::sample::select(FRAGMENTS), 0..30).prop_map(|parts| parts.concat()),
        1 => ".{0,80}",
    ]
}

use proptest::strategy::Strategy as Strategy2;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn any_split_gives_the_same(text in reply(), thinking in reply(), sizes in prop::collection::vec(1usize..9, 1..6), cut in any::<bool>()) {
        let finish = if cut { "length" } else { "stop" };
        for strategy in ALL {
            let chunks = |sizes: &[usize]| -> Vec<ModelChunk> {
                let thought = pieces(&thinking, sizes).into_iter().map(ModelChunk::Reasoning);
                thought.chain(pieces(&text, sizes).into_iter().map(ModelChunk::Text)).collect()
            };
            let whole = feed(strategy, &chunks(&[usize::MAX]), finish);
            prop_assert_eq!(&feed(strategy, &chunks(&sizes), finish), &whole);
            prop_assert_eq!(&feed(strategy, &chunks(&[1]), finish), &whole);
        }
    }

    #[test]
    fn a_plan_is_the_same_however_it_arrives(text in reply(), sizes in prop::collection::vec(1usize..9, 1..6)) {
        let tools = ToolIndex::new(&specs());
        let whole = plan::parse(&text, &tools);
        let mut stream = PlanStream::new(&tools);
        let mut shown = Vec::new();
        for piece in pieces(&text, &sizes) {
            shown.extend(stream.push(&piece));
        }
        let result = stream.finish();
        prop_assert_eq!(&result, &whole);
        if let Ok(plan) = result {
            prop_assert_eq!(plan.steps, shown);
        }
    }

    #[test]
    fn completion_and_repair_never_fail_badly(text in reply()) {
        let _ = complete(&text);
        let sound = serde_json::from_str::<serde_json::Value>(&text).ok();
        if let Ok(read) = repair(&text, false) && let Some(value) = sound {
            prop_assert_eq!(read.value, value);
            prop_assert!(read.fixes.is_empty());
        }
    }

    /// Text without any of the grammar's words and signs reaches the reader as it is.
    #[test]
    fn free_text_stays_text(text in "[a-zäöü .,!?\n]{0,200}") {
        for strategy in ALL {
            let (parsed, _) = feed(strategy, &[ModelChunk::Text(text.clone())], "stop");
            prop_assert_eq!(parsed.text.as_str(), text.trim());
            prop_assert!(parsed.calls.is_empty() && parsed.broken.is_empty());
        }
    }
}

/// A quadratic step would take hours here, not seconds.
#[test]
fn a_megabyte_in_small_pieces() {
    for unit in [
        "{",
        "{\"a\":",
        "[",
        "```\n",
        "`",
        " ",
        "*",
        "Action: read\n",
        "Action: read\nAction Input: {\"a\" 1\n",
        "{\"reasoning\":\"",
        "\\",
        "\n",
        "Thought: a",
        "x",
    ] {
        let text = unit.repeat(300_000 / unit.len());
        for strategy in ALL {
            let chunks: Vec<_> = pieces(&text, &[3])
                .into_iter()
                .map(ModelChunk::Text)
                .collect();
            let _ = feed(strategy, &chunks, "stop");
        }
        let tools = ToolIndex::new(&specs());
        let mut stream = PlanStream::new(&tools);
        for piece in pieces(&text, &[3]) {
            stream.push(&piece);
        }
        let _ = stream.finish();
    }
    let long = format!(
        "Action: write\nAction Input: {{\"path\": \"a\", \"content\": \"{}\"}}",
        "ä ".repeat(400_000)
    );
    let chunks: Vec<_> = pieces(&long, &[5])
        .into_iter()
        .map(ModelChunk::Text)
        .collect();
    let (parsed, _) = feed(Strategy::React, &chunks, "stop");
    assert_eq!(parsed.calls.len(), 1);
}
