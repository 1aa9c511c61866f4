//! Text as a phrase meets it: without disguises.

use std::collections::BTreeMap;
use unicode_normalization::{UnicodeNormalization as _, char::is_combining_mark};

/// Folded text, and which line each part of it stood on.
#[derive(Debug, Default)]
pub(super) struct Folded {
    pub text: String,
    /// Byte offsets in `text` at which a line begins, with its number.
    lines: Vec<(usize, u32)>,
}

impl Folded {
    /// The line of a place in the text.
    pub fn line(&self, at: usize) -> u32 {
        let index = self.lines.partition_point(|(offset, _)| *offset <= at);
        index.checked_sub(1).and_then(|index| self.lines.get(index)).map_or(1, |(_, line)| *line)
    }
}

/// Compatibility forms and accents go; letters stay as they are otherwise.
pub(super) fn letters(text: &str) -> String {
    text.nfkd().filter(|c| !is_combining_mark(*c)).collect()
}

/// Folds a text whose first line has the number `first`.
pub(super) fn fold(text: &str, first: u32, lookalike: &BTreeMap<char, char>) -> Folded {
    let mut folded = Folded::default();
    let mut number = first;
    for line in text.split('\n') {
        let plain: String =
            letters(line).chars().map(|c| if c.is_control() { ' ' } else { c }).filter(|c| !invisible(*c)).collect();
        let begin = folded.text.len();
        for word in plain.split_whitespace() {
            if !folded.text.is_empty() {
                folded.text.push(' ');
            }
            folded.text.push_str(&latin(word, lookalike));
        }
        folded.lines.push((begin, number));
        number = number.saturating_add(1);
    }
    folded
}

/// Characters that a reader doesn't see and a word may be broken up with.
fn invisible(c: char) -> bool {
    matches!(u32::from(c),
        0xAD | 0x0640 | 0x061C | 0x180E | 0x200B..=0x200F | 0x202A..=0x202E | 0x2060..=0x206F
        | 0xFE00..=0xFE0F | 0xFEFF | 0xE0000..=0xE0FFF)
}

/// A word that mixes Latin letters with look-alikes becomes Latin.
fn latin(word: &str, lookalike: &BTreeMap<char, char>) -> String {
    if mixed(word, lookalike) {
        word.chars().map(|c| lookalike.get(&c).copied().unwrap_or(c)).collect()
    } else {
        word.to_owned()
    }
}

/// Whether a word has both Latin letters and letters that only look so.
pub(super) fn mixed(word: &str, lookalike: &BTreeMap<char, char>) -> bool {
    !word.is_ascii()
        && word.chars().any(|c| c.is_ascii_alphabetic())
        && word.chars().any(|c| lookalike.contains_key(&c))
}
