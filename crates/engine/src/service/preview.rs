use crate::deps::Deps;
use crate::error::EngineError;
use crate::prompting::model_request::{build_request, references};
use crate::run::planning::filter_tools;
use crate::service::models::choose_models;
use crate::service::redirect::{keep_hinted_tools, names_tools, redirect_to_agent};
use crate::service::request::StartRun;
use crate::service::start::run_setup;
use std::sync::Arc;
use steward_core::agent::Agent;
use steward_core::event::{EVENT_VERSION, Event, EventBody, Mode, Origin};
use steward_core::model::Purpose;
use steward_core::prompt::{PromptPreview, PromptSection, estimate_tokens, memory_text, skills_text};
use steward_core::routing::{Redirected, RouteTaken};
use steward_core::run::{Effect, RunState, room_for_tools};
use steward_core::{ConnectionId, RunId, UserId};

/// Whose prompt is shown.
#[derive(Debug, Clone, Default)]
pub struct PreviewFor {
    pub user: Option<UserId>,
    pub workspace: String,
}

/// Where a request would go.
#[derive(Debug, Clone)]
pub struct RoutePreview {
    /// Who would carry it out, after a redirect.
    pub agent: Agent,
    /// What the redirects of the agent that was asked make of it; `None`: nothing.
    pub redirected: Option<Redirected>,
    pub route: RouteTaken,
    /// Where its plans would be made, if not by the same connections.
    pub planner: Option<RouteTaken>,
}

fn request(agent: &Agent, input: &str, asked: PreviewFor) -> StartRun {
    StartRun {
        agent: agent.clone(),
        input: input.to_owned(),
        conversation: None,
        history: Vec::new(),
        documents: Vec::new(),
        mode: Mode::Loop,
        origin: Origin::Api,
        asked_by: String::new(),
        workspace: asked.workspace,
        grants: Vec::new(),
        connection: None,
        planner: None,
        executor: None,
        intent_filter: true,
        user: asked.user,
        client_retries: false,
        key: None,
        source: None,
        started_by: None,
        outside: steward_core::provenance::Provenance::default(),
    }
}

pub(crate) async fn preview_route(
    deps: &Deps,
    agent: &Agent,
    input: &str,
    asked: PreviewFor,
) -> Result<RoutePreview, EngineError> {
    let mut request = request(agent, input, asked);
    let mut redirected = redirect_to_agent(deps, &mut request).await?;
    if redirected.is_none() && names_tools(&request.agent, input) {
        let offered = deps.tools.of_agent(deps.tenant, &request.agent).await;
        let mut tools = offered.map_err(|error| EngineError::Tools(error.to_string()))?.tools;
        redirected = keep_hinted_tools(&request.agent, input, &mut tools);
    }
    let chosen = choose_models(deps, &request).await?;
    let planner = chosen.planner.map(|(planner, _)| planner.route);
    Ok(RoutePreview { agent: request.agent, redirected, route: chosen.route, planner })
}

pub(crate) async fn preview_prompt(
    deps: &Deps,
    agent: &Agent,
    connection: Option<ConnectionId>,
    input: &str,
    asked: PreviewFor,
) -> Result<PromptPreview, EngineError> {
    let now = deps.clock.now();
    let request = StartRun { connection, ..request(agent, input, asked) };
    let setup = run_setup(deps, request, None, now).await?;
    let setup = Arc::new(setup);
    let run = RunId(deps.ids.next());
    let body = EventBody::RunStarted { v: EVENT_VERSION, setup: Arc::clone(&setup) };
    let mut state = RunState::new(run);
    state.apply(&Event { run_id: run, seq: 1, at: now, epoch: 1, body });
    if state.next(now).first() == Some(&Effect::FilterIntent) {
        state.apply(&Event { run_id: run, seq: 2, at: now, epoch: 1, body: filter_tools(deps, &setup).await });
    }
    let built = build_request(&state, &setup, &setup.capabilities, Purpose::Reply, deps.config.get().max_plan_steps);
    let tools = state.offered();
    let tokens = built.prompt.tokens;
    let skills = skills_text(&setup.skills, room_for_tools(&setup.capabilities));
    let own_sections = setup.own_sections.text(room_for_tools(&setup.capabilities));
    let parts = [
        ("skills", estimate_tokens(&skills)),
        ("tools", estimate_tokens(&built.tool_text) + built.beside),
        ("references", estimate_tokens(&references(&state, &setup, Purpose::Reply, &setup.capabilities))),
        ("memory", estimate_tokens(&memory_text(&setup.memory)) + estimate_tokens(&own_sections)),
        ("history", setup.history.iter().map(|message| estimate_tokens(&message.text)).sum()),
        ("input", estimate_tokens(&setup.input)),
    ];
    let others: u64 = parts.iter().map(|(_, tokens)| tokens).sum();
    let system = ("system", tokens.saturating_sub(others));
    let sections = std::iter::once(system)
        .chain(parts)
        .map(|(name, tokens)| PromptSection { name: name.to_owned(), tokens })
        .collect();
    Ok(PromptPreview {
        messages: built.request.messages.into_iter().map(Into::into).collect(),
        sections,
        tokens,
        window: setup.capabilities.window,
        reserved: built.reserve,
        fits: built.prompt.fits,
        tools: tools.into_iter().map(|spec| spec.name).collect(),
        model: setup.model.clone(),
    })
}
