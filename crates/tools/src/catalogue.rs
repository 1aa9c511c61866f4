//! Descriptions, utterances and result limits of the tools: `data/tools.toml`.

use crate::error::ToolsError;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::OnceLock;
use steward_core::policy::RiskClass;
use steward_core::tool::{EffectClass, ToolSpec};

const FILE: &str = "crates/tools/data/tools.toml";

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    description: String,
    utterances: Vec<String>,
    result_limit: usize,
}

type Entries = BTreeMap<String, Entry>;

fn entries() -> Result<&'static Entries, ToolsError> {
    static PARSED: OnceLock<Result<Entries, String>> = OnceLock::new();
    PARSED
        .get_or_init(|| toml::from_str(include_str!("../data/tools.toml")).map_err(|error| error.to_string()))
        .as_ref()
        .map_err(|reason| ToolsError::Data { file: FILE, reason: reason.clone() })
}

/// Fails if the data file is broken or lacks one of `names`.
pub(crate) fn check(names: &[&str]) -> Result<(), ToolsError> {
    let known = entries()?;
    match names.iter().find(|name| !known.contains_key(**name)) {
        None => Ok(()),
        Some(name) => Err(ToolsError::Data { file: FILE, reason: format!("there is no entry [{name}]") }),
    }
}

/// A spec with the description of the data file. The dispatcher refuses a tool without an entry.
pub fn spec(name: &str, risk: RiskClass, effect: EffectClass, parameters: Value) -> ToolSpec {
    let entry = entries().ok().and_then(|known| known.get(name)).cloned();
    let entry = entry.unwrap_or(Entry { description: String::new(), utterances: Vec::new(), result_limit: 8000 });
    ToolSpec {
        name: name.to_owned(),
        description: entry.description,
        parameters: parameters.into(),
        effect,
        risk,
        utterances: entry.utterances.into(),
        result_limit: entry.result_limit,
        skill: None,
    }
}

pub fn tool_spec(name: &str, risk: RiskClass, effect: EffectClass, properties: Value, required: &[&str]) -> ToolSpec {
    let mut parameters = Map::new();
    parameters.insert("type".to_owned(), json!("object"));
    parameters.insert("properties".to_owned(), properties);
    if !required.is_empty() {
        parameters.insert("required".to_owned(), json!(required));
    }
    parameters.insert("additionalProperties".to_owned(), json!(false));
    spec(name, risk, effect, Value::Object(parameters))
}

pub(crate) fn known(name: &str) -> bool {
    name == steward_core::tool::TOOL_SEARCH || entries().is_ok_and(|known| known.contains_key(name))
}
