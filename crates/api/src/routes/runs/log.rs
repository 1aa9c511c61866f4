//! `GET /api/runs/{id}/log`.

use super::read::stored_raw;
use crate::auth::Person;
use crate::dto::run::Event;
use crate::extract::{Page, Params, PathId};
use crate::problem::Problem;
use crate::routes::people;
use crate::state::ApiState;
use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use steward_core::RunId;
use utoipa::IntoParams;

const DEFAULT_LIMIT: u32 = 500;
const MAX_LIMIT: u32 = 1000;

/// Which part of a log.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Part {
    /// Only events after this one.
    #[serde(default)]
    #[param(maximum = 9_007_199_254_740_991u64)]
    after: u64,
    /// How many at most.
    #[param(minimum = 1, maximum = 1000, default = 500, nullable = false)]
    limit: Option<u32>,
    /// `next_cursor` of the page before; goes before `after`.
    #[param(nullable = false)]
    cursor: Option<String>,
}

/// A page of a log.
#[derive(Serialize)]
pub(crate) struct LogPage {
    items: Vec<Box<RawValue>>,
    next_cursor: Option<String>,
}

/// A run's events, oldest first, as they are stored. `next_cursor` is the number of the last one,
/// for `after` too.
#[utoipa::path(get, path = "/api/runs/{id}/log", tag = "runs", operation_id = "getRunLog",
    params(("id" = Uuid, Path), Part),
    responses((status = 200, description = "Oldest first", body = Page<Event>)))]
pub(crate) async fn log(
    State(state): State<ApiState>,
    person: Person,
    PathId(id): PathId<RunId>,
    Params(part): Params<Part>,
) -> Result<Json<LogPage>, Problem> {
    people::run(&state, &person, id).await?;
    let limit = part.limit.unwrap_or(DEFAULT_LIMIT);
    if !(1..=MAX_LIMIT).contains(&limit) {
        return Err(Problem::invalid("limit", format!("`limit` is {limit}"), format!("choose 1 to {MAX_LIMIT}")));
    }
    let after = match part.cursor {
        None => part.after,
        Some(cursor) => cursor.parse().map_err(|_| {
            Problem::invalid(
                "cursor",
                "the cursor is not one of this list",
                "take `next_cursor` of the page before, or leave it out to begin anew",
            )
        })?,
    };
    let deps = state.runs.deps();
    // Positions are stored as signed numbers; nothing lies behind the highest.
    let after = after.min(i64::MAX.unsigned_abs());
    let mut events = deps.store.events(deps.tenant, id, after, limit + 1).await?;
    let more = events.len() > limit as usize;
    events.truncate(limit as usize);
    let last = events.last().map(|stored| stored.event.seq.to_string());
    Ok(Json(LogPage {
        items: events.iter().map(stored_raw).collect::<Result<_, _>>()?,
        next_cursor: last.filter(|_| more),
    }))
}
