use crate::error::ToolsError;
use serde::{Deserialize, Deserializer, de};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};
use steward_core::policy::RiskClass;
use steward_core::tool::{EffectClass, ToolSpec};

const FILE: &str = "crates/tools/data/tools.toml";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    description: String,
    utterances: Vec<String>,
    result_limit: usize,
    risk: RiskClass,
    effect: EffectClass,
    #[serde(default)]
    sends_out: bool,
    #[serde(deserialize_with = "json_text")]
    properties: Value,
    required: Option<Vec<String>>,
}

fn json_text<'de, D: Deserializer<'de>>(from: D) -> Result<Value, D::Error> {
    serde_json::from_str(&String::deserialize(from)?).map_err(de::Error::custom)
}

type Entries = BTreeMap<String, Entry>;

fn entries() -> Result<&'static Entries, ToolsError> {
    static PARSED: LazyLock<Result<Entries, toml::de::Error>> =
        LazyLock::new(|| toml::from_str(include_str!("../data/tools.toml")));
    PARSED.as_ref().map_err(|error| ToolsError::Data { file: FILE, reason: error.to_string() })
}

/// Fails if the data file is broken or has no entry `name`.
pub(crate) fn check(name: &str) -> Result<(), ToolsError> {
    if entries()?.contains_key(name) {
        return Ok(());
    }
    Err(ToolsError::Data { file: FILE, reason: format!("there is no entry [{name}]") })
}

/// A tool by its entry. Without one the description is empty, and the dispatcher refuses the tool.
pub fn spec(name: &str) -> ToolSpec {
    let mut spec = ToolSpec {
        name: name.to_owned(),
        description: String::new(),
        parameters: Arc::default(),
        effect: EffectClass::Write,
        risk: RiskClass::Destructive,
        sends_out: false,
        utterances: Arc::default(),
        result_limit: 8000,
        skill: None,
    };
    if let Some(entry) = entries().ok().and_then(|known| known.get(name)) {
        let mut parameters = json!({"type": "object", "properties": entry.properties});
        if let Some(required) = &entry.required {
            parameters["required"] = json!(required);
        }
        parameters["additionalProperties"] = json!(false);
        spec.description.clone_from(&entry.description);
        spec.parameters = parameters.into();
        spec.effect = entry.effect;
        spec.risk = entry.risk;
        spec.sends_out = entry.sends_out;
        spec.utterances = entry.utterances.clone().into();
        spec.result_limit = entry.result_limit;
    }
    spec
}

pub(crate) fn known(name: &str) -> bool {
    name == steward_core::tool::TOOL_SEARCH || entries().is_ok_and(|known| known.contains_key(name))
}
