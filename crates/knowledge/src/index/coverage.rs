use super::language::{Stems, is_function_word};
use super::words::{Form, words};
use std::collections::{BTreeMap, HashSet};

/// Words that only say that something is asked.
const ASKING: &[&str] = &[
    "a", "an", "any", "at", "did", "do", "does", "how", "i", "in", "may", "me", "much", "many", "must", "on", "should",
    "so", "tell", "there", "they", "we", "were", "what", "when", "where", "who", "whom", "why", "will", "would", "am",
    "gibt", "hat", "ich", "im", "ist", "man", "mir", "wann", "war", "warum", "was", "welche", "welcher", "welches",
    "wem", "wer", "wie", "wir", "wo", "combien", "comment", "en", "je", "la", "le", "nous", "où", "ou", "pourquoi",
    "quand", "que", "quel", "quelle", "quelles", "quels", "quoi", "un", "cual", "cuál", "cuando", "cuándo", "cuanto",
    "cuánto", "donde", "dónde", "que", "qué", "quien", "quién", "hay", "de",
];

/// Share of a question's words that a text holds, 0 to 1: function words don't count, names and numbers count twice.
pub fn word_coverage(question: &str, text: &str) -> f32 {
    let stems = Stems::of_every_language();
    let mut asked: BTreeMap<(u32, bool), (Vec<String>, f32)> = BTreeMap::new();
    for word in words(question, &stems).into_iter().filter(|word| word.form != Form::Part) {
        let name = word.form == Form::Name;
        if word.form == Form::Word && (ASKING.contains(&word.text.as_str()) || is_function_word(&word.text)) {
            continue;
        }
        let rare = name || word.text.chars().any(|c| c.is_ascii_digit());
        // The stem of a word that doesn't count has no entry to go to.
        match (word.form, asked.get_mut(&(word.position, name))) {
            (Form::Stem, None) => {}
            (_, Some(entry)) => entry.0.push(word.text),
            (_, None) => {
                asked.insert((word.position, name), (vec![word.text], if rare { 2.0 } else { 1.0 }));
            }
        }
    }
    let all: f32 = asked.values().map(|(_, weight)| weight).sum();
    if all == 0.0 {
        return 0.0;
    }
    let held: HashSet<String> = words(text, &Stems::of_text(text)).into_iter().map(|word| word.text).collect();
    let found = asked.values().filter(|(forms, _)| forms.iter().any(|form| held.contains(form)));
    found.map(|(_, weight)| weight).sum::<f32>() / all
}

#[cfg(test)]
mod tests {
    use super::word_coverage;

    #[test]
    fn the_words_that_say_something_are_counted() {
        let check = |question: &str, text: &str, least: f32, most: f32| {
            let got = word_coverage(question, text);
            assert!((least..=most).contains(&got), "{question} in {text}: {got}");
        };
        check("What is the default of wal_keep_size?", "The default of wal_keep_size is zero.", 1.0, 1.0);
        check("What is the default of wal_keep_size?", "The default of work_mem is 4 MB.", 0.1, 0.5);
        check("Wie lange laufen die Verträge?", "Der Vertrag ist unbefristet.", 0.3, 0.4);
        check("who is on call", "Nobody answers.", 0.0, 0.0);
        check("is it the", "anything", 0.0, 0.0);
        check("", "", 0.0, 0.0);
    }
}
