//! What a skill can be, and who may make one.

use crate::auth::Person;
use crate::dto::skill::SkillInput;
use crate::problem::Problem;
use crate::state::ApiState;
use serde_json::json;
use steward_core::SkillId;
use steward_core::ports::Role;
use steward_core::schema;
use steward_core::skill::{Skill, SkillKind};

const MAX_NAME: usize = 64;
const MAX_TEXT: usize = 4000;
const MAX_UTTERANCES: usize = 50;

/// Skills that reach servers or start programs are an operator's to make.
pub(crate) fn may_write(person: &Person, kind: SkillKind) -> Result<(), Problem> {
    person.may(match kind {
        SkillKind::Ssh | SkillKind::Shell | SkillKind::Ansible | SkillKind::Docker | SkillKind::Mcp => Role::Operator,
        _ => Role::Developer,
    })
}

/// The skill of this id, where the input is one.
pub(crate) fn to_skill(state: &ApiState, person: &Person, id: SkillId, input: SkillInput) -> Result<Skill, Problem> {
    let now = state.runs.deps().clock.now();
    let skill = input
        .skill(id, now, person.by())
        .map_err(|(field, why)| Problem::invalid(field, why, "see GET /api/skills/kinds for what each type takes"))?;
    may_write(person, skill.kind())?;
    Ok(skill)
}

/// Refuses what can't be, naming the field.
pub(crate) async fn checked(state: &ApiState, skill: Skill) -> Result<Skill, Problem> {
    let fits = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_';
    let name = &skill.name;
    if name.is_empty() || name.len() > MAX_NAME || !name.chars().all(fits) {
        return Err(Problem::invalid(
            "name",
            format!("`{}` is no name of a skill", name.chars().take(80).collect::<String>()),
            format!("1 to {MAX_NAME} of a-z, 0-9 and _: it is the name that models call"),
        ));
    }
    let tools = state.runs.deps().tools.catalogue();
    if tools.iter().any(|tool| tool.name == *name) {
        return Err(Problem::invalid("name", format!("`{name}` is a built-in tool"), "choose another name"));
    }
    let length = skill.description.chars().count();
    if length == 0 || length > MAX_TEXT {
        return Err(Problem::invalid(
            "description",
            format!("a description has 1 to {MAX_TEXT} characters"),
            "say in a sentence or two what it does and when to use it",
        ));
    }
    if skill.utterances.len() > MAX_UTTERANCES {
        return Err(Problem::invalid(
            "utterances",
            format!("more than {MAX_UTTERANCES} utterances"),
            "keep the most different ones",
        ));
    }
    if !(100..=3_600_000).contains(&skill.limits.timeout_ms) {
        return Err(Problem::invalid(
            "limits.timeout_ms",
            "`limits.timeout_ms` is out of range",
            "choose 100 to 3600000 (an hour)",
        ));
    }
    if !(100..=1_000_000).contains(&skill.limits.result_chars) {
        return Err(Problem::invalid(
            "limits.result_chars",
            "`limits.result_chars` is out of range",
            "choose 100 to 1000000",
        ));
    }
    parameters(&skill)?;
    if let Some(back) = &skill.compensation {
        let deps = state.runs.deps();
        if state.skills.skill_by_name(deps.tenant, &back.skill).await?.is_none() {
            return Err(Problem::invalid(
                "compensation.skill",
                format!("there is no skill `{}`", back.skill),
                "make it first",
            ));
        }
    }
    state
        .runs
        .deps()
        .tools
        .check_skill(&skill)
        .map_err(|why| Problem::invalid("config", why, "correct the skill's config"))?;
    Ok(skill)
}

fn parameters(skill: &Skill) -> Result<(), Problem> {
    let schema = &skill.parameters;
    if schema["type"] != json!("object") {
        return Err(Problem::invalid(
            "parameters",
            "the inputs are no JSON Schema of an object",
            r#"write {"type": "object", "properties": {…}, "required": […]}"#,
        ));
    }
    // A schema that isn't one says so when something is held against it.
    match schema::validate(schema, &json!({})) {
        Err(why) if why.contains("schema is broken") => {
            Err(Problem::invalid("parameters", why, "correct the JSON Schema"))
        }
        _ => Ok(()),
    }
}
