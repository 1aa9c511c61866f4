//! However the bytes of a stream are cut, the chunks are the same.
#![allow(clippy::unwrap_used, reason = "tests")]

use super::decode::{ChatDecoder, Fault, ReplyDecoder};
use super::responses;
use super::sse::{EventParser as _, SseParser};
use super::stream::StreamFormat;
use crate::native;
use proptest::prelude::*;
use serde_json::json;
use std::path::Path;
use steward_core::model::{ModelChunk, Provider};

fn decode(pieces: &[&[u8]]) -> (Vec<ModelChunk>, Result<(), Fault>, ModelChunk) {
    let (mut parser, mut decoder) = (SseParser::default(), ReplyDecoder::new(ChatDecoder::default()));
    let mut chunks = Vec::new();
    let mut events: Vec<String> = Vec::new();
    for piece in pieces {
        events.extend(parser.feed(piece).unwrap());
    }
    events.extend(parser.finish());
    for event in events {
        match decoder.event(&event) {
            Ok(list) => chunks.extend(list),
            Err(fault) => return (chunks, Err(fault), decoder.state.end("asked")),
        }
    }
    (chunks, Ok(()), decoder.state.end("asked"))
}

/// A stream with everything in it, in the line ends and habits of `style`.
fn stream(texts: &[String], style: usize) -> Vec<u8> {
    let (end, space) = [("\n", " "), ("\r\n", " "), ("\r", ""), ("\n", "")][style % 4];
    let mut deltas = vec![json!({"role": "assistant", "content": ""})];
    for (n, text) in texts.iter().enumerate() {
        deltas.push(match n % 4 {
            0 => json!({"content": text}),
            1 => json!({"reasoning_content": text}),
            2 => json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "t", "arguments": text}}]}),
            _ => json!({"tool_calls": [{"index": 1, "function": {"arguments": text}}]}),
        });
    }
    let mut out = format!(": hello{end}{end}");
    for delta in deltas {
        let event = json!({"model": "m", "choices": [{"delta": delta}]});
        out = format!("{out}data:{space}{event}{end}{end}");
    }
    let last = json!({"choices": [{"delta": {}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 3}});
    out = format!("{out}data:{space}{last}{end}{end}data:{space}[DONE]{end}{end}");
    out.into_bytes()
}

proptest! {
    #[test]
    fn cuts_do_not_matter(
        texts in prop::collection::vec("[a-z\\PC☕\u{1f600}\n\"\\\\]{0,12}", 0..8),
        style in 0_usize..4,
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
    ) {
        let bytes = stream(&texts, style);
        let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len())).collect();
        at.extend([0, bytes.len()]);
        at.sort_unstable();
        let pieces: Vec<&[u8]> = at.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
        let whole = decode(&[&bytes]);
        prop_assert_eq!(&decode(&pieces), &whole);
        prop_assert!(whole.1.is_ok());
        let said: String = texts.iter().step_by(4).cloned().collect();
        let heard: String = whole.0.iter().filter_map(|chunk| match chunk {
            ModelChunk::Text(text) => Some(text.as_str()),
            _ => None,
        }).collect();
        prop_assert_eq!(heard, said);
    }

    #[test]
    fn nothing_makes_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let text = [b"data: ".as_slice(), &bytes, b"\n\n"].concat();
        let _any_outcome = decode(&[&bytes, &text]);
    }
}

#[test]
fn calls_are_kept_apart_however_a_server_counts_them() {
    let call = |index: serde_json::Value, id: &str, name: &str, arguments: &str| {
        let mut call = json!({"function": {"name": name, "arguments": arguments}});
        if !index.is_null() {
            call["index"] = index;
        }
        if !id.is_empty() {
            call["id"] = json!(id);
        }
        format!("data: {}\n\n", json!({"choices": [{"delta": {"tool_calls": [call]}}]}))
    };
    let check = |events: &[String], expect: &[usize]| {
        let (chunks, result, _) = decode(&[events.concat().as_bytes()]);
        let indices: Vec<usize> = chunks
            .iter()
            .filter_map(|chunk| match chunk {
                ModelChunk::ToolCall { index, .. } => Some(*index),
                _ => None,
            })
            .collect();
        assert_eq!((indices.as_slice(), result), (expect, Ok(())), "{events:?}");
    };
    let none = serde_json::Value::Null;
    // As it should be.
    check(
        &[
            call(json!(0), "a", "t", ""),
            call(json!(1), "b", "t", ""),
            call(json!(0), "", "", "{}"),
            call(json!(1), "", "", "{}"),
        ],
        &[0, 1, 0, 1],
    );
    // The same index for all, different ids.
    check(&[call(json!(0), "a", "t", "{}"), call(json!(0), "b", "t", "{}")], &[0, 1]);
    // The id repeated with each piece.
    check(&[call(json!(0), "a", "t", "{"), call(json!(0), "a", "", "}")], &[0, 0]);
    // No index at all.
    check(
        &[call(none.clone(), "a", "t", "{"), call(none.clone(), "", "", "}"), call(none.clone(), "b", "t", "{}")],
        &[0, 0, 1],
    );
    // Neither index nor id: a new name is a new call.
    check(&[call(none.clone(), "", "t", "{}"), call(none, "", "u", "{}")], &[0, 1]);
}

#[test]
fn other_shapes_of_the_same_thing() {
    let event = |value: serde_json::Value| format!("data: {value}\n\n");
    let body = [
        event(json!({"choices": [{"delta": {"content": [
            {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
            {"type": "text", "text": "yes"},
        ]}}], "unknown": {"field": 1}})),
        event(json!({"choices": [{"delta": {"tool_calls": [
            {"index": 0, "id": "a", "function": {"name": "t", "arguments": {"x": 1}}},
        ]}}]})),
        event(json!({"choices": [], "x_groq": {"usage": {
            "prompt_tokens": 9, "completion_tokens": 2, "prompt_cache_hit_tokens": 4,
        }}})),
        "data: [DONE]\n\n".to_owned(),
    ]
    .concat();
    let (chunks, result, end) = decode(&[body.as_bytes()]);
    assert_eq!(result, Ok(()));
    assert_eq!(chunks[0], ModelChunk::Reasoning("hm".to_owned()));
    assert_eq!(chunks[1], ModelChunk::Text("yes".to_owned()));
    let ModelChunk::ToolCall { arguments, .. } = &chunks[2] else { panic!("{chunks:?}") };
    assert_eq!(arguments, "{\"x\":1}");
    let ModelChunk::End { finish, usage, model } = end else { panic!("no end") };
    assert_eq!((finish.as_str(), model.as_str()), ("tool_calls", "asked"));
    assert_eq!((usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens), (9, 4, 2));
}

fn format(folder: &str) -> StreamFormat {
    match folder {
        "anthropic" => native::stream_format(Provider::Anthropic),
        "gemini" => native::stream_format(Provider::Gemini),
        "cohere" => native::stream_format(Provider::Cohere),
        "ollama" => native::stream_format(Provider::Ollama),
        "responses" => StreamFormat::sse(responses::Decoder::default()),
        _ => StreamFormat::sse(ChatDecoder::default()),
    }
}

fn decode_with(folder: &str, pieces: &[&[u8]]) -> (Vec<ModelChunk>, Result<(), Fault>) {
    let StreamFormat { mut parser, mut decoder } = format(folder);
    let mut events: Vec<String> = Vec::new();
    for piece in pieces {
        events.extend(parser.feed(piece).unwrap());
    }
    events.extend(parser.finish());
    let mut chunks = Vec::new();
    for event in events {
        match decoder.event(&event) {
            Ok(list) => chunks.extend(list),
            Err(fault) => return (chunks, Err(fault)),
        }
    }
    chunks.push(decoder.state.end("asked"));
    (chunks, Ok(()))
}

#[test]
fn cuts_of_recorded_answers_do_not_matter() {
    let shapes = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/shapes");
    let mut tested = 0;
    for folder in std::fs::read_dir(shapes).unwrap() {
        let folder = folder.unwrap().path();
        if !folder.is_dir() {
            continue;
        }
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        for file in std::fs::read_dir(&folder).unwrap() {
            let file = file.unwrap().path();
            let kind = file.extension().unwrap().to_str().unwrap();
            if !matches!(kind, "sse" | "jsonl") {
                continue;
            }
            tested += 1;
            let bytes = std::fs::read(&file).unwrap();
            let whole = decode_with(&name, &[&bytes]);
            assert!(!whole.0.is_empty(), "{file:?}");
            for cut in 1..bytes.len() {
                let (a, b) = bytes.split_at(cut);
                assert_eq!(decode_with(&name, &[a, b]), whole, "{file:?} cut at {cut}");
            }
            let single: Vec<&[u8]> = bytes.chunks(1).collect();
            assert_eq!(decode_with(&name, &single), whole, "{file:?} byte by byte");
        }
    }
    assert!(tested > 30, "{tested}");
}
