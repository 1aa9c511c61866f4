mod events;

use crate::dto::conversations::ChatStarted;
use crate::dto::runs::{Event, Fork, Keep, KeptReport, Replay, Resumed, Run, RunDetail, RunRef, Steer, Undo, Undone};
use crate::extract::{bad_cursor, check_limit};
use crate::routes::prelude::*;
use events::stored_raw;
use serde::Serialize;
use serde_json::value::RawValue;
use steward_app::RunSearch;
use steward_core::event::Origin;
use steward_core::ports::{KeptRun, RunFilter, RunStatus};
use steward_core::receipts::Verdict;
use steward_core::{AgentId, ConversationId, RunId};
use utoipa::ToSchema;
use uuid::Uuid;

const DEFAULT_LOG_LIMIT: u32 = 500;
const MAX_LOG_LIMIT: u32 = 1000;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default()
        .routes(routes!(list))
        .routes(routes!(get))
        .routes(routes!(log))
        .routes(routes!(events::events))
        .routes(routes!(stop))
        .routes(routes!(steer))
        .routes(routes!(resume))
        .routes(routes!(fork))
        .routes(routes!(replay))
        .routes(routes!(undo))
        .routes(routes!(keep))
        .routes(routes!(kept))
        .routes(routes!(replay_kept))
        .routes(routes!(drop_kept))
        // One may be called so, too.
        .route("/api/kept/run", axum::routing::delete(drop_kept_run))
}

/// How a run ended, in a word.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum OutcomeWord {
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
struct Search {
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
    params(Paging, Search),
    responses((status = 200, description = "Newest first", body = Page<Run>)))]
async fn list(Call(state, caller): Call, paging: Paging, Params(search): Params<Search>) -> Listed<Run> {
    let filter = RunFilter {
        status: search.status,
        outcome: search.outcome.map(|word| word.as_str().to_owned()),
        verdict: search.verdict,
        origin: search.origin,
        agent: search.agent_id.map(AgentId),
        conversation: search.conversation_id.map(ConversationId),
        text: search.q.filter(|text| !text.trim().is_empty()),
        user: None,
        before: paging.after()?,
        limit: paging.limit(),
    };
    let page = state.runs(&caller, RunSearch { mine: search.mine, filter }).await?;
    Ok(Page::after_last(page, |run| run.id))
}

/// A run with all that its page shows but its log.
#[utoipa::path(get, path = "/api/runs/{id}", tag = "runs", operation_id = "getRun",
    params(("id" = Uuid, Path)),
    responses((status = 200, description = "The run", body = RunDetail)))]
async fn get(Call(state, caller): Call, PathId(id): PathId<RunId>) -> Answer<RunDetail> {
    Ok(Json(state.run(&caller, id).await?))
}

/// Which part of a log.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Part {
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

#[derive(Serialize)]
struct LogPage {
    items: Vec<Box<RawValue>>,
    next_cursor: Option<String>,
}

/// A run's events, oldest first, as they are stored. `next_cursor` is the number of the last one,
/// for `after` too.
#[utoipa::path(get, path = "/api/runs/{id}/log", tag = "runs", operation_id = "getRunLog",
    params(("id" = Uuid, Path), Part),
    responses((status = 200, description = "Oldest first", body = Page<Event>)))]
async fn log(Call(state, caller): Call, PathId(id): PathId<RunId>, Params(part): Params<Part>) -> Answer<LogPage> {
    // Refused as not there before its parameters are looked at.
    state.run_row(&caller, id).await?;
    let limit = part.limit.unwrap_or(DEFAULT_LOG_LIMIT);
    check_limit(limit, MAX_LOG_LIMIT)?;
    let after = match part.cursor {
        None => part.after,
        Some(cursor) => cursor.parse().map_err(|_| bad_cursor())?,
    };
    let page = state.run_log(&caller, id, after, limit).await?;
    let last = page.items.last().map(|stored| stored.event.seq.to_string());
    Ok(Json(LogPage {
        items: page.items.iter().map(stored_raw).collect::<Result<_, _>>()?,
        next_cursor: last.filter(|_| page.more),
    }))
}

/// Stops a run: tools and model requests end within a second.
#[utoipa::path(post, path = "/api/runs/{id}/stop", tag = "runs", operation_id = "stopRun",
    params(("id" = Uuid, Path)),
    responses((status = 202, description = "It ends now", body = RunRef)))]
async fn stop(Call(state, caller): Call, PathId(id): PathId<RunId>) -> Created<RunRef> {
    state.stop_run(&caller, id).await?;
    accepted(RunRef { run_id: id })
}

/// Says something to a run at work; it takes it in at its next step.
#[utoipa::path(post, path = "/api/runs/{id}/steer", tag = "runs", operation_id = "steerRun",
    params(("id" = Uuid, Path)), request_body = Steer,
    responses((status = 202, description = "It will hear it", body = RunRef)))]
async fn steer(Call(state, caller): Call, PathId(id): PathId<RunId>, Body(body): Body<Steer>) -> Created<RunRef> {
    state.steer_run(&caller, id, &body.text).await?;
    accepted(RunRef { run_id: id })
}

/// Takes up a run that nobody works on; `resumed` is false where there is nothing to do.
#[utoipa::path(post, path = "/api/runs/{id}/resume", tag = "runs", operation_id = "resumeRun",
    params(("id" = Uuid, Path)),
    responses((status = 200, description = "Whether it was taken up", body = Resumed)))]
async fn resume(Call(state, caller): Call, PathId(id): PathId<RunId>) -> Answer<Resumed> {
    Ok(Json(Resumed { resumed: state.resume_run(&caller, id).await? }))
}

/// Begins another run with the first events of this one, from where a model is asked on; with
/// another model or another request, and with the agent as it is now. Its conversation is forked before it, too.
#[utoipa::path(post, path = "/api/runs/{id}/fork", tag = "runs", operation_id = "forkRun",
    params(("id" = Uuid, Path)), request_body = Fork,
    responses((status = 201, description = "The new run", body = ChatStarted)))]
async fn fork(Call(state, caller): Call, PathId(id): PathId<RunId>, Body(body): Body<Fork>) -> Created<ChatStarted> {
    created(Box::pin(state.fork_run(&caller, id, body)).await?)
}

/// Decides a run again from its own log, without models or tools, and compares.
#[utoipa::path(post, path = "/api/runs/{id}/replay", tag = "runs", operation_id = "replayRun",
    params(("id" = Uuid, Path)),
    responses((status = 200, description = "What was found", body = Replay)))]
async fn replay(Call(state, caller): Call, PathId(id): PathId<RunId>) -> Answer<Replay> {
    Ok(Json(state.replay_run(&caller, id).await?))
}

/// Takes back what an ended run did, newest first, or only one call. What can't be taken back says
/// why.
#[utoipa::path(post, path = "/api/runs/{id}/undo", tag = "runs", operation_id = "undoRun",
    params(("id" = Uuid, Path)), request_body = Undo,
    responses((status = 200, description = "What became of each effect", body = Page<Undone>)))]
async fn undo(Call(state, caller): Call, PathId(id): PathId<RunId>, Body(body): Body<Undo>) -> Listed<Undone> {
    Ok(Page::whole(state.undo_run(&caller, id, body.call_id.as_deref()).await?))
}

/// Keeps an ended run as a test: `POST /api/kept/run` replays all of them.
#[utoipa::path(post, path = "/api/runs/{id}/keep", tag = "runs", operation_id = "keepRun",
    params(("id" = Uuid, Path)), request_body = Keep,
    responses((status = 201, description = "Kept", body = KeptRun)))]
async fn keep(Call(state, caller): Call, PathId(id): PathId<RunId>, Body(body): Body<Keep>) -> Created<KeptRun> {
    created(state.keep_run(&caller, id, &body.name).await?)
}

/// Runs kept as tests, by name.
#[utoipa::path(get, path = "/api/kept", tag = "kept", operation_id = "listKept", params(Paging),
    responses((status = 200, description = "By name", body = Page<KeptRun>)))]
async fn kept(Call(state, caller): Call, paging: Paging) -> Listed<KeptRun> {
    Page::cut(state.kept_runs(&caller).await?, &paging)
}

/// Decides all of them again from their logs, without models or tools, and compares.
#[utoipa::path(post, path = "/api/kept/run", tag = "kept", operation_id = "runKept",
    responses((status = 200, description = "What was found", body = Page<KeptReport>)))]
async fn replay_kept(Call(state, caller): Call) -> Listed<KeptReport> {
    Ok(Page::whole(state.replay_kept_runs(&caller).await?))
}

/// Lets go of one; the run stays.
#[utoipa::path(delete, path = "/api/kept/{name}", tag = "kept", operation_id = "deleteKept",
    params(("name" = String, Path)),
    responses((status = 204, description = "Let go")))]
async fn drop_kept(Call(state, caller): Call, PathName(name): PathName) -> Done {
    done(state.drop_kept_run(&caller, &name).await)
}

async fn drop_kept_run(call: Call) -> Done {
    drop_kept(call, PathName("run".to_owned())).await
}
