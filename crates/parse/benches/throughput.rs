//! MB/s on text without calls: `cargo bench -p steward-parse`.

use std::hint::black_box;
use std::time::Instant;
use steward_core::model::ModelChunk;
use steward_parse::{Form, Reading, StreamParser, ToolIndex};

const TEXT: &str = "The report covers three regions and twelve months; sales rose in two of them.\n\
    Der Umsatz stieg im Süden um 4 %, im Norden blieb er gleich.\n\n\
    - a list entry with `code` in it, and (some) punctuation: like this\n";
/// Text that begins like calls all the time: brackets, tags, braces.
const MARKUP: &str = "See [the docs](https://example.com) and <b>this</b>, {a: 1} or [1, 2].\n\
    ```json\n{\"city\": \"Rome\", \"people\": [1, 2, 3]}\n```\n\
    if (a < b) { c[0] = `x`; }\n";
const BYTES: usize = 16 << 20;
const ROUNDS: usize = 5;

fn main() {
    let readings = [
        ("react", Reading::strict(Form::React)),
        ("markers", Reading::strict(Form::Markers)),
        ("guided_json", Reading::strict(Form::GuidedJson)),
        ("all dialects", Reading { cascade: false, ..Reading::any(Form::Native) }),
        ("whole cascade", Reading::any(Form::Native)),
    ];
    for (kind, text) in [("prose", TEXT), ("markup", MARKUP)] {
        let text = text.repeat(BYTES / text.len());
        for (name, reading) in readings {
            for size in [16, 4096] {
                let rate = rate(reading, &text, size);
                println!("{name}, {kind}: {rate:.0} MB/s in chunks of {size} bytes");
            }
        }
    }
    let answer = TEXT.repeat(20);
    let start = Instant::now();
    black_box(steward_core::receipts::false_completion("", &answer));
    println!("false completion, first time: {} µs", start.elapsed().as_micros());
    let start = Instant::now();
    black_box(steward_core::receipts::false_completion("", &answer));
    println!("false completion, {} bytes: {} µs", answer.len(), start.elapsed().as_micros());
}

fn rate(reading: Reading, text: &str, size: usize) -> f64 {
    let chunks = chunks(text, size);
    let mut best = f64::MAX;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let mut parser = StreamParser::with(reading, &ToolIndex::default(), "c");
        for chunk in &chunks {
            black_box(parser.push(chunk));
        }
        black_box(parser.finish());
        best = best.min(start.elapsed().as_secs_f64());
    }
    #[expect(clippy::cast_precision_loss, reason = "a few million bytes")]
    let bytes = text.len() as f64;
    bytes / best / 1e6
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
