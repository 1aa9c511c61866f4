//! Forks: a new run whose log begins with the events of another.

use crate::deps::Deps;
use crate::error::EngineError;
use crate::run::journal::{read_log, unknown_event};
use crate::service::references::{Wanted, gather};
use crate::service::start::{
    NewRun, check_input, choose_route, conversation_history, create, data_rules, give_to_user, tool_rules,
};
use std::sync::Arc;
use steward_core::event::{Event, EventBody, ForkedFrom, Origin, RequestSource, Setup};
use steward_core::governance::higher;
use steward_core::message::given_documents;
use steward_core::run::{ForkPoint, ForkPoints};
use steward_core::{ConnectionId, ConversationId, RunId, Timestamp, UserId};

#[derive(Debug, Clone)]
pub struct ForkRun {
    pub run: RunId,
    /// Last event to take over, a [`ForkPoint`]; `None`: before the first model call.
    pub seq: Option<u64>,
    pub connection: Option<ConnectionId>,
    /// Another request; only before the first model call.
    pub input: Option<String>,
    /// The conversation that the fork belongs to; its messages become its history.
    pub conversation: Option<ConversationId>,
    pub origin: Origin,
    pub asked_by: String,
    pub user: Option<UserId>,
    /// Whose account asks, and from where; `None`: the program itself.
    pub source: Option<RequestSource>,
}

/// The fork points of a run, first one first.
pub(crate) async fn fork_points(deps: &Deps, run: RunId) -> Result<Vec<ForkPoint>, EngineError> {
    let mut points = ForkPoints::new(run);
    read_log(deps, run, |event| points.push(&event)).await?;
    Ok(points.finish().0)
}

pub(crate) async fn fork(deps: &Deps, request: ForkRun) -> Result<NewRun, EngineError> {
    let mut points = ForkPoints::new(request.run);
    let mut events: Vec<Event> = Vec::new();
    read_log(deps, request.run, |event| {
        points.push(&event);
        events.push(event);
    })
    .await?;
    let (points, old) = points.finish();
    let point = chosen_point(&request, &points)?;
    if let Some(why) = events.iter().take_while(|event| event.seq <= point.seq).find_map(unknown_event) {
        return Err(EngineError::Invalid(why));
    }
    let Some(setup) = old.setup else {
        return Err(EngineError::Invalid(format!("run {} does not begin with a request", request.run)));
    };
    let now = deps.clock.now();
    let setup = forked_setup(deps, Arc::unwrap_or_clone(setup), request, point.seq, now).await?;
    create(deps, RunId(deps.ids.next()), first_events(setup, events, point.seq), now).await
}

fn chosen_point(request: &ForkRun, points: &[ForkPoint]) -> Result<ForkPoint, EngineError> {
    let Some(first) = points.first().copied() else {
        return Err(EngineError::Invalid(format!(
            "run {} has no place to fork at: it never asked a model and never made a plan",
            request.run
        )));
    };
    let chosen = match request.seq {
        None => first,
        Some(seq) => points.iter().find(|point| point.seq == seq).copied().ok_or_else(|| {
            let valid: Vec<String> = points.iter().map(|point| point.seq.to_string()).collect();
            EngineError::Invalid(format!(
                "run {} can't be forked at event {seq}: something is under way there, or nothing begins; fork it at one of these: {}",
                request.run,
                valid.join(", ")
            ))
        })?,
    };
    if request.input.is_some() && chosen.seq != first.seq {
        return Err(EngineError::Invalid(format!(
            "another request is only possible at the first place, event {}; later ones have the answer to the old request behind them",
            first.seq
        )));
    }
    Ok(chosen)
}

async fn forked_setup(
    deps: &Deps,
    mut setup: Setup,
    request: ForkRun,
    seq: u64,
    now: Timestamp,
) -> Result<Setup, EngineError> {
    let asks_anew = request.input.is_some();
    // Those who spoke later stand in the events that it repeats.
    setup.askers = setup.begun_by();
    if let Some(input) = request.input {
        check_input(&input)?;
        setup.input = input;
    }
    let wanted = request.connection.unwrap_or(setup.connection);
    let (connection, route) = choose_route(deps, &setup.agent, Some(wanted), &setup.input, setup.mode).await?;
    setup.route = Some(route);
    setup.connection = connection.id;
    setup.model.clone_from(&connection.model);
    setup.capabilities = connection.capabilities.clone();
    if let Some(id) = request.conversation {
        let (history, inherited, carried) = conversation_history(deps, id).await?;
        setup.history = history;
        setup.carried = carried;
        // What the other run went on from stays: the fork's first events may repeat it.
        let new = inherited.taint.into_iter().filter(|one| !setup.taint.contains(one)).collect::<Vec<_>>();
        setup.taint.extend(new);
        setup.classified = higher(setup.classified, inherited.classified);
    }
    // Permissions that came with the request were for that run: a fork asks again.
    setup.grants.clear();
    setup.standing = deps.store.grants(deps.tenant, Some(setup.agent.id), now).await?;
    setup.rules = tool_rules(deps, &setup.agent, request.origin, request.user).await?;
    setup.data_rules = data_rules(deps).await?;
    if request.user != setup.user {
        give_to_user(deps, &mut setup, request.user).await?;
    }
    let of_request = deps.classify_request(&setup.data_rules, &setup.agent, &setup.input).await;
    setup.classified = higher(setup.classified, of_request);
    if asks_anew {
        // What was found for the other request says nothing of this one.
        let gathered = Box::pin(gather(
            deps,
            &Wanted {
                agent: &setup.agent,
                input: &setup.input,
                history: &setup.history,
                documents: &given_documents(&setup.documents, &setup.history),
                user: request.user,
                workspace: &setup.workspace,
                tools: &setup.tools,
                connection: &connection,
                rules: &setup.data_rules,
            },
        ))
        .await?;
        let new = gathered.taint.into_iter().filter(|one| !setup.taint.contains(one)).collect::<Vec<_>>();
        setup.taint.extend(new);
        setup.classified = higher(setup.classified, gathered.classified);
        setup.references = gathered.references;
        setup.looked_through = gathered.looked_through;
    }
    setup.conversation = request.conversation;
    setup.origin = request.origin;
    setup.asked_by = request.asked_by;
    setup.source = request.source;
    setup.user = request.user;
    setup.parent = None;
    setup.asked_agent = None;
    setup.forked_from = Some(ForkedFrom { run: request.run, seq });
    Ok(setup)
}

/// The changed request, the old events up to `seq`, and what was undone of their effects since.
fn first_events(setup: Setup, events: Vec<Event>, seq: u64) -> Vec<EventBody> {
    let mut setup = Some(Arc::new(setup));
    let mut made: Vec<String> = Vec::new();
    events
        .into_iter()
        .filter_map(|event| match event.body {
            EventBody::RunStarted { v, .. } => setup.take().map(|setup| EventBody::RunStarted { v, setup }),
            body if event.seq <= seq => {
                if let EventBody::ToolResult { call_id, .. } = &body {
                    made.push(call_id.clone());
                }
                Some(body)
            }
            EventBody::ToolUndone { ref call_id, .. } if made.contains(call_id) => Some(event.body),
            _ => None,
        })
        .collect()
}
