//! `GET /api/runs`.

use crate::auth::Person;
use crate::dto::run::Run;
use crate::extract::{Page, Paging, PagingQuery, Params};
use crate::problem::Problem;
use crate::routes::agent_names::AgentNames;
use crate::state::ApiState;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use steward_core::event::Origin;
use steward_core::ports::{RunFilter, RunStatus};
use steward_core::receipts::Verdict;
use steward_core::{AgentId, ConversationId};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

/// How a run ended, in a word.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum OutcomeWord {
    /// With an answer.
    Completed,
    /// With an error.
    Failed,
    /// By a person.
    Stopped,
    /// At a limit.
    Limited,
    /// By a no to its plan.
    Rejected,
}

impl OutcomeWord {
    fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
            Self::Limited => "limited",
            Self::Rejected => "rejected",
        }
    }
}

/// Which runs.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Search {
    /// Only of this status.
    #[param(inline, nullable = false)]
    status: Option<RunStatus>,
    /// Only ended like this.
    #[param(nullable = false, inline)]
    outcome: Option<OutcomeWord>,
    /// Only with this verdict.
    #[param(inline, nullable = false)]
    verdict: Option<Verdict>,
    /// Only from there.
    #[param(inline, nullable = false)]
    origin: Option<Origin>,
    /// Only of this agent.
    #[param(nullable = false)]
    agent_id: Option<Uuid>,
    /// Only of this conversation.
    #[param(nullable = false)]
    conversation_id: Option<Uuid>,
    /// Only with this text in title or answer.
    #[param(nullable = false)]
    q: Option<String>,
    /// Only one's own, for those who see all.
    #[serde(default)]
    mine: bool,
}

/// Runs, newest first.
#[utoipa::path(get, path = "/api/runs", tag = "runs", operation_id = "listRuns",
    params(PagingQuery, Search),
    responses((status = 200, description = "Newest first", body = Page<Run>)))]
pub(crate) async fn list(
    State(state): State<ApiState>,
    person: Person,
    paging: Paging,
    Params(search): Params<Search>,
) -> Result<Page<Run>, Problem> {
    let deps = state.runs.deps();
    let own = search.mine || !person.sees_all();
    let filter = RunFilter {
        status: search.status,
        outcome: search.outcome.map(|word| word.as_str().to_owned()),
        verdict: search.verdict,
        origin: search.origin,
        agent: search.agent_id.map(AgentId),
        conversation: search.conversation_id.map(ConversationId),
        text: search.q.filter(|text| !text.trim().is_empty()),
        user: own.then(|| person.user()),
        before: paging.after()?,
        limit: paging.limit,
    };
    let page = deps.store.runs(deps.tenant, filter).await?;
    let last = page.items.last().map(|row| row.id);
    let names = AgentNames::of(&state, page.items.iter().map(|row| row.agent).collect()).await?;
    let items = page
        .items
        .into_iter()
        .map(|row| {
            let name = names.get(row.agent);
            Run::named(row, name)
        })
        .collect();
    Ok(Page::new(items, last.filter(|_| page.more)))
}
