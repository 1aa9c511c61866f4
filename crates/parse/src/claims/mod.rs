//! Promises and claims of actions in an answer (RUN-9). The patterns are data, `data/false-completion.toml`.
//!
//! This only reads words. Whether a claim is false is for the caller to know: it asks when no tool has
//! succeeded in the run.

mod rules;

use crate::prose::{is_quoted, sentences};
pub use rules::{Patterns, PatternsError};
use std::ops::Range;

/// How much of a sentence is looked at, bytes.
const LONGEST: usize = 2000;

/// What an answer says about an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// It is promised: "I will search", "here's how".
    Future,
    /// It is said to be done: "has been created", "done!".
    Past,
}

/// A promise or claim that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// Promise or claim.
    pub kind: Kind,
    /// Language of the pattern, as in the file: `en`, `de`.
    pub language: String,
    /// Number of the pattern among those of its language and kind, from 1.
    pub pattern: usize,
    /// Which bytes of the answer say it.
    pub range: Range<usize>,
}

/// The first promise or claim of an action in `text`, by the patterns that come with the program; claims
/// go before promises in the same sentence.
pub fn false_completion(text: &str) -> Option<Hit> {
    Patterns::built_in().first(text)
}

impl Patterns {
    /// The first promise or claim in `text`.
    pub fn first(&self, text: &str) -> Option<Hit> {
        let all = sentences(text, |line| {
            crate::fuzzy::Rules::built_in().is_example(line)
        });
        all.iter()
            .find_map(|sentence| self.sentence(sentence.text, sentence.start))
    }

    fn sentence(&self, sentence: &str, start: usize) -> Option<Hit> {
        crate::work::count(sentence.len());
        let mut reach = sentence.len().min(LONGEST);
        while !sentence.is_char_boundary(reach) {
            reach -= 1;
        }
        let asks = sentence.ends_with(['?', '؟', '？']);
        if asks {
            return None;
        }
        let sentence = &sentence[..reach];
        self.matching(sentence).find_map(|pattern| {
            let found = pattern.find(sentence)?;
            let guarded = pattern.guard().is_match(sentence);
            if guarded || is_quoted(sentence, found.start()) {
                return None;
            }
            Some(Hit {
                kind: pattern.kind,
                language: pattern.language.clone(),
                pattern: pattern.number,
                range: start + found.start()..start + found.end(),
            })
        })
    }
}
