//! Which words a text is found by.
//!
//! Every run of letters and digits is a word, in lower case and without accents. Beside it stands its form without its
//! ending, and a name of several words is a word as a whole too: `max_wal_size` is found by `max_wal_size`, by `wal`, and
//! by `"wal size"`. Scripts without spaces between words are cut into pairs of characters.

use super::language::Stems;
use std::borrow::Cow;
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// Longer ones are cut off, or left out if they are names of several words, bytes.
const LONGEST: usize = 100;
/// Join words to a name.
const JOINTS: &[char] = &['_', '-', '.', '/', '\\', ':', '@', '+', '#', '&', '$', '~'];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// As it stands there: these make up phrases.
    Word,
    /// Without its ending, where that is another one.
    Stem,
    /// One of the words of `camelCase`.
    Part,
    /// A name of several words.
    Name,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    pub text: String,
    /// Counted in words of [`Form::Word`], from 0.
    pub position: u32,
    pub form: Form,
}

/// All words in order of their positions.
pub fn words(text: &str, stems: &Stems) -> Vec<Word> {
    let text = clean(text);
    let mut found = Found { words: Vec::with_capacity(text.len() / 4), position: 0, stems };
    let mut rest = text.as_ref();
    while let Some(from) = rest.find(is_word) {
        let name = &rest[from..from + end_of_name(&rest[from..])];
        found.name(name);
        rest = &rest[from + name.len()..];
    }
    found.words
}

/// Without accents and other marks on letters, `ß` as `ss`, full-width letters as usual ones.
pub fn fold(lower: &str) -> String {
    if lower.is_ascii() {
        return lower.to_owned();
    }
    let mut plain = String::with_capacity(lower.len());
    for c in lower.nfkd().filter(|c| !('\u{300}'..='\u{36f}').contains(c)) {
        match c {
            'ß' => plain.push_str("ss"),
            'æ' => plain.push_str("ae"),
            'œ' => plain.push_str("oe"),
            'þ' => plain.push_str("th"),
            'ø' => plain.push('o'),
            'ł' => plain.push('l'),
            'đ' | 'ð' => plain.push('d'),
            'ı' => plain.push('i'),
            'ς' => plain.push('σ'),
            c => plain.push(c),
        }
    }
    plain.nfc().collect()
}

/// Accents joined to their letters, and without invisible characters within words.
fn clean(text: &str) -> Cow<'_, str> {
    let text = apart_from_its_time(text);
    if text.is_ascii() {
        return text;
    }
    let seen = |c: &char| !matches!(c, '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}');
    Cow::Owned(text.chars().filter(seen).nfc().collect::<String>())
}

/// A date that is written with its time as one is two words: `2026-11-18T09:06:54Z`.
fn apart_from_its_time(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let joins = |at: usize| {
        bytes[at] == b'T'
            && at >= 3
            && bytes[at - 3] == b'-'
            && digit(at - 1)
            && digit(at + 1)
            && bytes.get(at + 3) == Some(&b':')
    };
    let ends = |at: usize| {
        let before = bytes[..at].iter().rev().find(|byte| !byte.is_ascii_digit());
        bytes[at] == b'Z' && digit(at.wrapping_sub(1)) && matches!(before, Some(b':' | b'.'))
    };
    if !(0..bytes.len()).any(|at| bytes[at] == b'T' && joins(at)) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(
        text.char_indices().map(|(at, c)| if c.is_ascii() && (joins(at) || ends(at)) { ' ' } else { c }).collect(),
    )
}

pub fn is_word(c: char) -> bool {
    c.is_alphanumeric() || (!c.is_ascii() && is_combining_mark(c))
}

/// Where a name ends that begins with a word character: joints count only between words, and `+` and `#` after one.
fn end_of_name(text: &str) -> usize {
    let mut end = 0;
    let mut before = '\0';
    let mut word_before = '\0';
    for (at, c) in text.char_indices() {
        let comma = c == ',' && before.is_ascii_digit() && text[at + 1..].starts_with(|c: char| c.is_ascii_digit());
        if is_word(c) {
            end = at + c.len_utf8();
            word_before = c;
        } else if matches!(c, '+' | '#') && end == at && word_before.is_alphabetic() {
            end = at + 1;
        } else if !comma && !JOINTS.contains(&c) {
            break;
        }
        before = c;
    }
    end
}

struct Found<'s> {
    words: Vec<Word>,
    position: u32,
    stems: &'s Stems,
}

impl Found<'_> {
    fn push(&mut self, text: String, position: u32, form: Form) {
        let known = self.words.iter().rev().take_while(|word| word.position == position);
        if !text.is_empty() && !known.into_iter().any(|word| word.text == text) {
            self.words.push(Word { text, position, form });
        }
    }

    fn name(&mut self, name: &str) {
        let first = self.position;
        if name.contains(|c| !is_word(c)) {
            self.whole(name, first);
        }
        // `pg_catalog.pg_class` has two names within.
        for piece in name.split(|c: char| !is_word(c) && c != '_') {
            let piece = piece.trim_matches('_');
            if piece.len() < name.len() && piece.contains('_') {
                self.whole(piece, self.position);
            }
            for word in piece.split(|c: char| !is_word(c)).filter(|word| !word.is_empty()) {
                self.word(word);
            }
        }
    }

    fn whole(&mut self, name: &str, position: u32) {
        if name.len() <= LONGEST {
            self.push(fold(&name.to_lowercase()), position, Form::Name);
        }
    }

    fn word(&mut self, word: &str) {
        if word.is_ascii() || !word.contains(without_spaces) {
            return self.usual(word);
        }
        let mut rest = word;
        while let Some(c) = rest.chars().next() {
            let packed = without_spaces(c);
            let end = rest.find(|c| without_spaces(c) != packed).unwrap_or(rest.len());
            if packed {
                self.pairs(&rest[..end]);
            } else {
                self.usual(&rest[..end]);
            }
            rest = &rest[end..];
        }
    }

    fn usual(&mut self, word: &str) {
        let word = &word[..word.floor_char_boundary(LONGEST)];
        let position = self.position;
        let lower = word.to_lowercase();
        self.push(fold(&lower), position, Form::Word);
        for stem in self.stems.each(&lower) {
            self.push(fold(&stem), position, Form::Stem);
        }
        let humps = word.as_bytes().windows(2).any(|two| two[0].is_ascii_lowercase() && two[1].is_ascii_uppercase());
        if humps {
            for part in steward_core::text::parts(word) {
                self.push(fold(&part), position, Form::Part);
            }
        }
        self.position += 1;
    }

    fn pairs(&mut self, run: &str) {
        let characters: Vec<char> = run.chars().collect();
        if let [one] = characters[..] {
            self.push(fold(&one.to_string()), self.position, Form::Word);
            self.position += 1;
        }
        for pair in characters.windows(2) {
            self.push(fold(&String::from_iter(pair)), self.position, Form::Word);
            self.position += 1;
        }
    }
}

/// Chinese, Japanese, Korean, Thai, Lao, Burmese, Khmer.
fn without_spaces(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}'
        | '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}')
}

#[cfg(test)]
mod tests {
    use super::{Form, Stems, fold, words};

    fn all(text: &str) -> Vec<String> {
        words(text, &Stems::of_text("the of and")).into_iter().map(|word| word.text).collect()
    }

    fn plain(text: &str) -> Vec<(String, u32)> {
        let found = words(text, &Stems::of_text("the of and"));
        found.into_iter().filter(|word| word.form == Form::Word).map(|word| (word.text, word.position)).collect()
    }

    #[test]
    fn names_are_words_as_a_whole_and_by_their_parts() {
        assert_eq!(all("max_wal_size"), ["max_wal_size", "max", "wal", "size"]);
        assert_eq!(all("GET /api/x."), ["get", "api/x", "api", "x"]);
        assert_eq!(all("os.path.join(a)"), ["os.path.join", "os", "path", "join", "a"]);
        let both = ["pg_catalog.pg_class", "pg_catalog", "pg", "catalog", "pg_class", "pg", "class"];
        assert_eq!(all("pg_catalog.pg_class"), both);
        assert_eq!(all("3.11 17% 1,250.00"), ["3.11", "3", "11", "17", "1,250.00", "1", "250", "00"]);
        assert_eq!(all("C++ and C# or c."), ["c++", "c", "and", "c#", "c", "or", "c"]);
        assert_eq!(all("--no-owner"), ["no-owner", "no", "owner"]);
        assert_eq!(all("don't"), ["don", "t"]);
    }

    #[test]
    fn a_time_is_found_apart_from_its_date() {
        let found = all("2026-11-18T09:06:54Z WARN");
        assert!(["2026-11-18", "09:06:54", "warn"].iter().all(|one| found.iter().any(|word| word == one)), "{found:?}");
        assert!(all("2026-11-18T09:06:54.120Z é").contains(&"09:06:54.120".to_owned()));
        assert!(all("1T2 ABC-12T34").contains(&"abc-12t34".to_owned()));
    }

    #[test]
    fn words_have_their_forms() {
        assert_eq!(all("Running dogs"), ["running", "run", "dogs", "dog"]);
        assert_eq!(all("getUserName"), ["getusername", "getusernam", "get", "user", "name"]);
        assert_eq!(
            plain("the PostgreSQL server"),
            [("the".to_owned(), 0), ("postgresql".to_owned(), 1), ("server".to_owned(), 2)]
        );
    }

    #[test]
    fn accents_and_forms_of_unicode_make_no_difference() {
        assert_eq!(fold("größe"), "grosse");
        assert_eq!(fold("café"), fold("cafe\u{301}"));
        assert_eq!(plain("cafe\u{301} exam\u{ad}ple"), [("cafe".to_owned(), 0), ("example".to_owned(), 1)]);
        assert_eq!(plain("ＡＢＣ"), [("abc".to_owned(), 0)]);
        assert_eq!(plain("हिन्दी में"), [("हिन्दी".to_owned(), 0), ("में".to_owned(), 1)]);
    }

    #[test]
    fn scripts_without_spaces_are_cut_into_pairs() {
        assert_eq!(
            plain("東京都x庁"),
            [("東京".to_owned(), 0), ("京都".to_owned(), 1), ("x".to_owned(), 2), ("庁".to_owned(), 3)]
        );
    }

    #[test]
    fn anything_is_cut_into_words() {
        assert_eq!(all(""), Vec::<String>::new());
        assert_eq!(all("… — _ / ++"), Vec::<String>::new());
        assert_eq!(all(&"a".repeat(500))[0].len(), 100);
        assert_eq!(all(&"ab_".repeat(500)).iter().filter(|word| word.len() > 2).count(), 0);
    }
}
