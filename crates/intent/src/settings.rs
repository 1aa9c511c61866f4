use crate::rank::features::{Feature, Mask};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;
use steward_core::ports::IntentError;

/// `data/intent.toml`, which explains each value.
#[derive(Debug, Clone, Deserialize)]
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
#[derive(Debug, Clone, Deserialize)]
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
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    pub skill: f32,
    pub step: f32,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Split {
    pub connectives: Vec<String>,
    pub and: Vec<String>,
    pub answers: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
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
    pub fn shipped() -> Result<&'static Self, IntentError> {
        static SETTINGS: LazyLock<Result<Settings, toml::de::Error>> =
            LazyLock::new(|| toml::from_str(include_str!("../data/intent.toml")));
        SETTINGS.as_ref().map_err(|error| IntentError::Settings(error.to_string()))
    }
}
