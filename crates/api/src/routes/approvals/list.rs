//! `GET /api/approvals`.

use super::desk::Desk;
use crate::auth::Person;
use crate::dto::approval::Approval;
use crate::extract::{Page, Paging, PagingQuery, Params};
use crate::problem::Problem;
use crate::state::ApiState;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use steward_core::ports::{ApprovalFilter, StoreError};
use steward_core::{ApprovalId, RunId};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

/// How many entries are looked at for one page, at most.
const MOST_READ: usize = 2000;

/// Which entries.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Which {
    /// Those that wait, oldest first.
    #[default]
    Open,
    /// Those that were decided or withdrawn, newest first.
    Closed,
    /// All, newest first.
    All,
}

/// Which entries.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Search {
    /// Only these.
    #[serde(default)]
    #[param(inline)]
    status: Which,
    /// Only of this run.
    #[param(nullable = false)]
    run_id: Option<Uuid>,
}

fn bad_cursor() -> Problem {
    Problem::invalid(
        "cursor",
        "the cursor is not one of this list",
        "take `next_cursor` of the page before, or leave it out to begin anew",
    )
}

/// What waits, or waited, for a decision on the runs that one may see.
#[utoipa::path(get, path = "/api/approvals", tag = "approvals", operation_id = "listApprovals",
    params(PagingQuery, Search),
    responses((status = 200, description = "Open ones oldest first, else newest first", body = Page<Approval>)))]
pub(crate) async fn list(
    State(state): State<ApiState>,
    person: Person,
    paging: Paging,
    Params(search): Params<Search>,
) -> Result<Page<Approval>, Problem> {
    let deps = state.runs.deps();
    let mut desk = Desk::new(&state, &person);
    let mut filter = ApprovalFilter {
        open: matches!(search.status, Which::Open),
        closed: matches!(search.status, Which::Closed),
        run: search.run_id.map(RunId),
        after: paging.after::<ApprovalId>()?,
        limit: paging.limit,
    };
    let (mut items, mut read) = (Vec::new(), 0);
    // The store doesn't know whose they are: read on until the page is full.
    loop {
        let page = match deps.store.approvals(deps.tenant, filter.clone()).await {
            Err(StoreError::NotFound(_)) if filter.after.is_some() => return Err(bad_cursor()),
            page => page?,
        };
        let mut rest = page.items.into_iter().peekable();
        while let Some(row) = rest.next() {
            filter.after = Some(row.id);
            read += 1;
            if let Some(run) = desk.run(row.run_id).await? {
                items.push(desk.show(row, run).await?);
            }
            if items.len() == paging.limit as usize {
                let more = page.more || rest.peek().is_some();
                return Ok(Page::new(items, filter.after.filter(|_| more)));
            }
        }
        if !page.more || read >= MOST_READ {
            return Ok(Page::new(items, filter.after.filter(|_| page.more)));
        }
    }
}
