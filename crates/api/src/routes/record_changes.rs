//! `/api/record-changes`: changes of records, which are written once a person confirms them.

use crate::dto::domains::{ChangeInfo, ChangeInput};
use crate::routes::prelude::*;
use steward_core::RecordChangeId;
use steward_core::datasource::RecordChangeState;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default()
        .routes(routes!(list, propose))
        .routes(routes!(get))
        .routes(routes!(confirm))
        .routes(routes!(discard))
        .routes(routes!(undo))
}

/// Which changes.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Wanted {
    /// Only those in this state.
    state: Option<RecordChangeState>,
}

/// Changes of records, the newest first: one's own, for operators all.
#[utoipa::path(get, path = "/api/record-changes", tag = "domains", operation_id = "listRecordChanges",
    params(Wanted, Paging), responses((status = 200, description = "The newest first", body = Page<ChangeInfo>)))]
async fn list(Call(state, caller): Call, Params(wanted): Params<Wanted>, paging: Paging) -> Listed<ChangeInfo> {
    let before = paging.after::<uuid::Uuid>()?.map(RecordChangeId);
    let page = state.record_changes(&caller, wanted.state, before, paging.limit()).await?;
    Ok(Page::after_last(page, |last| last.change.id))
}

/// Proposes a change of one record. Nothing is written before somebody confirms it.
#[utoipa::path(post, path = "/api/record-changes", tag = "domains", operation_id = "proposeRecordChange",
    request_body = ChangeInput, responses(
        (status = 201, description = "It waits for a person", body = ChangeInfo),
        (status = 422, description = "It can't be made; the message says why")))]
async fn propose(Call(state, caller): Call, Body(input): Body<ChangeInput>) -> Created<ChangeInfo> {
    created(state.propose_record_change(&caller, &input).await?)
}

/// One change.
#[utoipa::path(get, path = "/api/record-changes/{id}", tag = "domains", operation_id = "getRecordChange",
    params(("id" = Uuid, Path)), responses((status = 200, description = "Found", body = ChangeInfo)))]
async fn get(Call(state, caller): Call, PathId(id): PathId<RecordChangeId>) -> Answer<ChangeInfo> {
    Ok(Json(state.record_change(&caller, id).await?))
}

/// Writes a proposed change, with the rights of who confirms it. If the record is not any more as it was shown, nothing
/// is written, and the state is `failed`.
#[utoipa::path(post, path = "/api/record-changes/{id}/confirm", tag = "domains", operation_id = "confirmRecordChange",
    params(("id" = Uuid, Path)), responses(
        (status = 200, description = "What became of it", body = ChangeInfo),
        (status = 409, description = "It was decided on already")))]
async fn confirm(Call(state, caller): Call, PathId(id): PathId<RecordChangeId>) -> Answer<ChangeInfo> {
    Ok(Json(state.confirm_record_change(&caller, id).await?))
}

/// Declines a proposed change.
#[utoipa::path(post, path = "/api/record-changes/{id}/discard", tag = "domains", operation_id = "discardRecordChange",
    params(("id" = Uuid, Path)), responses(
        (status = 200, description = "Declined", body = ChangeInfo),
        (status = 409, description = "It was decided on already")))]
async fn discard(Call(state, caller): Call, PathId(id): PathId<RecordChangeId>) -> Answer<ChangeInfo> {
    Ok(Json(state.discard_record_change(&caller, id).await?))
}

/// Puts the record back as it was before a change that was written.
#[utoipa::path(post, path = "/api/record-changes/{id}/undo", tag = "domains", operation_id = "undoRecordChange",
    params(("id" = Uuid, Path)), responses(
        (status = 200, description = "Taken back", body = ChangeInfo),
        (status = 409, description = "It was not written, or was taken back already"),
        (status = 422, description = "The record has changed since")))]
async fn undo(Call(state, caller): Call, PathId(id): PathId<RecordChangeId>) -> Answer<ChangeInfo> {
    Ok(Json(state.undo_record_change(&caller, id).await?))
}
