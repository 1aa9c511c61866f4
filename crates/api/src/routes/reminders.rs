//! `/api/reminders`: what agents were asked to remind of.

use super::agent_names::AgentNames;
use crate::auth::Person;
use crate::dto::reminder::{Reminder, ReminderChange};
use crate::extract::{Body, Page, Paging, PagingQuery, Params, PathName};
use crate::problem::Problem;
use crate::state::ApiState;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;
use steward_core::AgentId;
use steward_core::ports::{self, Role};
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Latest time of a reminder: the year 9999.
const LATEST: i64 = 253_402_300_799_999;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default().routes(routes!(list)).routes(routes!(change, remove))
}

/// Which reminders.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Search {
    /// Only those whose time has come.
    #[serde(default)]
    due: bool,
    /// With those that are done.
    #[serde(default)]
    done: bool,
}

/// Reminders of all agents by time: those that are not done.
#[utoipa::path(get, path = "/api/reminders", tag = "reminders", operation_id = "listReminders",
    params(PagingQuery, Search),
    responses((status = 200, description = "Earliest first", body = Page<Reminder>)))]
pub(crate) async fn list(
    State(state): State<ApiState>,
    _: Person,
    paging: Paging,
    Params(search): Params<Search>,
) -> Result<Page<Reminder>, Problem> {
    let deps = state.runs.deps();
    let now = deps.clock.now();
    let mut all = deps.store.all_reminders(deps.tenant).await?;
    all.retain(|(_, one)| (search.done || !one.done) && (!search.due || (!one.done && one.at <= now)));
    let names = AgentNames::of(&state, all.iter().map(|(agent, _)| *agent).collect()).await?;
    let items = all.into_iter().map(|one| {
        let name = names.get(one.0);
        Reminder::of(one, name, now)
    });
    Page::cut(items.collect(), &paging)
}

/// Marks a reminder as done, or as open again, or puts it off.
#[utoipa::path(patch, path = "/api/reminders/{id}", tag = "reminders", operation_id = "changeReminder",
    params(("id" = String, Path)), request_body = ReminderChange,
    responses((status = 200, description = "Changed", body = Reminder)))]
pub(crate) async fn change(
    State(state): State<ApiState>,
    person: Person,
    PathName(id): PathName,
    Body(wanted): Body<ReminderChange>,
) -> Result<Json<Reminder>, Problem> {
    person.may(Role::Operator)?;
    if wanted.at.is_some_and(|at| !(0..=LATEST).contains(&at.0)) {
        return Err(Problem::invalid("at", "`at` is no time", "give milliseconds since 1970 UTC"));
    }
    let (agent, mut one) = found(&state, &id).await?;
    one.done = wanted.done.unwrap_or(one.done);
    one.at = wanted.at.unwrap_or(one.at);
    let deps = state.runs.deps();
    deps.store.save_reminder(deps.tenant, agent, &one).await?;
    let names = AgentNames::of(&state, vec![agent]).await?;
    let shown = Reminder::of((agent, one), names.get(agent), deps.clock.now());
    Ok(Json(shown))
}

/// Removes a reminder.
#[utoipa::path(delete, path = "/api/reminders/{id}", tag = "reminders", operation_id = "deleteReminder",
    params(("id" = String, Path)), responses((status = 204, description = "Removed")))]
pub(crate) async fn remove(
    State(state): State<ApiState>,
    person: Person,
    PathName(id): PathName,
) -> Result<StatusCode, Problem> {
    person.may(Role::Operator)?;
    let (agent, one) = found(&state, &id).await?;
    let deps = state.runs.deps();
    deps.store.remove_reminder(deps.tenant, agent, &one.id).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn found(state: &ApiState, id: &str) -> Result<(AgentId, ports::Reminder), Problem> {
    let deps = state.runs.deps();
    let all = deps.store.all_reminders(deps.tenant).await?;
    all.into_iter().find(|(_, one)| one.id == id).ok_or_else(|| Problem::not_found(format!("reminder {id}")))
}
