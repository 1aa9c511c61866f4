use crate::deps::Deps;
use crate::prompting::instructions::list_tools;
use crate::run::RunContext;
use crate::run::tool_call::result_limit;
use steward_core::event::{EventBody, Ranked};
use steward_core::ports::StoreResult;
use steward_core::run::{RunState, is_control};
use steward_core::tool::{ToolCall, ToolSpec, tool_search, truncate};

/// Tools found at once.
const MAX_FOUND: usize = 5;
/// A tool that is this much further from the query than the best one is left out.
const MIN_RELATIVE_SCORE: f32 = 0.5;

pub(crate) async fn search_tools(context: &mut RunContext<'_>, call: ToolCall) -> StoreResult<()> {
    let query = call.arguments["query"].as_str().unwrap_or_default();
    let state = &context.journal.state;
    let found = find(context.deps, state, query).await;
    let limit = result_limit(state, &call.name).min(tool_search().result_limit);
    let listed = truncate(&describe_found(state, query, &found), limit).0;
    let body = EventBody::ToolsFound { call_id: call.id, query: query.to_owned(), found, content: listed };
    context.journal.append(body).await
}

/// Tools for `query` that are not on offer yet, best first.
async fn find(deps: &Deps, state: &RunState, query: &str) -> Vec<Ranked> {
    let Some(setup) = &state.setup else {
        return Vec::new();
    };
    let offered = state.offered();
    let deferred: Vec<ToolSpec> = setup
        .tools
        .iter()
        .filter(|spec| !is_control(&spec.name))
        .filter(|spec| !offered.iter().any(|known| known.name == spec.name))
        .cloned()
        .collect();
    let mut ranked = deps.intent.rank(query, &deferred).await.tools;
    let best = ranked.first().map_or(0.0, |ranked| ranked.score);
    ranked.retain(|ranked| ranked.score > 0.0 && ranked.score >= best * MIN_RELATIVE_SCORE);
    ranked.truncate(MAX_FOUND);
    ranked
}

fn describe_found(state: &RunState, query: &str, found: &[Ranked]) -> String {
    if found.is_empty() {
        return format!("No other tool fits \"{query}\". Go on with those that are listed.");
    }
    let tools = found.iter().filter_map(|ranked| state.tool(&ranked.tool));
    list_tools(tools)
}
