//! The words of each language, read from `data/receipts`.

use serde::Deserialize;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// Words of a class of action, each list separated by spaces.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Verbs {
    participle: String,
    past: String,
    infinitive: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Sheet {
    far: bool,
    bare: bool,
    verbs: HashMap<String, Verbs>,
    endings: Vec<(String, String)>,
    prefixes: Vec<String>,
    particles: HashMap<String, Vec<String>>,
    place: String,
    letter: String,
    ambiguous: String,
    state_verbs: String,
    first: String,
    skip: String,
    chain: String,
    have: Vec<String>,
    perfect: Vec<String>,
    simple: Vec<String>,
    state: Vec<String>,
    recent: Vec<String>,
    negation: String,
    negation_after: String,
    modal: String,
    finite: String,
    after_headline: String,
    split: String,
    relative: String,
    condition: String,
    when: String,
    not_relative_before: String,
    confirm: Vec<String>,
    report: Vec<String>,
    content_intro: Vec<String>,
    plan_intro: Vec<String>,
    agent: String,
    agent_self: String,
    determiners: String,
    year_after: String,
    meant_for: String,
    past_time: Vec<String>,
    weekdays: String,
    own: String,
    pronouns: String,
    given: String,
    parts: String,
    source: String,
    done: Vec<String>,
    presenting: Vec<String>,
    numbers: HashMap<String, usize>,
    nouns: HashMap<String, String>,
    things: String,
    plain: String,
    polite: String,
    acts: String,
    soft: String,
    either: String,
    goes_on: String,
    counts: String,
    genres: String,
    texts: String,
    places: String,
    deeds: String,
    busy: String,
    promise: Vec<String>,
    wish: Vec<String>,
    waiting: Vec<String>,
    halts: String,
    refusal: Vec<String>,
    now: String,
    stands: String,
}

/// The words of one language, ready for look-up. Fields are named as in the file.
#[derive(Debug)]
pub(super) struct Language {
    /// The auxiliary may be far from the verb in the clause (German).
    pub far: bool,
    /// A bare past form after a subject reports a finished action (English).
    pub bare: bool,
    pub participles: HashMap<String, String>,
    pub past: HashMap<String, String>,
    pub infinitives: HashMap<String, String>,
    endings: Vec<(String, String)>,
    prefixes: Vec<String>,
    /// Verbs that count only with one of these words after them.
    pub particles: HashMap<String, Phrases>,
    /// Words of place: after one, "is saved" describes a state.
    pub place: HashSet<String>,
    /// Words that a letter begins with.
    pub letter: HashSet<String>,
    pub ambiguous: HashSet<String>,
    pub state_verbs: HashSet<String>,
    pub first: HashSet<String>,
    pub skip: HashSet<String>,
    pub chain: HashSet<String>,
    pub have: Phrases,
    pub perfect: Phrases,
    pub simple: Phrases,
    pub state: Phrases,
    pub recent: Phrases,
    pub negation: HashSet<String>,
    pub negation_after: HashSet<String>,
    pub modal: HashSet<String>,
    pub finite: HashSet<String>,
    pub after_headline: HashSet<String>,
    pub split: HashSet<String>,
    pub relative: HashSet<String>,
    pub condition: HashSet<String>,
    pub when: HashSet<String>,
    pub not_relative_before: HashSet<String>,
    pub confirm: Phrases,
    pub report: Phrases,
    pub content_intro: Phrases,
    pub plan_intro: Phrases,
    pub agent: HashSet<String>,
    pub agent_self: HashSet<String>,
    pub determiners: HashSet<String>,
    pub year_after: HashSet<String>,
    pub meant_for: HashSet<String>,
    pub past_time: Phrases,
    pub weekdays: HashSet<String>,
    pub own: HashSet<String>,
    pub pronouns: HashSet<String>,
    pub given: HashSet<String>,
    pub parts: HashSet<String>,
    pub source: HashSet<String>,
    pub done: Phrases,
    pub presenting: Phrases,
    pub numbers: HashMap<String, usize>,
    /// Noun to the kind of thing it names.
    pub nouns: HashMap<String, String>,
    pub things: HashSet<String>,
    /// Things that are text only and can stand in the answer itself.
    pub plain: HashSet<String>,
    /// Polite words before the actual request.
    pub polite: HashSet<String>,
    /// Beginnings of verbs that ask for an act in the world.
    pub acts: Stems,
    /// Those of them that may be nouns, unless one of `goes_on`, a name or a number follows.
    pub either: Stems,
    pub goes_on: HashSet<String>,
    /// Beginnings of verbs that ask for an act only where a place is named.
    pub soft: Stems,
    /// Words after "how" that ask for a number.
    pub counts: HashSet<String>,
    /// Kinds of texts that people ask for.
    pub genres: HashSet<String>,
    /// Beginnings of words that ask for a text or an explanation.
    pub texts: Stems,
    /// Beginnings of the names of places where things are done.
    pub places: Stems,
    /// Beginnings of verbs of doing, after a promise.
    pub deeds: Stems,
    /// Beginnings of verbs that announce by themselves: "checking".
    pub busy: Stems,
    pub promise: Phrases,
    pub wish: Phrases,
    pub waiting: Phrases,
    /// Conditions that make a promise an offer.
    pub halts: HashSet<String>,
    pub refusal: Phrases,
    /// Words for a state that has just been reached.
    pub now: HashSet<String>,
    /// Verbs of state.
    pub stands: HashSet<String>,
    /// Words that show which language a text is in.
    common: HashSet<String>,
}

/// Phrases, each a list of words.
#[derive(Debug, Default)]
pub(super) struct Phrases(Vec<Vec<String>>);

impl Phrases {
    fn new(list: &[String]) -> Self {
        let split = |text: &String| text.split_whitespace().map(str::to_owned).collect();
        Self(list.iter().map(split).collect())
    }

    pub(super) fn is(&self, words: &[&str]) -> bool {
        self.0.iter().any(|phrase| phrase == words)
    }

    /// Length of the phrase that `words` begins with.
    pub(super) fn beginning(&self, words: &[&str]) -> Option<usize> {
        let here = |phrase: &&Vec<String>| words.len() >= phrase.len() && words[..phrase.len()] == phrase[..];
        self.0.iter().filter(here).map(Vec::len).max()
    }

    pub(super) fn begins(&self, words: &[&str]) -> bool {
        self.0.iter().any(|phrase| words.len() >= phrase.len() && words[..phrase.len()] == phrase[..])
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
#[derive(Debug, Default)]
pub(super) struct Stems(HashMap<String, Vec<String>>);

/// Most letters of an ending.
const ENDING: usize = 4;

impl Stems {
    fn new(text: &str) -> Self {
        let mut map: HashMap<String, Vec<String>> = HashMap::new();
        for stem in text.split_whitespace() {
            map.entry(Self::key(stem)).or_default().push(stem.to_owned());
        }
        Self(map)
    }

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

fn words(text: &str) -> HashSet<String> {
    text.split_whitespace().map(str::to_owned).collect()
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

impl From<Sheet> for Language {
    fn from(source: Sheet) -> Self {
        let verbs = |pick: fn(&Verbs) -> &str| by_word(source.verbs.iter().map(|(class, one)| (class, pick(one))));
        let common = [
            &source.chain,
            &source.determiners,
            &source.finite,
            &source.modal,
            &source.split,
            &source.condition,
            &source.relative,
            &source.first,
            &source.own,
            &source.source,
            &source.meant_for,
        ];
        Self {
            common: common.into_iter().flat_map(|list| words(list)).collect(),
            far: source.far,
            bare: source.bare,
            participles: verbs(|one| &one.participle),
            past: verbs(|one| &one.past),
            infinitives: verbs(|one| &one.infinitive),
            endings: source.endings,
            prefixes: source.prefixes,
            particles: source.particles.iter().map(|(verb, list)| (verb.clone(), Phrases::new(list))).collect(),
            place: words(&source.place),
            letter: words(&source.letter),
            ambiguous: words(&source.ambiguous),
            state_verbs: words(&source.state_verbs),
            first: words(&source.first),
            skip: words(&source.skip),
            chain: words(&source.chain),
            have: Phrases::new(&source.have),
            perfect: Phrases::new(&source.perfect),
            simple: Phrases::new(&source.simple),
            state: Phrases::new(&source.state),
            recent: Phrases::new(&source.recent),
            negation: words(&source.negation),
            negation_after: words(&source.negation_after),
            modal: words(&source.modal),
            finite: words(&source.finite),
            after_headline: words(&source.after_headline),
            split: words(&source.split),
            relative: words(&source.relative),
            condition: words(&source.condition),
            when: words(&source.when),
            not_relative_before: words(&source.not_relative_before),
            confirm: Phrases::new(&source.confirm),
            report: Phrases::new(&source.report),
            content_intro: Phrases::new(&source.content_intro),
            plan_intro: Phrases::new(&source.plan_intro),
            agent: words(&source.agent),
            agent_self: words(&source.agent_self),
            determiners: words(&source.determiners),
            year_after: words(&source.year_after),
            meant_for: words(&source.meant_for),
            past_time: Phrases::new(&source.past_time),
            weekdays: words(&source.weekdays),
            own: words(&source.own),
            pronouns: words(&source.pronouns),
            given: words(&source.given),
            parts: words(&source.parts),
            source: words(&source.source),
            done: Phrases::new(&source.done),
            presenting: Phrases::new(&source.presenting),
            numbers: source.numbers,
            nouns: by_word(source.nouns.iter().map(|(kind, list)| (kind, list.as_str()))),
            things: words(&source.things),
            plain: words(&source.plain),
            polite: words(&source.polite),
            acts: Stems::new(&source.acts),
            soft: Stems::new(&source.soft),
            either: Stems::new(&source.either),
            goes_on: words(&source.goes_on),
            counts: words(&source.counts),
            genres: words(&source.genres),
            texts: Stems::new(&source.texts),
            places: Stems::new(&source.places),
            deeds: Stems::new(&source.deeds),
            busy: Stems::new(&source.busy),
            promise: Phrases::new(&source.promise),
            wish: Phrases::new(&source.wish),
            waiting: Phrases::new(&source.waiting),
            halts: words(&source.halts),
            refusal: Phrases::new(&source.refusal),
            now: words(&source.now),
            stands: words(&source.stands),
        }
    }
}

impl Language {
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
        self.participles.contains_key(word)
            || self.past.contains_key(word)
            || self.infinitives.contains_key(word)
            || self.chain.contains(word)
            || self.first.contains(word)
            || self.skip.contains(word)
    }

    /// The class of the participle `word` in any gender and number.
    pub(super) fn participle(&self, word: &str) -> Option<&str> {
        let plain = self.participles.get(word);
        let class = plain.or_else(|| {
            self.endings.iter().find_map(|(ending, instead)| {
                let stem = word.strip_suffix(ending.as_str())?;
                self.participles.get(&format!("{stem}{instead}"))
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
    /// Languages and forms of code.
    pub code: HashSet<String>,
    /// Words before the name of a language: "in Python".
    pub within: HashSet<String>,
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
static LANGUAGES: LazyLock<Vec<Language>> = LazyLock::new(|| {
    let read = |text: &&str| serde_json::from_str::<Sheet>(text).ok().map(Language::from);
    SHEETS.iter().filter_map(read).collect()
});
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
    use super::{PROOFS, Proofs, SHEETS, Sheet};

    #[test]
    fn every_file_is_read() {
        for text in SHEETS {
            let source = serde_json::from_str::<Sheet>(text).unwrap();
            assert!(!source.verbs.is_empty());
        }
        let proofs = serde_json::from_str::<Proofs>(PROOFS).unwrap();
        assert!(!proofs.accepts.is_empty());
    }
}
