//! `data/package-rules.toml`, read once, and text folded so that disguised phrases meet the rules.

use crate::package::error::PackageError;
use regex::{Regex, RegexBuilder};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use std::sync::LazyLock;
use steward_core::package::Severity;
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

const FILE: &str = "crates/tools/data/package-rules.toml";
/// Limit for compiled patterns, since bounded repeats multiply.
const REGEX_SIZE: usize = 4 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum TextKind {
    Prompt,
    Comment,
    Reference,
    Script,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum InvisibleException {
    Start,
    Joining,
    Rtl,
    Emoji,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Permission {
    Network,
    Credentials,
    Scripts,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Invisible {
    pub rule: String,
    pub severity: Severity,
    pub name: String,
    pub ranges: Vec<(u32, u32)>,
    pub unless: Option<InvisibleException>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Executable {
    pub name: String,
    pub begin: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileKinds {
    pub program: Vec<String>,
    pub pictures: Vec<String>,
    pub office: Vec<String>,
    pub executable: Vec<Executable>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Blob {
    pub characters: usize,
    pub escapes: usize,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pattern {
    pub rule: String,
    pub severity: Severity,
    pub message: String,
    patterns: Vec<String>,
    #[serde(default)]
    pub places: Vec<TextKind>,
    pub needs: Option<Permission>,
    unless_before: Option<String>,
    #[serde(skip)]
    pub all: Vec<Regex>,
    #[serde(skip)]
    pub excuse: Option<Regex>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rules {
    pub invisible: Vec<Invisible>,
    #[serde(rename = "phrase")]
    pub phrases: Vec<Pattern>,
    #[serde(rename = "secret")]
    pub secrets: Vec<Pattern>,
    #[serde(deserialize_with = "exact_regex")]
    pub placeholder: Regex,
    #[serde(rename = "script")]
    pub scripts: Vec<Pattern>,
    pub files: FileKinds,
    pub blob: Blob,
    pub hosts: Vec<String>,
    #[serde(deserialize_with = "letter_pairs")]
    pub lookalike: BTreeMap<char, char>,
}

pub(super) fn rules() -> Result<&'static Rules, PackageError> {
    static READ: LazyLock<Result<Rules, String>> = LazyLock::new(load);
    READ.as_ref().map_err(|reason| PackageError::Data { file: FILE, reason: reason.clone() })
}

fn load() -> Result<Rules, String> {
    let mut rules: Rules =
        toml::from_str(include_str!("../../../data/package-rules.toml")).map_err(|error| error.to_string())?;
    rules.phrases.iter_mut().try_for_each(|pattern| pattern.compile(true))?;
    rules.secrets.iter_mut().chain(&mut rules.scripts).try_for_each(|pattern| pattern.compile(false))?;
    Ok(rules)
}

impl Pattern {
    /// `folded`: it is matched against folded text, so it is folded too.
    fn compile(&mut self, folded: bool) -> Result<(), String> {
        let compiled = |text: &String| {
            let text = if folded { fold_letters(text) } else { text.clone() };
            regex(&text, folded)
        };
        self.all = self.patterns.iter().map(compiled).collect::<Result<_, _>>()?;
        self.excuse = self.unless_before.as_ref().map(compiled).transpose()?;
        Ok(())
    }
}

fn regex(text: &str, any_case: bool) -> Result<Regex, String> {
    RegexBuilder::new(text)
        .case_insensitive(any_case)
        .size_limit(REGEX_SIZE)
        .build()
        .map_err(|error| format!("`{text}`: {error}"))
}

fn exact_regex<'de, D: Deserializer<'de>>(text: D) -> Result<Regex, D::Error> {
    regex(&String::deserialize(text)?, false).map_err(D::Error::custom)
}

fn letter_pairs<'de, D: Deserializer<'de>>(text: D) -> Result<BTreeMap<char, char>, D::Error> {
    let letters: Vec<char> = String::deserialize(text)?.chars().collect();
    Ok(letters.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect())
}

#[derive(Debug, Default)]
pub(super) struct Folded {
    pub text: String,
    /// Byte offsets at which lines begin in `text`, with line numbers.
    lines: Vec<(usize, u32)>,
}

impl Folded {
    pub fn line(&self, at: usize) -> u32 {
        let index = self.lines.partition_point(|(offset, _)| *offset <= at);
        index.checked_sub(1).and_then(|index| self.lines.get(index)).map_or(1, |(_, line)| *line)
    }
}

pub(super) fn fold_letters(text: &str) -> String {
    text.nfkd().filter(|c| !is_combining_mark(*c)).collect()
}

/// Folds a text whose first line has the number `first`.
pub(super) fn fold_text(text: &str, first: u32, lookalike: &BTreeMap<char, char>) -> Folded {
    let mut folded = Folded::default();
    let mut number = first;
    for line in text.split('\n') {
        let plain: String = fold_letters(line)
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .filter(|c| !invisible(*c))
            .collect();
        let begin = folded.text.len();
        for word in plain.split_whitespace() {
            if !folded.text.is_empty() {
                folded.text.push(' ');
            }
            // A look-alike is replaced in a word that also has Latin letters.
            let mixed = is_mixed_script(word, lookalike);
            let twin = |c: char| lookalike.get(&c).copied().filter(|_| mixed).unwrap_or(c);
            folded.text.extend(word.chars().map(twin));
        }
        folded.lines.push((begin, number));
        number = number.saturating_add(1);
    }
    folded
}

/// Invisible characters that may split a word.
fn invisible(c: char) -> bool {
    matches!(u32::from(c),
        0xAD | 0x0640 | 0x061C | 0x180E | 0x200B..=0x200F | 0x202A..=0x202E | 0x2060..=0x206F
        | 0xFE00..=0xFE0F | 0xFEFF | 0xE0000..=0xE0FFF)
}

pub(super) fn is_mixed_script(word: &str, lookalike: &BTreeMap<char, char>) -> bool {
    !word.is_ascii()
        && word.chars().any(|c| c.is_ascii_alphabetic())
        && word.chars().any(|c| lookalike.contains_key(&c))
}
