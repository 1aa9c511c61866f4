use crate::rank::features::{Feature, Mask};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Reads a data file of this room. The test below reads all of them, so the default is never taken.
pub fn read<T: DeserializeOwned + Default>(text: &str) -> T {
    toml::from_str(text).unwrap_or_default()
}

/// `data/intent.toml`, which explains each value.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    pub talk_below: f32,
    pub nearest: f32,
    pub nearest_three: f32,
    pub description: f32,
    pub kinds: Kinds,
    pub choice: Choice,
    pub mask: Mask,
    pub split: Split,
    pub rules: Vec<Rule>,
}

/// Least score at which a kind of request counts.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kinds {
    pub sure: f32,
    pub act: f32,
    pub guess: f32,
    pub likely: f32,
    pub told: f32,
    pub literal: f32,
    pub spoken: f32,
    pub heard: f32,
}

/// When a skill is meant.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    pub skill: f32,
    pub step: f32,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Split {
    pub connectives: Vec<String>,
    pub and: Vec<String>,
    pub answers: Vec<String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Any of these phrases suffices.
    #[serde(default)]
    pub any: Vec<String>,
    /// Any of these features suffices.
    #[serde(default)]
    pub features: Vec<Feature>,
    /// Added to the score of each tool.
    pub add: BTreeMap<String, f32>,
}

impl Settings {
    pub fn shipped() -> &'static Self {
        static SETTINGS: LazyLock<Settings> = LazyLock::new(|| read(include_str!("../data/intent.toml")));
        &SETTINGS
    }
}

#[cfg(test)]
mod tests {
    use super::Settings;
    use crate::{kinds, lexicon, replies};
    use serde::de::DeserializeOwned;
    use std::collections::BTreeSet;

    fn parses<T: DeserializeOwned>(text: &str) -> Option<String> {
        toml::from_str::<T>(text).err().map(|error| error.to_string())
    }

    #[test]
    fn every_data_file_can_be_read() {
        let files = [
            ("intent.toml", parses::<Settings>(include_str!("../data/intent.toml"))),
            ("kinds.toml", parses::<kinds::Data>(include_str!("../data/kinds.toml"))),
            ("lexicon.toml", parses::<lexicon::Lexicon>(include_str!("../data/lexicon.toml"))),
            ("replies.toml", parses::<replies::Replies>(include_str!("../data/replies.toml"))),
        ];
        for (name, problem) in &files {
            assert_eq!(*problem, None, "data/{name}");
        }
        let there = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/data")).unwrap();
        let there =
            there.map(|file| file.unwrap().path()).filter(|path| path.extension().is_some_and(|is| is == "toml"));
        let there: BTreeSet<String> =
            there.map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()).collect();
        let read: BTreeSet<String> = files.iter().map(|(name, _)| (*name).to_owned()).collect();
        assert_eq!(there, read, "a new file is read here too");
    }
}
