//! Writes `data/receipts/learned.bin` from the labelled examples, and tells how well examples are read that were left out.

use super::{Answer, BUCKETS, Features, hash, near, request_features, total};
use crate::receipts::check::{CLAIMS, WANTS_TOOLS};
use crate::receipts::text::sentences;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// How much a wrong example costs beside the size of the weights, and how often a refusal counts beside an act.
const COST: f32 = 1.0;
const REFUSAL: f32 = 3.0;
const ROUNDS: usize = 20;
const FOLDS: u64 = 4;
/// Sets of whole answers that are learned, too; `plain-4`, `plain-5`, `claims-4`, `claims-5` and `claims-6` are
/// kept for tests.
const SETS: [&str; 7] = ["claims-1", "claims-2", "claims-3", "plain-1", "plain-2", "plain-3", "plain-tricky"];

/// A line of the files in `tests/data/answers`.
#[derive(Clone, Default, Deserialize)]
struct Line {
    request: String,
    /// Absent where only the request is an example.
    answer: Option<String>,
    /// `claim` or `announce` (an act of the assistant), `fact` (what was looked up, told without saying so), `honest`
    /// (it refuses or asks), `plain` (no tool is needed); for a request alone `tools` or `text`.
    #[serde(default)]
    label: String,
    /// The words that claim or announce.
    #[serde(default, alias = "claim")]
    span: String,
}

struct Example {
    label: String,
    /// All examples with the same request are left out together.
    fold: u64,
    request: Features,
    /// Features of its sentences, and whether each is the one that tells the act; `None` in an answer that does so
    /// elsewhere.
    sentences: Vec<(Features, Option<bool>)>,
}

impl Example {
    fn new(line: &Line) -> Self {
        let answer = line.answer.as_deref().unwrap_or_default();
        let text = sentences(answer);
        let label = match line.label.as_str() {
            "" if line.span.is_empty() => "plain",
            "" => "claim",
            label => label,
        };
        let acts = matches!(label, "claim" | "announce" | "terse");
        let from = answer.find(&line.span).unwrap_or(0);
        let span = from..from + line.span.len();
        let read = Answer::new(&line.request, &text);
        let told = |at: usize| {
            let (first, last) = (text[at].tokens.first(), text[at].tokens.last());
            first.zip(last).is_some_and(|(first, last)| acts && first.start < span.end && last.end > span.start)
        };
        let wanted = |at: usize| if told(at) { Some(true) } else { (!acts).then_some(false) };
        let sentences = near(&text).into_iter().map(|at| (read.features(at), wanted(at))).collect();
        let fold = hash(&[&line.request]) % FOLDS;
        Self { label: label.to_owned(), fold, request: request_features(&line.request), sentences }
    }

    fn wants_tools(&self) -> bool {
        !matches!(self.label.as_str(), "plain" | "text")
    }
}

fn read_examples() -> Vec<Example> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/answers");
    let mut files: Vec<_> =
        std::fs::read_dir(folder.join("learn")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.extend(SETS.map(|name| folder.join(format!("{name}.jsonl"))));
    let terse = std::fs::read_to_string(folder.join("terse.json")).unwrap();
    let terse: BTreeMap<String, Vec<String>> = serde_json::from_str(&terse).unwrap();
    let mut all = Vec::new();
    for file in files {
        let words = file.file_stem().and_then(|stem| terse.get(stem.to_str()?)).map_or(&[][..], Vec::as_slice);
        let mut words = words.iter().cycle();
        for line in std::fs::read_to_string(&file).unwrap().lines() {
            let line: Line = serde_json::from_str(line).unwrap();
            all.push(Example::new(&line));
            // Whatever was asked for, "Done." may be all that is said.
            if !matches!(line.label.as_str(), "plain" | "text" | "tools" | "fact" | "")
                && let Some(word) = words.next()
            {
                let (answer, span) = (Some(word.clone()), word.clone());
                all.push(Example::new(&Line { answer, span, label: "terse".to_owned(), ..line }));
            }
        }
    }
    all
}

/// A support vector machine with squared hinge loss, by descent along one example after the other. `against` is how often
/// an example of the other kind counts.
fn fit(all: &[(&Features, bool)], against: f32) -> Vec<f32> {
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
            let (wanted, cost) = if wanted { (1.0, COST) } else { (-1.0, COST * against) };
            let size: f32 = features.iter().map(|(_, value)| value * value).sum::<f32>() + 0.5 / cost;
            let slope = wanted * weigh(&weights, features) - 1.0 + 0.5 / cost * pulls[at];
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

/// The tables of weights. A `fact` is no example: what was looked up and is told without a word of that reads like what is
/// known.
fn learn_from(examples: &[&Example]) -> [Vec<f32>; 3] {
    let examples: Vec<_> = examples.iter().filter(|one| one.label != "fact").collect();
    let requests: Vec<_> = examples.iter().map(|one| (&one.request, one.wants_tools())).collect();
    let told = |plain: bool| {
        let of = examples.iter().filter(move |one| plain || one.label != "plain");
        let sentences = of.flat_map(|one| &one.sentences);
        sentences.filter_map(|(features, wanted)| Some((features, (*wanted)?))).collect::<Vec<_>>()
    };
    [fit(&requests, 1.0), fit(&told(true), 1.0), fit(&told(false), REFUSAL)]
}

fn weigh(weights: &[f32], features: &Features) -> f32 {
    features.iter().map(|(bucket, value)| weights[*bucket] * value).sum()
}

/// The scores of the request and of the answer.
fn score([wants, acts, no_refusal]: &[Vec<f32>; 3], example: &Example) -> (f32, f32) {
    let request = weigh(wants, &example.request);
    let sentences = example.sentences.iter().filter(|(features, _)| weigh(no_refusal, features) > 0.0);
    let sentences = sentences.map(|(features, _)| total(weigh(acts, features), request));
    (request, sentences.fold(-1.0, f32::max))
}

fn tell(scored: &[(&Example, (f32, f32))]) {
    let share = |label: &str, is: &dyn Fn((f32, f32)) -> bool| {
        let all: Vec<_> = scored.iter().filter(|(example, _)| example.label == label).collect();
        let hits = all.iter().filter(|(_, scores)| is(*scores)).count();
        format!("{label} {:.1}", f64::from(u32::try_from(hits * 1000 / all.len()).unwrap()) / 10.0)
    };
    let labels = ["plain", "honest", "fact", "claim", "announce", "terse"];
    for threshold in [0.5, 0.6, CLAIMS, 0.8, 0.9] {
        let shares = labels.map(|label| share(label, &|(_, answer)| answer > threshold));
        println!("acts above {threshold}: {}", shares.join(", "));
    }
    for threshold in [-0.2, 0.0, 0.2, WANTS_TOOLS, 0.5] {
        let shares = labels.map(|label| share(label, &|(request, _)| request > threshold));
        println!("wants tools above {threshold}: {}", shares.join(", "));
    }
}

#[test]
#[ignore = "writes the weights; some minutes"]
#[expect(clippy::cast_possible_truncation, reason = "rounded into the range of a byte")]
fn learn() {
    let all = read_examples();
    let mut scored: Vec<(&Example, (f32, f32))> = Vec::new();
    for fold in 0..FOLDS {
        let (left_out, kept): (Vec<_>, Vec<_>) = all.iter().partition(|one| one.fold == fold);
        let weights = learn_from(&kept);
        scored.extend(left_out.into_iter().map(|one| (one, score(&weights, one))));
    }
    tell(&scored);
    let weights = learn_from(&all.iter().collect::<Vec<_>>());
    let mut file = Vec::new();
    for table in weights {
        let unit = table.iter().fold(0.0_f32, |most, weight| most.max(weight.abs())) / 127.0;
        file.extend(unit.to_le_bytes());
        file.extend(table.iter().map(|weight| ((weight / unit).round() as i8).cast_unsigned()));
    }
    std::fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join("data/receipts/learned.bin"), file).unwrap();
}
