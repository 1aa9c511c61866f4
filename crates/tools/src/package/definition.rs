//! Skills that a package brings: `skills/*.json` and `skills/*.yaml`.

use super::error::PackageError;
use super::names;
use super::read::{Files, text};
use crate::catalogue;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::str::FromStr as _;
use steward_core::policy::RiskClass;
use steward_core::schema;
use steward_core::skill::{Skill, SkillKind};
use steward_core::tool::EffectClass;

/// Fields of a definition. Id, version, author and package are given by Steward.
const FIELDS: [&str; 14] = [
    "name",
    "description",
    "utterances",
    "parameters",
    "type",
    "config",
    "risk",
    "effect",
    "credential",
    "compensation",
    "limits",
    "enabled",
    "untrusted",
    "category",
];
/// Until a skill is made of it.
const NO_ID: &str = "00000000-0000-0000-0000-000000000000";
/// In a python skill's `config`: a file of the package, instead of `code`.
pub(crate) const FILE: &str = "file";

/// The skills of one file: an object, or a list of them.
pub(crate) fn read(path: &str, source: &str, files: &Files) -> Result<Vec<Skill>, PackageError> {
    let wrong = |problem: String| PackageError::Definition { file: path.to_owned(), problem };
    let source = source.strip_prefix('\u{feff}').unwrap_or(source);
    let extension = path.rsplit_once('.').map_or("", |(_, last)| last);
    let value = match extension {
        "json" => serde_json::from_str(source).map_err(|error| wrong(format!("its JSON can't be read: {error}")))?,
        "yaml" | "yml" => super::front::yaml(source).map_err(wrong)?,
        _ => {
            return Err(wrong("is no skill definition; put only .json and .yaml files into skills/".into()));
        }
    };
    let list = match value {
        Value::Array(list) => list,
        one => vec![one],
    };
    list.into_iter().map(|one| definition(one, path, files).map_err(wrong)).collect()
}

fn definition(value: Value, path: &str, files: &Files) -> Result<Skill, String> {
    let Value::Object(mut fields) = value else {
        return Err("a skill is an object with `name`, `type` and `config`".into());
    };
    if let Some(unknown) = fields.keys().find(|key| !FIELDS.contains(&key.as_str())) {
        return Err(format!("`{unknown}` is unknown; there are {}", FIELDS.join(", ")));
    }
    if !fields.contains_key("name") {
        let file = path.rsplit('/').next().unwrap_or_default();
        let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
        fields.insert("name".into(), Value::String(stem.replace('-', "_")));
    }
    let name = fields.get("name").and_then(Value::as_str).unwrap_or_default();
    names::skill(name)?;
    if catalogue::known(name) {
        return Err(format!("`{name}` is the name of a built-in tool; choose another"));
    }
    let kind = fields.get("type").and_then(Value::as_str);
    let kind = SkillKind::from_str(kind.ok_or("`type` is missing, such as \"http\"")?)?;
    if fields.get("description").and_then(Value::as_str).is_none_or(|text| text.trim().is_empty()) {
        return Err("`description` is missing; say what the skill does".into());
    }
    let config = fields.entry("config").or_insert_with(|| json!({}));
    if kind == SkillKind::Python {
        take_file(config, files)?;
    }
    parameters(&mut fields)?;
    let (risk, effect) = defaults(kind, &fields["config"]);
    fields.entry("risk").or_insert_with(|| json!(risk));
    fields.entry("effect").or_insert_with(|| json!(effect));
    for (field, value) in [("id", json!(NO_ID)), ("version", json!(0)), ("at", json!(0))] {
        fields.insert(field.into(), value);
    }
    serde_json::from_value(Value::Object(fields)).map_err(|error| error.to_string())
}

/// The safe side for a definition that names none; a statement that may write is no read.
fn defaults(kind: SkillKind, config: &Value) -> (RiskClass, EffectClass) {
    if kind == SkillKind::Sql && config.get("readonly") == Some(&Value::Bool(false)) {
        return (RiskClass::Destructive, EffectClass::Write);
    }
    kind.defaults()
}

/// Puts the text of `config.file` in the place of `config.code`.
fn take_file(config: &mut Value, files: &Files) -> Result<(), String> {
    let Some(config) = config.as_object_mut() else {
        return Ok(());
    };
    let Some(file) = config.shift_remove(FILE) else {
        return Ok(());
    };
    if config.contains_key("code") {
        return Err("`config` has both `code` and `file`; keep one".into());
    }
    let file = file.as_str().ok_or("`config.file` must be a path in the package")?;
    let content = files.get(file).ok_or_else(|| format!("`config.file`: there is no `{file}` in the package"))?;
    let code = text(file, content).map_err(|error| error.to_string())?;
    config.insert("code".into(), Value::String(code.to_owned()));
    Ok(())
}

fn parameters(fields: &mut Map<String, Value>) -> Result<(), String> {
    let schema = fields
        .entry("parameters")
        .or_insert_with(|| json!({"type": "object", "properties": {}, "additionalProperties": false}));
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        return Err("`parameters` must be a JSON Schema with \"type\": \"object\"".into());
    }
    match schema::validate(schema, &json!({})) {
        // Required fields are missing in `{}`; only a schema that can't be used is an error here.
        Err(problem) if problem.contains("own schema") => Err(format!("`parameters`: {problem}")),
        _ => Ok(()),
    }
}

/// No two skills of a package have one name, and none that of its prompt.
pub(crate) fn distinct(package: &str, skills: &[Skill]) -> Result<(), PackageError> {
    let mut seen = BTreeSet::from([names::skill_of(package)]);
    match skills.iter().find(|skill| !seen.insert(skill.name.clone())) {
        None => Ok(()),
        Some(skill) => Err(PackageError::Definition {
            file: super::read::SKILLS.to_owned(),
            problem: format!(
                "two skills are called `{}` (the package's own prompt is `{}`); rename one",
                skill.name,
                names::skill_of(package)
            ),
        }),
    }
}
