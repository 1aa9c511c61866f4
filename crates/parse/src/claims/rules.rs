//! The patterns, read from a file.

use super::Kind;
use regex::{Match, Regex, RegexSet, RegexSetBuilder};
use serde::Deserialize;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, OnceLock};

/// Why a file of patterns can't be used.
#[derive(Debug, thiserror::Error)]
pub enum PatternsError {
    /// It is no TOML of the expected form.
    #[error("the file of patterns can't be read: {0}; correct it or remove it")]
    File(#[from] toml::de::Error),
    /// A pattern is none.
    #[error("`{pattern}` is no regular expression: {error}; correct it")]
    Pattern {
        /// As written.
        pattern: String,
        /// What is wrong with it.
        error: Box<regex::Error>,
    },
    /// A language has patterns only.
    #[error("`{0}` has patterns but no entry [lang.{0}]; add it")]
    Language(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    lang: HashMap<String, LanguageText>,
    rule: Vec<RuleText>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LanguageText {
    obj: String,
    did: String,
    guard: String,
    not_future: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleText {
    lang: String,
    kind: Kind,
    patterns: Vec<String>,
}

/// One pattern. It is compiled when it is first needed; the set has proved that it can be.
#[derive(Debug)]
pub(super) struct Pattern {
    pub kind: Kind,
    pub language: String,
    pub number: usize,
    text: String,
    regex: OnceLock<Option<Regex>>,
    guard: Arc<Regex>,
}

impl Pattern {
    pub fn find<'a>(&self, sentence: &'a str) -> Option<Match<'a>> {
        self.regex
            .get_or_init(|| Regex::new(&self.text).ok())
            .as_ref()?
            .find(sentence)
    }

    pub fn guard(&self) -> &Regex {
        &self.guard
    }
}

/// All patterns.
#[derive(Debug)]
pub struct Patterns {
    set: RegexSet,
    patterns: Vec<Pattern>,
}

static BUILT_IN: LazyLock<Patterns> = LazyLock::new(|| {
    Patterns::read(include_str!("../../data/false-completion.toml")).unwrap_or_else(|_| Patterns {
        set: RegexSet::empty(),
        patterns: Vec::new(),
    })
});

impl Patterns {
    /// The patterns that come with the program.
    pub fn built_in() -> &'static Self {
        &BUILT_IN
    }

    /// Patterns from the text of a file like `data/false-completion.toml`.
    pub fn read(text: &str) -> Result<Self, PatternsError> {
        let file: File = toml::from_str(text)?;
        let compile = |pattern: &str| {
            Regex::new(pattern)
                .map(Arc::new)
                .map_err(|error| PatternsError::Pattern {
                    pattern: pattern.to_owned(),
                    error: Box::new(error),
                })
        };
        let mut patterns = Vec::new();
        let mut rules: Vec<&RuleText> = file.rule.iter().collect();
        rules.sort_by_key(|rule| rule.kind == Kind::Future);
        for rule in rules {
            let language = file
                .lang
                .get(&rule.lang)
                .ok_or_else(|| PatternsError::Language(rule.lang.clone()))?;
            let guard = compile(if rule.kind == Kind::Future {
                &language.not_future
            } else {
                &language.guard
            })?;
            for (n, pattern) in rule.patterns.iter().enumerate() {
                let text = pattern
                    .replace("{obj}", &language.obj)
                    .replace("{did}", &language.did);
                patterns.push(Pattern {
                    kind: rule.kind,
                    language: rule.lang.clone(),
                    number: n + 1,
                    text: format!("(?i){text}"),
                    regex: OnceLock::new(),
                    guard: guard.clone(),
                });
            }
        }
        let set = RegexSetBuilder::new(patterns.iter().map(|pattern| &pattern.text))
            .size_limit(64 << 20)
            .build();
        let set = set.map_err(|error| PatternsError::Pattern {
            pattern: "one of the patterns".to_owned(),
            error: Box::new(error),
        })?;
        Ok(Self { set, patterns })
    }

    /// Patterns that match `sentence`, claims first.
    pub(super) fn matching<'a>(&'a self, sentence: &str) -> impl Iterator<Item = &'a Pattern> {
        self.set
            .matches(sentence)
            .into_iter()
            .filter_map(|n| self.patterns.get(n))
    }

    /// How many patterns there are of a kind and language.
    pub fn count(&self, kind: Kind, language: &str) -> usize {
        self.patterns
            .iter()
            .filter(|pattern| pattern.kind == kind && pattern.language == language)
            .count()
    }
}
