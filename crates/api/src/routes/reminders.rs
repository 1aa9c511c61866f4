use crate::dto::reminders::{Reminder, ReminderChange};
use crate::routes::prelude::*;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default().routes(routes!(list)).routes(routes!(change, remove))
}

/// Which reminders.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Search {
    /// Only those whose time has come.
    #[serde(default)]
    due: bool,
    /// With those that are done.
    #[serde(default)]
    done: bool,
}

/// Reminders of all agents by time: those that are not done.
#[utoipa::path(get, path = "/api/reminders", tag = "reminders", operation_id = "listReminders",
    params(Paging, Search),
    responses((status = 200, description = "Earliest first", body = Page<Reminder>)))]
async fn list(Call(state, caller): Call, paging: Paging, Params(search): Params<Search>) -> Listed<Reminder> {
    Page::cut(state.reminders(&caller, search.due, search.done).await?, &paging)
}

/// Marks a reminder as done, or as open again, or puts it off.
#[utoipa::path(patch, path = "/api/reminders/{id}", tag = "reminders", operation_id = "changeReminder",
    params(("id" = String, Path)), request_body = ReminderChange,
    responses((status = 200, description = "Changed", body = Reminder)))]
async fn change(
    Call(state, caller): Call,
    PathName(id): PathName,
    Body(wanted): Body<ReminderChange>,
) -> Answer<Reminder> {
    Ok(Json(state.change_reminder(&caller, &id, wanted).await?))
}

/// Removes a reminder.
#[utoipa::path(delete, path = "/api/reminders/{id}", tag = "reminders", operation_id = "deleteReminder",
    params(("id" = String, Path)), responses((status = 204, description = "Removed")))]
async fn remove(Call(state, caller): Call, PathName(id): PathName) -> Done {
    done(state.delete_reminder(&caller, &id).await)
}
