//! However the bytes of a provider's stream are cut, the chunks are the same.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::path::Path;

use steward_core::model::{ModelChunk, Provider};

use super::decode::{Decoder, Fault};
use super::framing::{Framing, Parser};
use super::responses;
use super::stream::Manner;
use crate::native;

fn manner(folder: &str) -> Manner {
    match folder {
        "anthropic" => native::manner(Provider::Anthropic),
        "gemini" => native::manner(Provider::Gemini),
        "cohere" => native::manner(Provider::Cohere),
        "ollama" => native::manner(Provider::Ollama),
        "responses" => Manner::new(Framing::Sse, responses::Decoder::default()),
        _ => Manner::new(Framing::Sse, Decoder::default()),
    }
}

fn decode(folder: &str, pieces: &[&[u8]]) -> (Vec<ModelChunk>, Result<(), Fault>) {
    let mut manner = manner(folder);
    let mut parser = Parser::new(manner.framing);
    let mut events: Vec<String> = Vec::new();
    for piece in pieces {
        events.extend(parser.feed(piece).unwrap());
    }
    events.extend(parser.finish());
    let mut chunks = Vec::new();
    for event in events {
        match manner.decoder.event(&event) {
            Ok(list) => chunks.extend(list),
            Err(fault) => return (chunks, Err(fault)),
        }
    }
    chunks.push(manner.decoder.state().end("asked"));
    (chunks, Ok(()))
}

#[test]
fn cuts_do_not_matter() {
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
            let whole = decode(&name, &[&bytes]);
            assert!(!whole.0.is_empty(), "{file:?}");
            for cut in 1..bytes.len() {
                let (a, b) = bytes.split_at(cut);
                assert_eq!(decode(&name, &[a, b]), whole, "{file:?} cut at {cut}");
            }
            let single: Vec<&[u8]> = bytes.chunks(1).collect();
            assert_eq!(decode(&name, &single), whole, "{file:?} byte by byte");
        }
    }
    assert!(tested > 30, "{tested}");
}
