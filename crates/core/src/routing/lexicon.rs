//! Finds the phrases of a data file in a message: whole words, the longest phrase first.

use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};

/// The part of a message that is examined, bytes.
const LOOKED_AT: usize = 1536;
/// The first words say more about what is wanted than the rest, which may be material.
const LEAD: usize = 24;
/// Factor by which they count more.
const LEAD_FACTOR: u32 = 3;
/// Most words that a `*` stands for.
const GAP: usize = 6;
/// Points of a decisive word, and of one that is only a hint.
const STRONG: u32 = 2;
const WEAK: u32 = 1;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sheet {
    #[serde(rename = "about")]
    _about: String,
    /// The first kind wins a tie.
    pub order: Vec<String>,
    sets: BTreeMap<String, Vec<String>>,
    ignore: Vec<String>,
    #[serde(alias = "tasks", alias = "hints")]
    kinds: BTreeMap<String, BTreeMap<String, Words>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Words {
    words: Vec<String>,
    #[serde(default)]
    weak: Vec<String>,
}

impl Sheet {
    /// What is wrong with the file, for its editors.
    #[cfg(test)]
    pub fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        for name in self.kinds.keys().filter(|name| !self.order.contains(name)) {
            problems.push(format!("`{name}` is not in `order`"));
        }
        let all = self.kinds.values().flat_map(BTreeMap::values);
        let phrases = all.flat_map(|words| words.words.iter().chain(&words.weak));
        for phrase in phrases.chain(&self.ignore) {
            let spellings = spellings(phrase, &self.sets);
            let first = spellings.first().and_then(|words| words.first());
            if first.is_none_or(|word| word == "*") {
                problems.push(format!("`{phrase}` has no first word, or names no set"));
            }
            let joined = spellings.iter().flatten().filter(|word| *word != "*");
            for word in joined.filter(|word| split(word).ne([word.as_str()])) {
                problems.push(format!("`{word}` in `{phrase}` is not one word"));
            }
        }
        problems
    }
}

#[derive(Debug, Default)]
pub(super) struct Lexicon {
    words: HashMap<String, u32>,
    /// Phrases by their first word, the longest first.
    phrases: HashMap<u32, Vec<Phrase>>,
    kinds: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Phrase {
    rest: Vec<Part>,
    /// Index of its kind in `order`; `None` if it counts for none.
    kind: Option<usize>,
    points: u32,
    /// Index of its entry in the file; an entry counts once.
    entry: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Word(u32),
    Gap,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Found {
    pub points: u32,
    /// As written in the message, in lower case.
    pub words: Vec<String>,
}

impl Lexicon {
    /// Reads a sheet. Phrases without a word or with an unknown set are left out.
    pub fn new(sheet: &Sheet) -> Self {
        let mut lexicon = Self { kinds: sheet.order.len(), ..Self::default() };
        let mut entry = 0;
        let mut add = |phrase: &str, kind: Option<usize>, per_word: u32| {
            entry += 1;
            for spelling in spellings(phrase, &sheet.sets) {
                lexicon.add(&spelling, kind, per_word, entry);
            }
        };
        for phrase in &sheet.ignore {
            add(phrase, None, 0);
        }
        for (at, name) in sheet.order.iter().enumerate() {
            for words in sheet.kinds.get(name).into_iter().flat_map(BTreeMap::values) {
                words.words.iter().for_each(|one| add(one, Some(at), STRONG));
                words.weak.iter().for_each(|one| add(one, Some(at), WEAK));
            }
        }
        for list in lexicon.phrases.values_mut() {
            // Of equal length, the kind that wins ties comes first.
            list.sort_by_key(|phrase| (std::cmp::Reverse(phrase.length()), phrase.kind));
        }
        lexicon
    }

    fn add(&mut self, spelling: &[String], kind: Option<usize>, per_word: u32, entry: usize) {
        let mut parts = spelling.iter().map(|word| match word.as_str() {
            "*" => Part::Gap,
            _ => Part::Word(self.id(word)),
        });
        let Some(Part::Word(first)) = parts.next() else {
            return;
        };
        let rest: Vec<Part> = parts.collect();
        let mut phrase = Phrase { rest, kind, points: 0, entry };
        // Points stop growing at three words, since longer phrases are no surer.
        phrase.points = match per_word {
            WEAK => WEAK,
            each => each * u32::try_from(phrase.length().min(3)).unwrap_or(3),
        };
        self.phrases.entry(first).or_default().push(phrase);
    }

    fn id(&mut self, word: &str) -> u32 {
        let next = u32::try_from(self.words.len()).unwrap_or(u32::MAX);
        *self.words.entry(word.to_owned()).or_insert(next)
    }

    /// What the beginning of `message` holds of each kind, indexed as in the sheet's order.
    pub fn search(&self, message: &str) -> Vec<Found> {
        let lower = beginning(message).to_lowercase();
        let tokens: Vec<&str> = split(&lower).collect();
        let mut ids: Vec<Option<u32>> = tokens.iter().map(|token| self.lookup(token)).collect();
        let mut found = vec![Found::default(); self.kinds];
        let mut seen = Vec::new();
        for at in 0..ids.len() {
            let Some((phrase, used)) = self.longest(&ids, at) else {
                continue;
            };
            // Words in a gap may form a phrase of their own; the phrase's own words are used up.
            for place in &used {
                ids[*place] = None;
            }
            if let Some(kind) = phrase.kind.filter(|_| !seen.contains(&phrase.entry)) {
                seen.push(phrase.entry);
                let factor = if at < LEAD { LEAD_FACTOR } else { 1 };
                found[kind].points += phrase.points * factor;
                let last = used.last().copied().unwrap_or(at);
                found[kind].words.push(tokens[at..=last].join(" "));
            }
        }
        found
    }

    /// The longest phrase that begins at a word, and the positions of its words.
    fn longest(&self, ids: &[Option<u32>], at: usize) -> Option<(&Phrase, Vec<usize>)> {
        let list = self.phrases.get(&(*ids.get(at)?)?)?;
        let mut used = vec![at];
        let phrase = list.iter().find(|phrase| follows(&phrase.rest, ids, at + 1, &mut used))?;
        Some((phrase, used))
    }

    /// Number of a word; Arabic words are also tried without joined prefixes.
    fn lookup(&self, token: &str) -> Option<u32> {
        if token.is_ascii() {
            return self.words.get(token).copied();
        }
        let plain = plain(token);
        let known = |word: &str| self.words.get(word).copied();
        known(&plain).or_else(|| without_prefix(&plain).find_map(known))
    }
}

impl Phrase {
    fn length(&self) -> usize {
        1 + self.rest.iter().filter(|part| **part != Part::Gap).count()
    }
}

/// Whether `parts` follow; then the positions of their words are added to `used`.
fn follows(parts: &[Part], ids: &[Option<u32>], at: usize, used: &mut Vec<usize>) -> bool {
    let Some((part, rest)) = parts.split_first() else {
        return true;
    };
    match part {
        Part::Word(word) => {
            if ids.get(at).copied().flatten() != Some(*word) {
                return false;
            }
            used.push(at);
            let all = follows(rest, ids, at + 1, used);
            if !all {
                used.pop();
            }
            all
        }
        Part::Gap => (at..=at + GAP).any(|next| follows(rest, ids, next, used)),
    }
}

fn beginning(message: &str) -> &str {
    &message[..message.floor_char_boundary(LOOKED_AT)]
}

fn split(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && !is_mark(c)).filter(|word| !word.is_empty())
}

/// Arabic vowel marks and the elongation mark (tatweel).
fn is_mark(c: char) -> bool {
    matches!(c, '\u{64b}'..='\u{652}' | '\u{670}' | '\u{640}')
}

/// A word without vowel marks and with one form for letters that have several.
fn plain(word: &str) -> String {
    word.chars()
        .filter(|c| !is_mark(*c))
        .map(|c| match c {
            'أ' | 'إ' | 'آ' => 'ا',
            'ة' => 'ه',
            'ى' => 'ي',
            other => other,
        })
        .collect()
}

/// The word without the conjunction, preposition or article that Arabic joins to it.
fn without_prefix(word: &str) -> impl Iterator<Item = &str> {
    ["وال", "بال", "فال", "ال", "لل", "و", "ف"]
        .into_iter()
        .filter_map(|prefix| word.strip_prefix(prefix))
        .filter(|rest| rest.chars().count() > 2)
}

/// All spellings of a phrase of the file, each as words.
fn spellings(phrase: &str, sets: &BTreeMap<String, Vec<String>>) -> Vec<Vec<String>> {
    let mut all = vec![Vec::new()];
    for word in phrase.split_whitespace() {
        let forms: Vec<String> = match word.strip_prefix('@') {
            Some(set) => sets.get(set).cloned().unwrap_or_default(),
            None => forms(word),
        };
        all = all
            .iter()
            .flat_map(|begun| {
                forms.iter().map(move |form| {
                    let mut longer: Vec<String> = begun.clone();
                    longer.push(plain(&form.to_lowercase()));
                    longer
                })
            })
            .collect();
    }
    all
}

/// `plan||s|ned` is plan, plans, planned.
fn forms(word: &str) -> Vec<String> {
    let mut parts = word.split('|');
    let stem = parts.next().unwrap_or_default();
    let forms: Vec<String> = parts.map(|end| format!("{stem}{end}")).collect();
    if forms.is_empty() {
        return vec![stem.to_owned()];
    }
    forms
}

#[cfg(test)]
#[path = "lexicon_tests.rs"]
mod tests;
