//! Units that an argument is wanted in.

use super::lexicon::Lexicon;
use super::stem::split_name;

/// Units of one thing per another, as they are written out and in short.
const RATES: &[(&str, &str)] = &[
    ("meters per second squared", "m/s^2"),
    ("meters per second per second", "m/s^2"),
    ("meters per second", "m/s"),
    ("kilometers per hour", "km/h"),
    ("miles per hour", "mph"),
    ("miles per gallon", "mpg"),
];

/// Units by the name or the description, the name's first.
pub(super) fn units_of(name: &str, description: &str, words: &Lexicon) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let lower = description.to_lowercase().replace("metre", "meter");
    let lower = RATES.iter().fold(lower, |text, (long, short)| text.replace(long, short));
    let tokens: Vec<&str> = lower
        .split(|c: char| c.is_whitespace() || matches!(c, ',' | '(' | ')' | ';' | '[' | ']'))
        .map(|word| word.trim_end_matches('.'))
        .collect();
    for (at, word) in tokens.iter().enumerate() {
        // One letter is a unit in brackets or after `in` only.
        let close = word.len() > 2 || (at > 0 && matches!(tokens[at - 1], "in" | ""));
        // `per year` is not an amount of years.
        let per = at > 0 && matches!(tokens[at - 1], "per" | "a" | "each" | "every");
        if close && !per && words.units.contains_key(*word) && *word != "in" && *word != "second" {
            out.push((*word).to_owned());
        }
    }
    for word in split_name(name) {
        if word.len() > 1 && words.units.contains_key(&word) && word != "in" && word != "second" {
            out.insert(0, word);
        }
    }
    out
}
