//! Which engine is asked next about a page, and whose reading is kept.

use super::Reading;
use std::collections::HashMap;
use steward_core::extracted::OcrEngine;

/// A reading of at least this confidence is kept without asking further.
pub const CONFIDENT: f32 = 0.6;
/// What the first reading must have, while nothing is there to compare it with: engines think well of letters that they
/// take for others, such as accents, or a script that they don't know.
const SURE: f32 = 0.95;
/// Letters and digits that make a text.
pub const USEFUL: usize = 50;
/// Least share of letters in which a model that sees must agree with what was read before.
const AGREEING: f32 = 0.3;

/// The readings of a page, in the order in which engines were asked.
#[derive(Debug, Default)]
pub struct Cascade {
    readings: Vec<(OcrEngine, Reading)>,
}

impl Cascade {
    /// Whether what is there is not good enough.
    pub fn wants_more(&self) -> bool {
        let enough = |engine| match (engine, self.readings.len()) {
            (OcrEngine::Tesseract | OcrEngine::Onnx, 1) => SURE,
            _ => CONFIDENT,
        };
        self.best().is_none_or(|(engine, reading)| reading.confidence < enough(engine))
    }

    /// Takes a reading in; that of a model that sees gets its confidence by what others read.
    pub fn add(&mut self, engine: OcrEngine, mut reading: Reading) {
        if engine == OcrEngine::Vision {
            reading.confidence = self.trust_in(&reading);
        }
        self.readings.push((engine, reading));
    }

    /// Such a model doesn't say how sure it is, and writes fluently what is not there.
    fn trust_in(&self, reading: &Reading) -> f32 {
        let before = self.readings.iter().filter(|(_, other)| useful(other) >= USEFUL);
        let agreed = before
            .map(|(_, other)| agreement(&text(other), &text(reading)))
            .fold(None, |best: Option<f32>, one| Some(best.map_or(one, |best| best.max(one))));
        match agreed {
            // Nobody else read anything.
            None => CONFIDENT,
            Some(agreed) if agreed < AGREEING => 0.0,
            Some(agreed) => CONFIDENT + (1.0 - CONFIDENT) * agreed,
        }
    }

    /// The reading of which most letters should be right; `None`: nobody found a text.
    pub fn best(&self) -> Option<(OcrEngine, &Reading)> {
        let with_text = self.readings.iter().filter(|(_, reading)| useful(reading) >= USEFUL);
        let right = |reading: &Reading| useful(reading) as f32 * reading.confidence * reading.confidence;
        let best = with_text.fold(None, |best: Option<&(OcrEngine, Reading)>, one| match best {
            Some(best) if right(&best.1) >= right(&one.1) => Some(best),
            _ => Some(one),
        });
        best.map(|(engine, reading)| (*engine, reading))
    }
}

fn text(reading: &Reading) -> String {
    reading.blocks.iter().map(|block| block.text.as_str()).collect::<Vec<_>>().join(" ")
}

/// Letters and digits.
pub fn useful(reading: &Reading) -> usize {
    reading.blocks.iter().flat_map(|block| block.text.chars()).filter(|letter| letter.is_alphanumeric()).count()
}

/// Share of the triples of letters of the first text that the second one has too, 0 to 1.
pub fn agreement(one: &str, other: &str) -> f32 {
    let triples = |text: &str| {
        let letters: Vec<char> = text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
        let mut counts: HashMap<[char; 3], usize> = HashMap::new();
        for three in letters.windows(3) {
            *counts.entry([three[0], three[1], three[2]]).or_default() += 1;
        }
        counts
    };
    let (one, other) = (triples(one), triples(other));
    let all: usize = one.values().sum();
    let both: usize = one.iter().map(|(three, count)| (*count).min(other.get(three).copied().unwrap_or(0))).sum();
    if all == 0 { 0.0 } else { both as f32 / all as f32 }
}

#[cfg(test)]
mod tests {
    use super::{Cascade, agreement};
    use crate::ocr::{Reading, page_of_text};
    use steward_core::extracted::OcrEngine::{Onnx, Tesseract, Vision};

    const TEXT: &str =
        "The ferry to Orsay leaves at half past nine from the northern quay, if the wind allows it at all.";

    fn reading(text: &str, confidence: f32) -> Reading {
        page_of_text(text, confidence)
    }

    #[test]
    fn a_confident_reading_ends_it() {
        let mut cascade = Cascade::default();
        assert!(cascade.wants_more());
        cascade.add(Onnx, reading(TEXT, 0.59));
        assert!(cascade.wants_more());
        cascade.add(Tesseract, reading(TEXT, 0.9));
        assert!(!cascade.wants_more());
        assert_eq!(cascade.best().unwrap().0, Tesseract);

        for engine in [Onnx, Tesseract] {
            for (confidence, more) in [(0.96, false), (0.93, true)] {
                let mut alone = Cascade::default();
                alone.add(engine, reading(TEXT, confidence));
                assert_eq!(alone.wants_more(), more);
            }
        }
    }

    #[test]
    fn the_best_is_kept_whoever_came_last() {
        let mut cascade = Cascade::default();
        cascade.add(Tesseract, reading(TEXT, 0.55));
        cascade.add(Onnx, reading(TEXT, 0.4));
        assert_eq!(cascade.best().unwrap().0, Tesseract);
        // A few sure letters are no page.
        cascade.add(Onnx, reading("Page 7", 0.99));
        assert_eq!(cascade.best().unwrap().0, Tesseract);
    }

    #[test]
    fn few_letters_are_no_text() {
        let mut cascade = Cascade::default();
        cascade.add(Tesseract, reading("Fig. 3 — 12 x 14", 0.95));
        assert!(cascade.best().is_none() && cascade.wants_more());
    }

    #[test]
    fn a_model_that_sees_is_believed_as_far_as_others_agree() {
        let noisy = TEXT.replace("ferry", "fcrry").replace("wind", "vind");
        let mut cascade = Cascade::default();
        cascade.add(Tesseract, reading(&noisy, 0.5));
        cascade.add(
            Vision,
            reading("I am sorry, but I can't make out what is written in this blurred photograph of a page.", 1.0),
        );
        assert_eq!(cascade.best().unwrap().0, Tesseract);
        cascade.add(Vision, reading(TEXT, 0.0));
        let (engine, best) = cascade.best().unwrap();
        assert_eq!(engine, Vision);
        assert!((0.6..1.0).contains(&best.confidence));

        let mut alone = Cascade::default();
        alone.add(Vision, reading(TEXT, 0.0));
        assert!(!alone.wants_more());
    }

    #[test]
    fn agreement_counts_triples_of_letters() {
        assert!(agreement(TEXT, TEXT) > 0.99);
        assert!(agreement(TEXT, "0123456789") < 0.01);
        assert!(agreement("", TEXT) < 0.01);
    }
}
