//! Telephone numbers.

use std::collections::HashMap;

use regex::Regex;
use serde::Deserialize;

use super::finding::{Confidence, DetectorError, Finding, PiiKind};
use super::patterns::{self, ByBeginning, anchored};
use super::scan::{digit_at, digits, is_word};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Data {
    /// Calling codes, and how many digits may follow them.
    calling: HashMap<String, [usize; 2]>,
    national: Vec<National>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct National {
    name: String,
    /// How many digits it begins with; none: it begins with a bracket.
    begins: Vec<usize>,
    pattern: String,
}

#[derive(Debug)]
pub struct Phones {
    calling: HashMap<String, [usize; 2]>,
    by_digits: ByBeginning<Regex>,
}

/// Digits of a number without a calling code.
const SHORTEST: usize = 6;
const LONGEST: usize = 15;

impl Phones {
    pub fn read(data: &str) -> Result<Self, DetectorError> {
        let data: Data = patterns::read("phones", data)?;
        let mut phones = Self { calling: data.calling, by_digits: ByBeginning::default() };
        for entry in data.national {
            let pattern = anchored("phones", &entry.name, &entry.pattern)?;
            entry.begins.into_iter().for_each(|begins| phones.by_digits.add(begins, pattern.clone()));
        }
        Ok(phones)
    }

    /// A number with its calling code that begins at `at`, with `+`, `(+` or `00`.
    pub fn international(&self, text: &str, at: usize) -> Option<Finding> {
        let bytes = text.as_bytes();
        let mut begin = at + usize::from(bytes[at] == b'(');
        match bytes.get(begin..begin + 2)? {
            [b'+', b'(' | b'1'..=b'9'] => begin += 1 + usize::from(bytes[begin + 1] == b'('),
            b"00" if bytes.get(begin + 2).is_none_or(|byte| *byte != b'0') => begin += 2,
            _ => return None,
        }
        let groups = groups(text, begin);
        let all: String = groups.iter().map(|group| &text[group.0..group.1]).collect();
        let code = (1..=3).rev().find_map(|length| Some((length, self.calling.get(all.get(..length)?)?)));
        let (code, [fewest, most]) = code?;
        let (mut count, mut end) = (0, None);
        for (start, stop) in groups {
            count += stop - start;
            // The trunk prefix in brackets is not dialled.
            count -= usize::from(&text[start..stop] == "0" && text[..start].ends_with('('));
            if count > code + most {
                break;
            }
            if count >= code + fewest {
                end = Some(stop);
            }
        }
        let end = end.filter(|end| !is_word(text, *end))?;
        Some(Finding::new(PiiKind::Phone, at..end, Confidence::Certain))
    }

    /// A number in one of the forms of a country, which begins at `at` with a digit or bracket.
    pub fn national(&self, text: &str, at: usize) -> Option<Finding> {
        let begins = text.as_bytes()[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.by_digits.with(begins).iter().find_map(|pattern| {
            let end = at + pattern.find(&text[at..])?.end();
            let goes_on = text.as_bytes().get(end).is_some_and(|byte| matches!(byte, b'-' | b'.' | b'/' | b','));
            let ends = !(is_word(text, end) || goes_on && digit_at(text, end + 1));
            ends.then(|| Finding::new(PiiKind::Phone, at..end, Confidence::Likely))
        })
    }

    /// Any digits after a word such as "phone".
    pub fn announced(text: &str, at: usize) -> Option<Finding> {
        let begin = at + usize::from(text.as_bytes()[at] == b'(');
        let (mut count, mut end) = (0, None);
        for (start, stop) in groups(text, begin) {
            count += stop - start;
            if count > LONGEST {
                break;
            }
            if count >= SHORTEST {
                end = Some(stop);
            }
        }
        let end = end.filter(|end| !is_word(text, *end))?;
        let number = digits(&text[at..end]);
        let varied = number.iter().any(|digit| *digit != number[0]);
        varied.then(|| Finding::new(PiiKind::Phone, at..end, Confidence::Likely))
    }
}

/// The groups of digits of one number from `at` on, with at most three signs between two of them.
fn groups(text: &str, at: usize) -> Vec<(usize, usize)> {
    let bytes = text.as_bytes();
    let (mut groups, mut at) = (Vec::new(), at);
    loop {
        let length = bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if length == 0 || groups.len() == 9 {
            return groups;
        }
        groups.push((at, at + length));
        at += length;
        let mut signs = 0;
        while !digit_at(text, at) {
            at += match bytes.get(at) {
                Some(b' ' | b'-' | b'.' | b'/' | b'(' | b')') => 1,
                Some(0xC2) if bytes.get(at + 1) == Some(&0xA0) => 2,
                Some(0xE2)
                    if bytes.get(at + 1..at + 3).is_some_and(|next| matches!(next, [0x80, 0x91..=0x93 | 0xAF])) =>
                {
                    3
                }
                _ => return groups,
            };
            signs += 1;
            if signs > 3 {
                return groups;
            }
        }
    }
}
