use crate::deps::Deps;
use crate::error::EngineError;
use crate::run::delegation::{inherited_grants, remaining_budget};
use crate::run::references::{Wanted, gather};
use crate::service::models::{ChosenModels, choose_models};
use crate::service::redirect::{keep_hinted_tools, redirect_to_agent};
use crate::service::request::StartRun;
use std::collections::BTreeSet;
use std::sync::Arc;
use steward_core::agent::Agent;
use steward_core::approval::Taint;
use steward_core::audit::of_event;
use steward_core::event::{EVENT_VERSION, Event, EventBody, Mode, Origin, Setup};
use steward_core::governance::{Classified, DATA_RULES_SETTING, DataRules, higher};
use steward_core::message::{Message, given_documents};
use steward_core::model::Capabilities;
use steward_core::policy::{TOOL_RULES_SETTING, ToolRule, ToolRules};
use steward_core::ports::{AgentTools, DataCaller, Lease, Memory, RunRow, RunStatus, SideWrite, StoreError};
use steward_core::prompt::{Carried, Compaction, OwnSections, weigh_tools};
use steward_core::provenance::Provenance;
use steward_core::routing::{Redirected, ToolHint};
use steward_core::run::{ChildRun, RunState, is_control, room_for_tools};
use steward_core::skill::SkillPrompt;
use steward_core::text::steers_output;
use steward_core::tool::{DATA_QUERY, SAVE_MEMORY, ToolSpec};
use steward_core::{AgentId, ConversationId, RunId, TenantId, Timestamp, UserId};

/// Longest request, characters; what is longer belongs into a file.
const MAX_INPUT: usize = 200_000;
/// In the place of a call, for what came in with the memory, the documentation of tables or the texts of domains.
const KEPT_ID: &str = "kept";
/// In the place of a tool, for a request that somebody outside wrote.
const REQUEST: &str = "request";
/// Name of the prompt that says what data there is to ask for.
const BRIEFING: &str = "data";
/// Longest title, characters.
const MAX_TITLE: usize = 120;

/// A run that was just made: its lease, and the fold of its first events, so that nobody reads them back.
pub(crate) struct NewRun {
    pub lease: Lease,
    pub state: RunState,
}

/// Makes a run with a lease of ours. `queued`: how many are at work in its way.
pub(crate) async fn create_requested(
    deps: &Deps,
    mut request: StartRun,
    queued: Option<usize>,
) -> Result<NewRun, EngineError> {
    check_input(&request.input)?;
    let now = deps.clock.now();
    let run = RunId(deps.ids.next());
    let started_by = request.started_by.map(SideWrite::StartedBy);
    let redirected = redirect_to_agent(deps, &mut request).await?;
    let setup = Arc::new(run_setup(deps, request, redirected, now).await?);
    let mut first = vec![EventBody::RunStarted { v: EVENT_VERSION, setup }];
    first.extend(queued.map(|at_work| EventBody::RunQueued { at_work }));
    create(deps, run, first, started_by, now).await
}

/// `more`: what is written with its first events.
pub(crate) async fn create(
    deps: &Deps,
    run: RunId,
    first: Vec<EventBody>,
    more: Option<SideWrite>,
    now: Timestamp,
) -> Result<NewRun, EngineError> {
    let events: Vec<Event> = (1..)
        .zip(first.iter().cloned())
        .map(|(seq, body)| Event { run_id: run, seq, at: now, epoch: 1, body })
        .collect();
    let mut state = RunState::new(run);
    for event in &events {
        state.apply(event);
    }
    let row = run_row(deps.tenant, run, &state, now)?;
    let config = deps.config.get();
    let until = now.plus(config.lease);
    // The others of a fork are its origin's, and stand in the audit trail with that.
    let begun = first.first().and_then(|event| of_event(&RunState::new(run), now, event, || deps.ids.next()));
    let side = begun.map(SideWrite::Audit).into_iter().chain(more).collect();
    let lease = deps.store.create_run(row, first, side, &config.node, until).await?;
    for event in &events {
        deps.bus.publish(event);
    }
    Ok(NewRun { lease, state })
}

pub(crate) async fn create_child(deps: &Deps, child: &ChildRun, state: &RunState) -> Result<NewRun, EngineError> {
    let Some(parent) = state.setup.as_deref() else {
        return Err(EngineError::Invalid("a run begins with a request".to_owned()));
    };
    let agent = deps
        .store
        .agent_by_name(deps.tenant, &child.agent)
        .await?
        .ok_or_else(|| EngineError::NotFound(format!("agent {}", child.agent)))?;
    let now = deps.clock.now();
    let asked = StartRun {
        agent,
        input: child.request.clone(),
        conversation: None,
        history: Vec::new(),
        documents: given_documents(&parent.documents, &parent.history),
        mode: Mode::Loop,
        origin: Origin::Delegation,
        asked_by: parent.asked_by.clone(),
        workspace: parent.workspace.clone(),
        grants: inherited_grants(parent),
        connection: None,
        planner: None,
        executor: None,
        intent_filter: parent.intent_filter,
        user: parent.user,
        // The run above it goes on with its answer.
        client_retries: false,
        key: parent.key,
        source: parent.source.clone(),
        started_by: None,
        // Its parent's sources are its own, below.
        outside: Provenance::default(),
    };
    let mut setup = run_setup(deps, asked, None, now).await?;
    setup.parent = Some(state.run_id);
    setup.askers.clone_from(&state.askers);
    setup.above = parent.above.iter().copied().chain([parent.agent.id]).collect();
    setup.depth = parent.depth + 1;
    let sources = state.sources();
    setup.taint.retain(|own| sources.iter().all(|one| one.origin != own.origin));
    setup.taint.splice(0..0, sources);
    setup.classified = higher(setup.classified, state.classified.clone());
    // Delegating leads out of no rule.
    add_missing(&mut setup.rules, parent.rules.iter().cloned());
    setup.budget = setup.budget.within(remaining_budget(parent, state));
    let started = EventBody::RunStarted { v: EVENT_VERSION, setup: Arc::new(setup) };
    create(deps, child.run, vec![started], None, now).await
}

pub(crate) fn add_missing<T: PartialEq>(to: &mut Vec<T>, more: impl IntoIterator<Item = T>) {
    for one in more {
        if !to.contains(&one) {
            to.push(one);
        }
    }
}

pub(crate) fn check_input(input: &str) -> Result<(), EngineError> {
    if input.trim().is_empty() {
        return Err(EngineError::Invalid("the request is empty; say what is to be done".to_owned()));
    }
    if input.chars().count() > MAX_INPUT {
        return Err(EngineError::Invalid(format!(
            "the request has more than {MAX_INPUT} characters; put the text into a file and name it"
        )));
    }
    Ok(())
}

/// `redirected`: it comes from another agent.
pub(crate) async fn run_setup(
    deps: &Deps,
    request: StartRun,
    mut redirected: Option<Redirected>,
    now: Timestamp,
) -> Result<Setup, EngineError> {
    let ChosenModels { connection, route, planner } = choose_models(deps, &request).await?;
    let (history, inherited, mut carried) = if let Some(id) = request.conversation {
        conversation_history(deps, id).await?
    } else {
        let (history, inherited) = inherit(request.history);
        (history, inherited, Carried::default())
    };
    let kept = read_kept(deps, &request.agent, request.user).await?;
    let AgentTools { mut tools, prompts } = deps
        .tools
        .of_agent(deps.tenant, &request.agent)
        .await
        .map_err(|error| EngineError::Tools(error.to_string()))?;
    match &redirected {
        Some(to) if to.from.is_some() => carried = Carried::default(),
        Some(_) => {}
        None => redirected = keep_hinted_tools(&request.agent, &request.input, &mut tools),
    }
    let (prompts, briefed) =
        with_briefing(deps, (request.user, request.agent.id), &request.input, &tools, prompts).await?;
    let deep = deps.config.get().deep.of(request.agent.deep);
    let carried = fitting_carried(carried, &tools, &connection.capabilities);
    let hint = ToolHint::of(&request.input, &tools);
    let standing = deps.store.grants(deps.tenant, Some(request.agent.id), now).await?;
    let rules = tool_rules(deps, request.agent.id, request.origin, request.user).await?;
    let data_rules = data_rules(deps).await?;
    let of_request = deps.classify_request(&data_rules, &request.agent, &request.input).await;
    let told = higher(kept.provenance.level.clone(), briefed.level.clone());
    let classified = higher(higher(of_request, inherited.classified), told);
    let mut connections = vec![connection.clone()];
    connections.extend(planner.as_ref().map(|(_, planner)| planner.clone()));
    let gathered = Box::pin(gather(
        deps,
        &Wanted {
            agent: &request.agent,
            input: &request.input,
            history: &history,
            documents: &given_documents(&request.documents, &history),
            user: request.user,
            workspace: &request.workspace,
            tools: &tools,
            connections: &connections,
            rules: &data_rules,
        },
    ))
    .await?;
    let mut taint = inherited.taint;
    taint.extend(taint_of(&request.outside, REQUEST));
    taint.extend(taint_of(&kept.provenance, SAVE_MEMORY));
    taint.extend(taint_of(&briefed, DATA_QUERY));
    taint.extend(gathered.taint);
    Ok(Setup {
        budget: request.agent.budget.budget(),
        tools: tools.into(),
        conversation: request.conversation,
        history,
        memory: kept.memory,
        own_sections: kept.sections,
        input: request.input,
        mode: request.mode,
        origin: request.origin,
        asked_by: request.asked_by,
        source: request.source,
        carried,
        hint,
        redirected,
        grants: request.grants,
        standing,
        rules,
        data_rules,
        classified: higher(classified, gathered.classified),
        connection: connection.id,
        names_connection: request.executor.or(request.connection).is_some(),
        model: connection.model,
        capabilities: connection.capabilities.in_force(),
        planner: planner.map(|(planner, _)| Box::new(planner)),
        intent_filter: request.intent_filter,
        workspace: request.workspace,
        utc_offset_minutes: deps.clock.utc_offset_minutes(now),
        started_by: request.started_by,
        parent: None,
        above: Vec::new(),
        user: request.user,
        askers: BTreeSet::new(),
        forked_from: None,
        agent: request.agent,
        deep,
        client_retries: request.client_retries,
        key: request.key,
        route: Some(route),
        depth: 0,
        taint,
        skills: prompts,
        documents: request.documents,
        references: gathered.references,
        looked_through: gathered.looked_through,
    })
}

/// Besides, what the model is told about data, if the agent may ask for some: as it is now, so that a change acts on the
/// next message. With where that comes from.
async fn with_briefing(
    deps: &Deps,
    (user, agent): (Option<UserId>, AgentId),
    request: &str,
    tools: &[ToolSpec],
    mut prompts: Vec<SkillPrompt>,
) -> Result<(Vec<SkillPrompt>, Provenance), EngineError> {
    let mut provenance = Provenance::default();
    let asks = tools.iter().any(|spec| spec.name == DATA_QUERY && spec.skill.is_none());
    if let Some(data) = deps.data.get().filter(|_| asks) {
        let caller = DataCaller { user, agent: Some(agent), run: None };
        let briefing = data.briefing(caller, request).await;
        let briefing = briefing.map_err(|error| EngineError::Tools(format!("the domains can't be read: {error}")))?;
        provenance = briefing.provenance;
        if !briefing.text.is_empty() {
            prompts.insert(0, SkillPrompt { name: BRIEFING.to_owned(), text: briefing.text });
        }
    }
    Ok((prompts, provenance))
}

/// Of a text that stands in the prompts of a run from its beginning; `tool`: what it has to do with.
fn taint_of(provenance: &Provenance, tool: &str) -> impl Iterator<Item = Taint> {
    let taint =
        move |origin: &String| Taint { call_id: KEPT_ID.to_owned(), tool: tool.to_owned(), origin: origin.clone() };
    provenance.origins.iter().map(taint)
}

/// What an agent keeps that stands in its prompts.
struct KeptTexts {
    /// Stands before each request; empty where the agent has a section for it.
    memory: String,
    sections: OwnSections,
    /// That of both texts.
    provenance: Provenance,
}

/// What the agent keeps for this user, or for all where they share it.
async fn read_kept(deps: &Deps, agent: &Agent, user: Option<UserId>) -> Result<KeptTexts, EngineError> {
    let own_data = agent.own_data;
    let (mut memory, mut doc) = (Memory::default(), Memory::default());
    if let Some(of) = own_data.kept_for(user) {
        if own_data.memory != Some(false) {
            memory = deps.store.memory(deps.tenant, agent.id, of).await?;
        }
        if own_data.has_database_section() {
            doc = deps.store.database_doc(deps.tenant, agent.id, of).await?;
        }
    }
    let sections = OwnSections::new(own_data, &memory.text, &doc.text);
    let mut provenance = memory.provenance;
    provenance.join(&doc.provenance);
    let before_request = if own_data.memory.is_none() { memory.text } else { String::new() };
    Ok(KeptTexts { memory: before_request, sections, provenance })
}

/// The rules of the installation that hold for a run.
pub(crate) async fn tool_rules(
    deps: &Deps,
    agent: AgentId,
    origin: Origin,
    user: Option<UserId>,
) -> Result<Vec<ToolRule>, EngineError> {
    let Some(rules) = deps.store.setting(deps.tenant, TOOL_RULES_SETTING).await? else {
        return Ok(Vec::new());
    };
    let rules: ToolRules = serde_json::from_value(rules)
        .map_err(|error| StoreError::Backend(format!("the setting {TOOL_RULES_SETTING} is damaged: {error}")))?;
    let user = match user {
        Some(id) => deps.store.user(deps.tenant, id).await?,
        None => None,
    };
    Ok(rules.of_run(agent, origin, user.map(|user| user.role)))
}

/// The labels and policies over data of the installation.
async fn data_rules(deps: &Deps) -> Result<DataRules, EngineError> {
    let Some(rules) = deps.store.setting(deps.tenant, DATA_RULES_SETTING).await? else {
        return Ok(DataRules::default());
    };
    let damaged = |error| StoreError::Backend(format!("the setting {DATA_RULES_SETTING} is damaged: {error}"));
    Ok(serde_json::from_value(rules).map_err(damaged)?)
}

/// What a run takes over from what was said before it.
#[derive(Debug, Default)]
struct Inherited {
    /// What of outside it may derive from, each source once, the latest last.
    pub taint: Vec<Taint>,
    pub classified: Option<Classified>,
}

/// A conversation so far, what a run takes over from it, and what its prompts begin with.
async fn conversation_history(
    deps: &Deps,
    id: ConversationId,
) -> Result<(Vec<Message>, Inherited, Carried), EngineError> {
    let (messages, inherited) = inherit(deps.store.messages(deps.tenant, id).await?);
    let mut carried = deps.store.carried(deps.tenant, id).await?;
    if carried.compaction.history_from > messages.len() {
        carried.compaction = Compaction::default();
    }
    Ok((messages, inherited, carried))
}

/// What is carried on, but for tools that another model before this one could be told and this one can't.
fn fitting_carried(mut carried: Carried, tools: &[ToolSpec], capabilities: &Capabilities) -> Carried {
    let offered: Vec<ToolSpec> = tools.iter().filter(|spec| carried.offered.contains(&spec.name)).cloned().collect();
    let steering = offered.iter().filter(|spec| is_control(&spec.name)).count();
    let most = capabilities.max_tools.saturating_mul(2) + steering;
    if offered.len() > most || weigh_tools(&offered) > 2 * room_for_tools(capabilities) {
        carried.offered.clear();
    }
    carried
}

fn inherit(mut messages: Vec<Message>) -> (Vec<Message>, Inherited) {
    let mut inherited = Inherited::default();
    for message in &mut messages {
        for one in std::mem::take(&mut message.taint) {
            inherited.taint.retain(|seen: &Taint| seen.origin != one.origin);
            inherited.taint.push(one);
        }
        inherited.classified = higher(inherited.classified, message.classified.take());
    }
    (messages, inherited)
}

fn run_row(tenant: TenantId, run: RunId, state: &RunState, now: Timestamp) -> Result<RunRow, EngineError> {
    let setup = state.setup.as_ref().ok_or_else(|| EngineError::Invalid("a run begins with a request".to_owned()))?;
    Ok(RunRow {
        id: run,
        tenant,
        agent: setup.agent.id,
        conversation: setup.conversation,
        title: first_line(&setup.input),
        status: RunStatus::Running,
        outcome: None,
        answer: None,
        origin: setup.origin,
        user: setup.user,
        model: setup.model.clone(),
        verdict: None,
        forked_from: setup.forked_from.map(|from| from.run),
        created_at: now,
        updated_at: now,
        last_seq: 0,
        tokens: state.spent.tokens,
        cost_micros: state.spent.cost_micros,
    })
}

fn first_line(input: &str) -> String {
    let line = input.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    line.trim().chars().filter(|c| !steers_output(*c)).take(MAX_TITLE).collect()
}

#[cfg(test)]
mod tests {
    use super::first_line;

    #[test]
    fn a_title_holds_nothing_that_a_terminal_obeys() {
        assert_eq!(first_line("\n \u{1b}[2Jsum\rup\u{202e} x\u{9b}y\nmore"), "[2Jsumup xy");
        assert_eq!(first_line("Grüße, שלום"), "Grüße, שלום");
    }
}
