//! Numbers that states give to persons.

use regex::Regex;
use serde::Deserialize;

use super::check_digits::Check;
use super::finding::{Confidence, DetectorError, Finding, PiiKind};
use super::patterns::{self, ByBeginning, anchored};
use super::scan::{digit_at, is_word};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Data {
    identifier: Vec<Entry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    /// How many characters of one sort, digits or letters, it may begin with.
    begins: Vec<usize>,
    pattern: String,
    check: Check,
    /// Found without a word that announces it.
    alone: bool,
}

#[derive(Debug, Clone)]
struct Identifier {
    pattern: Regex,
    check: Check,
    alone: bool,
}

#[derive(Debug, Default)]
pub struct Identifiers {
    by_digits: ByBeginning<Identifier>,
    by_letters: ByBeginning<Identifier>,
}

/// What stands before a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Announced {
    AsThis,
    AsOther,
    Not,
}

impl Identifiers {
    pub fn read(data: &str) -> Result<Self, DetectorError> {
        let data: Data = patterns::read("identifiers", data)?;
        let mut identifiers = Self::default();
        for entry in data.identifier {
            let pattern = anchored("identifiers", &entry.name, &entry.pattern)?;
            let identifier = Identifier { pattern, check: entry.check, alone: entry.alone };
            let letters = ["[A-", "[X", "(?i)"].iter().any(|begin| entry.pattern.starts_with(begin));
            let table = if letters { &mut identifiers.by_letters } else { &mut identifiers.by_digits };
            entry.begins.into_iter().for_each(|begins| table.add(begins, identifier.clone()));
        }
        Ok(identifiers)
    }

    /// An identifier that begins at `at`.
    pub fn at(&self, text: &str, at: usize, announced: Announced) -> Option<Finding> {
        let bytes = &text.as_bytes()[at..];
        let digits = bytes.first().is_some_and(u8::is_ascii_digit);
        let of_a_sort = |byte: &&u8| if digits { byte.is_ascii_digit() } else { byte.is_ascii_alphabetic() };
        let begins = bytes.iter().take_while(of_a_sort).count();
        let table = if digits { &self.by_digits } else { &self.by_letters };
        table.with(begins).iter().find_map(|identifier| {
            let usable = match announced {
                Announced::AsThis => true,
                Announced::AsOther => false,
                Announced::Not => identifier.alone,
            };
            if !usable {
                return None;
            }
            let end = at + identifier.pattern.find(&text[at..])?.end();
            let number = &text[at..end];
            let goes_on = announced == Announced::Not
                && digits
                && text.as_bytes().get(end) == Some(&b' ')
                && digit_at(text, end + 1);
            let right = !goes_on
                && !is_word(text, end)
                && number.contains(|c: char| c.is_ascii_digit())
                && identifier.check.holds(number);
            let sure = identifier.check != Check::None || announced == Announced::AsThis;
            let confidence = if sure { Confidence::Certain } else { Confidence::Likely };
            right.then(|| Finding::new(PiiKind::NationalId, at..end, confidence))
        })
    }
}
