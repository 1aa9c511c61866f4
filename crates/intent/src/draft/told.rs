//! The words of a request that carry meaning, without the words of asking.

use super::Desk;
use steward_core::text::{quoted, words};

/// A word or a quotation that names something.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own, read where it counts")]
pub(crate) struct Told {
    pub text: String,
    /// Index among the request's words.
    pub at: usize,
    pub start: usize,
    pub quoted: bool,
    /// Whether it is capitalised and doesn't begin the request.
    pub proper: bool,
    /// Whether it is a word of asking, which names something only if a table has it as a value.
    pub asks: bool,
    /// Whether it belongs to the previous request.
    pub before: bool,
}

impl Desk<'_> {
    /// Meaningful words in order, without the span `apart` (a file's name).
    pub(crate) fn told(&self, apart: (usize, usize)) -> Vec<Told> {
        self.heard(apart).into_iter().filter(|one| !one.asks).collect()
    }

    /// All words outside of the span `apart`.
    pub(crate) fn heard(&self, apart: (usize, usize)) -> Vec<Told> {
        let text = self.wanted.text;
        let quotes = quoted(text);
        let mut found = Vec::new();
        for (at, word) in words(text).into_iter().enumerate() {
            if word.start < apart.1 && apart.0 < word.end {
                continue;
            }
            let before = word.start < self.wanted.since;
            if let Some(quote) = quotes.iter().find(|q| word.start >= q.start && word.end <= q.end) {
                let whole = quote.text.to_owned();
                if found.last().is_none_or(|last: &Told| last.text != whole) {
                    let start = word.start;
                    found.push(Told { text: whole, at, start, quoted: true, proper: true, asks: false, before });
                }
                continue;
            }
            // "l'album", "d'Anna": what precedes the apostrophe means nothing.
            let bare = word.text.trim_end_matches("'s").trim_end_matches("’s");
            let bare = match bare.split_once(['\'', '’']) {
                Some((article, rest)) if article.chars().count() <= 2 => rest,
                _ => bare,
            };
            let lower = bare.to_lowercase();
            let upper = bare.chars().next().is_some_and(char::is_uppercase);
            let level = upper && bare.chars().all(|c| !c.is_lowercase()) && bare.len() > 1;
            // "y a-t-il", "gibt's": joined words ask if each of them does.
            let asks = |word: &str| self.wanted.asking.contains(word);
            let asks = (asks(&lower) || lower.split('-').all(asks)) && !level;
            if !lower.is_empty() {
                let proper = upper && at > 0;
                found.push(Told { text: bare.to_owned(), at, start: word.start, quoted: false, proper, asks, before });
            }
        }
        found
    }
}
