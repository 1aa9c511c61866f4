use crate::dto::hooks::{
    Hook, HookDelivery, HookDeliveryContent, HookInput, HookPreview, HookPreviewInput, HookSecretInput, HookWithSecret,
};
use crate::dto::schedules::SchedulePauseInput;
use crate::response::shown_once;
use crate::routes::prelude::*;
use axum::response::Response;
use steward_app::HookSearch;
use steward_core::ports::DeliveryKey;
use steward_core::{AgentId, DeliveryId, HookId};
use uuid::Uuid;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default()
        .routes(routes!(list, create))
        .routes(routes!(get, replace, remove))
        .routes(routes!(restore))
        .routes(routes!(pause))
        .routes(routes!(resume))
        .routes(routes!(preview))
        .routes(routes!(add_secret))
        .routes(routes!(remove_secret))
        .routes(routes!(deliveries))
        .routes(routes!(delivery))
        .routes(routes!(replay))
}

/// Which webhooks.
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
}

/// Webhooks: one's own, or everybody's for operators.
#[utoipa::path(get, path = "/api/hooks", tag = "hooks", operation_id = "listHooks",
    params(Paging, Search), responses((status = 200, description = "Newest first", body = Page<Hook>)))]
async fn list(Call(state, caller): Call, paging: Paging, Params(search): Params<Search>) -> Listed<Hook> {
    let wanted = HookSearch {
        mine: search.mine,
        agent: search.agent_id.map(AgentId),
        deleted: search.deleted,
        before: paging.after()?,
        limit: paging.limit(),
    };
    let page = state.hooks(&caller, wanted).await?;
    Ok(Page::after_last(page, |last| last.id))
}

/// Makes a webhook, which is the caller's: its runs work with their rights. The secret is shown this once.
#[utoipa::path(post, path = "/api/hooks", tag = "hooks", operation_id = "createHook",
    request_body = HookInput, responses(
        (status = 201, description = "Made", body = HookWithSecret),
        (status = 409, description = "There are too many")))]
async fn create(Call(state, caller): Call, Body(input): Body<HookInput>) -> Result<Response, Problem> {
    Ok(once(state.create_hook(&caller, input).await?))
}

/// One webhook.
#[utoipa::path(get, path = "/api/hooks/{id}", tag = "hooks", operation_id = "getHook",
    params(("id" = Uuid, Path)), responses((status = 200, description = "As it is", body = Hook)))]
async fn get(Call(state, caller): Call, PathId(id): PathId<HookId>) -> Answer<Hook> {
    Ok(Json(state.hook(&caller, id).await?))
}

/// Changes a webhook; only its owner may. Its secrets stay.
#[utoipa::path(put, path = "/api/hooks/{id}", tag = "hooks", operation_id = "replaceHook",
    params(("id" = Uuid, Path)), request_body = HookInput,
    responses((status = 200, description = "As it is now", body = Hook)))]
async fn replace(Call(state, caller): Call, PathId(id): PathId<HookId>, Body(input): Body<HookInput>) -> Answer<Hook> {
    Ok(Json(state.replace_hook(&caller, id, input).await?))
}

/// Deletes a webhook; its runs and deliveries stay, and it can be restored.
#[utoipa::path(delete, path = "/api/hooks/{id}", tag = "hooks", operation_id = "deleteHook",
    params(("id" = Uuid, Path)), responses((status = 204, description = "Deleted")))]
async fn remove(Call(state, caller): Call, PathId(id): PathId<HookId>) -> Done {
    done(state.delete_hook(&caller, id).await)
}

/// Brings a deleted webhook back.
#[utoipa::path(post, path = "/api/hooks/{id}/restore", tag = "hooks", operation_id = "restoreHook",
    params(("id" = Uuid, Path)), responses(
        (status = 200, description = "As it is now", body = Hook),
        (status = 409, description = "It isn't deleted")))]
async fn restore(Call(state, caller): Call, PathId(id): PathId<HookId>) -> Answer<Hook> {
    Ok(Json(state.restore_hook(&caller, id).await?))
}

/// Has a webhook rest: what comes meanwhile is kept and starts nothing.
#[utoipa::path(post, path = "/api/hooks/{id}/pause", tag = "hooks", operation_id = "pauseHook",
    params(("id" = Uuid, Path)), request_body = SchedulePauseInput,
    responses((status = 200, description = "As it is now", body = Hook)))]
async fn pause(
    Call(state, caller): Call,
    PathId(id): PathId<HookId>,
    Body(input): Body<SchedulePauseInput>,
) -> Answer<Hook> {
    Ok(Json(state.pause_hook(&caller, id, &input).await?))
}

/// Has it work again, from now on; only its owner may.
#[utoipa::path(post, path = "/api/hooks/{id}/resume", tag = "hooks", operation_id = "resumeHook",
    params(("id" = Uuid, Path)), responses((status = 200, description = "As it is now", body = Hook)))]
async fn resume(Call(state, caller): Call, PathId(id): PathId<HookId>) -> Answer<Hook> {
    Ok(Json(state.resume_hook(&caller, id).await?))
}

/// Says what a call would do, without doing it.
#[utoipa::path(post, path = "/api/hooks/{id}/preview", tag = "hooks", operation_id = "previewHook",
    params(("id" = Uuid, Path)), request_body = HookPreviewInput,
    responses((status = 200, description = "What it would do", body = HookPreview)))]
async fn preview(
    Call(state, caller): Call,
    PathId(id): PathId<HookId>,
    Body(input): Body<HookPreviewInput>,
) -> Answer<HookPreview> {
    Ok(Json(state.preview_hook(&caller, id, input).await?))
}

/// Adds a secret
///
/// It opens the webhook besides those that do, so that a sender can change over. It is shown this once; only the owner may.
#[utoipa::path(post, path = "/api/hooks/{id}/secrets", tag = "hooks", operation_id = "addHookSecret",
    params(("id" = Uuid, Path)), request_body = HookSecretInput, responses(
        (status = 201, description = "Added", body = HookWithSecret),
        (status = 409, description = "It has as many as it may")))]
async fn add_secret(
    Call(state, caller): Call,
    PathId(id): PathId<HookId>,
    Body(input): Body<HookSecretInput>,
) -> Result<Response, Problem> {
    Ok(once(state.add_hook_secret(&caller, id, input).await?))
}

/// Whoever sends the same request again gets it without the secret.
fn once(made: HookWithSecret) -> Response {
    let kept = HookWithSecret { secret: None, ..made.clone() };
    shown_once(StatusCode::CREATED, made, &kept)
}

/// Removes a secret; the last one stays.
#[utoipa::path(delete, path = "/api/hooks/{id}/secrets/{secret_id}", tag = "hooks", operation_id = "removeHookSecret",
    params(("id" = Uuid, Path), ("secret_id" = Uuid, Path)), responses(
        (status = 200, description = "As it is now", body = Hook),
        (status = 409, description = "It is the last one")))]
async fn remove_secret(Call(state, caller): Call, PathIds(id, secret): PathIds<HookId, Uuid>) -> Answer<Hook> {
    Ok(Json(state.remove_hook_secret(&caller, id, secret).await?))
}

/// What came, and what became of it.
#[utoipa::path(get, path = "/api/hooks/{id}/deliveries", tag = "hooks", operation_id = "listDeliveries",
    params(("id" = Uuid, Path), Paging),
    responses((status = 200, description = "Newest first", body = Page<HookDelivery>)))]
async fn deliveries(Call(state, caller): Call, PathId(id): PathId<HookId>, paging: Paging) -> Listed<HookDelivery> {
    let page = state.hook_deliveries(&caller, id, paging.after()?, paging.limit()).await?;
    Ok(Page::after_last(page, |last| last.id))
}

/// One delivery with what was sent; only the webhook's owner sees it.
#[utoipa::path(get, path = "/api/hooks/{id}/deliveries/{delivery_id}", tag = "hooks", operation_id = "getDelivery",
    params(("id" = Uuid, Path), ("delivery_id" = Uuid, Path)),
    responses((status = 200, description = "As it came", body = HookDeliveryContent)))]
async fn delivery(
    Call(state, caller): Call,
    PathIds(hook, delivery): PathIds<HookId, DeliveryId>,
) -> Answer<HookDeliveryContent> {
    Ok(Json(state.hook_delivery(&caller, DeliveryKey { hook, delivery }).await?))
}

/// Takes what was sent as if it came once more; only the webhook's owner may.
#[utoipa::path(post, path = "/api/hooks/{id}/deliveries/{delivery_id}/replay", tag = "hooks",
    operation_id = "replayDelivery", params(("id" = Uuid, Path), ("delivery_id" = Uuid, Path)), responses(
        (status = 202, description = "The new delivery", body = HookDelivery),
        (status = 409, description = "What was sent isn't kept any more")))]
async fn replay(
    Call(state, caller): Call,
    PathIds(hook, delivery): PathIds<HookId, DeliveryId>,
) -> Created<HookDelivery> {
    accepted(state.replay_delivery(&caller, DeliveryKey { hook, delivery }).await?)
}
