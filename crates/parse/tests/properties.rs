//! What holds for any reply at all.

use crate::support;
use proptest::prelude::*;
use steward_core::model::{ModelChunk, Strategy};
use steward_parse::{Dialects, Form, Reading, complexity_counter, fuzzy};
use steward_parse::{PlanStream, ToolIndex, plan, repair};
use support::case::feed_with;
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
    "<tool_call>",
    "</tool_call>",
    "<function=read>",
    "<parameter=path>",
    "</parameter>",
    "</function>",
    "<think>",
    "</think>",
    "[THINK]",
    "[/THINK]",
    "<|python_tag|>",
    "<|eom_id|>",
    "[TOOL_CALLS]",
    "[ARGS]",
    "[TOOL:read|path=",
    "[TOOL:list]",
    "[DONE]",
    "|content=\"",
    "<｜tool▁calls▁begin｜>",
    "<｜tool▁call▁begin｜>",
    "<｜tool▁sep｜>",
    "<｜tool▁call▁end｜>",
    "<｜tool▁calls▁end｜>",
    "<|start|>assistant",
    "<|channel|>commentary to=functions.read <|constrain|>json",
    "<|channel|>analysis",
    "<|message|>",
    "<|end|>",
    "<|call|>",
    "```tool_code\n",
    "<|tool_call|>",
    "<|tool_call>call:read{path:<|\"|>",
    "<|\"|>}<tool_call|>",
    "<start_function_call>",
    "call:list{}",
    "<end_function_call>",
    "functools",
    "Action: ```json\n",
    "<|START_ACTION|>",
    "<|END_ACTION|>",
    "<|tool_call_begin|>functions.read:0",
    "<|tool_call_argument_begin|>",
    "<|tool_call_end|>",
    "<arg_key>path</arg_key>",
    "<arg_value>",
    "</arg_value>",
    "<invoke name=\"read\">",
    "<parameter name=\"path\">",
    "</invoke>",
    "<minimax:tool_call>",
    "[read(path=\"a\")]",
    "read(path=\"a\")",
    "print(",
    ")",
    ")]",
    "'",
    "> ",
    "- ",
    "<|im_end|>",
    "<tool_response>",
    "<",
    "<|",
    "I will run the command `ls`.",
    "I would search for 'x'.",
    "For example:\n",
    ";",
    "=",
    "|",
    "{\"name\": \"read\", ",
    "\"arguments\": {\"path\": \"a\"}}",
    "{'name': 'read', 'arguments': {'path': 'a'}}",
    "{\"tool_calls\": [",
];

/// All ways of reading.
fn readings() -> Vec<Reading> {
    let mut all = Vec::new();
    for form in [Form::Native, Form::GuidedJson, Form::React, Form::Markers, Form::Fuzzy] {
        all.push(Reading::strict(form));
        all.push(Reading::any(form));
    }
    all.push(Reading { in_thought: true, ..Reading::any(Form::Native) });
    all.push(Reading { cascade: false, dialects: Dialects::Wrappers, ..Reading::any(Form::Native) });
    all
}

fn reply() -> impl Strategy2<Value = String> {
    prop_oneof![
        3 => prop::collection::vec(prop::sample::select(FRAGMENTS), 0..30).prop_map(|parts| parts.concat()),
        1 => ".{0,80}",
    ]
}

use proptest::strategy::Strategy as Strategy2;

/// Few while one works; `STEWARD_PROPTEST_CASES` makes it as many as one likes.
fn cases() -> u32 {
    option_env!("STEWARD_PROPTEST_CASES").and_then(|n| n.parse().ok()).unwrap_or(600)
}

/// Found by fuzzing: a name longer than is waited for was one only where it came at once.
#[test]
fn long_names_are_the_same_however_they_arrive() {
    let tools = specs();
    for length in 90..130 {
        let name = "f".repeat(length);
        for text in
            [format!("[Tool :{name}|ok=1]"), format!("[TOOL:{name}]"), format!("<tool_call>{name}\n{{}}</tool_call>")]
        {
            for reading in readings() {
                let chunks = |size: usize| -> Vec<ModelChunk> {
                    let pieces = pieces(&text, &[size]).into_iter();
                    pieces.map(ModelChunk::Text).collect()
                };
                let whole = feed_with(reading, &tools, &chunks(usize::MAX), "stop");
                let single = feed_with(reading, &tools, &chunks(1), "stop");
                assert_eq!(single, whole, "{reading:?} {length} {text}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

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
    fn repair_never_fails_badly(text in reply()) {
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases() / 3))]

    #[test]
    fn any_split_gives_the_same_in_all_forms(text in reply(), thinking in reply(), sizes in prop::collection::vec(1usize..9, 1..6), cut in any::<bool>()) {
        let finish = if cut { "length" } else { "stop" };
        let tools = specs();
        for reading in readings() {
            let chunks = |sizes: &[usize]| -> Vec<ModelChunk> {
                let thought = pieces(&thinking, sizes).into_iter().map(ModelChunk::Reasoning);
                thought.chain(pieces(&text, sizes).into_iter().map(ModelChunk::Text)).collect()
            };
            let whole = feed_with(reading, &tools, &chunks(&[usize::MAX]), finish);
            prop_assert_eq!(&feed_with(reading, &tools, &chunks(&sizes), finish), &whole, "{:?}", reading);
            prop_assert_eq!(&feed_with(reading, &tools, &chunks(&[1]), finish), &whole, "{:?}", reading);
        }
    }

    /// Whatever bytes come: no panic, and the phrases end.
    #[test]
    fn bytes_as_text_are_read(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        for reading in readings() {
            feed_with(reading, &specs(), &[ModelChunk::Text(text.clone())], "stop");
        }
        let _ = fuzzy::Rules::built_in().intents(&text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases() / 12))]

    /// Twice the text is at most about twice the work.
    #[test]
    fn work_is_linear(unit in reply(), size in 1usize..40) {
        prop_assume!(!unit.trim().is_empty());
        for reading in readings() {
            let steps = |n: usize| {
                let text = unit.repeat(n);
                let chunks: Vec<_> = pieces(&text, &[size]).into_iter().map(ModelChunk::Text).collect();
                let before = complexity_counter::seen();
                feed_with(reading, &specs(), &chunks, "stop");
                complexity_counter::seen() - before
            };
            let n = 1 + 2_000 / unit.len();
            let (one, two) = (steps(n), steps(2 * n));
            prop_assert!(two * 2 <= one * 5 + 20_000, "{reading:?}: {one} steps, then {two}");
        }
    }
}

/// A quadratic step would take hours here, not seconds.
#[test]
fn long_repetitions_in_small_pieces() {
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
        "<",
        "<tool_call>",
        "<tool_call>{\"a\":",
        "<tool_call> ",
        "</tool_call>",
        "<function=read><parameter=path>",
        "<function=read><parameter=path></function>",
        "[TOOL:read|path=\"]",
        "[TOOL:read|path='",
        "[TOOL:read|path=\"x]'",
        "[read(path=\"a\")][TOOL:read|path=<|tool_call>call:read{path:<|\"|>",
        "[TOOL_CALLS]",
        "[TOOL_CALLS]a",
        "<|channel|>",
        "<|channel|>commentary to=functions.read<|message|>{",
        "<｜tool▁calls▁begin｜><",
        "[read(",
        "{\"name\": \"read\", \"arguments\": {}}",
        "{\"name\": \"read\", \"arguments\": {}}\nx\n",
        "```json\n{\"name\":",
        "`",
        "“",
        "\"",
        "I will run the command `ls`. ",
        "<think>",
        "<think>[",
        "<invoke name=\"read\"><parameter name=\"a\">",
    ] {
        let text = unit.repeat(1 + 24_000 / unit.len());
        let chunks: Vec<_> = pieces(&text, &[3]).into_iter().map(ModelChunk::Text).collect();
        for strategy in ALL {
            let _ = feed(strategy, &chunks, "stop");
        }
        let before = complexity_counter::seen();
        let reading = Reading::any(Form::Native);
        feed_with(reading, &specs(), &chunks, "stop");
        let steps = complexity_counter::seen() - before;
        assert!(steps < 400 * text.len() as u64, "{unit:?}: {steps} steps");
        let tools = ToolIndex::new(&specs());
        let mut stream = PlanStream::new(&tools);
        for piece in pieces(&text, &[3]) {
            stream.push(&piece);
        }
        let _ = stream.finish();
    }
    let long = format!("Action: write\nAction Input: {{\"path\": \"a\", \"content\": \"{}\"}}", "ä ".repeat(200_000));
    let chunks: Vec<_> = pieces(&long, &[5]).into_iter().map(ModelChunk::Text).collect();
    let (parsed, _) = feed(Strategy::React, &chunks, "stop");
    assert_eq!(parsed.calls.len(), 1);
}
