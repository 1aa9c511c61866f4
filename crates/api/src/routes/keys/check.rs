//! What a key can be.

use crate::problem::Problem;
use crate::state::ApiState;
use steward_core::ports::VirtualKey;
use steward_core::spending::key_problem;

/// Refuses what can't be a key, and names of what isn't there.
pub(super) async fn check(state: &ApiState, key: &VirtualKey) -> Result<(), Problem> {
    let deps = state.runs.deps();
    if let Some(problem) = key_problem(key, deps.clock.now()) {
        return Err(Problem::invalid(problem.field, problem.what, problem.hint));
    }
    if !key.connections.is_empty() {
        let known = state.connections.list().await;
        let known: Vec<String> = known.into_iter().map(|one| one.connection.name).collect();
        listed("connections", "connection", &key.connections, &known)?;
    }
    if let Some(agents) = key.agents.as_ref().filter(|agents| !agents.is_empty()) {
        let known = deps.store.agents(deps.tenant).await?;
        let known: Vec<String> = known.into_iter().map(|agent| agent.name).collect();
        listed("agents", "agent", agents, &known)?;
    }
    Ok(())
}

fn listed(field: &str, what: &str, names: &[String], known: &[String]) -> Result<(), Problem> {
    match names.iter().find(|name| !known.contains(name)) {
        None => Ok(()),
        Some(name) => Err(Problem::invalid(
            field,
            format!("there is no {what} `{name}`"),
            format!("there are: {}", known.join(", ")),
        )),
    }
}
