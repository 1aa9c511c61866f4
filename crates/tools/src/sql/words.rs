//! The word lists of [`super`], from `data/sql/words.toml`.

use super::query::Op;
use serde::Deserialize;
use std::sync::OnceLock;

/// All word lists. Each list's meaning is told where it stands in the file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Words {
    pub stop: Vec<String>,
    pub database: Vec<String>,
    pub count: Vec<String>,
    pub average: Vec<String>,
    pub sum: Vec<String>,
    pub schema: Vec<String>,
    pub tables: Vec<String>,
    pub distinct: Vec<String>,
    pub group: Vec<String>,
    pub null: Vec<String>,
    pub key: Vec<String>,
    pub descending: Vec<String>,
    pub sort: Vec<String>,
    pub synonyms: Vec<Vec<String>>,
    pub suffixes: Vec<String>,
    pub places: Vec<String>,
    pub from: Vec<String>,
    pub origins: Vec<(String, String)>,
    pub superlatives: Vec<Superlative>,
    pub comparisons: Vec<Comparison>,
    pub units: Vec<Unit>,
}

/// "longest": its words, its direction, the columns it speaks of.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Superlative {
    /// Phrases.
    pub words: Vec<String>,
    /// Largest first.
    pub desc: bool,
    /// Names of columns, best first; empty: any.
    pub columns: Vec<String>,
    /// Names of columns that run the other way.
    #[serde(default)]
    pub also: Vec<String>,
}

/// "more than".
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Comparison {
    /// Phrases.
    pub words: Vec<String>,
    /// What they mean.
    pub op: Op,
}

/// "minutes".
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unit {
    /// The unit.
    pub words: Vec<String>,
    /// Column name and how many of its units make one of these.
    pub columns: Vec<(String, f64)>,
}

/// The lists that come with the program.
///
/// # Panics
/// Never in a build that passed its tests: one of them parses the file.
#[expect(
    clippy::expect_used,
    reason = "the file is part of the program and parsed by a test"
)]
pub fn words() -> &'static Words {
    static WORDS: OnceLock<Words> = OnceLock::new();
    WORDS.get_or_init(|| {
        toml::from_str(include_str!("../../data/sql/words.toml"))
            .expect("words.toml is well formed")
    })
}

/// Whether two nouns, in the singular, mean much the same.
pub fn alike(a: &str, b: &str) -> bool {
    words()
        .synonyms
        .iter()
        .any(|group| group.iter().any(|w| w == a) && group.iter().any(|w| w == b))
}
