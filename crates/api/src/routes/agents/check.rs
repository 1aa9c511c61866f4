//! Whether an agent can be as it is configured.

use crate::dto::agent::AgentInput;
use crate::problem::Problem;
use crate::routes::routing;
use crate::state::ApiState;
use steward_core::ports::{KnownConnection, StoreError};

const MAX_NAME: usize = 64;
const MAX_INSTRUCTIONS: usize = 100_000;

/// Refuses what can't be, naming the field.
pub(super) async fn check(state: &ApiState, agent: &AgentInput) -> Result<(), Problem> {
    let tools: Vec<String> = state.runs.deps().tools.catalogue().into_iter().map(|spec| spec.name).collect();
    let routing = &agent.routing;
    let names_none = agent.connection.is_none() && routing.task_routing.is_empty() && routing.fallback_chain.is_empty();
    let connections = if names_none { Vec::new() } else { state.connections.list().await };
    let skills = skills(state, agent).await?;
    judge(agent, &tools, &skills, &connections)
}

/// Names of the skills that the agent's policy names; refuses ids of skills that aren't there.
async fn skills(state: &ApiState, agent: &AgentInput) -> Result<Vec<String>, Problem> {
    let tenant = state.runs.deps().tenant;
    for id in agent.skills.iter().flatten() {
        let found = state.skills.skill(tenant, *id).await;
        if matches!(found, Err(StoreError::NotFound(_))) {
            return Err(Problem::invalid("skills", format!("there is no skill {id}"), "see GET /api/skills"));
        }
        found?;
    }
    let mut names = Vec::new();
    for name in agent.policy.tools.keys() {
        if state.skills.skill_by_name(tenant, name).await?.is_some() {
            names.push(name.clone());
        }
    }
    Ok(names)
}

fn judge(
    agent: &AgentInput,
    tools: &[String],
    skills: &[String],
    connections: &[KnownConnection],
) -> Result<(), Problem> {
    let name = agent.name.trim();
    if name.is_empty() || name.chars().count() > MAX_NAME || name.chars().any(char::is_control) {
        return Err(Problem::invalid(
            "name",
            format!("a name has 1 to {MAX_NAME} characters on one line"),
            "choose another name",
        ));
    }
    if agent.instructions.chars().count() > MAX_INSTRUCTIONS {
        return Err(Problem::invalid(
            "instructions",
            format!("instructions have at most {MAX_INSTRUCTIONS} characters"),
            "put long texts into files that the agent can read",
        ));
    }
    let unknown = |names: Vec<&String>, field: &str| match names.into_iter().find(|name| !tools.contains(name)) {
        Some(name) => Err(Problem::invalid(
            field,
            format!("there is no tool `{name}`"),
            format!("there are: {}", tools.join(", ")),
        )),
        None => Ok(()),
    };
    unknown(agent.tools.iter().collect(), "tools")?;
    let built_in = agent.policy.tools.keys();
    let built_in = built_in.filter(|name| !skills.contains(name));
    unknown(built_in.collect(), "policy.tools")?;
    if let Some(id) = agent.connection
        && !connections.iter().any(|one| one.connection.id == id)
    {
        let names: Vec<_> =
            connections.iter().map(|one| format!("{} ({})", one.connection.id, one.connection.name)).collect();
        return Err(Problem::invalid(
            "connection",
            format!("there is no connection {id}"),
            format!("null is the default; there are: {}", names.join(", ")),
        ));
    }
    routing::routing(&agent.routing, connections)?;
    routing::deep(agent.deep)?;
    let tuning = agent.tuning;
    for (fits, field, hint) in [
        ((0.0..=2.0).contains(&tuning.temperature), "tuning.temperature", "choose 0 to 2"),
        ((1..=1_000_000).contains(&tuning.max_tokens), "tuning.max_tokens", "choose 1 to 1000000"),
        (
            (1000..=3_600_000).contains(&tuning.timeout_ms),
            "tuning.timeout_ms",
            "choose 1000 (a second) to 3600000 (an hour)",
        ),
    ] {
        if !fits {
            return Err(Problem::invalid(field, format!("`{field}` is out of range"), hint));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::needless_pass_by_value, reason = "tests")]

    use super::judge;
    use crate::dto::agent::AgentInput;
    use serde_json::{Value, json};

    fn check(pointer: &str, value: Value, fits: bool) {
        let mut body = json!({
            "name": "writer", "instructions": "Write.", "tools": ["read"], "connection": null,
            "policy": {"read": "allow", "write": "ask", "external": "ask", "destructive": "ask", "tools": {}},
            "routing": {}, "deep": {}, "budget": "agent", "tuning": {"temperature": 0.2, "max_tokens": 100, "timeout_ms": 5000},
        });
        *body.pointer_mut(pointer).unwrap() = value.clone();
        let agent: AgentInput = serde_json::from_value(body).unwrap();
        let tools = ["read".to_owned(), "write".to_owned()];
        assert_eq!(judge(&agent, &tools, &["restart".to_owned()], &[]).is_ok(), fits, "{pointer} {value}");
    }

    #[test]
    fn what_cannot_be_is_refused() {
        check("/name", json!("Ärztin 7"), true);
        check("/name", json!("  "), false);
        check("/name", json!("a\nb"), false);
        check("/name", json!("x".repeat(65)), false);
        check("/instructions", json!("x".repeat(100_001)), false);
        check("/tools", json!(["write", "reed"]), false);
        check("/policy/tools", json!({"write": "deny"}), true);
        check("/policy/tools", json!({"wright": "deny"}), false);
        check("/policy/tools", json!({"restart": "deny"}), true);
        check("/connection", json!("019c0e3a-7b1d-7c44-9d43-3f6f1f6a2b11"), false);
        check("/routing", json!({"max_fallback_attempts": 0}), false);
        check("/routing", json!({"hedge_after_ms": 500}), true);
        check("/deep", json!({"max_steps": 50}), false);
        check("/tuning/temperature", json!(2.1), false);
        check("/tuning/max_tokens", json!(0), false);
        check("/tuning/timeout_ms", json!(10), false);
    }
}
