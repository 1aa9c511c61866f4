//! How well the detectors do on labelled texts: recall and precision per kind, and alarms on texts that have nothing to find.
//! `pii-train.jsonl` was read while the rules were written, `pii-heldout.jsonl` and `pii-heldout-2.jsonl` were not.
//! `--no-capture` shows the tables.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::time::Instant;

use serde::Deserialize;
use steward_access::governance::{Detector, MaskStyle, PiiKind};

#[derive(Deserialize)]
struct Labelled {
    text: String,
    spans: Vec<Span>,
}

/// In characters.
#[derive(Deserialize)]
struct Span {
    kind: PiiKind,
    start: usize,
    end: usize,
}

impl Span {
    /// Whether `found` has at least half of the characters of this one, and no more than half as many beside it.
    fn fits(&self, found: &Self) -> bool {
        let both = self.end.min(found.end).saturating_sub(self.start.max(found.start));
        let length = self.end - self.start;
        self.kind == found.kind && both * 2 >= length && (found.end - found.start - both) * 2 <= length
    }
}

#[derive(Default)]
struct Score {
    labelled: usize,
    recalled: usize,
    found: usize,
    right: usize,
}

impl Score {
    fn recall(&self) -> f64 {
        ratio(self.recalled, self.labelled)
    }

    fn precision(&self) -> f64 {
        ratio(self.right, self.found)
    }
}

#[expect(clippy::cast_precision_loss, reason = "small counts")]
fn ratio(part: usize, whole: usize) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}

struct Scores {
    by_kind: BTreeMap<PiiKind, Score>,
    /// Texts without spans, and those of them with a finding.
    clean: usize,
    alarms: usize,
}

fn read(name: &str) -> io::Result<Vec<Labelled>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
    let lines = std::fs::read_to_string(path)?;
    Ok(lines.lines().filter(|line| !line.is_empty()).map(|line| serde_json::from_str(line).unwrap()).collect())
}

fn score(texts: &[Labelled]) -> Scores {
    let detector = Detector::shared().unwrap();
    let mut scores = Scores { by_kind: BTreeMap::new(), clean: 0, alarms: 0 };
    for Labelled { text, spans } in texts {
        let characters = |bytes: usize| text[..bytes].chars().count();
        let found: Vec<Span> = (detector.find(text).into_iter())
            .map(|found| Span {
                kind: found.kind,
                start: characters(found.range.start),
                end: characters(found.range.end),
            })
            .collect();
        if spans.is_empty() {
            scores.clean += 1;
            scores.alarms += usize::from(!found.is_empty());
        }
        for span in spans {
            let score = scores.by_kind.entry(span.kind).or_default();
            score.labelled += 1;
            score.recalled += usize::from(found.iter().any(|found| span.fits(found)));
        }
        for found in &found {
            let score = scores.by_kind.entry(found.kind).or_default();
            score.found += 1;
            score.right += usize::from(spans.iter().any(|span| span.fits(found)));
        }
    }
    scores
}

fn show(name: &str, scores: &Scores) {
    println!("{name}");
    for (kind, score) in &scores.by_kind {
        let (recall, precision) = (score.recall(), score.precision());
        println!("{:14} {:4} labelled, recall {recall:.3}, precision {precision:.3}", kind.as_str(), score.labelled);
    }
    println!("{} texts with nothing to find, {} with an alarm", scores.clean, scores.alarms);
}

#[test]
fn the_texts_that_the_rules_were_written_with() {
    let texts = read("pii-train.jsonl").unwrap();
    assert!(texts.len() >= 500);
    let scores = score(&texts);
    show("pii-train.jsonl", &scores);
    for kind in PiiKind::ALL {
        let score = &scores.by_kind[&kind];
        let floor = if kind == PiiKind::PersonName { 0.96 } else { 0.98 };
        assert!(score.recall() >= floor && score.precision() >= floor, "{kind:?}");
    }
    assert!(scores.alarms * 100 <= scores.clean * 3, "{} of {}", scores.alarms, scores.clean);
}

#[test]
fn texts_that_nobody_tuned_the_rules_on() {
    for name in ["pii-heldout.jsonl", "pii-heldout-2.jsonl"] {
        show(name, &score(&read(name).unwrap()));
    }
}

/// In a release build: `cargo test --release … -- --ignored --no-capture`.
#[test]
#[ignore = "measures, and only in a release build"]
#[expect(clippy::cast_precision_loss, reason = "megabytes")]
fn speed() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let pages = std::fs::read_dir(docs).unwrap().filter_map(|page| std::fs::read_to_string(page.unwrap().path()).ok());
    let prose = pages.collect::<String>().repeat(8);
    let detector = Detector::shared().unwrap();
    let megabytes = prose.len() as f64 / 1e6;
    let fastest = |work: &dyn Fn() -> usize| {
        let once = || {
            let began = Instant::now();
            std::hint::black_box(work());
            began.elapsed().as_secs_f64()
        };
        megabytes / (0..20).map(|_| once()).fold(f64::MAX, f64::min)
    };
    let mask = fastest(&|| detector.mask(&prose, &PiiKind::ALL, MaskStyle::Token).text.len());
    let pass = fastest(&|| memchr::memchr_iter(b'@', prose.as_bytes()).count());
    println!(
        "{megabytes:.1} MB of prose: masked at {mask:.0} MB/s, a plain pass at {pass:.0} MB/s ({:.0} times)",
        pass / mask
    );
}
