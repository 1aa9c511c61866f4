//! Whether a skill makes sense, whatever carries it out.

use super::template::{Place, check_json};
use serde_json::{Value, json};
use steward_core::schema;
use steward_core::skill::Skill;

/// Longest name.
const NAME: usize = 64;
/// Longest call that may be asked for: an hour.
const TIMEOUT_MS: std::ops::RangeInclusive<u64> = 10..=3_600_000;
/// Longest result for a model.
const RESULT: std::ops::RangeInclusive<usize> = 100..=200_000;

/// Name, schema, limits, compensation; the error says what to do.
pub(super) fn skill(skill: &Skill) -> Result<(), String> {
    let name = &skill.name;
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if name.is_empty() || name.len() > NAME || !name.chars().all(plain) {
        return Err(format!("`{name}` can't be the name of a skill; use 1 to {NAME} of a-z, 0-9 and _"));
    }
    if skill.description.trim().is_empty() {
        return Err("description: say in a sentence what the skill does; models choose by it".to_owned());
    }
    parameters(&skill.parameters)?;
    if !TIMEOUT_MS.contains(&skill.limits.timeout_ms) {
        return Err(format!("limits.timeout_ms: give {} to {} milliseconds", TIMEOUT_MS.start(), TIMEOUT_MS.end()));
    }
    if !RESULT.contains(&skill.limits.result_chars) {
        return Err(format!("limits.result_chars: give {} to {} characters", RESULT.start(), RESULT.end()));
    }
    if let Some(compensation) = &skill.compensation {
        if compensation.skill == *name {
            return Err("compensation.skill: a skill can't take its own effect back".to_owned());
        }
        check_json(&compensation.arguments, Place::Compensation, &skill.parameters)
            .map_err(|error| format!("compensation.arguments: {error}"))?;
    }
    Ok(())
}

fn parameters(parameters: &Value) -> Result<(), String> {
    if parameters["type"] != "object" {
        return Err(
            r#"parameters: must be a JSON Schema of an object, such as {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}"#
                .to_owned(),
        );
    }
    let reserved = ["credential", "result"];
    let names = parameters["properties"].as_object();
    if let Some(name) = names.and_then(|all| reserved.iter().find(|name| all.contains_key(**name))) {
        return Err(format!(
            "parameters: `{name}` stands for something else in templates; give the input another name"
        ));
    }
    match schema::validate(parameters, &json!({})) {
        Err(problem) if problem.starts_with("the tool's own schema") => Err(format!("parameters: {problem}")),
        _ => Ok(()),
    }
}
