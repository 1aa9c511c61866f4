use crate::rank::features::{Feature, Mask};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Reads a data file of this room. Tests read all of them, so the default is never taken.
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
