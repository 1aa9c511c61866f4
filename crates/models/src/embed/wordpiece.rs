//! BERT's tokeniser: normalise, split at spaces and punctuation, then greedy pieces of words.
//!
//! Written here because rten-text 0.27 panics on some texts ("invalid normalized offset") and may not change threads.

use std::collections::HashMap;
use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

/// Longer words, in characters, are unknown as a whole.
const MAX_WORD: usize = 100;

pub(super) struct WordPiece {
    vocabulary: HashMap<String, i32>,
    begin: i32,
    end: i32,
    unknown: i32,
}

impl WordPiece {
    /// The error names a token that is missing.
    pub fn new(vocabulary: HashMap<String, i32>) -> Result<Self, &'static str> {
        let special = |token: &'static str| vocabulary.get(token).copied().ok_or(token);
        Ok(Self { begin: special("[CLS]")?, end: special("[SEP]")?, unknown: special("[UNK]")?, vocabulary })
    }

    /// Tokens including begin and end, at most `limit`.
    pub fn encode(&self, text: &str, limit: usize) -> Vec<i32> {
        framed((self.begin, self.end), limit, words(text), |word, tokens| self.pieces(&word, tokens))
    }

    /// The longest known piece first, again and again; one unknown piece makes the whole word unknown.
    fn pieces(&self, word: &str, tokens: &mut Vec<i32>) {
        if word.chars().count() > MAX_WORD {
            tokens.push(self.unknown);
            return;
        }
        let before = tokens.len();
        let mut start = 0;
        let mut candidate = String::new();
        while start < word.len() {
            let mut ends = word[start..].char_indices().map(|(at, c)| start + at + c.len_utf8()).rev();
            let found = ends.find_map(|end| {
                candidate.clear();
                if start > 0 {
                    candidate.push_str("##");
                }
                candidate.push_str(&word[start..end]);
                self.vocabulary.get(&candidate).map(|id| (end, *id))
            });
            let Some((end, id)) = found else {
                tokens.truncate(before);
                tokens.push(self.unknown);
                return;
            };
            tokens.push(id);
            start = end;
        }
    }
}

/// The tokens that `cut` makes of the words, between those of begin and end; at most `limit`.
pub(super) fn framed<W>(
    (begin, end): (i32, i32),
    limit: usize,
    words: impl Iterator<Item = W>,
    cut: impl Fn(W, &mut Vec<i32>),
) -> Vec<i32> {
    let inner = limit.saturating_sub(2);
    let mut tokens = vec![begin];
    for word in words {
        cut(word, &mut tokens);
        if tokens.len() > inner {
            tokens.truncate(inner + 1);
            break;
        }
    }
    tokens.push(end);
    tokens
}

/// Lower-case words without accents; each punctuation mark and ideograph is a word.
fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    let mut characters = text
        .chars()
        .filter(|c| !is_ignored(*c))
        .flat_map(|c| {
            // Spaces around an ideograph make it a word.
            let pad = is_ideograph(c).then_some(' ');
            pad.into_iter().chain([c]).chain(pad)
        })
        .nfd()
        .filter(|c| c.general_category() != GeneralCategory::NonspacingMark)
        .flat_map(char::to_lowercase)
        .peekable();
    std::iter::from_fn(move || {
        while characters.next_if(|c| c.is_whitespace()).is_some() {}
        let first = characters.next()?;
        let mut word = String::from(first);
        if !is_punctuation(first) {
            while let Some(c) = characters.next_if(|c| !c.is_whitespace() && !is_punctuation(*c)) {
                word.push(c);
            }
        }
        Some(word)
    })
}

fn is_ignored(c: char) -> bool {
    match c {
        '\t' | '\n' | '\r' => false,
        '\0' | char::REPLACEMENT_CHARACTER => true,
        _ => c.general_category_group() == GeneralCategoryGroup::Other,
    }
}

fn is_punctuation(c: char) -> bool {
    c.is_ascii_punctuation() || c.general_category_group() == GeneralCategoryGroup::Punctuation
}

fn is_ideograph(c: char) -> bool {
    matches!(
        u32::from(c),
        0x4E00..=0x9FFF
            | 0x3400..=0x4DBF
            | 0x20000..=0x2A6DF
            | 0x2A700..=0x2B73F
            | 0x2B740..=0x2B81F
            | 0x2B820..=0x2CEAF
            | 0xF900..=0xFAFF
            | 0x2F800..=0x2FA1F
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn split(text: &str) -> Vec<String> {
        words(text).collect()
    }

    #[test]
    fn texts_become_words() {
        for (text, expected) in [
            ("Hello, World!", "hello|,|world|!"),
            ("  a\tb\u{a0}c\n", "a|b|c"),
            ("Café Ünïcode Ångström", "cafe|unicode|angstrom"),
            ("don't $5.00 a_b", "don|'|t|$|5|.|00|a|_|b"),
            ("日本 x", "日|本|x"),
            ("zero\u{200b}width\0nul\u{fffd}", "zerowidthnul"),
            ("«quoted» — dash", "«|quoted|»|—|dash"),
            ("🦀 crab", "🦀|crab"),
            ("", ""),
            (" \n ", ""),
        ] {
            assert_eq!(split(text).join("|"), expected, "{text:?}");
        }
    }

    fn small() -> WordPiece {
        let pieces = ["[CLS]", "[SEP]", "[UNK]", "un", "##aff", "##able", "a", "##b", "aff"];
        let vocabulary = (0..).zip(pieces).map(|(i, p)| (p.to_owned(), i)).collect();
        WordPiece::new(vocabulary).unwrap()
    }

    #[test]
    fn words_become_the_longest_pieces() {
        let tokens = small();
        assert_eq!(tokens.encode("unaffable ab", 256), [0, 3, 4, 5, 6, 7, 1]);
        assert_eq!(tokens.encode("unaffx a", 256), [0, 2, 6, 1], "one bad piece spoils the word");
        assert_eq!(tokens.encode(&"a".repeat(101), 256), [0, 2, 1]);
        assert_eq!(tokens.encode("", 256), [0, 1]);
    }

    #[test]
    fn the_limit_counts_the_special_tokens() {
        let tokens = small();
        for limit in 3..9 {
            let got = tokens.encode("a a a a a", limit);
            assert_eq!(got.len(), limit.min(7));
            assert_eq!((got[0], got[got.len() - 1]), (0, 1));
        }
        assert_eq!(tokens.encode("unaffable", 4), [0, 3, 4, 1]);
    }
}
