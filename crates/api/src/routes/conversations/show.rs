//! Conversations as they are shown: with their agent's name and their open run.

use crate::dto::conversation::Conversation;
use crate::problem::Problem;
use crate::routes::agent_names::AgentNames;
use crate::state::ApiState;
use futures::future::try_join_all;
use steward_core::ConversationId;
use steward_core::ports::{Conversation as Row, RunFilter, RunRow, RunStatus};

/// The run of a conversation that has not ended. A conversation has one run at a time, so it is
/// the newest.
pub(crate) async fn open_run(state: &ApiState, conversation: ConversationId) -> Result<Option<RunRow>, Problem> {
    let deps = state.runs.deps();
    let filter = RunFilter { conversation: Some(conversation), limit: 1, ..RunFilter::default() };
    let newest = deps.store.runs(deps.tenant, filter).await?.items.pop();
    Ok(newest.filter(|row| row.status != RunStatus::Finished))
}

/// Rows as they are shown.
pub(super) async fn show(state: &ApiState, rows: Vec<Row>) -> Result<Vec<Conversation>, Problem> {
    let names = AgentNames::of(state, rows.iter().map(|row| row.agent).collect()).await?;
    let open = try_join_all(rows.iter().map(|row| open_run(state, row.id))).await?;
    Ok(rows
        .into_iter()
        .zip(open)
        .map(|(row, open)| {
            let name = names.get(row.agent);
            Conversation::named(row, name, open.as_ref())
        })
        .collect())
}

/// One row as it is shown.
pub(super) async fn show_one(state: &ApiState, row: Row) -> Result<Conversation, Problem> {
    let names = AgentNames::of(state, vec![row.agent]).await?;
    let open = open_run(state, row.id).await?;
    let name = names.get(row.agent);
    Ok(Conversation::named(row, name, open.as_ref()))
}
