//! Forks: a new run whose log begins with the events of another.

use crate::deps::Deps;
use crate::error::EngineError;
use crate::run::journal::{read_log, unknown_event};
use crate::service::request::StartRun;
use crate::service::start::{NewRun, add_missing, check_input, create, run_setup, tool_rules};
use std::sync::Arc;
use steward_core::event::{Event, EventBody, ForkedFrom, Setup};
use steward_core::governance::higher;
use steward_core::prompt::OwnSections;
use steward_core::run::{ForkPoint, ForkPoints};
use steward_core::{RunId, Timestamp};

#[derive(Debug, Clone)]
pub struct ForkRun {
    pub run: RunId,
    /// Last event to take over, a [`ForkPoint`]; `None`: before the first model call.
    pub seq: Option<u64>,
    /// The run that begins, by what holds now. The other run's are always its mode and documents; its request where
    /// this one is empty (another is only possible before the first model call), and its history where no conversation
    /// is named.
    pub start: StartRun,
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
    let from = ForkedFrom { run: request.run, seq: point.seq };
    let setup = forked_setup(deps, Arc::unwrap_or_clone(setup), request.start, from, now).await?;
    create(deps, RunId(deps.ids.next()), first_events(setup, events, point.seq), None, now).await
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
    if !request.start.input.is_empty() && chosen.seq != first.seq {
        return Err(EngineError::Invalid(format!(
            "another request is only possible at the first place, event {}; later ones have the answer to the old request behind them",
            first.seq
        )));
    }
    Ok(chosen)
}

/// As of any run that begins now; of the old one come its request, what was said before it, and what these bring with them.
async fn forked_setup(
    deps: &Deps,
    old: Setup,
    mut start: StartRun,
    from: ForkedFrom,
    now: Timestamp,
) -> Result<Setup, EngineError> {
    // Those who spoke later stand in the events that it repeats.
    let askers = old.begun_by();
    if start.input.is_empty() {
        start.input = old.input;
    }
    check_input(&start.input)?;
    start.mode = old.mode;
    start.documents = old.documents;
    if start.conversation.is_none() {
        start.history = old.history;
    }
    let mut setup = run_setup(deps, start, None, now).await?;
    if setup.user != old.user {
        // The prompts of its conversation began with what is kept for the other user.
        setup.carried.own_sections = OwnSections::default();
    }
    add_missing(&mut setup.taint, old.taint);
    setup.classified = higher(setup.classified, old.classified);
    // What was delegated stays under the rules of those who delegated it.
    for agent in &old.above {
        let rules = tool_rules(deps, *agent, setup.origin, setup.user).await?;
        add_missing(&mut setup.rules, rules);
    }
    setup.above = old.above;
    setup.askers = askers;
    setup.forked_from = Some(from);
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
