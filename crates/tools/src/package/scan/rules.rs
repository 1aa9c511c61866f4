//! `data/package-rules.toml`, read once.

use crate::package::error::PackageError;
use crate::package::scan::fold;
use regex::{Regex, RegexBuilder};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::OnceLock;
use steward_core::package::Severity;

const FILE: &str = "crates/tools/data/package-rules.toml";
/// Bounded repeats multiply; this is enough for the file and small enough to notice a slip.
const REGEX_SIZE: usize = 4 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Place {
    Prompt,
    Comment,
    Reference,
    Script,
}

/// When a hidden character is in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Unless {
    Start,
    Joining,
    Rtl,
    Emoji,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Needs {
    Network,
    Credentials,
    Scripts,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawPattern {
    rule: String,
    severity: Severity,
    message: String,
    patterns: Vec<String>,
    #[serde(default)]
    places: Vec<Place>,
    needs: Option<Needs>,
    unless_before: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Invisible {
    pub rule: String,
    pub severity: Severity,
    pub name: String,
    pub ranges: Vec<(u32, u32)>,
    pub unless: Option<Unless>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSecrets {
    placeholder: String,
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
struct Hosts {
    known: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Lookalike {
    pairs: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    invisible: Vec<Invisible>,
    phrase: Vec<RawPattern>,
    secrets: RawSecrets,
    secret: Vec<RawPattern>,
    script: Vec<RawPattern>,
    files: FileKinds,
    blob: Blob,
    hosts: Hosts,
    lookalike: Lookalike,
}

#[derive(Debug)]
pub(super) struct Pattern {
    pub rule: String,
    pub severity: Severity,
    pub message: String,
    pub all: Vec<Regex>,
    pub places: Vec<Place>,
    pub needs: Option<Needs>,
    pub unless_before: Option<Regex>,
}

#[derive(Debug)]
pub(super) struct Rules {
    pub invisible: Vec<Invisible>,
    pub phrases: Vec<Pattern>,
    pub secrets: Vec<Pattern>,
    pub placeholder: Regex,
    pub scripts: Vec<Pattern>,
    pub files: FileKinds,
    pub blob: Blob,
    pub hosts: Vec<String>,
    pub lookalike: BTreeMap<char, char>,
}

/// The rules of the data file.
pub(super) fn rules() -> Result<&'static Rules, PackageError> {
    static READ: OnceLock<Result<Rules, String>> = OnceLock::new();
    READ.get_or_init(load).as_ref().map_err(|reason| PackageError::Data { file: FILE, reason: reason.clone() })
}

fn regex(text: &str, any_case: bool) -> Result<Regex, String> {
    RegexBuilder::new(text)
        .case_insensitive(any_case)
        .size_limit(REGEX_SIZE)
        .build()
        .map_err(|error| format!("`{text}`: {error}"))
}

/// `folded`: the patterns meet folded text, so they are folded themselves.
fn patterns(raw: Vec<RawPattern>, folded: bool) -> Result<Vec<Pattern>, String> {
    let one = |text: &String| {
        let text = if folded { fold::letters(text) } else { text.clone() };
        regex(&text, folded)
    };
    raw.into_iter()
        .map(|raw| {
            Ok(Pattern {
                all: raw.patterns.iter().map(one).collect::<Result<_, _>>()?,
                unless_before: raw.unless_before.as_ref().map(one).transpose()?,
                rule: raw.rule,
                severity: raw.severity,
                message: raw.message,
                places: raw.places,
                needs: raw.needs,
            })
        })
        .collect()
}

fn load() -> Result<Rules, String> {
    let raw: Raw =
        toml::from_str(include_str!("../../../data/package-rules.toml")).map_err(|error| error.to_string())?;
    let letters: Vec<char> = raw.lookalike.pairs.chars().collect();
    Ok(Rules {
        invisible: raw.invisible,
        phrases: patterns(raw.phrase, true)?,
        secrets: patterns(raw.secret, false)?,
        placeholder: regex(&raw.secrets.placeholder, false)?,
        scripts: patterns(raw.script, false)?,
        files: raw.files,
        blob: raw.blob,
        hosts: raw.hosts.known,
        lookalike: letters.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect(),
    })
}
