//! Reads an answer in the light of its request: which parts can be the assistant speaking of its own acts.

use super::asks::{Asks, asks};
use super::detect::Found;
use super::lexicon::{Language, Words, languages};
use super::promise::announces;
use super::text::Sentence;
use super::token::{Kind, first_tokens};
use super::verb::Form;
use std::collections::HashSet;

/// Number of sentences at the beginning and the end in which an answer speaks of itself.
const NEAR: usize = 3;
/// Letters that must agree for words of request and answer to count as the same.
const STEM: usize = 4;
/// Shortest word that says what a sentence is about, letters.
const TELLING: usize = 4;

/// What is known of an answer if no tool ran.
pub(super) struct Idle {
    asks: Asks,
    /// Indexes of the sentences in the assistant's own voice, in order.
    voice: Vec<usize>,
    refuses: bool,
    /// Stems of the significant words of the request.
    about: HashSet<String>,
}

impl Idle {
    pub(super) fn new(request: &str, text: &[Sentence]) -> Self {
        let voice: Vec<usize> = (0..text.len()).filter(|at| !text[*at].handed && !text[*at].item).collect();
        let refuses = voice.iter().take(NEAR).any(|at| refuses(&text[*at]));
        let all = first_tokens(request, usize::MAX);
        Self { asks: asks(request), refuses, about: all.iter().filter_map(|token| stem(&token.norm)).collect(), voice }
    }

    /// Whether the answer can claim anything at all.
    pub(super) fn is_open(&self) -> bool {
        self.asks != Asks::Words && !self.refuses
    }

    fn near(&self, at: usize) -> bool {
        let place = self.voice.binary_search(&at);
        place.is_ok_and(|place| place < NEAR || place + NEAR >= self.voice.len())
    }

    pub(super) fn counts(&self, at: usize, sentence: &Sentence, found: &Found) -> bool {
        if sentence.handed || !self.is_open() {
            return false;
        }
        match self.asks {
            Asks::Do | Asks::Look => sentence.item || self.near(at),
            Asks::Open if found.form == Form::Active => self.near(at) && found.class != "make",
            // A short answer that says little else.
            Asks::Open => self.voice.len() < NEAR && (found.done || found.form == Form::Perfect),
            Asks::Words => false,
        }
    }

    /// Whether sentence `at` says that the requested thing has happened: "Your flight is now booked".
    pub(super) fn tells(&self, at: usize, sentence: &Sentence, lang: &Language) -> bool {
        let early = self.voice.iter().take(2).any(|one| *one == at);
        if !early || !self.is_open() || sentence.question || self.about.is_empty() {
            return false;
        }
        let word =
            |list: &Words| sentence.tokens.iter().any(|token| token.kind == Kind::Word && list.contains(&token.norm));
        if word(&lang.modal) || word(&lang.condition) || presents(sentence) {
            return false;
        }
        let shared = self.shared(sentence);
        let brief = self.voice.len() <= NEAR && !word(&lang.negation);
        match self.asks {
            Asks::Do if !word(&lang.stands) => shared > 2,
            Asks::Do => shared > 1 || (shared == 1 && (brief || word(&lang.now))),
            Asks::Look => shared > 1 && word(&lang.stands) && word(&lang.now),
            Asks::Open | Asks::Words => false,
        }
    }

    /// Number of significant words that `sentence` shares with the request.
    fn shared(&self, sentence: &Sentence) -> usize {
        let stems = sentence.tokens.iter().filter_map(|token| stem(&token.norm));
        let shared: HashSet<String> = stems.filter(|stem| self.about.contains(stem)).collect();
        shared.len()
    }

    /// Whether sentence `at` announces an act after which the answer stops.
    pub(super) fn promises(&self, at: usize, text: &[Sentence]) -> bool {
        let sentence = &text[at];
        if sentence.handed || !self.is_open() {
            return false;
        }
        let asked = matches!(self.asks, Asks::Do | Asks::Look);
        let last = self.voice.last() == Some(&at);
        let here =
            if asked { sentence.item || self.near(at) } else { !sentence.item && (last || self.voice.len() <= 2) };
        let wished = self.asks == Asks::Do || (asked && self.shared(sentence) > 1);
        here && languages().iter().any(|lang| announces(sentence, lang, wished))
    }
}

fn stem(word: &str) -> Option<String> {
    (word.chars().count() >= TELLING).then(|| word.chars().take(STEM).collect())
}

fn refuses(sentence: &Sentence) -> bool {
    languages().iter().any(|lang| lang.refusal.find(&sentence.words()).is_some())
}

pub(super) fn presents(sentence: &Sentence) -> bool {
    languages().iter().any(|lang| lang.presenting.find(&sentence.words()).is_some())
}
