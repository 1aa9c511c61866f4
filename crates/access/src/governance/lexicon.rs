//! Words that tell what stands beside them, and names; all of them from the data files.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

use serde::Deserialize;

use super::finding::DetectorError;
use super::patterns;
use super::scan::{WORD, class};

/// What a word may be; several at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Meaning(u32);

impl Meaning {
    pub const NONE: Self = Self(0);
    pub const PHONE: Self = Self(1);
    pub const BIRTH: Self = Self(1 << 1);
    pub const ID: Self = Self(1 << 2);
    /// A key or token follows.
    pub const KEY: Self = Self(1 << 3);
    pub const PASSWORD: Self = Self(1 << 4);
    pub const ADDRESS: Self = Self(1 << 5);
    /// The number that follows is one of an order, article, invoice.
    pub const ORDER: Self = Self(1 << 6);
    pub const VERSION: Self = Self(1 << 7);
    pub const CHECKSUM: Self = Self(1 << 8);
    pub const MONTH: Self = Self(1 << 9);
    pub const GIVEN: Self = Self(1 << 10);
    /// A given name that is a place, a month or another word too.
    pub const GIVEN_OR_WORD: Self = Self(1 << 11);
    pub const SURNAME: Self = Self(1 << 12);
    pub const SURNAME_OR_WORD: Self = Self(1 << 13);
    pub const HONORIFIC: Self = Self(1 << 14);
    pub const ROLE: Self = Self(1 << 15);
    pub const PARTICLE: Self = Self(1 << 16);
    pub const GREETING: Self = Self(1 << 17);
    pub const CLOSING: Self = Self(1 << 18);
    pub const INTRODUCTION: Self = Self(1 << 19);
    /// The name of a field that holds a person's name.
    pub const NAME_FIELD: Self = Self(1 << 20);
    /// The name of a field that often does: `name`, `contact`.
    pub const MAYBE_NAME_FIELD: Self = Self(1 << 21);
    /// Never a part of a name, though it may have a capital letter.
    pub const COMMON: Self = Self(1 << 22);
    /// A name that follows is that of a street, a school, a saint.
    pub const PLACE_BEFORE: Self = Self(1 << 23);
    /// A name before it is that of a company, a street.
    pub const PLACE_AFTER: Self = Self(1 << 24);
    pub const ARTICLE: Self = Self(1 << 25);
    /// What follows it is often a person, and seldom a thing: "by", "ask", "laut".
    pub const BEFORE_PERSON: Self = Self(1 << 26);
    /// What persons do: "said", "schreibt", "a dit".
    pub const AFTER_PERSON: Self = Self(1 << 27);
    pub const CONJUNCTION: Self = Self(1 << 28);
    /// A payment card.
    pub const CARD: Self = Self(1 << 29);
    /// Ends a phrase, or means something only in capital letters.
    const PHRASE: Self = Self(1 << 31);

    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub const fn any(self, of: Self) -> bool {
        self.0 & of.0 != 0
    }

    pub const fn is_none(self) -> bool {
        self.0 == 0
    }

    pub const CONTEXTS: Self = Self(0b1_1111_1111 | Self::CARD.0);

    /// What a word in small letters must mean to be looked at.
    const TELLING: Self = Self(
        Self::CONTEXTS.0
            | Self::MONTH.0
            | Self::HONORIFIC.0
            | Self::ROLE.0
            | Self::GREETING.0
            | Self::CLOSING.0
            | Self::INTRODUCTION.0
            | Self::NAME_FIELD.0
            | Self::MAYBE_NAME_FIELD.0,
    );
}

/// Lists of words and phrases, separated by commas.
#[derive(Debug, Deserialize)]
struct Words {
    /// How surnames end, and few other words.
    surname_ending: String,
    months: Vec<String>,
    #[serde(flatten)]
    lists: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
struct Names {
    /// By language.
    given: HashMap<String, String>,
    surname: HashMap<String, String>,
    #[serde(flatten)]
    lists: BTreeMap<String, String>,
}

/// What the words in a list of a file are.
type Lists<const COUNT: usize> = [(&'static str, Meaning); COUNT];

const WORDS: Lists<25> = [
    ("phone", Meaning::PHONE),
    ("birth", Meaning::BIRTH),
    ("id", Meaning::ID),
    ("key", Meaning::KEY),
    ("password", Meaning::PASSWORD),
    ("address", Meaning::ADDRESS),
    ("order", Meaning::ORDER),
    ("version", Meaning::VERSION),
    ("checksum", Meaning::CHECKSUM),
    ("honorific", Meaning::HONORIFIC),
    ("role", Meaning::ROLE),
    ("particle", Meaning::PARTICLE),
    ("greeting", Meaning::GREETING),
    ("closing", Meaning::CLOSING),
    ("introduction", Meaning::INTRODUCTION),
    ("name_field", Meaning::NAME_FIELD),
    ("maybe_name_field", Meaning::MAYBE_NAME_FIELD),
    ("common", Meaning::COMMON),
    ("place_before", Meaning::PLACE_BEFORE),
    ("place_after", Meaning::PLACE_AFTER),
    ("article", Meaning::ARTICLE),
    ("before_person", Meaning::BEFORE_PERSON),
    ("after_person", Meaning::AFTER_PERSON),
    ("conjunction", Meaning::CONJUNCTION),
    ("card", Meaning::CARD),
];
const NAMES: Lists<2> = [("given_or_word", Meaning::GIVEN_OR_WORD), ("surname_or_word", Meaning::SURNAME_OR_WORD)];
/// Names of others, and words that are none.
const MORE_NAMES: Lists<5> = [
    ("given", Meaning::GIVEN),
    ("given_or_word", Meaning::GIVEN_OR_WORD),
    ("surname", Meaning::SURNAME),
    ("surname_or_word", Meaning::SURNAME_OR_WORD),
    ("word", Meaning::COMMON),
];

#[derive(Debug)]
struct Phrase {
    text: Box<[u8]>,
    meaning: Meaning,
    /// Written with capital letters in the data, and only so in a text.
    exact: bool,
}

/// Longer words are in no list.
const LONGEST: usize = 32;

type ByWord<T> = HashMap<Box<[u8]>, T, BuildHasherDefault<WordHasher>>;

#[derive(Debug, Default)]
pub struct Lexicon {
    words: ByWord<Meaning>,
    /// By their last word.
    phrases: ByWord<Vec<Phrase>>,
    months: ByWord<u8>,
    surname_endings: Vec<String>,
    /// Of all words, and of those that mean something in small letters.
    all: Filter<19>,
    telling: Filter<15>,
}

/// Tells most words that are not in a list at a glance, from their first eight bytes and their length.
#[derive(Debug)]
struct Filter<const BITS: u32>(Box<[u64]>);

impl<const BITS: u32> Default for Filter<BITS> {
    fn default() -> Self {
        Self(vec![0; 1 << (BITS - 6)].into())
    }
}

impl<const BITS: u32> Filter<BITS> {
    fn place(text: &[u8], start: usize, end: usize) -> (usize, u64) {
        let length = end - start;
        let head = match text.get(start..start + 8).and_then(|head| <[u8; 8]>::try_from(head).ok()) {
            Some(head) => u64::from_le_bytes(head),
            None => text[start..end].iter().take(8).rev().fold(0, |head, byte| head << 8 | u64::from(*byte)),
        };
        let head = if length < 8 { head & ((1 << (8 * length)) - 1) } else { head };
        // A letter and its capital differ in this bit.
        let folded = head | 0x2020_2020_2020_2020;
        let hash = (folded ^ (length as u64).rotate_left(56)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - BITS);
        ((hash >> 6) as usize, 1 << (hash & 63))
    }

    fn add(&mut self, word: &[u8]) {
        let (at, bit) = Self::place(word, 0, word.len());
        self.0[at] |= bit;
    }

    fn may_have(&self, text: &[u8], start: usize, end: usize) -> bool {
        let (at, bit) = Self::place(text, start, end);
        self.0[at] & bit != 0
    }
}

impl Lexicon {
    pub fn read(words: &str, names: &str, more_names: &str) -> Result<Self, DetectorError> {
        let words: Words = patterns::read("words", words)?;
        let names: Names = patterns::read("names", names)?;
        let mut lexicon = Self::default();
        lexicon.add_lists("words", words.lists, WORDS)?;
        lexicon.add_lists("names", names.lists, NAMES)?;
        lexicon.add_lists("names_more", patterns::read("names_more", more_names)?, MORE_NAMES)?;
        names.given.values().for_each(|list| lexicon.add(list, Meaning::GIVEN));
        names.surname.values().for_each(|list| lexicon.add(list, Meaning::SURNAME));
        if words.months.len() != 12 {
            return Err(DetectorError::Data("words", "a year has twelve months".to_owned()));
        }
        for (number, list) in (1_u8..).zip(&words.months) {
            lexicon.add(list, Meaning::MONTH.or(Meaning::COMMON));
            lexicon.months.extend(entries(list).map(|month| (folded(month.as_bytes()), number)));
        }
        lexicon.surname_endings = entries(&words.surname_ending).collect();
        for (word, meaning) in &lexicon.words {
            lexicon.all.add(word);
            let mut phrases = lexicon.phrases.get(word).into_iter().flatten();
            if meaning.any(Meaning::TELLING) || phrases.any(|phrase| phrase.meaning.any(Meaning::TELLING)) {
                lexicon.telling.add(word);
            }
        }
        Ok(lexicon)
    }

    fn add_lists<const COUNT: usize>(
        &mut self,
        file: &'static str,
        mut lists: BTreeMap<String, String>,
        known: Lists<COUNT>,
    ) -> Result<(), DetectorError> {
        for (name, meaning) in known {
            let list = lists.remove(name);
            let list = list.ok_or_else(|| DetectorError::Data(file, format!("there is no list `{name}`")))?;
            self.add(&list, meaning);
        }
        match lists.pop_first() {
            Some((name, _)) => Err(DetectorError::Data(file, format!("the list `{name}` is not known"))),
            None => Ok(()),
        }
    }

    fn add(&mut self, list: &str, meaning: Meaning) {
        for entry in entries(list) {
            let exact = entry.chars().any(char::is_uppercase);
            let text = folded(entry.as_bytes());
            let gap = text.iter().rposition(|byte| class(*byte) & WORD == 0);
            let begin = gap.map_or(0, |at| at + 1);
            if begin == 0 && !exact {
                let known = self.words.entry(text).or_default();
                *known = known.or(meaning);
                continue;
            }
            let key: Box<[u8]> = text[begin..].into();
            let known = self.words.entry(key.clone()).or_default();
            *known = known.or(Meaning::PHRASE);
            let text = if exact { entry.as_bytes().into() } else { text };
            self.phrases.entry(key).or_default().push(Phrase { text, meaning, exact });
        }
    }

    /// What the word `text[start..end]` means, and the phrases that end with it.
    pub fn meaning(&self, text: &str, start: usize, end: usize) -> Meaning {
        let bytes = text.as_bytes();
        let word = &bytes[start..end];
        if !self.all.may_have(bytes, start, end) {
            return Meaning::NONE;
        }
        let mut buffer = [0; LONGEST];
        let Some(key) = buffer.get_mut(..word.len()) else { return Meaning::NONE };
        key.copy_from_slice(word);
        fold(key);
        let Some(meaning) = self.words.get(&*key) else { return Meaning::NONE };
        if !meaning.any(Meaning::PHRASE) {
            return *meaning;
        }
        let mut found = Meaning(meaning.0 & !Meaning::PHRASE.0);
        for phrase in self.phrases.get(&*key).into_iter().flatten() {
            if ends_with(&bytes[..end], phrase) {
                found = found.or(phrase.meaning);
            }
        }
        found
    }

    /// Whether a word in small letters may tell something about what follows it.
    pub fn may_tell(&self, text: &str, start: usize, end: usize) -> bool {
        self.telling.may_have(text.as_bytes(), start, end)
    }

    /// Of a word that is in no list.
    pub fn ends_as_surname(&self, word: &str) -> bool {
        let longer = |ending: &&String| word.len() > ending.len() + 2;
        self.surname_endings.iter().filter(longer).any(|ending| word.ends_with(ending.as_str()))
    }

    /// 1 to 12.
    pub fn month(&self, word: &str) -> Option<u8> {
        self.months.get(&folded(word.as_bytes())).copied()
    }
}

/// A break in a list is a space.
fn entries(list: &str) -> impl Iterator<Item = String> {
    let entries = list.split(',').map(|entry| entry.split_whitespace().collect::<Vec<_>>().join(" "));
    entries.filter(|entry| !entry.is_empty())
}

/// Whether `text` ends with the phrase, and not with a part of a longer word; a space stands for `_` and `-` too.
fn ends_with(text: &[u8], phrase: &Phrase) -> bool {
    let Some(start) = text.len().checked_sub(phrase.text.len()) else { return false };
    if start > 0 && class(text[start - 1]) & WORD != 0 {
        return false;
    }
    let mut before = 0;
    text[start..].iter().zip(&phrase.text).all(|(byte, wanted)| {
        let read = if phrase.exact { *byte } else { folded_byte(*byte, before) };
        before = *byte;
        read == *wanted || (*wanted == b' ' && matches!(read, b'_' | b'-' | b'\t' | b'\n'))
    })
}

/// In small letters, as far as Latin letters go (`Ä` is 0xC3 0x84, `ä` 0xC3 0xA4, `Č` 0xC4 0x8C, `č` 0xC4 0x8D).
fn folded_byte(byte: u8, before: u8) -> u8 {
    match byte {
        b'A'..=b'Z' => byte | 0x20,
        0x80..=0x9E if before == 0xC3 => byte | 0x20,
        // Pairs, of which the capital letter is even or, in these ranges, odd.
        0x80..=0xBE if matches!(before, 0xC4 | 0xC5) => {
            let odd = byte > 0xB8 || before == 0xC5 && byte < 0x89;
            if odd { byte + byte % 2 } else { byte | 1 }
        }
        _ => byte,
    }
}

fn fold(word: &mut [u8]) {
    let mut before = 0;
    for byte in word {
        let folded = folded_byte(*byte, before);
        before = *byte;
        *byte = folded;
    }
}

fn folded(word: &[u8]) -> Box<[u8]> {
    let mut word: Box<[u8]> = word.into();
    fold(&mut word);
    word
}

/// Multiplies and rotates; the words are ours, so nobody can make them collide.
#[derive(Debug, Default)]
pub struct WordHasher(u64);

impl Hasher for WordHasher {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.0 = (self.0.rotate_left(5) ^ u64::from_le_bytes(word)).wrapping_mul(0x517c_c1b7_2722_0a95);
        }
    }

    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 29)
    }
}
