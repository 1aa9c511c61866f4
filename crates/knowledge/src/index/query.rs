//! What a person's words ask of the index of words. None of them is an operator; only quotation marks mean something.

use super::language::Stems;
use super::words::{Form, is_word, words};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// How much one word of `camelCase` counts beside whole words, with or without their endings.
const PART: f32 = 0.3;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct TextQuery {
    /// Each once, with its weight: the more of them, the better.
    pub terms: Vec<(String, f32)>,
    /// Quoted words, with their distances from the first: each must stand in a chunk, and where they stand one after the
    /// other is found first.
    pub phrases: Vec<Vec<(u32, String)>>,
}

/// Of a longer question the rest is passed over, bytes.
const LONGEST: usize = 16_384;

const QUOTES: &[(char, &[char])] = &[
    ('"', &['"']),
    ('“', &['”', '“']),
    ('„', &['“', '”', '"']),
    ('«', &['»']),
    ('»', &['«']),
    ('”', &['”']),
    ('「', &['」']),
    ('『', &['』']),
    ('＂', &['＂']),
];

/// What of a question is in quotation marks, and what isn't, each in its order.
pub struct QuotedParts<'q> {
    pub quoted: Vec<&'q str>,
    pub rest: Vec<&'q str>,
}

impl<'q> QuotedParts<'q> {
    pub fn of(text: &'q str) -> Self {
        let mut parts = Self { quoted: Vec::new(), rest: Vec::new() };
        let mut rest = &text[..text.floor_char_boundary(LONGEST)];
        while let Some((before, quoted, after)) = quotation(rest) {
            parts.rest.push(before);
            parts.quoted.push(quoted);
            rest = after;
        }
        parts.rest.push(rest);
        parts
    }
}

impl TextQuery {
    pub fn read(text: &str) -> Self {
        let mut query = Self::default();
        let parts = QuotedParts::of(text);
        parts.rest.into_iter().for_each(|rest| query.add_terms(rest));
        parts.quoted.into_iter().for_each(|quoted| query.add_phrase(quoted));
        query
    }

    pub fn is_empty(&self) -> bool {
        self.terms.is_empty() && self.phrases.is_empty()
    }

    fn add_terms(&mut self, text: &str) {
        let mut known: HashMap<String, usize> =
            self.terms.iter().enumerate().map(|(at, (term, _))| (term.clone(), at)).collect();
        for word in words(text, &Stems::of_every_language()) {
            let weight = if word.form == Form::Part { PART } else { 1.0 };
            match known.entry(word.text) {
                Entry::Occupied(at) => self.terms[*at.get()].1 = self.terms[*at.get()].1.max(weight),
                Entry::Vacant(new) => {
                    self.terms.push((new.key().clone(), weight));
                    new.insert(self.terms.len() - 1);
                }
            }
        }
    }

    fn add_phrase(&mut self, text: &str) {
        let found = words(text, &Stems::of_text(text));
        let phrase: Vec<(u32, String)> =
            found.into_iter().filter(|word| word.form == Form::Word).map(|word| (word.position, word.text)).collect();
        if !phrase.is_empty() && !self.phrases.contains(&phrase) {
            self.phrases.push(phrase);
        }
    }
}

/// What stands before, within and after the first pair of quotation marks. One after a letter or digit opens none: `12"`.
fn quotation(text: &str) -> Option<(&str, &str, &str)> {
    let mut before = ' ';
    for (at, mark) in text.char_indices() {
        let follows_word = is_word(std::mem::replace(&mut before, mark));
        let Some((_, closing)) = QUOTES.iter().find(|(opening, _)| *opening == mark) else { continue };
        if follows_word && mark == '"' {
            continue;
        }
        let inside = &text[at + mark.len_utf8()..];
        if let Some(end) = inside.find(*closing) {
            let close = inside[end..].chars().next().map_or(0, char::len_utf8);
            return Some((&text[..at], &inside[..end], &inside[end + close..]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::TextQuery;

    fn terms(text: &str) -> Vec<String> {
        TextQuery::read(text).terms.into_iter().map(|(term, _)| term).collect()
    }

    #[test]
    fn nothing_but_quotation_marks_means_anything() {
        let words = terms("+text:a* AND (b OR NOT c)^2 [x TO y] ~ \\ \"");
        for word in ["text", "a", "and", "b", "or", "not", "c", "2", "x", "to", "y"] {
            assert!(words.iter().any(|known| known == word), "{word} in {words:?}");
        }
        assert!(["\" ", "", "\"\""].iter().all(|text| TextQuery::read(text).is_empty()));
    }

    #[test]
    fn phrases_stand_apart() {
        let query = TextQuery::read("What does \"Write-Ahead Log\" and „max_wal_size“ mean?");
        let phrases: Vec<Vec<&str>> =
            query.phrases.iter().map(|phrase| phrase.iter().map(|(_, word)| word.as_str()).collect()).collect();
        assert_eq!(phrases, [vec!["write", "ahead", "log"], vec!["max", "wal", "size"]]);
        assert!(query.terms.iter().any(|(word, _)| word == "mean"));
        assert!(!query.terms.iter().any(|(word, _)| word == "log"));
    }

    #[test]
    fn a_word_counts_once_in_its_best_form() {
        let query = TextQuery::read("size size max_size");
        assert_eq!(query.terms.iter().filter(|(word, _)| word == "size").count(), 1);
        assert!(query.terms.iter().any(|(word, weight)| word == "max_size" && *weight >= 1.0));
    }
}
