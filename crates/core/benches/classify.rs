//! Nanoseconds a classification: `cargo bench -p steward-core`.

use std::hint::black_box;
use std::time::Instant;
use steward_core::routing::{classify, hint};

const MESSAGES: &[&str] = &[
    "Hello, how are you today?",
    "Write a Python function that parses the dates of a log file, and explain how it works.",
    "Fasse bitte das Protokoll der Sitzung vom Montag zusammen und schick es an alle.",
    "لخص هذا النص من فضلك ثم ترجمه الى الانجليزية",
    "Search the documents for the travel policy and tell me what it says about hotels, in German.",
];
const ROUNDS: u32 = 20_000;

fn main() {
    let begun = Instant::now();
    black_box(classify("first"));
    println!("reading the words, once: {} µs", begun.elapsed().as_micros());
    let usual: Vec<String> = MESSAGES.iter().map(|one| (*one).to_owned()).collect();
    measure("usual message, task", &usual, |text| {
        black_box(classify(text));
    });
    measure("usual message, hint", &usual, |text| {
        black_box(hint(text));
    });
    let long = vec![MESSAGES.join(" ").repeat(2000)];
    measure("message of 0.9 MB, task", &long, |text| {
        black_box(classify(text));
    });
    // Every word begins a phrase with a gap.
    let worst = vec!["write create delete translate ".repeat(500)];
    measure("worst message, task", &worst, |text| {
        black_box(classify(text));
    });
}

fn measure(name: &str, messages: &[String], call: impl Fn(&str)) {
    call("warm up");
    let begun = Instant::now();
    for _ in 0..ROUNDS {
        for message in messages {
            call(black_box(message));
        }
    }
    let calls = u128::from(ROUNDS) * messages.len() as u128;
    println!("{name}: {} ns", begun.elapsed().as_nanos() / calls);
}
