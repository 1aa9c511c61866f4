mod ask;
mod links;
mod queries;

use crate::settings::read;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Words up to this length are compared whole.
const WHOLE: usize = 5;

/// The few words that classify questions about tables where similarity can't (`data/tables.toml`).
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    pub low: Vec<String>,
    pub high: Vec<String>,
    pub many: Vec<String>,
    pub more: Vec<String>,
    pub less: Vec<String>,
    pub least: Vec<String>,
    pub most: Vec<String>,
    pub not: Vec<String>,
    pub each: Vec<String>,
    pub age: Vec<String>,
    pub by: BTreeMap<String, Vec<String>>,
}

pub static ASKED: LazyLock<Asked> = LazyLock::new(|| read(include_str!("../data/tables.toml")));

/// Position of a word of the list: short ones match whole words, longer ones a beginning.
pub fn said_at(text: &str, list: &[String]) -> Option<usize> {
    list.iter()
        .flat_map(|known| {
            let places = text.match_indices(known.as_str()).map(|(at, _)| at);
            places.filter(|at| {
                let edge = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
                edge(text[..*at].chars().next_back())
                    && (known.chars().count() > WHOLE || edge(text[at + known.len()..].chars().next()))
            })
        })
        .min()
}

#[cfg(test)]
mod tests {
    use super::{ASKED, said_at};

    #[test]
    fn the_lists_are_there() {
        assert!(said_at("the highest price", &ASKED.high).is_some());
        assert!(said_at("the price", &ASKED.high).is_none());
    }
}
