//! What the words beside a name say about whether it is that of a person.

use super::lexicon::{Lexicon, Meaning};
use super::name_parts::is_noun;
use super::scan::{is_word, word_end};

const BEFORE: Meaning = Meaning::BEFORE_PERSON.or(Meaning::HONORIFIC).or(Meaning::ROLE).or(Meaning::NAME_FIELD);

/// Above zero it is more likely a person, below rather a thing or place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Evidence {
    before: i8,
    after: i8,
}

impl Evidence {
    pub const fn speaks_for(self) -> bool {
        self.before + self.after >= 2
    }

    /// On both sides, or by a list of names.
    pub const fn speaks_strongly_for(self) -> bool {
        self.before + self.after >= 4
    }

    /// Nothing beside it makes it a part of something else.
    pub const fn is_open(self) -> bool {
        self.before >= -1 && self.before + self.after >= -1
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Sides<'t> {
    pub text: &'t str,
    pub lexicon: &'t Lexicon,
    /// The end of the last name before.
    pub last_name: usize,
}

impl Sides<'_> {
    /// Around `from..to`; the word before it begins at `before`.
    pub fn around(self, before: Option<usize>, from: usize, to: usize) -> Evidence {
        let before = before.map_or(0, |start| self.before(start, from));
        Evidence { before, after: self.after(from, to) }
    }

    /// The beginning of the word that ends one space before `at`.
    pub fn word_before(self, at: usize) -> Option<usize> {
        let head = self.text[..at].strip_suffix(' ')?;
        let word = head.chars().rev().take_while(|c| c.is_alphanumeric());
        let length: usize = word.map(char::len_utf8).sum();
        (length > 0).then(|| head.len() - length)
    }

    fn before(self, start: usize, from: usize) -> i8 {
        let end = word_end(self.text, start);
        let between = self.text.get(end..from).unwrap_or_default();
        let listed = self.last_name > 0 && self.last_name <= start;
        if between == ", " && self.goes_on_about_persons(end) {
            return 2;
        }
        if !matches!(between, " " | "\u{a0}" | " \"" | " @" | "'" | "’") {
            return 0;
        }
        let meaning = self.lexicon.meaning(self.text, start, end);
        if meaning.any(Meaning::PARTICLE) && !meaning.any(Meaning::ARTICLE.or(Meaning::CONJUNCTION)) {
            return if meaning.any(Meaning::BEFORE_PERSON) { 2 } else { 0 };
        }
        if meaning.any(Meaning::CONJUNCTION)
            && listed
            && self.text[self.last_name..start].trim_matches([' ', ',']).is_empty()
        {
            return 4;
        }
        // "from", "to" and "de" stand before things too.
        let field = meaning.any(Meaning::MAYBE_NAME_FIELD) && end - start > 4;
        if field || meaning.any(BEFORE) {
            return 2;
        }
        if meaning.any(Meaning::MONTH) {
            return 0;
        }
        if meaning.any(Meaning::ARTICLE) || !self.text[start..end].starts_with(char::is_lowercase) {
            // "Gegenzeichnung Ole Magnussen": in German nouns have a capital letter.
            let word = &self.text[start..end];
            let noun = is_noun(word) || word.chars().count() > 11;
            let function =
                noun || meaning.any(Meaning::COMMON.or(Meaning::AFTER_PERSON)) && !meaning.any(Meaning::ARTICLE);
            return if function { 0 } else { -2 };
        }
        -1
    }

    /// Whether a name stands a few words before `end` in the same sentence: "gib Lena Bescheid, Peter Urlaub".
    fn goes_on_about_persons(self, end: usize) -> bool {
        let between = self.text.get(self.last_name..end).filter(|_| self.last_name > 0);
        between.is_some_and(|between| between.len() < 40 && !between.contains(['.', '\n', ';', '!', '?']))
    }

    fn after(self, from: usize, to: usize) -> i8 {
        let rest = &self.text[to..];
        if rest.starts_with("'s ") || rest.starts_with("’s ") {
            return 1;
        }
        let Some(next) = rest.strip_prefix([' ', '\u{a0}']) else {
            return -i8::from(rest.starts_with(['-', '/', '_', '=']));
        };
        let start = self.text.len() - next.len();
        if !is_word(self.text, start) {
            return 0;
        }
        let end = word_end(self.text, start);
        let meaning = self.lexicon.meaning(self.text, start, end);
        if meaning.any(Meaning::CONJUNCTION) {
            let other = (end + 1).min(self.text.len());
            let other = if self.text.is_char_boundary(other) { other } else { end };
            let other = self.lexicon.meaning(self.text, other, word_end(self.text, other));
            // "Linda, Sieglinde und Laura" may be potatoes.
            let list = self.text[..from].ends_with(", ");
            return 2 * i8::from(
                !list && other.any(Meaning::GIVEN) && !other.any(Meaning::GIVEN_OR_WORD.or(Meaning::COMMON)),
            );
        }
        let small = next.starts_with(char::is_lowercase);
        match () {
            () if small && meaning.any(Meaning::AFTER_PERSON) => 2,
            () if next.starts_with('0') => 0,
            () if next.starts_with(|c: char| c.is_ascii_digit()) => -2,
            () if small || meaning.any(Meaning::COMMON) => 0,
            () => -1,
        }
    }
}
