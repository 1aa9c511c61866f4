//! Documents are searched for what a plan should know, before one is made.

use crate::prompting::model_request::build_request;
use crate::prompting::search_strings::strings;
use crate::run::RunContext;
use crate::run::model_call::send_request;
use crate::run::references::{Wanted, find_more};
use steward_core::event::{EventBody, PlanSearch, Setup};
use steward_core::message::given_documents;
use steward_core::model::{Connection, Purpose};
use steward_core::ports::StoreResult;

/// Model calls that stay for carrying the plan out.
const CALLS_AFTER_PLAN: u32 = 1;

/// Asks the planner for search strings, one short call; a reply already in the log is not paid for again. Without one the
/// request's own sentences are searched with.
pub(crate) async fn search_for_plan(context: &mut RunContext<'_>, setup: &Setup) -> StoreResult<()> {
    let pending = matches!(context.journal.state.reply, Some((Purpose::Search, _)));
    if !pending && has_calls_left(context, setup) {
        let max_steps = context.deps.config.get().max_plan_steps;
        let state = &context.journal.state;
        let built = build_request(state, setup, setup.planning(), Purpose::Search, max_steps);
        let answered = send_request(context, setup, Purpose::Search, built).await?;
        if !answered && context.is_interrupted() {
            return Ok(());
        }
    }
    let deps = context.deps;
    let (queries, by) = strings(&context.journal.state, setup);
    let connections = asked_connections(context, setup).await;
    let found = find_more(
        deps,
        &Wanted {
            agent: &setup.agent,
            input: &setup.input,
            history: &setup.history,
            documents: &given_documents(&setup.documents, &setup.history),
            user: setup.user,
            workspace: &setup.workspace,
            tools: &setup.tools,
            connections: &connections,
            rules: &setup.data_rules,
        },
        &queries,
        &setup.references,
    )
    .await?;
    let state = &context.journal.state;
    let classified = found.classified.filter(|classified| state.is_above(classified));
    let mut events: Vec<EventBody> =
        classified.map(|classified| EventBody::DataClassified { classified }).into_iter().collect();
    events.push(EventBody::PlanSearched(Box::new(PlanSearch {
        queries,
        by: by.to_owned(),
        references: found.references,
        looked_through: found.looked_through,
        taint: found.taint,
    })));
    context.journal.commit(events, Vec::new()).await
}

fn has_calls_left(context: &RunContext<'_>, setup: &Setup) -> bool {
    let candidates = u32::try_from(context.deps.config.get().plan_candidates).unwrap_or(u32::MAX);
    let wanted = candidates.max(1).saturating_add(1 + CALLS_AFTER_PLAN);
    context.journal.state.spent.counted_calls(&setup.budget).saturating_add(wanted) <= setup.budget.model_calls
}

/// Those that will see the passages: the planner, and who carries the plan out.
async fn asked_connections(context: &RunContext<'_>, setup: &Setup) -> Vec<Connection> {
    let mut all: Vec<Connection> = Vec::new();
    for purpose in [Purpose::Plan, Purpose::Answer] {
        let targets = setup.model_for(purpose).targets;
        // Where all are gone, the call itself says so.
        let known = context.deps.models.existing(targets).await.unwrap_or_default();
        all.extend(known.into_iter().next());
    }
    all
}
