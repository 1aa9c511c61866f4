//! What a question names exactly: codes, numbers, names, words in quotation marks, and words that hardly stand anywhere. A
//! passage that holds a rare one of these answers better than all that are near in meaning, however the rankings are joined.

use super::language::{Stems, is_function_word};
use super::query::QuotedParts;
use super::types::ChunkKey;
use super::words::{Form, is_word, words};
use std::collections::{HashMap, HashSet};

/// Of a question with more of them the first are looked for.
const MOST_TERMS: usize = 32;
/// Shorter words are none that a passage is named by, letters.
const SHORTEST: usize = 4;

/// Words of a question that stand for one thing.
#[derive(Debug, Clone, PartialEq)]
pub struct ExactTerm {
    /// As the question has it.
    pub text: String,
    /// Its words, with their distances from the first.
    pub phrase: Vec<(u32, String)>,
    pub kind: TermKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TermKind {
    Quoted,
    /// A code, a number or a name.
    Code,
    /// Any other word.
    Word,
}

/// What a search finds of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ExactMatches {
    /// The chunks that hold rare terms, or quoted words as they stand.
    pub chunks: HashMap<ChunkKey, ExactMatch>,
    /// The chunks that hold every quoted word; `None`: nothing is quoted.
    pub quoted: Option<HashSet<ChunkKey>>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct ExactMatch {
    /// The more terms, and the rarer, the higher.
    pub weight: f32,
    /// As the question has them.
    pub terms: Vec<String>,
}

/// The terms of a question: quoted ones, codes, then other words.
pub fn exact_terms(question: &str) -> Vec<ExactTerm> {
    let parts = QuotedParts::of(question);
    let mut found: Vec<ExactTerm> = Vec::new();
    for quoted in parts.quoted {
        push(&mut found, quoted, TermKind::Quoted);
    }
    for term in parts.rest.iter().flat_map(|rest| named(rest)) {
        push(&mut found, &term, TermKind::Code);
    }
    for word in parts.rest.iter().flat_map(|rest| rest.split(|c: char| !is_word(c))) {
        let is_long = word.chars().count() >= SHORTEST && word.chars().all(char::is_alphabetic);
        let is_held = || found.iter().any(|term| holds_exactly(&term.text, word));
        if is_long && !is_function_word(&word.to_lowercase()) && !is_held() {
            push(&mut found, word, TermKind::Word);
        }
    }
    found.truncate(MOST_TERMS);
    found
}

/// Whether `text` has the words of `term` one after the other.
pub fn holds_exactly(text: &str, term: &str) -> bool {
    let (text, term) = (plain(text), plain(term));
    !term.is_empty() && text.windows(term.len()).any(|some| some == term)
}

fn plain(text: &str) -> Vec<String> {
    let found = words(text, &Stems::of_text(""));
    found.into_iter().filter(|word| word.form == Form::Word).map(|word| word.text).collect()
}

fn push(found: &mut Vec<ExactTerm>, text: &str, kind: TermKind) {
    let phrase: Vec<(u32, String)> = (0..).zip(plain(text)).collect();
    if !phrase.is_empty() && !found.iter().any(|known| known.phrase == phrase) {
        found.push(ExactTerm { text: text.trim().to_owned(), phrase, kind });
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    /// With a digit, joined by signs, or with capitals within: `K-4711`, `max_wal_size`, `WAL`.
    Code,
    Capitalised,
    Plain,
}

/// Codes, and names: words with a capital that begin no sentence, those beside each other as one.
fn named(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut name: Vec<&str> = Vec::new();
    // Of a name that begins a sentence, the first word says nothing by itself.
    let mut begins = true;
    let mut name_begins = false;
    let shouted = !text.chars().any(char::is_lowercase);
    let mut end = |name: &mut Vec<&str>, name_begins: bool| {
        if name.len() > 1 || (name.len() == 1 && !name_begins) {
            found.push(name.join(" "));
        }
        name.clear();
    };
    for token in text.split_whitespace() {
        let word = token.trim_matches(|c: char| !is_word(c));
        let word = ["'s", "’s"].iter().find_map(|ending| word.strip_suffix(ending)).unwrap_or(word);
        let look = if shouted { look_of_shouted(word) } else { look_of(word) };
        let is_small = is_function_word(&word.to_lowercase());
        if look == Look::Capitalised && !is_small {
            name_begins = if name.is_empty() { begins } else { name_begins };
            name.push(word);
        } else {
            end(&mut name, name_begins);
        }
        if look == Look::Code {
            name.clear();
            name.push(word);
            end(&mut name, false);
        }
        let closes = token.trim_end_matches(['"', '\'', ')', '”', '’']);
        begins = closes.ends_with(['.', '?', '!', ':', ';', '…']);
        // A name ends where a mark does.
        if !token.ends_with(is_word) {
            end(&mut name, name_begins);
        }
    }
    end(&mut name, name_begins);
    found
}

fn look_of(word: &str) -> Look {
    let letters: Vec<char> = word.chars().collect();
    let uppercase = letters.iter().filter(|c| c.is_uppercase()).count();
    let is_joined = word.contains(['_', '/', '\\', '@', ':', '.', '#', '+', '~']) && letters.len() > 3;
    let code = has_code_digits(&letters)
        || is_joined
        || (uppercase > 1 && letters.len() > 1)
        || (uppercase == 1 && letters.len() > 2 && !letters[0].is_uppercase());
    match letters.first() {
        _ if code => Look::Code,
        Some(first) if first.is_uppercase() && letters.len() > 1 => Look::Capitalised,
        _ => Look::Plain,
    }
}

/// Capitals say nothing where all letters are.
fn look_of_shouted(word: &str) -> Look {
    let letters: Vec<char> = word.chars().collect();
    if has_code_digits(&letters) || word.contains('_') { Look::Code } else { Look::Plain }
}

fn has_code_digits(letters: &[char]) -> bool {
    letters.len() > 1 && letters.iter().any(char::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::{TermKind, exact_terms, holds_exactly};

    fn texts(question: &str) -> Vec<String> {
        let terms = exact_terms(question).into_iter().filter(|term| term.kind != TermKind::Word);
        terms.map(|term| term.text).collect()
    }

    #[test]
    fn codes_and_names_are_told_apart_from_words() {
        assert_eq!(texts("What shoe size has member 00553?"), ["00553"]);
        assert_eq!(texts("Which locker has Fay Reed, and which D84?"), ["Fay Reed", "D84"]);
        assert_eq!(texts("Fay Reed's locker"), ["Fay Reed"]);
        assert_eq!(texts("what does max_wal_size do beside work_mem?"), ["max_wal_size", "work_mem"]);
        assert_eq!(texts("How do I use getUserName with WAL?"), ["getUserName", "WAL"]);
        assert_eq!(texts("When was invoice K-4711 paid to example.org."), ["K-4711", "example.org"]);
        assert_eq!(texts("How long is the notice period? Who signs it?"), Vec::<String>::new());
        assert_eq!(texts("WHAT SIZE HAS 00553"), ["00553"]);
        assert_eq!(texts("Wie lange ist die Kündigungsfrist bei Lindqvist?"), ["Kündigungsfrist", "Lindqvist"]);
    }

    #[test]
    fn what_is_quoted_is_exact_whatever_it_is() {
        assert_eq!(texts("what does \"write ahead\" mean for „Nordhafen“"), ["write ahead", "Nordhafen"]);
        assert!(exact_terms("\"a b\" C-3").iter().map(|term| term.kind).eq([TermKind::Quoted, TermKind::Code]));
        let words: Vec<String> = exact_terms("pg_index indisvalid = false for a \"b\" pg_index")
            .into_iter()
            .filter(|term| term.kind == TermKind::Word)
            .map(|term| term.text)
            .collect();
        assert_eq!(words, ["indisvalid", "false"]);
        assert_eq!(texts("a 12\" pipe or a 14\" pipe"), ["12", "14"]);
    }

    #[test]
    fn words_are_held_as_they_stand() {
        assert!(holds_exactly("| 00553 | Fay Reed |", "fay reed"));
        assert!(!holds_exactly("| 005531 | Fay A. Reed |", "00553"));
        assert!(!holds_exactly("Fay A. Reed", "Fay Reed"));
        assert!(!holds_exactly("x", ""));
    }
}
