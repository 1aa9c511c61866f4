//! The words of each language, read from `data/receipts`.

use serde::{Deserialize, Deserializer};
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// Words of a class of action, each list separated by spaces.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Class {
    participle: String,
    past: String,
    infinitive: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(from = "HashMap<String, Class>")]
pub(super) struct Verbs {
    pub participles: HashMap<String, String>,
    pub past: HashMap<String, String>,
    pub infinitives: HashMap<String, String>,
}

impl From<HashMap<String, Class>> for Verbs {
    fn from(classes: HashMap<String, Class>) -> Self {
        let forms = |pick: fn(&Class) -> &str| by_word(classes.iter().map(|(class, one)| (class, pick(one))));
        Self {
            participles: forms(|one| &one.participle),
            past: forms(|one| &one.past),
            infinitives: forms(|one| &one.infinitive),
        }
    }
}

/// The words of one language, ready for look-up. Fields are named as in the file.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Language {
    /// The auxiliary may be far from the verb in the clause (German).
    pub far: bool,
    /// A bare past form after a subject reports a finished action (English).
    pub bare: bool,
    pub verbs: Verbs,
    endings: Vec<(String, String)>,
    prefixes: Vec<String>,
    /// Verbs that count only with one of these words after them.
    pub particles: HashMap<String, Phrases>,
    /// Words of place: after one, "is saved" describes a state.
    pub place: Words,
    pub letter: Words,
    pub ambiguous: Words,
    pub state_verbs: Words,
    pub first: Words,
    pub skip: Words,
    pub chain: Words,
    pub have: Phrases,
    pub perfect: Phrases,
    pub simple: Phrases,
    pub state: Phrases,
    pub recent: Phrases,
    pub negation: Words,
    pub negation_after: Words,
    pub modal: Words,
    pub finite: Words,
    pub after_headline: Words,
    pub split: Words,
    pub relative: Words,
    pub condition: Words,
    pub when: Words,
    pub not_relative_before: Words,
    pub confirm: Phrases,
    pub report: Phrases,
    pub content_intro: Phrases,
    pub plan_intro: Phrases,
    pub agent: Words,
    pub agent_self: Words,
    pub determiners: Words,
    pub year_after: Words,
    pub meant_for: Words,
    pub past_time: Phrases,
    pub weekdays: Words,
    pub own: Words,
    pub pronouns: Words,
    pub given: Words,
    pub parts: Words,
    pub source: Words,
    pub done: Phrases,
    pub presenting: Phrases,
    pub numbers: HashMap<String, usize>,
    /// Noun to the kind of thing it names.
    #[serde(deserialize_with = "by_noun")]
    pub nouns: HashMap<String, String>,
    pub things: Words,
    /// Things that are text only and can stand in the answer itself.
    pub plain: Words,
    pub polite: Words,
    /// Beginnings of verbs of doing, after a promise.
    pub deeds: Stems,
    /// Beginnings of verbs that announce by themselves: "checking".
    pub busy: Stems,
    pub promise: Phrases,
    pub wish: Phrases,
    pub waiting: Phrases,
    /// Conditions that make a promise an offer.
    pub halts: Words,
    /// Words for a state that has just been reached.
    pub now: Words,
    pub stands: Words,
    /// Words that show which language a text is in.
    #[serde(skip)]
    common: HashSet<String>,
}

/// Words, in the file separated by spaces.
#[derive(Debug, Default, Deserialize)]
#[serde(from = "String")]
pub(super) struct Words(HashSet<String>);

impl From<String> for Words {
    fn from(text: String) -> Self {
        Self(text.split_whitespace().map(str::to_owned).collect())
    }
}

impl Words {
    pub(super) fn contains(&self, word: &str) -> bool {
        self.0.contains(word)
    }
}

/// Phrases, each a list of words.
#[derive(Debug, Default, Deserialize)]
#[serde(from = "Vec<String>")]
pub(super) struct Phrases(Vec<Vec<String>>);

impl From<Vec<String>> for Phrases {
    fn from(list: Vec<String>) -> Self {
        let split = |text: &String| text.split_whitespace().map(str::to_owned).collect();
        Self(list.iter().map(split).collect())
    }
}

impl Phrases {
    pub(super) fn is(&self, words: &[&str]) -> bool {
        self.0.iter().any(|phrase| phrase == words)
    }

    /// Length of the phrase that `words` begins with.
    pub(super) fn beginning(&self, words: &[&str]) -> Option<usize> {
        let here = |phrase: &&Vec<String>| words.len() >= phrase.len() && words[..phrase.len()] == phrase[..];
        self.0.iter().filter(here).map(Vec::len).max()
    }

    pub(super) fn begins(&self, words: &[&str]) -> bool {
        self.beginning(words).is_some()
    }

    pub(super) fn ends(&self, words: &[&str]) -> bool {
        self.0.iter().any(|phrase| words.len() >= phrase.len() && words[words.len() - phrase.len()..] == phrase[..])
    }

    /// End of the first phrase that occurs in `words`.
    pub(super) fn find(&self, words: &[&str]) -> Option<usize> {
        (0..words.len()).find_map(|at| {
            let rest = &words[at..];
            let here = |phrase: &&Vec<String>| rest.len() >= phrase.len() && rest[..phrase.len()] == phrase[..];
            self.0.iter().find(here).map(|phrase| at + phrase.len())
        })
    }

    /// Whether all words of one phrase occur anywhere in `words`.
    pub(super) fn scattered(&self, words: &[&str]) -> bool {
        let there = |phrase: &Vec<String>| phrase.iter().all(|word| words.contains(&word.as_str()));
        self.0.iter().any(there)
    }
}

/// Word stems by their first two letters.
#[derive(Debug, Default, Deserialize)]
#[serde(from = "String")]
pub(super) struct Stems(HashMap<String, Vec<String>>);

/// Most letters of an ending.
const ENDING: usize = 4;

impl From<String> for Stems {
    fn from(text: String) -> Self {
        let mut map: HashMap<String, Vec<String>> = HashMap::new();
        for stem in text.split_whitespace() {
            map.entry(Self::key(stem)).or_default().push(stem.to_owned());
        }
        Self(map)
    }
}

impl Stems {
    fn key(word: &str) -> String {
        word.chars().take(2).collect()
    }

    /// Whether `word` is one of the stems with an ending; a stem that ends with `.` is a whole word.
    pub(super) fn has(&self, word: &str) -> bool {
        let list = self.0.get(&Self::key(word));
        list.into_iter().flatten().any(|stem| match stem.strip_suffix('.') {
            Some(whole) => whole == word,
            None => word.strip_prefix(stem.as_str()).is_some_and(|ending| ending.chars().count() <= ENDING),
        })
    }
}

fn by_word<'a>(lists: impl Iterator<Item = (&'a String, &'a str)>) -> HashMap<String, String> {
    let mut map = HashMap::new();
    for (class, list) in lists {
        for word in list.split_whitespace() {
            map.insert(word.to_owned(), class.clone());
        }
    }
    map
}

fn by_noun<'de, D: Deserializer<'de>>(deserializer: D) -> Result<HashMap<String, String>, D::Error> {
    let kinds = HashMap::<String, String>::deserialize(deserializer)?;
    Ok(by_word(kinds.iter().map(|(kind, list)| (kind, list.as_str()))))
}

impl Language {
    fn read(text: &str) -> serde_json::Result<Self> {
        let mut lang: Self = serde_json::from_str(text)?;
        let common = [
            &lang.chain,
            &lang.determiners,
            &lang.finite,
            &lang.modal,
            &lang.split,
            &lang.condition,
            &lang.relative,
            &lang.first,
            &lang.own,
            &lang.source,
            &lang.meant_for,
        ];
        lang.common = common.into_iter().flat_map(|list| &list.0).cloned().collect();
        Ok(lang)
    }

    /// `word` without a prefix that is joined to it, such as Arabic "and".
    pub(super) fn bare_word<'a>(&self, word: &'a str) -> &'a str {
        for prefix in &self.prefixes {
            if let Some(rest) = word.strip_prefix(prefix.as_str())
                && self.knows(rest)
            {
                return rest;
            }
        }
        word
    }

    pub(super) fn is_common(&self, word: &str) -> bool {
        self.common.contains(word)
    }

    fn knows(&self, word: &str) -> bool {
        self.verbs.participles.contains_key(word)
            || self.verbs.past.contains_key(word)
            || self.verbs.infinitives.contains_key(word)
            || self.chain.contains(word)
            || self.first.contains(word)
            || self.skip.contains(word)
    }

    /// The class of the participle `word` in any gender and number.
    pub(super) fn participle(&self, word: &str) -> Option<&str> {
        let plain = self.verbs.participles.get(word);
        let class = plain.or_else(|| {
            self.endings.iter().find_map(|(ending, instead)| {
                let stem = word.strip_suffix(ending.as_str())?;
                self.verbs.participles.get(&format!("{stem}{instead}"))
            })
        });
        class.map(String::as_str)
    }

    /// The kind of thing that `word` names by itself or as the last part of a compound.
    pub(super) fn noun(&self, word: &str) -> Option<&str> {
        if let Some(kind) = self.nouns.get(word) {
            return Some(kind);
        }
        if !self.far {
            return None;
        }
        // German joins nouns; the last one determines the kind.
        let starts = word.char_indices().skip(2).map(|(at, _)| at);
        let mut tails = starts.take(24).filter_map(|at| self.nouns.get(&word[at..]));
        tails.next().map(String::as_str)
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Proofs {
    /// Tool to the classes of action it proves.
    pub tools: HashMap<String, Vec<String>>,
    /// First word of a command to the classes it proves.
    pub commands: HashMap<String, Vec<String>>,
    /// Words of the names and receipts of tools that are not in `tools`.
    pub words: HashMap<String, Vec<String>>,
    /// Tools whose result names what they looked at.
    pub names_in_content: HashSet<String>,
    /// Arguments that hold text rather than a name.
    pub text_arguments: HashSet<String>,
    /// Claimed class to the classes that prove it.
    pub accepts: HashMap<String, Vec<String>>,
    /// Claimed class to its past tense, for "no tool … in this run".
    pub past: HashMap<String, String>,
    pub extensions: HashSet<String>,
    /// Abbreviations, without the last point.
    pub abbreviations: HashSet<String>,
    /// Months, after which a number with a point is a date.
    pub months: HashSet<String>,
}

const SHEETS: [&str; 7] = [
    include_str!("../../data/receipts/en.json"),
    include_str!("../../data/receipts/de.json"),
    include_str!("../../data/receipts/fr.json"),
    include_str!("../../data/receipts/es.json"),
    include_str!("../../data/receipts/it.json"),
    include_str!("../../data/receipts/pt.json"),
    include_str!("../../data/receipts/ar.json"),
];

const PROOFS: &str = include_str!("../../data/receipts/proofs.json");

// The files are part of the program and a test reads each, so a broken one can't be released.
static LANGUAGES: LazyLock<Vec<Language>> =
    LazyLock::new(|| SHEETS.iter().filter_map(|text| Language::read(text).ok()).collect());
static PROOF: LazyLock<Proofs> = LazyLock::new(|| serde_json::from_str(PROOFS).unwrap_or_default());

pub(super) fn languages() -> &'static [Language] {
    &LANGUAGES
}

pub(super) fn proofs() -> &'static Proofs {
    &PROOF
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::{Language, PROOFS, Proofs, SHEETS};

    #[test]
    fn every_file_is_read() {
        for text in SHEETS {
            let lang = Language::read(text).unwrap();
            assert!(!lang.verbs.participles.is_empty());
        }
        let proofs = serde_json::from_str::<Proofs>(PROOFS).unwrap();
        assert!(!proofs.accepts.is_empty());
    }
}
