use crate::config::{Effect, Group, Source};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// The settings of this program.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Config {
    /// In groups.
    pub groups: Vec<ConfigGroup>,
    /// Names of changed settings that act after a restart.
    pub restart_pending: Vec<String>,
    /// The file of settings, which need not be there.
    pub file: String,
    /// Why the file as it is now, or what another node has saved, is not in force; what was before is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub not_applied: Option<String>,
}

/// Settings that belong together.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ConfigGroup {
    /// Which.
    pub id: Group,
    /// For people.
    pub title: String,
    /// Its settings.
    pub fields: Vec<ConfigField>,
}

/// How a value is entered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ConfigType {
    /// One line.
    Text,
    /// A number.
    Number,
    /// `true` or `false`.
    Switch,
    /// One of `choices`.
    Choice,
    /// Names, separated by commas or, for folders, by colons.
    List,
}

/// A setting.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ConfigField {
    /// Its name.
    pub name: String,
    /// How a value is entered.
    pub r#type: ConfigType,
    /// What it is.
    pub help: String,
    /// What counts, as text; of a secret only that there is one. Null: nothing is set, and there is no default.
    #[schema(required)]
    pub value: Option<String>,
    /// What counts if nobody sets it, as text.
    #[schema(required)]
    pub default: Option<String>,
    /// The default in words, where it is not the same everywhere.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[schema(required = false)]
    pub default_text: String,
    /// Whether its value is never shown.
    pub secret: bool,
    /// Who says so.
    pub source: Source,
    /// The option, the variable or the file that says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub given_by: Option<String>,
    /// Its environment variable.
    pub variable: String,
    /// When a change acts.
    pub effect: Effect,
    /// Why it acts after a restart only.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[schema(required = false)]
    pub why_restart: String,
    /// Whether it can be changed here.
    pub changeable: bool,
    /// Why it can't, and how else.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub why_not: Option<String>,
    /// Whether it was changed and acts only after a restart.
    pub pending: bool,
    /// What it may be, of a choice.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub choices: Vec<String>,
}

/// New values by the names of settings: text, a number or true or false. Null: the default again.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ConfigChange {
    /// What is left out stays; so does a secret that is sent as it was shown.
    #[schema(value_type = BTreeMap<String, Option<Value>>)]
    pub values: BTreeMap<String, Value>,
}

/// Whether the program has to be started anew.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct RestartHint {
    /// Whether a change waits for it.
    pub pending: bool,
    /// The names of the changed settings.
    pub fields: Vec<String>,
    /// How.
    pub command: String,
}
