use crate::dto::schedules::SchedulePauseInput;
use crate::dto::subscriptions::{Dispatch, Subscription, SubscriptionInput, SubscriptionWithSecret};
use crate::response::shown_once;
use crate::routes::prelude::*;
use axum::response::Response;
use steward_core::{DispatchId, SubscriptionId};
use uuid::Uuid;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default()
        .routes(routes!(list, create))
        .routes(routes!(get, replace, remove))
        .routes(routes!(restore))
        .routes(routes!(pause))
        .routes(routes!(resume))
        .routes(routes!(test))
        .routes(routes!(add_secret))
        .routes(routes!(remove_secret))
        .routes(routes!(dispatches))
        .routes(routes!(send_again))
}

/// Which subscriptions.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Search {
    /// Only one's own, for those who see all.
    #[serde(default)]
    mine: bool,
    /// Those that were deleted, in the place of the others.
    #[serde(default)]
    deleted: bool,
}

/// Which messages.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct DispatchSearch {
    /// Only those that were given up.
    #[serde(default)]
    failed: bool,
}

/// Addresses that are told of what happens: one's own, or everybody's for operators.
#[utoipa::path(get, path = "/api/subscriptions", tag = "subscriptions", operation_id = "listSubscriptions",
    params(Paging, Search), responses((status = 200, description = "Newest first", body = Page<Subscription>)))]
async fn list(Call(state, caller): Call, paging: Paging, Params(search): Params<Search>) -> Listed<Subscription> {
    let page = state.subscriptions(&caller, (search.mine, search.deleted), paging.after()?, paging.limit()).await?;
    Ok(Page::after_last(page, |last| last.id))
}

/// Makes a subscription, which is the caller's: what they may see is told. The secret is shown this once.
#[utoipa::path(post, path = "/api/subscriptions", tag = "subscriptions", operation_id = "createSubscription",
    request_body = SubscriptionInput, responses(
        (status = 201, description = "Made", body = SubscriptionWithSecret),
        (status = 409, description = "There are too many")))]
async fn create(Call(state, caller): Call, Body(input): Body<SubscriptionInput>) -> Result<Response, Problem> {
    Ok(once(state.create_subscription(&caller, input).await?))
}

/// One subscription.
#[utoipa::path(get, path = "/api/subscriptions/{id}", tag = "subscriptions", operation_id = "getSubscription",
    params(("id" = Uuid, Path)), responses((status = 200, description = "As it is", body = Subscription)))]
async fn get(Call(state, caller): Call, PathId(id): PathId<SubscriptionId>) -> Answer<Subscription> {
    Ok(Json(state.subscription(&caller, id).await?))
}

/// Changes a subscription; only its owner may. Without `address` or `token` these stay.
#[utoipa::path(put, path = "/api/subscriptions/{id}", tag = "subscriptions", operation_id = "replaceSubscription",
    params(("id" = Uuid, Path)), request_body = SubscriptionInput,
    responses((status = 200, description = "As it is now", body = Subscription)))]
async fn replace(
    Call(state, caller): Call,
    PathId(id): PathId<SubscriptionId>,
    Body(input): Body<SubscriptionInput>,
) -> Answer<Subscription> {
    Ok(Json(state.replace_subscription(&caller, id, input).await?))
}

/// Deletes a subscription: nothing is sent any more. It can be restored.
#[utoipa::path(delete, path = "/api/subscriptions/{id}", tag = "subscriptions", operation_id = "deleteSubscription",
    params(("id" = Uuid, Path)), responses((status = 204, description = "Deleted")))]
async fn remove(Call(state, caller): Call, PathId(id): PathId<SubscriptionId>) -> Done {
    done(state.delete_subscription(&caller, id).await)
}

/// Brings a deleted subscription back; what happened meanwhile isn't told.
#[utoipa::path(post, path = "/api/subscriptions/{id}/restore", tag = "subscriptions",
    operation_id = "restoreSubscription", params(("id" = Uuid, Path)), responses(
        (status = 200, description = "As it is now", body = Subscription),
        (status = 409, description = "It isn't deleted")))]
async fn restore(Call(state, caller): Call, PathId(id): PathId<SubscriptionId>) -> Answer<Subscription> {
    Ok(Json(state.restore_subscription(&caller, id).await?))
}

/// Has a subscription rest: what happens meanwhile isn't told.
#[utoipa::path(post, path = "/api/subscriptions/{id}/pause", tag = "subscriptions",
    operation_id = "pauseSubscription", params(("id" = Uuid, Path)), request_body = SchedulePauseInput,
    responses((status = 200, description = "As it is now", body = Subscription)))]
async fn pause(
    Call(state, caller): Call,
    PathId(id): PathId<SubscriptionId>,
    Body(input): Body<SchedulePauseInput>,
) -> Answer<Subscription> {
    Ok(Json(state.pause_subscription(&caller, id, &input).await?))
}

/// Has it work again, from now on; only its owner may.
#[utoipa::path(post, path = "/api/subscriptions/{id}/resume", tag = "subscriptions",
    operation_id = "resumeSubscription", params(("id" = Uuid, Path)),
    responses((status = 200, description = "As it is now", body = Subscription)))]
async fn resume(Call(state, caller): Call, PathId(id): PathId<SubscriptionId>) -> Answer<Subscription> {
    Ok(Json(state.resume_subscription(&caller, id).await?))
}

/// Sends a message that says that it is a test; only the owner may.
#[utoipa::path(post, path = "/api/subscriptions/{id}/test", tag = "subscriptions", operation_id = "testSubscription",
    params(("id" = Uuid, Path)), responses((status = 202, description = "The message", body = Dispatch)))]
async fn test(Call(state, caller): Call, PathId(id): PathId<SubscriptionId>) -> Created<Dispatch> {
    accepted(state.test_subscription(&caller, id).await?)
}

/// Adds a secret
///
/// It signs messages besides those that do, so that a receiver can change over. It is shown this once; only the owner may.
#[utoipa::path(post, path = "/api/subscriptions/{id}/secrets", tag = "subscriptions",
    operation_id = "addSubscriptionSecret", params(("id" = Uuid, Path)), responses(
        (status = 201, description = "Added", body = SubscriptionWithSecret),
        (status = 409, description = "It has as many as it may, or its messages aren't signed")))]
async fn add_secret(Call(state, caller): Call, PathId(id): PathId<SubscriptionId>) -> Result<Response, Problem> {
    Ok(once(state.add_subscription_secret(&caller, id).await?))
}

/// Whoever sends the same request again gets it without the secret.
fn once(made: SubscriptionWithSecret) -> Response {
    let kept = SubscriptionWithSecret { secret: None, ..made.clone() };
    shown_once(StatusCode::CREATED, made, &kept)
}

/// Removes a secret; the last one stays.
#[utoipa::path(delete, path = "/api/subscriptions/{id}/secrets/{secret_id}", tag = "subscriptions",
    operation_id = "removeSubscriptionSecret", params(("id" = Uuid, Path), ("secret_id" = Uuid, Path)), responses(
        (status = 200, description = "As it is now", body = Subscription),
        (status = 409, description = "It is the last one")))]
async fn remove_secret(
    Call(state, caller): Call,
    PathIds(id, secret): PathIds<SubscriptionId, Uuid>,
) -> Answer<Subscription> {
    Ok(Json(state.remove_subscription_secret(&caller, id, secret).await?))
}

/// Messages, and what became of them; only the owner sees them.
#[utoipa::path(get, path = "/api/subscriptions/{id}/messages", tag = "subscriptions",
    operation_id = "listSubscriptionMessages", params(("id" = Uuid, Path), Paging, DispatchSearch),
    responses((status = 200, description = "Newest first", body = Page<Dispatch>)))]
async fn dispatches(
    Call(state, caller): Call,
    PathId(id): PathId<SubscriptionId>,
    paging: Paging,
    Params(search): Params<DispatchSearch>,
) -> Listed<Dispatch> {
    let page = state.subscription_dispatches(&caller, id, search.failed, paging.after()?, paging.limit()).await?;
    Ok(Page::after_last(page, |last| last.id))
}

/// Has a message sent once more, with the same id; only the owner may.
#[utoipa::path(post, path = "/api/subscriptions/{id}/messages/{message_id}/send", tag = "subscriptions",
    operation_id = "sendSubscriptionMessage", params(("id" = Uuid, Path), ("message_id" = Uuid, Path)),
    responses((status = 202, description = "The message", body = Dispatch)))]
async fn send_again(
    Call(state, caller): Call,
    PathIds(id, message): PathIds<SubscriptionId, DispatchId>,
) -> Created<Dispatch> {
    accepted(state.send_dispatch_again(&caller, id, message).await?)
}
