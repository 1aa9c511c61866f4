//! Phrases of a request by token.

use super::super::link::Token;
use super::super::words::{Superlative, words};
use crate::suggest::extract::number;

/// Where a phrase stands: first token and how many.
pub type Place = (usize, usize);

/// The first place of `phrase` that is not in `taken`.
pub fn find(tokens: &[Token], phrase: &str, taken: &[bool]) -> Option<Place> {
    let wanted: Vec<&str> = phrase.split(' ').collect();
    (0..tokens.len().saturating_sub(wanted.len() - 1)).find_map(|at| {
        let fits = wanted
            .iter()
            .zip(&tokens[at..])
            .enumerate()
            .all(|(n, (word, token))| {
                token.lower == *word && !token.quoted && !token.apart && !taken[at + n]
            });
        fits.then_some((at, wanted.len()))
    })
}

/// The earliest place of any of `phrases`, the longest there.
pub fn first(tokens: &[Token], phrases: &[String], taken: &[bool]) -> Option<Place> {
    phrases
        .iter()
        .filter_map(|phrase| find(tokens, phrase, taken))
        .min_by_key(|(at, len)| (*at, usize::MAX - len))
}

/// The superlative of a request and its place. Longer phrases go before shorter ones.
pub fn superlative(tokens: &[Token], taken: &[bool]) -> Option<(&'static Superlative, Place)> {
    words()
        .superlatives
        .iter()
        .filter_map(|entry| Some((entry, first(tokens, &entry.words, taken)?)))
        .max_by_key(|(entry, (at, len))| (*len, !entry.columns.is_empty(), usize::MAX - at))
}

/// A whole number beside the superlative: "top 5", "the three largest".
pub fn top(tokens: &[Token], superlative: Place, taken: &[bool]) -> Option<(u32, usize)> {
    let (at, len) = superlative;
    [at.checked_sub(1), Some(at + len)]
        .into_iter()
        .flatten()
        .filter(|index| *index < tokens.len() && !taken[*index])
        .find_map(|index| {
            let count: u32 = number::digits(&tokens[index].text)?.parse().ok()?;
            (1..=1000).contains(&count).then_some((count, index))
        })
}
