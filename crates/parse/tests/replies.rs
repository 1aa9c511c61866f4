//! Every case of `cases/<form or dialect>/*.toml`, whole and in pieces, with one snapshot for each file.

use crate::support;
use steward_core::model::ModelChunk;
use steward_parse::{Dialects, Form, Out, Reading, StreamParser, ToolIndex};
use support::case::{files, judge, parse, shown};

const SIZES: [&[usize]; 4] = [&[1], &[2, 3], &[7], &[1, 40]];

#[test]
fn all_cases() {
    let (mut count, mut failures, mut shots) = (0, Vec::new(), Vec::new());
    for (path, file) in files() {
        let tools = file.tools.specs();
        let mut all = Vec::new();
        for case in &file.case {
            count += 1;
            let (whole, started) = parse(file.reading(), &tools, case, &[usize::MAX]);
            let mut wrong = judge(case, &whole);
            for sizes in SIZES {
                let again = parse(file.reading(), &tools, case, sizes);
                if again != (whole.clone(), started.clone()) {
                    wrong.push(format!("in pieces of {sizes:?}: {again:?}"));
                }
            }
            if !wrong.is_empty() {
                failures.push(format!("{} / {}:\n{}\nof {whole:#?}", path.display(), case.name, wrong.join("\n")));
            }
            all.push(shown(case, &whole));
        }
        let name = path.with_extension("").to_string_lossy().replace(['/', '\\'], "__");
        shots.push((name, all.join("\n")));
    }
    assert!(failures.is_empty(), "{} of {count} cases fail:\n\n{}", failures.len(), failures.join("\n\n"));
    assert!(count >= 400, "only {count} cases were found");
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
        for (name, shot) in shots {
            insta::assert_snapshot!(name, shot);
        }
    });
}

/// What was shown as text is taken back as soon as the tag has come, not at the end of the reply.
#[test]
fn unopened_reasoning_is_retracted_while_the_reply_arrives() {
    for dialects in [Dialects::Opening, Dialects::All, Dialects::Wrappers] {
        let reading = Reading { dialects, ..Reading::strict(Form::Native) };
        let mut parser = StreamParser::with(reading, &ToolIndex::new(&[]), "c");
        let mut push = |text: &str| parser.push(&ModelChunk::Text(text.to_owned()));
        assert_eq!(
            push("The user "),
            [Out::Text("The user".to_owned() + if dialects == Dialects::Opening { " " } else { "" })]
        );
        push("greets me.");
        assert_eq!(push("\n</think>\n\n").iter().filter(|out| **out == Out::Retracted).count(), 0, "no answer yet");
        let reasoning = Out::Reasoning("The user greets me.".to_owned());
        assert_eq!(push("Hel"), [Out::Retracted, reasoning, Out::Text("Hel".to_owned())], "{dialects:?}");
        assert_eq!(push("lo!"), [Out::Text("lo!".to_owned())]);
        assert!(!parser.may_be_thought());
        let parsed = parser.finish();
        assert_eq!((parsed.text.as_str(), parsed.reasoning.as_str()), ("Hello!", "The user greets me."));
        assert!(parsed.tail.is_empty() && parsed.diagnostics.len() == 1, "{parsed:?}");
    }
    let reading = Reading { dialects: Dialects::Opening, ..Reading::strict(Form::Native) };
    let mut parser = StreamParser::with(reading, &ToolIndex::new(&[]), "c");
    parser.push(&ModelChunk::Text("Hello".to_owned()));
    assert!(parser.may_be_thought(), "nobody knows yet");
    let mut parser = StreamParser::with(reading, &ToolIndex::new(&[]), "c");
    parser.push(&ModelChunk::Text("<think>Hm.</think>Hello".to_owned()));
    assert!(!parser.may_be_thought(), "its reasoning was opened");
    let mut parser = StreamParser::with(reading, &ToolIndex::new(&[]), "c");
    parser.push(&ModelChunk::Reasoning("Hm.".to_owned()));
    parser.push(&ModelChunk::Text("Hello".to_owned()));
    assert!(!parser.may_be_thought(), "its reasoning has a field of its own");
}

/// Several parts, parts within parts, and empty ones; fed letter by letter and as a whole.
#[test]
fn no_part_of_the_reasoning_is_in_the_answer() {
    for dialects in [Dialects::Opening, Dialects::All, Dialects::Wrappers] {
        let reading = Reading { dialects, ..Reading::strict(Form::Native) };
        for (content, text) in [
            ("<think>HID one</think>First half. <think>HID two</think>Second half.", "First half. Second half."),
            ("<think>HID</think>\nOne.\n<think>HID</think>\nTwo.", "One.\n\nTwo."),
            ("<think>outer <think>inner HID</think> still HID</think>The answer is 42.", "The answer is 42."),
            ("<think>HID <think>HID</think>HID<think>HID</think>HID</think>\n\nYes.", "Yes."),
            ("<think>I may write <think> HID.</think>The answer is 42.", "The answer is 42."),
            ("<think>It asks about `<think>` HID.</think>The answer is 42.", "The answer is 42."),
            ("<think>\n\n</think>\n\nThe answer is 42.", "The answer is 42."),
            ("<think></think>The answer is 42.", "The answer is 42."),
            ("<think>HID and no end", ""),
            ("<think>HID</think>", ""),
            ("<THINK>HID</THINK>The answer is 42.", "The answer is 42."),
            ("<Thinking>\nHID\n</Thinking>\nThe answer is 42.", "The answer is 42."),
            ("<THOUGHT>HID</THOUGHT><REASONING>HID</REASONING>The answer is 42.", "The answer is 42."),
            ("<think time=\"3\">HID</think>The answer is 42.", "The answer is 42."),
            ("<reasoning effort='high' n=2>HID</reasoning>The answer is 42.", "The answer is 42."),
            ("<think about it and\nyou see.", "<think about it and\nyou see."),
            (
                "<|channel|>analysis<|message|>HID<|end|><|start|>assistant<|channel|>final<|message|>The answer is 42.<|return|>",
                "The answer is 42.",
            ),
            ("<|channel|>analysis<|message|>HID<|channel|>final<|message|>The answer is 42.", "The answer is 42."),
            ("<|start|>assistant<|channel|>final<|message|>The answer is 42.<|end|>", "The answer is 42."),
            ("<|START_RESPONSE|>The answer is 42.<|END_RESPONSE|>", "The answer is 42."),
            (
                "<|START_THINKING|>HID<|END_THINKING|><|START_RESPONSE|>The answer is 42.<|END_RESPONSE|>",
                "The answer is 42.",
            ),
            (
                "<|START_THINKING|>HID<|END_THINKING|>\n<|START_TEXT|>The answer is 42.<|END_TEXT|><|END_OF_TURN_TOKEN|>",
                "The answer is 42.",
            ),
            ("Say `<|START_RESPONSE|>` first.", "Say `<|START_RESPONSE|>` first."),
            ("<think>HID</think>The tag <think> opens it.", "The tag <think> opens it."),
            ("<think>HID</think>Write `<think>x</think>` so.", "Write `<think>x</think>` so."),
            ("<think>HID</think>So:\n```\n<think>x</think>\n```\nDone.", "So:\n```\n<think>x</think>\n```\nDone."),
        ] {
            for size in [1, 7, content.len()] {
                let mut parser = StreamParser::with(reading, &ToolIndex::new(&[]), "c");
                let mut shown = String::new();
                let mut see = |outs: Vec<Out>| {
                    for out in outs {
                        if let Out::Text(piece) = out {
                            shown.push_str(&piece);
                        }
                    }
                };
                let letters: Vec<char> = content.chars().collect();
                for piece in letters.chunks(size) {
                    see(parser.push(&ModelChunk::Text(piece.iter().collect())));
                }
                let parsed = parser.finish();
                see(parsed.tail);
                assert_eq!((parsed.text.as_str(), shown.as_str()), (text, text), "{dialects:?} {size}: {content:?}");
            }
        }
    }
}

/// What a trusted model writes stays as it is, but for its reasoning.
#[test]
fn a_trusted_models_unopened_reasoning_is_no_answer() {
    let read = |text: &str| {
        let reading = Reading { dialects: Dialects::Opening, ..Reading::strict(Form::Native) };
        let mut parser = StreamParser::with(reading, &ToolIndex::new(&[]), "c");
        text.split_inclusive(' ').for_each(|piece| drop(parser.push(&ModelChunk::Text(piece.to_owned()))));
        let parsed = parser.finish();
        (parsed.text, parsed.reasoning)
    };
    let own = |text: &str, reasoning: &str| (text.to_owned(), reasoning.to_owned());
    assert_eq!(read("The user greets me.\n</think>\n\nHello! `x`"), own("Hello! `x`", "The user greets me."));
    for about in [
        "Its channels are <|channel|>analysis<|message|> and <|channel|>final<|message|>, in this order.",
        "It ends with <|END_RESPONSE|> and <|end|>, as you see.",
    ] {
        assert_eq!(read(about), own(about, ""));
    }
    let about = "Write </think> where the reasoning ends.";
    assert_eq!(read(about), own(about, ""));
}
