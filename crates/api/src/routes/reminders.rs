use crate::ApiState;
use crate::auth::Call;
use crate::dto::reminders::{Reminder, ReminderChange};
use crate::extract::{Body, Listed, Page, Paging, PagingQuery, Params, PathName};
use crate::problem::{Answer, Done};
use axum::Json;
use axum::http::StatusCode;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

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
    Call(state, caller): Call,
    paging: Paging,
    Params(search): Params<Search>,
) -> Listed<Reminder> {
    Page::cut(state.reminders(&caller, search.due, search.done).await?, &paging)
}

/// Marks a reminder as done, or as open again, or puts it off.
#[utoipa::path(patch, path = "/api/reminders/{id}", tag = "reminders", operation_id = "changeReminder",
    params(("id" = String, Path)), request_body = ReminderChange,
    responses((status = 200, description = "Changed", body = Reminder)))]
pub(crate) async fn change(
    Call(state, caller): Call,
    PathName(id): PathName,
    Body(wanted): Body<ReminderChange>,
) -> Answer<Reminder> {
    Ok(Json(state.change_reminder(&caller, &id, wanted).await?))
}

/// Removes a reminder.
#[utoipa::path(delete, path = "/api/reminders/{id}", tag = "reminders", operation_id = "deleteReminder",
    params(("id" = String, Path)), responses((status = 204, description = "Removed")))]
pub(crate) async fn remove(Call(state, caller): Call, PathName(id): PathName) -> Done {
    state.delete_reminder(&caller, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}
