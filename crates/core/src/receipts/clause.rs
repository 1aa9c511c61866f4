//! Splits sentences into clauses by the words of one language.

use super::lexicon::Language;
use super::text::Sentence;
use super::token::{Kind, Token};
use std::ops::Range;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hang {
    Main,
    /// It describes a thing or reports what somebody says.
    Relative,
    /// It is a condition or an indirect question.
    Condition,
    When,
}

/// What stands before a clause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Joint {
    /// The beginning of the sentence, a colon, a dash or the like.
    Hard,
    Comma,
    /// A word such as "and".
    And,
    /// A word such as "that" or "if".
    Starter,
}

#[derive(Debug)]
pub(super) struct Clause<'a> {
    pub range: Range<usize>,
    /// Its words without adverbs; a token that is not a word is "".
    pub words: Vec<&'a str>,
    /// The token index of each word.
    pub at: Vec<usize>,
    pub hang: Hang,
    pub joint: Joint,
}

impl Clause<'_> {
    /// Whether it only names more things: "and b.md".
    pub(super) fn names_only(&self, lang: &Language) -> bool {
        let named = |word: &&str| {
            word.is_empty()
                || lang.determiners.contains(word)
                || lang.own.contains(word)
                || lang.noun(word).is_some()
                || lang.things.contains(word)
        };
        self.hang == Hang::Main && self.words.contains(&"") && self.words.iter().all(named)
    }

    /// Whether it can be nothing but more things of the clause before it.
    pub(super) fn only_things(&self, lang: &Language) -> bool {
        let acts = |word: &&str| {
            lang.chain.contains(word)
                || lang.finite.contains(word)
                || lang.modal.contains(word)
                || lang.first.contains(word)
                || lang.participle(word).is_some()
                || lang.verbs.past.contains_key(*word)
        };
        self.hang == Hang::Main && self.words.len() <= 6 && !self.words.iter().any(acts)
    }
}

pub(super) fn clauses<'a>(sentence: &'a Sentence, lang: &Language) -> Vec<Clause<'a>> {
    let tokens = &sentence.tokens;
    let mut all: Vec<Clause<'a>> = Vec::new();
    let mut open = fresh(0, Hang::Main, Joint::Hard);
    for (index, token) in tokens.iter().enumerate() {
        if let Kind::Mark(mark) = token.kind {
            let joint = match mark {
                ',' | '،' => Joint::Comma,
                ';' | ':' | '؛' | '—' | '–' | '-' | '(' | ')' => Joint::Hard,
                _ => continue,
            };
            next(&mut all, &mut open, index, fresh(index + 1, Hang::Main, joint), lang);
            continue;
        }
        let word = if token.kind == Kind::Word { lang.bare_word(&token.norm) } else { "" };
        if lang.split.contains(word) {
            let before = if open.words.is_empty() { open.hang } else { Hang::Main };
            let hang = match open.hang {
                Hang::Main | Hang::When => before,
                hang => hang,
            };
            next(&mut all, &mut open, index, fresh(index + 1, hang, Joint::And), lang);
        } else if let Some(hang) = starter(word, index, tokens, &open, lang) {
            next(&mut all, &mut open, index, fresh(index, hang, Joint::Starter), lang);
        } else if !lang.skip.contains(word) {
            open.words.push(word);
            open.at.push(index);
        }
    }
    let end = fresh(tokens.len(), Hang::Main, Joint::Hard);
    next(&mut all, &mut open, tokens.len(), end, lang);
    all
}

fn fresh<'a>(start: usize, hang: Hang, joint: Joint) -> Clause<'a> {
    Clause { range: start..start, words: Vec::new(), at: Vec::new(), hang, joint }
}

/// Ends `open` before `end` and continues with `then`.
fn next<'a>(all: &mut Vec<Clause<'a>>, open: &mut Clause<'a>, end: usize, mut then: Clause<'a>, lang: &Language) {
    if open.words.is_empty() && open.joint != Joint::Starter {
        // ", and" is one joint, and so is an "and" after a dash.
        if open.joint == Joint::Hard && then.joint == Joint::And {
            then.joint = Joint::Comma;
        }
        *open = then;
        return;
    }
    open.range.end = end;
    let last = open.words.last().copied().unwrap_or_default();
    let article = open.words.first().is_some_and(|word| lang.determiners.contains(word));
    if lang.far && open.joint == Joint::Comma && article && lang.finite.contains(last) {
        open.hang = Hang::Relative;
    }
    let starts_own = |clause: &Clause<'_>| clause.words.first().is_some_and(|word| lang.first.contains(word));
    if open.joint == Joint::And && starts_own(open) {
        open.hang = Hang::Main;
    }
    all.push(std::mem::replace(open, then));
}

/// How a clause that begins with `word` relates to the others; `None` if `word` begins none.
fn starter(word: &str, index: usize, tokens: &[Token], open: &Clause<'_>, lang: &Language) -> Option<Hang> {
    if word.is_empty() {
        return None;
    }
    if lang.condition.contains(word) {
        return Some(Hang::Condition);
    }
    if lang.when.contains(word) {
        return Some(Hang::When);
    }
    if !lang.relative.contains(word) {
        return None;
    }
    let after = tokens.get(index + 1)?;
    if matches!(after.kind, Kind::Mark(_)) || lang.not_relative_before.contains(&after.norm) {
        return None;
    }
    if open.words.is_empty() && open.joint != Joint::Comma {
        // "That file was created" has nothing before it to depend on.
        return None;
    }
    if lang.confirm.ends(&open.words) {
        return Some(Hang::Main);
    }
    Some(Hang::Relative)
}
