//! Replaces what was found, for good or so that it can be put back.

use std::collections::{HashMap, HashSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use super::detector::Detector;
use super::finding::PiiKind;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MaskStyle {
    /// `[email]`: the value is gone.
    Label,
    /// `[email-1]`: the same number for the same value, which [`unmask`] puts back.
    Token,
}

/// A token and what it stands for. Whoever has it can undo the mask: it is sealed before it is stored.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mask {
    pub kind: PiiKind,
    pub token: String,
    pub value: String,
}

impl fmt::Debug for Mask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mask").field("kind", &self.kind).field("token", &self.token).finish_non_exhaustive()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Masked {
    pub text: String,
    /// Empty with [`MaskStyle::Label`].
    pub masks: Vec<Mask>,
    /// How often something of a kind was masked.
    pub counts: Vec<(PiiKind, usize)>,
}

impl Detector {
    /// Masks what is found of these kinds.
    pub fn mask(&self, text: &str, kinds: &[PiiKind], style: MaskStyle) -> Masked {
        let mut masked = Masked { text: String::with_capacity(text.len()), masks: Vec::new(), counts: Vec::new() };
        let (mut done, mut tokens) = (0, Tokens::default());
        for finding in self.find(text).into_iter().filter(|finding| kinds.contains(&finding.kind)) {
            masked.text.push_str(&text[done..finding.range.start]);
            match style {
                MaskStyle::Label => {
                    masked.text.push('[');
                    masked.text.push_str(finding.kind.as_str());
                    masked.text.push(']');
                }
                MaskStyle::Token => {
                    let value = &text[finding.range.clone()];
                    masked.text.push_str(tokens.of(finding.kind, value, text, &mut masked.masks));
                }
            }
            done = finding.range.end;
            match masked.counts.iter_mut().find(|(kind, _)| *kind == finding.kind) {
                Some((_, count)) => *count += 1,
                None => masked.counts.push((finding.kind, 1)),
            }
        }
        masked.text.push_str(&text[done..]);
        masked
    }
}

#[derive(Debug, Default)]
struct Tokens<'t> {
    by_value: HashMap<(PiiKind, &'t str), String>,
    /// The next number of a kind, and the ends of tokens of this kind that the text has already: it must come back as it was.
    next: HashMap<PiiKind, (usize, HashSet<&'t str>)>,
}

impl<'t> Tokens<'t> {
    fn of(&mut self, kind: PiiKind, value: &'t str, text: &'t str, masks: &mut Vec<Mask>) -> &str {
        let (next, there) = self.next.entry(kind).or_insert_with(|| (1, find_numbers(text, kind)));
        self.by_value.entry((kind, value)).or_insert_with(|| {
            loop {
                let number = next.to_string();
                let token = format!("[{}-{number}]", kind.as_str());
                *next += 1;
                if !there.contains(number.as_str()) {
                    masks.push(Mask { kind, token: token.clone(), value: value.to_owned() });
                    return token;
                }
            }
        })
    }
}

/// The numbers of the tokens of a kind that stand in a text.
fn find_numbers(text: &str, kind: PiiKind) -> HashSet<&str> {
    let opening = format!("[{}-", kind.as_str());
    let after = text.match_indices(&opening).map(|(at, _)| &text[at + opening.len()..]);
    after
        .filter_map(|rest| {
            let digits = rest.bytes().take(20).take_while(u8::is_ascii_digit).count();
            rest[digits..].starts_with(']').then(|| &rest[..digits])
        })
        .collect()
}

/// Puts the values back. Tokens that are not in `masks` stay.
pub fn unmask(text: &str, masks: &[Mask]) -> String {
    let values: HashMap<&str, &str> = masks.iter().map(|mask| (mask.token.as_str(), mask.value.as_str())).collect();
    let longest = values.keys().map(|token| token.len()).max().unwrap_or(0);
    let mut whole = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('[') {
        let (before, from) = rest.split_at(open);
        whole.push_str(before);
        let close = from.as_bytes().iter().take(longest).position(|byte| *byte == b']');
        let value = close.and_then(|close| Some((close + 1, *values.get(&from[..=close])?)));
        let (length, put) = value.unwrap_or((1, "["));
        whole.push_str(put);
        rest = &from[length..];
    }
    whole.push_str(rest);
    whole
}
