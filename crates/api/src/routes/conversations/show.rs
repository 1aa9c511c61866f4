//! Conversations as they are shown: with their agent's name and their open run.

use crate::dto::conversation::Conversation;
use crate::problem::Problem;
use crate::routes::agent_names::AgentNames;
use crate::state::ApiState;
use futures::future::try_join_all;
use steward_core::ConversationId;
use steward_core::ports::{ApprovalFilter, Conversation as Row, RunFilter, RunRow, RunStatus};

/// The run of a conversation that has not ended. A conversation has one run at a time, so it is
/// the newest.
pub(crate) async fn open_run(state: &ApiState, conversation: ConversationId) -> Result<Option<RunRow>, Problem> {
    let deps = state.runs.deps();
    let filter = RunFilter { conversation: Some(conversation), limit: 1, ..RunFilter::default() };
    let newest = deps.store.runs(deps.tenant, filter).await?.items.pop();
    Ok(newest.filter(|row| row.status != RunStatus::Finished))
}

/// Whether a person is asked by `run`: one that is parked may as well wait for the hour of a busy provider.
async fn waits(state: &ApiState, run: Option<&RunRow>) -> Result<bool, Problem> {
    let Some(run) = run.filter(|run| run.status == RunStatus::Parked) else {
        return Ok(false);
    };
    let deps = state.runs.deps();
    let filter = ApprovalFilter { open: true, run: Some(run.id), limit: 1, ..ApprovalFilter::default() };
    Ok(!deps.store.approvals(deps.tenant, filter).await?.items.is_empty())
}

/// Rows as they are shown.
pub(super) async fn show(state: &ApiState, rows: Vec<Row>) -> Result<Vec<Conversation>, Problem> {
    let names = AgentNames::of(state, rows.iter().map(|row| row.agent).collect()).await?;
    let open = try_join_all(rows.iter().map(|row| open_run(state, row.id))).await?;
    let waits = try_join_all(open.iter().map(|run| waits(state, run.as_ref()))).await?;
    Ok(rows
        .into_iter()
        .zip(open.iter().zip(waits))
        .map(|(row, (open, waits))| {
            let name = names.get(row.agent);
            Conversation::named(row, name, open.as_ref(), waits)
        })
        .collect())
}

/// One row as it is shown.
pub(super) async fn show_one(state: &ApiState, row: Row) -> Result<Conversation, Problem> {
    let names = AgentNames::of(state, vec![row.agent]).await?;
    let open = open_run(state, row.id).await?;
    let waits = waits(state, open.as_ref()).await?;
    let name = names.get(row.agent);
    Ok(Conversation::named(row, name, open.as_ref(), waits))
}
