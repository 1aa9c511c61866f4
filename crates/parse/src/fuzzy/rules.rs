//! The phrases, read from a file.

use regex::Regex;
use serde::Deserialize;
use std::collections::HashMap;
use std::sync::LazyLock;

/// Why a file of phrases can't be used.
#[derive(Debug, thiserror::Error)]
pub enum RuleError {
    /// It is no TOML of the expected form.
    #[error("the file of phrases can't be read: {0}; correct it or remove it")]
    File(#[from] toml::de::Error),
    /// A pattern is none.
    #[error("the pattern of `{rule}` is no regular expression: {error}; correct it")]
    Pattern {
        /// Which one.
        rule: String,
        /// What is wrong with it.
        error: Box<regex::Error>,
    },
    /// A language has no frame or guard.
    #[error("`{0}` has rules but no entry under [intent] or [guard]; add it")]
    Language(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    example_intro: String,
    stop: String,
    empty: Vec<String>,
    intent: HashMap<String, String>,
    guard: HashMap<String, String>,
    rule: Vec<RuleText>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleText {
    tool: String,
    lang: String,
    pattern: String,
    argument: String,
    object: Object,
    after: Option<String>,
}

/// What a rule's object is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Object {
    Text,
    Url,
    Path,
    Quoted,
}

/// A phrase.
#[derive(Debug)]
pub(super) struct Rule {
    pub tool: String,
    pub lang: String,
    pub pattern: Regex,
    pub argument: String,
    pub object: Object,
    pub after: Option<Regex>,
}

/// All phrases.
#[derive(Debug, Default)]
pub struct Rules {
    example: Option<Regex>,
    stop: Option<Regex>,
    empty: Vec<String>,
    guards: HashMap<String, Regex>,
    all: Vec<Rule>,
}

static BUILT_IN: LazyLock<Rules> =
    LazyLock::new(|| Rules::read(include_str!("../../data/fuzzy.toml")).unwrap_or_default());

impl Rules {
    /// The phrases that come with the program.
    pub fn built_in() -> &'static Self {
        &BUILT_IN
    }

    /// Phrases from the text of a file like `data/fuzzy.toml`.
    pub fn read(text: &str) -> Result<Self, RuleError> {
        let file: File = toml::from_str(text)?;
        let compile = |name: &str, pattern: &str| {
            Regex::new(pattern).map_err(|error| RuleError::Pattern { rule: name.to_owned(), error: Box::new(error) })
        };
        let mut guards = HashMap::new();
        for (lang, pattern) in &file.guard {
            guards.insert(lang.clone(), compile(lang, pattern)?);
        }
        let mut rules = Vec::new();
        for rule in file.rule {
            let intent = file.intent.get(&rule.lang).filter(|_| guards.contains_key(&rule.lang));
            let intent = intent.ok_or_else(|| RuleError::Language(rule.lang.clone()))?;
            let name = format!("{} {}", rule.lang, rule.tool);
            rules.push(Rule {
                pattern: compile(&name, &format!("{intent}{}", rule.pattern))?,
                after: rule.after.as_deref().map(|after| compile(&name, after)).transpose()?,
                tool: rule.tool,
                lang: rule.lang,
                argument: rule.argument,
                object: rule.object,
            });
        }
        Ok(Self {
            example: Some(compile("example_intro", &file.example_intro)?),
            stop: Some(compile("stop", &file.stop)?),
            empty: file.empty,
            guards,
            all: rules,
        })
    }

    pub(super) fn rules(&self) -> &[Rule] {
        &self.all
    }

    pub(super) fn guard(&self, lang: &str) -> Option<&Regex> {
        self.guards.get(lang)
    }

    pub(crate) fn is_example(&self, line: &str) -> bool {
        self.example.as_ref().is_some_and(|example| example.is_match(line))
    }

    /// Where the object in front of `rest` ends.
    pub(super) fn stop(&self, rest: &str) -> Option<usize> {
        Some(self.stop.as_ref()?.find(rest)?.start())
    }

    pub(super) fn is_empty_word(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        self.empty.contains(&text)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::Rules;

    #[test]
    fn the_file_can_be_read() {
        let rules = Rules::read(include_str!("../../data/fuzzy.toml")).unwrap();
        assert!(rules.rules().len() >= 20);
        let error = Rules::read("x = 1").unwrap_err().to_string();
        assert!(error.contains("correct it"), "{error}");
    }
}
