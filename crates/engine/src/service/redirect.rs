//! Requests that go elsewhere because of what they are about, where their agent says so.

use crate::deps::Deps;
use crate::error::EngineError;
use crate::run::missing_right::missing_right;
use crate::service::request::StartRun;
use steward_core::agent::Agent;
use steward_core::ports::StoreError;
use steward_core::routing::{Hinted, Redirect, Redirected, ToolHint, hint};
use steward_core::run::is_control;
use steward_core::tool::ToolSpec;

/// Gives the request to the agent that its own names for what it is about, once: that one's redirects to agents don't
/// count. One that is gone, or that its user may not use, changes nothing but the reason.
pub(crate) async fn redirect_to_agent(deps: &Deps, request: &mut StartRun) -> Result<Option<Redirected>, EngineError> {
    let Hinted { hint, words } = hint(&request.input);
    let Some(Redirect::Agent(id)) = request.agent.routing.redirects.get(&hint) else {
        return Ok(None);
    };
    let stays = |reason: String| Redirected { hint, words: words.clone(), from: None, reason };
    let own = request.agent.name.clone();
    let agent = match deps.store.agent(deps.tenant, *id).await {
        Ok(agent) if !deps.store.is_deleted_agent(deps.tenant, *id).await? => agent,
        Ok(_) | Err(StoreError::NotFound(_)) => {
            let gone = format!("agent {id}, to which `{own}` gives such requests, isn't there any more; it stays here");
            return Ok(Some(stays(gone)));
        }
        Err(error) => return Err(error.into()),
    };
    if agent.id == request.agent.id {
        return Ok(None);
    }
    if let Some(user) = request.user
        && missing_right(deps, user, [agent.id.into()]).await?.is_some()
    {
        return Ok(Some(stays(format!(
            "its user may not use the agent to which `{own}` gives such requests; it stays here"
        ))));
    }
    let reason = format!("`{own}` gives requests of this kind ({}) to `{}`", hint.name(), agent.name);
    request.agent = agent;
    Ok(Some(Redirected { hint, words, from: Some(own), reason }))
}

/// Whether requests that are about the same as this one have only the tools that suit them.
pub(crate) fn names_tools(agent: &Agent, request: &str) -> bool {
    agent.routing.redirects.get(&hint(request).hint) == Some(&Redirect::Tools)
}

/// Leaves the tools that the hint names and those that steer the run, where the agent says so.
pub(crate) fn keep_hinted_tools(agent: &Agent, request: &str, tools: &mut Vec<ToolSpec>) -> Option<Redirected> {
    if !names_tools(agent, request) {
        return None;
    }
    let Hinted { hint, words } = hint(request);
    let named = ToolHint::of(request, tools).map(|found| found.tools).unwrap_or_default();
    let reason = if named.is_empty() {
        format!("the agent has no tool for requests of this kind ({}); all of its tools stay", hint.name())
    } else {
        tools.retain(|spec| named.contains(&spec.name) || is_control(&spec.name));
        format!("only tools for requests of this kind ({}): {}", hint.name(), named.join(", "))
    };
    Some(Redirected { hint, words, from: None, reason })
}
