use crate::dto::schedules::{
    Schedule, ScheduleInput, ScheduleLanguage, ScheduleOccurrence, SchedulePauseInput, SchedulePreview,
    SchedulePreviewInput, ScheduleRunStarted,
};
use crate::routes::prelude::*;
use steward_app::ScheduleSearch;
use steward_core::{AgentId, ScheduleId, Timestamp};
use uuid::Uuid;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default()
        .routes(routes!(list, create))
        .routes(routes!(preview))
        .routes(routes!(get, replace, remove))
        .routes(routes!(restore))
        .routes(routes!(pause))
        .routes(routes!(resume))
        .routes(routes!(run))
        .routes(routes!(occurrences))
        .routes(routes!(jobs))
}

/// Which schedules.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Search {
    /// Only one's own, for those who see all.
    #[serde(default)]
    mine: bool,
    /// Only of this agent.
    #[param(nullable = false)]
    agent_id: Option<Uuid>,
    /// Those that were deleted, in the place of the others.
    #[serde(default)]
    deleted: bool,
    /// The language of descriptions.
    #[serde(default)]
    #[param(inline)]
    language: ScheduleLanguage,
}

/// How it is shown.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Shown {
    /// The language of its description.
    #[serde(default)]
    #[param(inline)]
    language: ScheduleLanguage,
}

/// Schedules: one's own, or everybody's for operators.
#[utoipa::path(get, path = "/api/schedules", tag = "schedules", operation_id = "listSchedules",
    params(Paging, Search), responses((status = 200, description = "Newest first", body = Page<Schedule>)))]
async fn list(call: Call, paging: Paging, search: Params<Search>) -> Listed<Schedule> {
    listed(call, paging, search).await
}

/// The same, as it was published for the platform that this one follows
#[utoipa::path(get, path = "/api/scheduler/jobs", tag = "schedules", operation_id = "listScheduledJobs",
    params(Paging, Search), responses((status = 200, description = "Newest first", body = Page<Schedule>)))]
async fn jobs(call: Call, paging: Paging, search: Params<Search>) -> Listed<Schedule> {
    listed(call, paging, search).await
}

async fn listed(Call(state, caller): Call, paging: Paging, Params(search): Params<Search>) -> Listed<Schedule> {
    let wanted = ScheduleSearch {
        mine: search.mine,
        agent: search.agent_id.map(AgentId),
        deleted: search.deleted,
        before: paging.after()?,
        limit: paging.limit(),
    };
    let page = state.schedules(&caller, wanted, search.language).await?;
    Ok(Page::after_last(page, |last| last.id))
}

/// Makes a schedule, which is the caller's: its runs work with their rights.
#[utoipa::path(post, path = "/api/schedules", tag = "schedules", operation_id = "createSchedule",
    request_body = ScheduleInput, responses(
        (status = 201, description = "Made", body = Schedule),
        (status = 409, description = "There are too many")))]
async fn create(Call(state, caller): Call, Body(input): Body<ScheduleInput>) -> Created<Schedule> {
    created(state.create_schedule(&caller, input).await?)
}

/// Reads a time
///
/// Reads words such as `every weekday at 8`, in English or German, or looks at times: what they say, and when they are due
/// next. Words that leave something open are answered with a question.
#[utoipa::path(post, path = "/api/schedules/preview", tag = "schedules", operation_id = "previewSchedule",
    request_body = SchedulePreviewInput,
    responses((status = 200, description = "What it says", body = SchedulePreview)))]
async fn preview(Call(state, caller): Call, Body(input): Body<SchedulePreviewInput>) -> Answer<SchedulePreview> {
    Ok(Json(state.preview_schedule(&caller, &input)?))
}

/// One schedule.
#[utoipa::path(get, path = "/api/schedules/{id}", tag = "schedules", operation_id = "getSchedule",
    params(("id" = Uuid, Path), Shown), responses((status = 200, description = "As it is", body = Schedule)))]
async fn get(
    Call(state, caller): Call,
    PathId(id): PathId<ScheduleId>,
    Params(shown): Params<Shown>,
) -> Answer<Schedule> {
    Ok(Json(state.schedule(&caller, id, shown.language).await?))
}

/// Changes a schedule; only its owner may. What is due by now is not taken back.
#[utoipa::path(put, path = "/api/schedules/{id}", tag = "schedules", operation_id = "replaceSchedule",
    params(("id" = Uuid, Path)), request_body = ScheduleInput,
    responses((status = 200, description = "As it is now", body = Schedule)))]
async fn replace(
    Call(state, caller): Call,
    PathId(id): PathId<ScheduleId>,
    Body(input): Body<ScheduleInput>,
) -> Answer<Schedule> {
    Ok(Json(state.replace_schedule(&caller, id, input).await?))
}

/// Deletes a schedule; its runs stay, and it can be restored.
#[utoipa::path(delete, path = "/api/schedules/{id}", tag = "schedules", operation_id = "deleteSchedule",
    params(("id" = Uuid, Path)), responses((status = 204, description = "Deleted")))]
async fn remove(Call(state, caller): Call, PathId(id): PathId<ScheduleId>) -> Done {
    done(state.delete_schedule(&caller, id).await)
}

/// Brings a deleted schedule back; what was due meanwhile isn't caught up.
#[utoipa::path(post, path = "/api/schedules/{id}/restore", tag = "schedules", operation_id = "restoreSchedule",
    params(("id" = Uuid, Path)), responses(
        (status = 200, description = "As it is now", body = Schedule),
        (status = 409, description = "It isn't deleted")))]
async fn restore(Call(state, caller): Call, PathId(id): PathId<ScheduleId>) -> Answer<Schedule> {
    Ok(Json(state.restore_schedule(&caller, id).await?))
}

/// Has a schedule rest: what is due meanwhile is skipped.
#[utoipa::path(post, path = "/api/schedules/{id}/pause", tag = "schedules", operation_id = "pauseSchedule",
    params(("id" = Uuid, Path)), request_body = SchedulePauseInput,
    responses((status = 200, description = "As it is now", body = Schedule)))]
async fn pause(
    Call(state, caller): Call,
    PathId(id): PathId<ScheduleId>,
    Body(input): Body<SchedulePauseInput>,
) -> Answer<Schedule> {
    Ok(Json(state.pause_schedule(&caller, id, &input).await?))
}

/// Has it work again, from now on; only its owner may.
#[utoipa::path(post, path = "/api/schedules/{id}/resume", tag = "schedules", operation_id = "resumeSchedule",
    params(("id" = Uuid, Path)), responses((status = 200, description = "As it is now", body = Schedule)))]
async fn resume(Call(state, caller): Call, PathId(id): PathId<ScheduleId>) -> Answer<Schedule> {
    Ok(Json(state.resume_schedule(&caller, id).await?))
}

/// Starts a run at once, beside what is due; only its owner may.
#[utoipa::path(post, path = "/api/schedules/{id}/run", tag = "schedules", operation_id = "runSchedule",
    params(("id" = Uuid, Path)), responses(
        (status = 200, description = "Its run", body = ScheduleRunStarted)))]
async fn run(Call(state, caller): Call, PathId(id): PathId<ScheduleId>) -> Answer<ScheduleRunStarted> {
    Ok(Json(state.run_schedule(&caller, id).await?))
}

/// When it was due, what became of it, and when it is due next.
#[utoipa::path(get, path = "/api/schedules/{id}/occurrences", tag = "schedules", operation_id = "listOccurrences",
    params(("id" = Uuid, Path), Paging),
    responses((status = 200, description = "The latest first, those to come among them", body = Page<ScheduleOccurrence>)))]
async fn occurrences(
    Call(state, caller): Call,
    PathId(id): PathId<ScheduleId>,
    paging: Paging,
) -> Listed<ScheduleOccurrence> {
    let before = paging.after::<i64>()?.map(Timestamp);
    let page = state.schedule_occurrences(&caller, id, before, paging.limit()).await?;
    Ok(Page::after_last(page, |last| last.nominal.0))
}
