//! `/api/collections`: sets of documents that are searched, shared and embedded alike.

use crate::dto::documents::{CollectionInput, CollectionPatch};
use crate::routes::prelude::*;
use steward_core::CollectionId;
use steward_core::document::Collection;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default().routes(routes!(list, create)).routes(routes!(get, change, remove))
}

/// The collections that one may search, by name.
#[utoipa::path(get, path = "/api/collections", tag = "documents", operation_id = "listCollections",
    responses((status = 200, description = "By name", body = Page<Collection>)))]
async fn list(Call(state, caller): Call) -> Listed<Collection> {
    Ok(Page::whole(state.collections(&caller).await?))
}

/// Makes a collection without documents. Unless it is open, only those with a grant, and operators, may search it.
#[utoipa::path(post, path = "/api/collections", tag = "documents", operation_id = "createCollection",
    request_body = CollectionInput, responses(
        (status = 201, description = "Made", body = Collection),
        (status = 409, description = "Another collection has this name")))]
async fn create(Call(state, caller): Call, Body(input): Body<CollectionInput>) -> Created<Collection> {
    created(state.create_collection(&caller, input).await?)
}

/// One collection.
#[utoipa::path(get, path = "/api/collections/{id}", tag = "documents", operation_id = "getCollection",
    params(("id" = Uuid, Path)), responses((status = 200, description = "Found", body = Collection)))]
async fn get(Call(state, caller): Call, PathId(id): PathId<CollectionId>) -> Answer<Collection> {
    Ok(Json(state.collection(&caller, id).await?))
}

/// Changes a collection. How documents are cut changes with the next one that is read.
#[utoipa::path(patch, path = "/api/collections/{id}", tag = "documents", operation_id = "changeCollection",
    params(("id" = Uuid, Path)), request_body = CollectionPatch, responses(
        (status = 200, description = "Changed", body = Collection),
        (status = 409, description = "Another collection has this name")))]
async fn change(
    Call(state, caller): Call,
    PathId(id): PathId<CollectionId>,
    Body(patch): Body<CollectionPatch>,
) -> Answer<Collection> {
    Ok(Json(state.change_collection(&caller, id, patch).await?))
}

/// Removes a collection for good, with all its documents, their chunks and the files that were sent.
#[utoipa::path(delete, path = "/api/collections/{id}", tag = "documents", operation_id = "removeCollection",
    params(("id" = Uuid, Path)), responses((status = 204, description = "Removed")))]
async fn remove(Call(state, caller): Call, PathId(id): PathId<CollectionId>) -> Done {
    done(state.remove_collection(&caller, id).await)
}
