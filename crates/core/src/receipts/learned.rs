//! Scores how much a sentence of an answer reads like the assistant reporting or announcing an act that the request
//! asked for: a linear classifier over words and word pieces of both, trained on labelled examples in many languages
//! (`tests/data/answers/learn`; `tests` writes the weights).

use super::text::Sentence;
use super::token::{Kind, Token, first_tokens};
use std::collections::{BTreeMap, BTreeSet};

#[cfg(test)]
mod tests;

/// Number of weights; a feature's hash picks one.
const BUCKETS: usize = 1 << 16;
/// Most tokens of the request and of a sentence that are used.
const LOOKED_AT: usize = 40;
/// Number of sentences at the beginning and the end in which an answer speaks of itself.
const HEAD: usize = 3;
const TAIL: usize = 2;
/// Lengths of word pieces, letters.
const PIECES: std::ops::RangeInclusive<usize> = 2..=5;
/// Weight of a mark relative to all words together.
const MARK: f32 = 0.15;
/// Letters that must agree for words to count as the same, and the least length of a significant word.
const STEM: usize = 5;
const TELLING: usize = 4;

/// After the scale as a little-endian `f32`, one signed byte per bucket.
const WEIGHTS: &[u8] = include_bytes!("../../data/receipts/learned.bin");

/// Buckets and their values.
type Features = Vec<(usize, f32)>;

/// The sentence of the answer `text` that reads most like an act, and its score; above 0 means more likely than not.
pub(super) fn read(request: &str, text: &[Sentence]) -> Option<(usize, f32)> {
    let (unit, weights) = WEIGHTS.split_first_chunk::<4>()?;
    let unit = f32::from_le_bytes(*unit);
    let weigh = |features: Features| {
        let weights = features
            .into_iter()
            .filter_map(|(bucket, value)| Some(value * f32::from(weights.get(bucket)?.cast_signed())));
        weights.sum::<f32>() * unit
    };
    let asked = Asked::new(request);
    let scored = near(text).into_iter().map(|at| (at, weigh(asked.features(text, at))));
    scored.max_by(|a, b| a.1.total_cmp(&b.1))
}

fn near(text: &[Sentence]) -> Vec<usize> {
    let voice: Vec<usize> = (0..text.len()).filter(|at| !text[*at].handed).collect();
    let skipped = HEAD..voice.len().saturating_sub(TAIL);
    voice.iter().enumerate().filter(|(place, _)| !skipped.contains(place)).map(|(_, at)| *at).collect()
}

struct Asked {
    features: Features,
    stems: BTreeSet<String>,
    marks: Vec<&'static str>,
}

impl Asked {
    fn new(request: &str) -> Self {
        let all = first_tokens(request, LOOKED_AT);
        let has = |wanted: &str| all.iter().any(|token| token.is_mark(wanted));
        let digits = all.iter().any(|token| matches!(token.kind, Kind::Number | Kind::Time));
        let marks = [(has(":"), "q:"), (has("?"), "q?"), (digits, "q0"), (request.lines().count() > 2, "qlong")];
        Self {
            features: worded(&all, "q"),
            stems: all.iter().filter_map(stem).collect(),
            marks: marks.into_iter().filter_map(|(is, mark)| is.then_some(mark)).collect(),
        }
    }

    fn features(&self, text: &[Sentence], at: usize) -> Features {
        let sentence = &text[at];
        let looked_at = &sentence.tokens[..sentence.tokens.len().min(LOOKED_AT)];
        let shared: BTreeSet<String> =
            looked_at.iter().filter_map(stem).filter(|stem| self.stems.contains(stem)).collect();
        let end = if sentence.question {
            "?"
        } else if sentence.colon {
            ":"
        } else {
            "."
        };
        let asks = text.last().is_some_and(|last| last.question);
        let size: usize = text.iter().map(|one| one.tokens.len()).sum();
        let mut marks = vec![
            "always".to_owned(),
            format!("end{end}"),
            format!("shared{}", shared.len().min(4)),
            format!("place{}", at.min(HEAD)),
            format!("left{}", (text.len() - at).min(HEAD)),
            format!("size{}", size.max(1).ilog2().min(8)),
            format!("asks{asks}"),
            format!("item{}", sentence.item),
        ];
        marks.extend(self.marks.iter().map(|mark| (*mark).to_owned()));
        let mut all: BTreeMap<usize, f32> = BTreeMap::new();
        let marks = marks.iter().map(|mark| scaled(hash(&["m", mark]), MARK));
        for (bucket, value) in self.features.iter().copied().chain(worded(looked_at, "s")).chain(marks) {
            *all.entry(bucket).or_default() += value;
        }
        all.into_iter().collect()
    }
}

fn stem(token: &Token) -> Option<String> {
    let telling = token.kind == Kind::Word && token.norm.chars().count() >= TELLING;
    telling.then(|| token.norm.chars().take(STEM).collect())
}

/// Words, word pairs and word pieces, together of weight 1.
fn worded(tokens: &[Token], of: &str) -> Features {
    let mut seen = BTreeSet::new();
    let mut before = "^".to_owned();
    for token in tokens {
        let word = shown(token);
        seen.insert(hash(&[of, "w", &word]));
        seen.insert(hash(&[of, "b", &before, " ", &word]));
        if matches!(token.kind, Kind::Word) {
            pieces(&word, |piece| {
                seen.insert(hash(&[of, "c", piece]));
            });
        }
        before = word;
    }
    seen.insert(hash(&[of, "b", &before, " $"]));
    #[expect(clippy::cast_precision_loss, reason = "some hundreds")]
    let each = (seen.len() as f32).sqrt().recip();
    seen.into_iter().map(|hash| scaled(hash, each)).collect()
}

/// A word without digits; names are replaced by their kind.
fn shown(token: &Token) -> String {
    match token.kind {
        Kind::Word => {
            let mut word: String = token.norm.chars().map(|c| if c.is_numeric() { '0' } else { c }).collect();
            word.truncate(word.char_indices().nth(40).map_or(word.len(), |(at, _)| at));
            word
        }
        Kind::Number => "0".to_owned(),
        Kind::Time => "0:0".to_owned(),
        Kind::Path => "/path".to_owned(),
        Kind::Address => "/address".to_owned(),
        Kind::Quote => "/quote".to_owned(),
        Kind::Mark(mark) => mark.to_string(),
    }
}

fn pieces(word: &str, mut each: impl FnMut(&str)) {
    let marked = format!("<{word}>");
    let ends: Vec<usize> = marked.char_indices().map(|(at, _)| at).chain([marked.len()]).collect();
    for length in PIECES {
        for window in ends.windows(length + 1) {
            each(&marked[window[0]..window[length]]);
        }
    }
}

/// FNV-1a, 64 bits.
fn hash(parts: &[&str]) -> u64 {
    let bytes = parts.iter().flat_map(|part| part.bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The bucket of a hash. Another part of the hash gives the sign, so that collisions cancel out.
fn scaled(hash: u64, value: f32) -> (usize, f32) {
    #[expect(clippy::cast_possible_truncation, reason = "only the lowest bits are wanted")]
    let bucket = hash as usize % BUCKETS;
    (bucket, if hash >> 40 & 1 == 1 { value } else { -value })
}
