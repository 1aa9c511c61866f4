//! Questions whose answers are known by file and quote, and whether a passage is such an answer.

use serde::Deserialize;
use std::collections::BTreeSet;

/// Share of a quote's words that a passage must hold: extractors differ, and a passage may end within it.
const MOST_OF: f64 = 0.8;

/// Where an answer stands.
#[derive(Debug, Clone, Deserialize)]
pub struct Answer {
    /// From the root of all folders.
    pub file: String,
    pub quote: String,
    /// Other files with the same text.
    #[serde(default)]
    pub copies: Vec<String>,
}

impl Answer {
    /// `source` and `name` are those of the passage's document.
    pub fn is_in(&self, source: &str, name: &str, text: &str) -> bool {
        self.is_of(source, name) && holds(text, &self.quote)
    }

    /// Documents are named from the folder that was taken in, or by their name alone.
    fn is_of(&self, source: &str, name: &str) -> bool {
        // The source of a file that was sent is its hash.
        let known = if source.ends_with(name) { source } else { name }.trim_start_matches('/');
        let ends_with = |long: &str, short: &str| {
            long.strip_suffix(short).is_some_and(|before| before.is_empty() || before.ends_with('/'))
        };
        let mut files = std::iter::once(&self.file).chain(&self.copies);
        files.any(|file| ends_with(file, known) || ends_with(known, file))
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of words")]
fn holds(text: &str, quote: &str) -> bool {
    let words = |text: &str| -> BTreeSet<String> {
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        words.map(str::to_lowercase).collect()
    };
    let (text, quote) = (words(text), words(quote));
    quote.intersection(&text).count() as f64 >= quote.len() as f64 * MOST_OF
}

#[cfg(test)]
mod tests {
    use super::{Answer, holds};

    #[test]
    fn a_passage_is_known_by_its_file_and_its_words() {
        let answer = Answer {
            file: "sample/notes/handover.md".to_owned(),
            quote: String::new(),
            copies: vec!["b/copy.md".to_owned()],
        };
        assert!(answer.is_of("notes/handover.md", "handover.md"));
        assert!(answer.is_of("/srv/sample/notes/handover.md", "handover.md"));
        assert!(answer.is_of("", "copy.md"));
        assert!(!answer.is_of("over.md", "over.md"));
        assert!(!answer.is_of("other/handover.md", "handover.md"));
        assert!(holds("| The default | is 10 seconds. |", "The default is 10 seconds"));
        assert!(!holds("The default is 20 minutes.", "A setting of 0 disables it."));
    }
}
