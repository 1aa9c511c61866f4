//! What kind of request one is, and in which language: by its likeness to the labelled examples of `data/kinds.toml`.

use super::error::IntentError;
use super::features::see;
use super::settings::Settings;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use steward_core::ports::{Classifier, Embedder, Labelled};

/// Languages of the examples.
pub const LANGUAGES: [&str; 4] = ["en", "de", "fr", "es"];

/// What becomes of a kind.
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

/// A kind of request.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kind {
    /// Its name.
    pub name: String,
    /// What becomes of it.
    pub group: Group,
    /// The tools that do it.
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

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Data {
    kinds: Vec<Kind>,
}

/// All kinds, and the words in which anything may be asked.
#[derive(Debug)]
#[expect(clippy::struct_field_names, reason = "the kinds of requests are what it is about")]
pub struct Kinds {
    /// In the order of the file.
    pub kinds: Vec<Kind>,
    /// Words of the examples that stand for nothing themselves.
    pub asking: BTreeSet<String>,
    /// Words that examples for a tool begin with.
    pub openings: BTreeSet<String>,
}

/// How a request was read.
#[derive(Debug, Clone)]
pub struct Reading {
    /// Kinds, likeliest first.
    pub kinds: Vec<(&'static Kind, f32)>,
    /// Its language.
    pub language: &'static str,
    /// How sure the language is.
    pub spoken: f32,
}

impl Kinds {
    /// The kinds that come with the program.
    pub fn shipped() -> Result<&'static Self, IntentError> {
        static KINDS: OnceLock<Result<Kinds, String>> = OnceLock::new();
        KINDS
            .get_or_init(|| {
                let data: Data =
                    toml::from_str(include_str!("../../data/kinds.toml")).map_err(|error| error.to_string())?;
                Ok(Self { asking: asking(&data.kinds), openings: openings(&data.kinds), kinds: data.kinds })
            })
            .as_ref()
            .map_err(|reason| IntentError::Settings(reason.clone()))
    }

    /// Reads a request.
    pub async fn read(&'static self, request: &str, embedder: &dyn Embedder) -> Result<Reading, IntentError> {
        let classifier = self.classifier(embedder).await?;
        let scores = classifier.scores(&masked(request)?).await?;
        let (kinds, languages) = scores.split_at(self.kinds.len().min(scores.len()));
        let mut kinds: Vec<(&Kind, f32)> = self.kinds.iter().zip(kinds.iter().copied()).collect();
        kinds.sort_by(|a, b| b.1.total_cmp(&a.1));
        let spoken = LANGUAGES.into_iter().zip(languages.iter().copied()).max_by(|a, b| a.1.total_cmp(&b.1));
        let (language, spoken) = spoken.unwrap_or((LANGUAGES[0], 0.0));
        Ok(Reading { kinds, language, spoken })
    }

    /// Fitted once for each embedding model.
    async fn classifier(&self, embedder: &dyn Embedder) -> Result<Arc<dyn Classifier>, IntentError> {
        static FITTED: Mutex<Option<(String, Arc<dyn Classifier>)>> = Mutex::new(None);
        let lock = || FITTED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((model, fitted)) = lock().as_ref()
            && model == embedder.model()
        {
            return Ok(Arc::clone(fitted));
        }
        let mut examples = Vec::new();
        for (label, kind) in self.kinds.iter().enumerate() {
            for (language, texts) in kind.examples().into_iter().enumerate() {
                for text in texts {
                    examples.push(Labelled {
                        text: masked(&text.replace(['{', '}'], ""))?,
                        labels: vec![label, self.kinds.len() + language],
                    });
                }
            }
        }
        let fitted = embedder.classifier(&examples).await?;
        *lock() = Some((embedder.model().to_owned(), Arc::clone(&fitted)));
        Ok(fitted)
    }
}

/// The request with its literals replaced by what they are.
fn masked(request: &str) -> Result<String, IntentError> {
    Ok(see(request, &Settings::shipped()?.mask).masked)
}

fn openings(kinds: &[Kind]) -> BTreeSet<String> {
    let of_tools = kinds.iter().filter(|kind| matches!(kind.group, Group::Look | Group::Act));
    let first =
        |text: &String| text.split(|c: char| !c.is_alphanumeric()).find(|w| !w.is_empty()).map(str::to_lowercase);
    of_tools.flat_map(Kind::examples).flatten().filter_map(first).collect()
}

fn asking(kinds: &[Kind]) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    let of_looks = kinds.iter().filter(|kind| kind.group == Group::Look);
    for text in of_looks.flat_map(Kind::examples).flatten() {
        for (index, piece) in text.split(['{', '}']).enumerate() {
            // Every second piece stands between braces.
            if index % 2 == 0 {
                let all = piece.split(|c: char| !c.is_alphanumeric());
                words.extend(all.filter(|w| !w.is_empty()).map(str::to_lowercase));
            }
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::{Kinds, LANGUAGES};
    use crate::intent::replies::Replies;

    #[test]
    fn each_kind_has_what_it_needs() {
        let kinds = Kinds::shipped().unwrap();
        let replies = Replies::shipped().unwrap();
        for kind in &kinds.kinds {
            assert!(kind.examples().iter().all(|texts| !texts.is_empty()), "{}", kind.name);
            for language in LANGUAGES {
                assert!(replies.of_kind(kind, language).is_some(), "{} {language}", kind.name);
            }
        }
        assert!(kinds.asking.contains("which") && !kinds.asking.contains("customers"));
    }
}
