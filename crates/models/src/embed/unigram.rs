//! The tokenizer of XLM-R and of the multilingual models that are made from it: of all ways to cut a word into known pieces,
//! the most probable one.

use super::wordpiece::framed;
use std::collections::HashMap;
use unicode_normalization::UnicodeNormalization;

/// What a word begins with.
const SPACE: char = '\u{2581}';
/// How much less probable than any piece a character is that no piece has.
const UNKNOWN_PENALTY: f64 = 10.0;

pub(super) struct Unigram {
    pieces: HashMap<String, (i32, f64)>,
    /// Characters of the longest piece.
    longest: usize,
    begin: i32,
    end: i32,
    pad: i32,
    unknown: i32,
    unknown_score: f64,
}

impl Unigram {
    /// `vocabulary`: pieces with the logarithms of their probabilities, in the order of their numbers. The error names a
    /// token that is missing.
    pub fn new(vocabulary: Vec<(String, f64)>, unknown: Option<usize>) -> Result<Self, &'static str> {
        let lowest = vocabulary.iter().map(|(_, score)| *score).fold(f64::INFINITY, f64::min);
        let longest = vocabulary.iter().map(|(piece, _)| piece.chars().count()).max().unwrap_or(0);
        let pieces: HashMap<String, (i32, f64)> =
            (0..).zip(vocabulary).map(|(id, (piece, score))| (piece, (id, score))).collect();
        let special = |token: &'static str| pieces.get(token).map(|(id, _)| *id).ok_or(token);
        let (begin, end, pad) = (special("<s>")?, special("</s>")?, special("<pad>")?);
        let unknown = unknown.and_then(|id| i32::try_from(id).ok()).ok_or("<unk>")?;
        Ok(Self { longest, begin, end, pad, unknown, unknown_score: lowest - UNKNOWN_PENALTY, pieces })
    }

    pub fn pad(&self) -> i32 {
        self.pad
    }

    /// Tokens including begin and end, at most `limit`.
    pub fn encode(&self, text: &str, limit: usize) -> Vec<i32> {
        let text: String = text.nfkc().filter(|c| !c.is_control() || c.is_whitespace()).collect();
        framed((self.begin, self.end), limit, text.split_whitespace(), |word, tokens| self.cut(word, tokens))
    }

    fn cut(&self, word: &str, tokens: &mut Vec<i32>) {
        let word: String = std::iter::once(SPACE).chain(word.chars()).collect();
        let mut ends: Vec<usize> = word.char_indices().map(|(at, _)| at).collect();
        ends.push(word.len());
        let count = ends.len() - 1;
        // For each place the best score of the way to it, and the piece that ends there: where it begins and its number.
        let mut best: Vec<(f64, usize, i32)> = vec![(f64::NEG_INFINITY, 0, self.unknown); count + 1];
        best[0].0 = 0.0;
        for start in 0..count {
            let so_far = best[start].0;
            let mut single = false;
            for end in start + 1..=count.min(start + self.longest) {
                if let Some((id, score)) = self.pieces.get(&word[ends[start]..ends[end]]) {
                    single |= end == start + 1;
                    if so_far + score > best[end].0 {
                        best[end] = (so_far + score, start, *id);
                    }
                }
            }
            if !single && so_far + self.unknown_score > best[start + 1].0 {
                best[start + 1] = (so_far + self.unknown_score, start, self.unknown);
            }
        }
        let mut cut = Vec::new();
        let mut at = count;
        while at > 0 {
            let (_, start, id) = best[at];
            cut.push(id);
            at = start;
        }
        cut.reverse();
        // Characters that nobody knows are one unknown piece together.
        cut.dedup_by(|next, before| next == before && *before == self.unknown);
        tokens.extend(cut);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::Unigram;

    fn small() -> Unigram {
        let pieces = [
            ("<s>", 0.0),
            ("<pad>", 0.0),
            ("</s>", 0.0),
            ("<unk>", 0.0),
            ("▁", -3.0),
            ("▁the", -2.5),
            ("▁sea", -4.0),
            ("s", -3.2),
            ("e", -3.1),
            ("a", -3.3),
            ("▁pump", -6.0),
            ("▁pu", -5.0),
            ("mp", -5.0),
            ("en", -4.0),
            ("▁Pu", -5.5),
            ("ö", -6.0),
            ("r", -3.6),
            ("▁se", -5.5),
            ("t", -3.4),
            ("h", -3.9),
            ("1", -5.0),
            ("fi", -4.5),
        ];
        Unigram::new(pieces.map(|(piece, score)| (piece.to_owned(), score)).to_vec(), Some(3)).unwrap()
    }

    #[test]
    fn words_are_cut_as_the_usual_library_cuts_them() {
        let tokens = small();
        for (text, expected) in [
            ("the sea", &[0, 5, 6, 2][..]),
            ("pumpen", &[0, 10, 13, 2]),
            ("Pumpen höre", &[0, 14, 12, 13, 4, 19, 15, 16, 8, 2]),
            ("  the\t\nsea  ", &[0, 5, 6, 2]),
            ("", &[0, 2]),
            ("xyz the", &[0, 4, 3, 5, 2]),
            ("ﬁ ① ö", &[0, 4, 21, 4, 20, 4, 15, 2]),
            ("these", &[0, 5, 7, 8, 2]),
            ("sxs xxse", &[0, 4, 7, 3, 7, 4, 3, 7, 8, 2]),
            ("日本 sea", &[0, 4, 3, 6, 2]),
        ] {
            assert_eq!(tokens.encode(text, 256), expected, "{text:?}");
        }
    }

    #[test]
    fn the_limit_counts_the_special_tokens_and_none_may_be_missing() {
        let tokens = small();
        for limit in 3..9 {
            let got = tokens.encode("the the the the the", limit);
            assert_eq!((got.len(), got[0], got[got.len() - 1]), (limit.min(7), 0, 2));
        }
        assert_eq!(Unigram::new(vec![("<s>".to_owned(), 0.0)], Some(0)).err(), Some("</s>"));
    }
}
