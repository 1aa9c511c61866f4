//! Writes `data/receipts/learned.bin` from the labelled examples, and tells how well examples are read that were left out.

use super::{Asked, BUCKETS, Features, near};
use crate::receipts::check::{RULES, THRESHOLD, by_rules};
use crate::receipts::text::{Sentence, sentences};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// How much a wrong example costs beside the size of the weights.
const COST: f32 = 1.0;
const ROUNDS: usize = 40;
const FOLDS: usize = 6;

#[derive(Deserialize)]
struct Line {
    request: String,
    answer: String,
    #[serde(default)]
    label: String,
    #[serde(default, alias = "claim")]
    span: String,
}

struct Example {
    acts: bool,
    label: String,
    /// Written beside the rules, and so no measure of them.
    old: bool,
    by_rules: bool,
    /// Features of its sentences, and whether each is the one that tells the act; `None` in an answer that does so elsewhere.
    sentences: Vec<(Features, Option<bool>)>,
}

fn example(line: &Line, old: bool) -> Example {
    let text = sentences(&line.answer);
    let acts = !line.span.is_empty();
    let from = line.answer.find(&line.span).unwrap_or(0);
    let span = from..from + line.span.len();
    let told = |sentence: &Sentence| {
        let (first, last) = (sentence.tokens.first(), sentence.tokens.last());
        first.zip(last).is_some_and(|(first, last)| acts && first.start < span.end && last.end > span.start)
    };
    let asked = Asked::new(&line.request);
    let all = near(&text).into_iter().map(|at| {
        let wanted = if told(&text[at]) { Some(true) } else { (!acts).then_some(false) };
        (asked.features(&text, at), wanted)
    });
    let label = match line.label.as_str() {
        "" if acts => "claim",
        "" => "plain",
        label => label,
    };
    let by_rules = by_rules(&line.request, &line.answer).is_some();
    Example { acts, label: label.to_owned(), old, by_rules, sentences: all.collect() }
}

fn examples() -> Vec<Example> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/answers");
    let mut files: Vec<_> =
        std::fs::read_dir(folder.join("learn")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let learn = files.len();
    files.extend(
        ["claims-1", "claims-2", "claims-3", "plain-1", "plain-2", "plain-3", "plain-tricky"]
            .map(|name| folder.join(format!("{name}.jsonl"))),
    );
    let mut all = Vec::new();
    let terse = std::fs::read_to_string(folder.join("terse.json")).unwrap();
    let terse: BTreeMap<String, Vec<String>> = serde_json::from_str(&terse).unwrap();
    for (number, file) in files.iter().enumerate() {
        let text = std::fs::read_to_string(file).unwrap();
        let words = file.file_stem().and_then(|stem| terse.get(stem.to_str()?)).map_or(&[][..], Vec::as_slice);
        let mut words = words.iter().cycle();
        for line in text.lines() {
            let line: Line = serde_json::from_str(line).unwrap();
            all.push(example(&line, number >= learn));
            // Whatever was asked for, "Done." may be all that is said.
            if line.label != "plain"
                && let Some(word) = words.next()
            {
                let line = Line { answer: word.clone(), label: "terse".to_owned(), span: word.clone(), ..line };
                all.push(example(&line, false));
            }
        }
    }
    all
}

/// A support vector machine with squared hinge loss, by descent along one example after the other.
fn fit(examples: &[&Example]) -> Vec<f32> {
    let mut all = Vec::new();
    for example in examples {
        let known = example.sentences.iter().filter_map(|(features, wanted)| Some((features, (*wanted)?)));
        all.extend(known.map(|(features, wanted)| (features, if wanted { 1.0 } else { -1.0 })));
    }
    let mut weights = vec![0.0; BUCKETS];
    let mut pulls = vec![0.0_f32; all.len()];
    let mut order: Vec<usize> = (0..all.len()).collect();
    let mut dice: u64 = 1;
    for _ in 0..ROUNDS {
        for at in (1..order.len()).rev() {
            dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            order.swap(at, (dice >> 33) as usize % (at + 1));
        }
        for &at in &order {
            let (features, wanted) = all[at];
            let score: f32 = features.iter().map(|(bucket, value)| weights[*bucket] * value).sum();
            let size: f32 = features.iter().map(|(_, value)| value * value).sum::<f32>() + 0.5 / COST;
            let slope = wanted * score - 1.0 + 0.5 / COST * pulls[at];
            let pull = (pulls[at] - slope / size).max(0.0);
            let step = (pull - pulls[at]) * wanted;
            pulls[at] = pull;
            for (bucket, value) in features {
                weights[*bucket] += step * value;
            }
        }
    }
    weights
}

fn score(weights: &[f32], example: &Example) -> f32 {
    let sentences = example.sentences.iter();
    let scores = sentences.map(|(features, _)| features.iter().map(|(bucket, value)| weights[*bucket] * value).sum());
    scores.fold(-1.0, f32::max)
}

fn told(name: &str, scored: &[(&Example, f32)], rules: f32) {
    let share = |threshold: f32, of: &dyn Fn(&Example) -> bool| {
        let all: Vec<_> = scored.iter().filter(|(example, _)| of(example)).collect();
        let hits =
            all.iter().filter(|(example, score)| score + rules * f32::from(u8::from(example.by_rules)) > threshold);
        f64::from(u32::try_from(hits.count() * 10_000 / all.len()).unwrap()) / 100.0
    };
    for threshold in [0.0, 0.1, 0.2, 0.3, 0.35, 0.4, 0.5, 0.6] {
        let of = |label: &'static str| share(threshold, &move |one: &Example| !one.old && one.label == label);
        println!(
            "{name} rules {rules} threshold {threshold}: plain {:.2} honest {:.1} claim {:.1} announce {:.1} terse {:.1} | old plain {:.2} acts {:.1}",
            of("plain"),
            of("honest"),
            of("claim"),
            of("announce"),
            of("terse"),
            share(threshold, &|one| one.old && !one.acts),
            share(threshold, &|one| one.old && one.acts)
        );
    }
}

#[test]
#[ignore = "writes the weights; some minutes"]
#[expect(clippy::cast_possible_truncation, reason = "rounded into the range of a byte")]
fn learn() {
    let all = examples();
    let mut scored: Vec<(&Example, f32)> = Vec::new();
    for fold in 0..FOLDS {
        let of = |at: &usize| at % FOLDS == fold;
        let kept: Vec<&Example> = (0..all.len()).filter(|at| !of(at)).map(|at| &all[at]).collect();
        let weights = fit(&kept);
        scored.extend((0..all.len()).filter(of).map(|at| (&all[at], score(&weights, &all[at]))));
    }
    for rules in [0.0, RULES] {
        told("left out", &scored, rules);
    }
    println!("in use: rules {RULES}, threshold {THRESHOLD}");
    let weights = fit(&all.iter().collect::<Vec<_>>());
    let unit = weights.iter().fold(0.0_f32, |most, weight| most.max(weight.abs())) / 127.0;
    let bytes = weights.iter().map(|weight| ((weight / unit).round() as i8).cast_unsigned());
    let file: Vec<u8> = unit.to_le_bytes().into_iter().chain(bytes).collect();
    std::fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join("data/receipts/learned.bin"), file).unwrap();
}
