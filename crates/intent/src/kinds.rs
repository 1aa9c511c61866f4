//! Classifies the kind and the language of a request by its similarity to the labelled examples of `data/kinds.toml`.

use crate::rank::features::see;
use crate::settings::{Settings, read};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::sync::LazyLock;
use steward_core::ports::{Embedder, IntentError, Labelled};

pub const LANGUAGES: [&str; 4] = ["en", "de", "fr", "es"];

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Group {
    /// It is answered.
    Talk,
    /// It is declined.
    Beyond,
    /// A tool looks.
    Look,
    /// A tool acts.
    Act,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kind {
    pub name: String,
    pub group: Group,
    #[serde(default)]
    pub tools: Vec<String>,
    en: Vec<String>,
    de: Vec<String>,
    fr: Vec<String>,
    es: Vec<String>,
}

impl Kind {
    fn examples(&self) -> [&[String]; 4] {
        [&self.en, &self.de, &self.fr, &self.es]
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Data {
    asking: Asking,
    kinds: Vec<Kind>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asking {
    en: String,
    de: String,
    fr: String,
    es: String,
    opens: String,
}

const EXAMPLES: &str = include_str!("../data/kinds.toml");
/// Fitted to [`Kinds::examples`], after their digest.
const FITTED: &[u8] = include_bytes!("../data/kinds.bin");
const DIGEST: usize = 64;

#[derive(Debug)]
pub struct Kinds {
    pub kinds: Vec<Kind>,
    /// Words that occur in questions of any kind, and so name nothing.
    pub asking: BTreeSet<String>,
    /// Words that a step of a request may begin with.
    pub openings: BTreeSet<String>,
}

#[derive(Debug, Clone)]
pub struct Reading {
    /// Likeliest first.
    pub kinds: Vec<(&'static Kind, f32)>,
    pub language: &'static str,
    pub spoken: f32,
}

impl Kinds {
    pub fn shipped() -> &'static Self {
        static KINDS: LazyLock<Kinds> = LazyLock::new(|| {
            let Data { asking: Asking { en, de, fr, es, opens }, kinds } = read(EXAMPLES);
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<BTreeSet<_>>();
            Kinds {
                asking: [en, de, fr, es].iter().flat_map(|text| words(text)).collect(),
                openings: words(&opens),
                kinds,
            }
        });
        &KINDS
    }

    /// The labelled examples that `data/kinds.bin` is fitted to: labels of the kinds in their order, then of the languages.
    pub fn examples(&self) -> Vec<Labelled> {
        let mut examples = Vec::new();
        for (label, kind) in self.kinds.iter().enumerate() {
            for (language, texts) in kind.examples().into_iter().enumerate() {
                for text in texts {
                    examples.push(Labelled { text: masked(text), labels: vec![label, self.kinds.len() + language] });
                }
            }
        }
        examples
    }

    /// A digest of the examples in hexadecimal digits, which `data/kinds.bin` begins with.
    pub fn digest(&self) -> String {
        let examples = self.examples().into_iter().map(|example| (example.text, example.labels));
        steward_core::hash::of_json(&serde_json::json!(examples.collect::<Vec<_>>()))
    }

    pub async fn read(&'static self, request: &str, embedder: &dyn Embedder) -> Result<Reading, IntentError> {
        let (_, fitted) = FITTED.split_at_checked(DIGEST).unwrap_or_default();
        let scores = embedder.classifier(fitted)?.scores(&masked(request)).await?;
        let (kinds, languages) = scores.split_at(self.kinds.len().min(scores.len()));
        let mut kinds: Vec<(&Kind, f32)> = self.kinds.iter().zip(kinds.iter().copied()).collect();
        kinds.sort_by(|a, b| b.1.total_cmp(&a.1));
        let spoken = LANGUAGES.into_iter().zip(languages.iter().copied()).max_by(|a, b| a.1.total_cmp(&b.1));
        let (language, spoken) = spoken.unwrap_or((LANGUAGES[0], 0.0));
        Ok(Reading { kinds, language, spoken })
    }
}

fn masked(request: &str) -> String {
    see(request, &Settings::shipped().mask).masked
}

#[cfg(test)]
mod tests {
    use super::{DIGEST, FITTED, Kinds, LANGUAGES};
    use crate::replies::Replies;

    #[test]
    fn the_weights_are_of_these_examples() {
        let digest = Kinds::shipped().digest();
        assert_eq!(str::from_utf8(&FITTED[..DIGEST]), Ok(digest.as_str()), "data/kinds.toml says how to fit them");
    }

    #[test]
    fn each_kind_has_what_it_needs() {
        let kinds = Kinds::shipped();
        let replies = Replies::shipped();
        for kind in &kinds.kinds {
            assert!(kind.examples().iter().all(|texts| !texts.is_empty()), "{}", kind.name);
            for language in LANGUAGES {
                assert!(replies.of_kind(kind, language).is_some(), "{} {language}", kind.name);
            }
        }
        assert!(kinds.asking.contains("which") && !kinds.asking.contains("customers"));
    }
}
