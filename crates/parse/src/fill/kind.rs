//! What kind of value an argument wants, by its name and description.

use super::lexicon::{CLASSES, Class, Lexicon};
use super::stem::stem;

/// The words of a description before a preposition or a relative clause.
pub(super) fn head_of(description: &str) -> String {
    let head: Vec<&str> = description
        .split(['.', ',', '(', ';'])
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .take_while(|word| {
            !matches!(
                word.to_lowercase().as_str(),
                "for" | "to" | "where" | "that" | "which" | "whose" | "in" | "from" | "at" | "on" | "with" | "who"
            )
        })
        .collect();
    head.join(" ")
}

pub(super) fn class_of(name: &[String], description: &str, words: &Lexicon) -> Option<Class> {
    let has = |class: Class, list: &[String]| list.iter().any(|word| words.is_class(class, word));
    if name.iter().any(|word| word == "ip" || word == "mac") {
        return Some(Class::Id);
    }
    // The last word of a name is what it is; the others say of what.
    let last: Vec<String> = name
        .iter()
        .rev()
        .filter(|word| word.chars().any(char::is_alphabetic) && word.as_str() != "nam")
        .take(1)
        .cloned()
        .collect();
    if let Some(class) = CLASSES.into_iter().find(|class| has(*class, &last)) {
        return Some(class);
    }
    if let Some(class) = CLASSES.into_iter().find(|class| has(*class, name)) {
        return Some(class);
    }
    // `The name of the player`: the words before a preposition or a relative clause count.
    let head: Vec<String> = head_of(description)
        .split_whitespace()
        .map(|word| stem(word.trim_matches(|c: char| !c.is_alphanumeric())))
        .collect();
    // `The subject of the email` is a subject; `The name of the player` is a player's.
    let (own, of) = match head.iter().position(|word| word == "of") {
        Some(at) => (&head[..at], &head[at + 1..]),
        None => (&head[..], &head[..0]),
    };
    let found = |list: &[String]| CLASSES.into_iter().find(|class| has(*class, list));
    found(own).or_else(|| {
        let says_nothing = own.iter().all(|word| {
            words.form_stop.contains(word)
                || words.stop.contains(word)
                || matches!(word.as_str(), "full" | "nam" | "list" | "first" | "last")
        });
        found(if says_nothing { of } else { &[] })
    })
}
