//! Word endings of ten languages, and which of them a text is in.

use frostem::{Algorithm, Stemmer};
use std::borrow::Cow;
use std::sync::LazyLock;

const LANGUAGES: &[(&str, Algorithm)] = &[
    ("english", Algorithm::English),
    ("german", Algorithm::German),
    ("french", Algorithm::French),
    ("spanish", Algorithm::Spanish),
    ("italian", Algorithm::Italian),
    ("portuguese", Algorithm::Portuguese),
    ("dutch", Algorithm::Dutch),
    ("swedish", Algorithm::Swedish),
    ("danish", Algorithm::Danish),
    ("norwegian", Algorithm::Norwegian),
];
/// So many words are looked at.
const LOOK_AT: usize = 400;
/// Longer words are names or codes, characters.
const LONGEST: usize = 40;

/// Pairs of a language and a word, sorted by the word.
static FUNCTION_WORDS: LazyLock<Vec<(usize, &'static str)>> = LazyLock::new(|| {
    let mut found = Vec::new();
    for line in include_str!("../../data/function_words.txt").lines() {
        let mut words = line.split_whitespace();
        let name = words.next().unwrap_or_default();
        if let Some(at) = LANGUAGES.iter().position(|(known, _)| *known == name) {
            found.extend(words.map(|word| (at, word)));
        }
    }
    found.sort_by_key(|(_, word)| *word);
    found
});

/// Whether a word in lower case is one of the smallest of any language.
pub fn is_function_word(lower: &str) -> bool {
    FUNCTION_WORDS.binary_search_by_key(&lower, |(_, word)| *word).is_ok()
}

/// Takes endings off.
pub struct Stems(Vec<Stemmer>);

impl Stems {
    /// Of the language that a text is in; English if its words don't say.
    pub fn of_text(text: &str) -> Self {
        Self(vec![Stemmer::new(LANGUAGES[guess(text)].1)])
    }

    /// Of every language, since a question has too few words to tell.
    pub fn of_every_language() -> Self {
        Self(LANGUAGES.iter().map(|(_, algorithm)| Stemmer::new(*algorithm)).collect())
    }

    /// What `lower` ends up as, each once.
    pub fn each<'w>(&self, lower: &'w str) -> Vec<Cow<'w, str>> {
        let mut found: Vec<Cow<'w, str>> = Vec::with_capacity(self.0.len());
        let letters = lower.chars().count();
        if (3..=LONGEST).contains(&letters) && lower.chars().all(char::is_alphabetic) {
            for stemmer in &self.0 {
                let stem = stemmer.stem(lower);
                if !stem.is_empty() && !found.contains(&stem) {
                    found.push(stem);
                }
            }
        }
        found
    }
}

fn guess(text: &str) -> usize {
    let known = &*FUNCTION_WORDS;
    let mut counts = [0_u32; LANGUAGES.len()];
    for word in text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty()).take(LOOK_AT) {
        let lower = word.to_lowercase();
        let from = known.partition_point(|(_, one)| *one < lower.as_str());
        for (language, _) in known[from..].iter().take_while(|(_, one)| *one == lower) {
            counts[*language] += 1;
        }
    }
    let best = (0..LANGUAGES.len()).rev().max_by_key(|at| counts[*at]).unwrap_or(0);
    if counts[best] >= 2 { best } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::{FUNCTION_WORDS, LANGUAGES, Stems, guess};

    #[test]
    fn texts_show_their_language() {
        let check = |text: &str, language: &str| assert_eq!(LANGUAGES[guess(text)].0, language, "{text}");
        check("The server is not started by the user, which can be seen in the log.", "english");
        check("Der Vertrag wird von beiden Seiten unterschrieben und ist nicht übertragbar.", "german");
        check("Les contrats sont signés par les deux parties dans une semaine.", "french");
        check("Los contratos son firmados por las dos partes y se guardan con una copia.", "spanish");
        check("Il contratto è firmato dalle parti e non è più valido per gli altri.", "italian");
        check("Os contratos são assinados pelo cliente e não podem ser mais alterados.", "portuguese");
        check("Het contract wordt door de klant getekend en is niet overdraagbaar.", "dutch");
        check("fn main() { println!() }", "english");
        check("", "english");
    }

    #[test]
    fn every_language_has_its_words() {
        for at in 0..LANGUAGES.len() {
            assert!(FUNCTION_WORDS.iter().filter(|(language, _)| *language == at).count() > 15, "{at}");
        }
    }

    #[test]
    fn endings_are_taken_off() {
        assert_eq!(Stems::of_text("the and of").each("connections"), ["connect"]);
        assert_eq!(Stems::of_text("der und nicht").each("verträge"), ["vertrag"]);
        assert!(Stems::of_every_language().each("r2d2").is_empty());
        assert!(Stems::of_every_language().each("häuser").contains(&"haus".into()));
    }
}
