//! MB/s of the text strategies on text without calls: `cargo bench -p steward-parse`.

use std::hint::black_box;
use std::time::Instant;
use steward_core::model::{ModelChunk, Strategy};
use steward_parse::{StreamParser, ToolIndex};

const TEXT: &str = "The report covers three regions and twelve months; sales rose in two of them.\n\
    Der Umsatz stieg im Süden um 4 %, im Norden blieb er gleich.\n\n\
    - a list entry with `code` in it, and (some) punctuation: like this\n";
const BYTES: usize = 32 << 20;
const ROUNDS: usize = 5;

fn main() {
    let text = TEXT.repeat(BYTES / TEXT.len());
    for (name, strategy) in [
        ("react", Strategy::React),
        ("guided_json", Strategy::GuidedJson),
    ] {
        for size in [16, 4096] {
            let chunks = chunks(&text, size);
            let mut best = f64::MAX;
            for _ in 0..ROUNDS {
                let start = Instant::now();
                let mut parser = StreamParser::new(strategy, &ToolIndex::default(), "c");
                for chunk in &chunks {
                    black_box(parser.push(chunk));
                }
                black_box(parser.finish());
                best = best.min(start.elapsed().as_secs_f64());
            }
            #[expect(clippy::cast_precision_loss, reason = "a few million bytes")]
            let rate = text.len() as f64 / best / 1e6;
            println!("{name}: {rate:.0} MB/s in chunks of {size} bytes");
        }
    }
}

fn chunks(text: &str, size: usize) -> Vec<ModelChunk> {
    let mut chunks = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let mut at = size.min(rest.len());
        while !rest.is_char_boundary(at) {
            at += 1;
        }
        chunks.push(ModelChunk::Text(rest[..at].to_owned()));
        rest = &rest[at..];
    }
    chunks
}
