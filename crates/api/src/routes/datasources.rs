//! `/api/datasources`: users' databases.

use crate::dto::domains::{DatasourceInit, DatasourceInput, DatasourceSchema, InitTexts};
use crate::routes::prelude::*;
use steward_core::DatasourceId;
use steward_core::datasource::Datasource;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default()
        .routes(routes!(list, create))
        .routes(routes!(get, replace, remove))
        .routes(routes!(check))
        .routes(routes!(schema))
        .routes(routes!(init))
}

/// All datasources by name.
#[utoipa::path(get, path = "/api/datasources", tag = "domains", operation_id = "listDatasources",
    responses((status = 200, description = "By name", body = Page<Datasource>)))]
async fn list(Call(state, caller): Call) -> Listed<Datasource> {
    Ok(Page::whole(state.datasources(&caller).await?))
}

/// Adds a database. Nothing of it can be asked before domains describe it.
#[utoipa::path(post, path = "/api/datasources", tag = "domains", operation_id = "createDatasource",
    request_body = DatasourceInput, responses(
        (status = 201, description = "Added", body = Datasource),
        (status = 409, description = "Another datasource has this name")))]
async fn create(Call(state, caller): Call, Body(input): Body<DatasourceInput>) -> Created<Datasource> {
    created(state.create_datasource(&caller, input).await?)
}

/// One datasource.
#[utoipa::path(get, path = "/api/datasources/{id}", tag = "domains", operation_id = "getDatasource",
    params(("id" = Uuid, Path)), responses((status = 200, description = "Found", body = Datasource)))]
async fn get(Call(state, caller): Call, PathId(id): PathId<DatasourceId>) -> Answer<Datasource> {
    Ok(Json(state.datasource(&caller, id).await?))
}

/// Changes a datasource. One that was changed meanwhile is a conflict, if the version that was read is given.
#[utoipa::path(put, path = "/api/datasources/{id}", tag = "domains", operation_id = "replaceDatasource",
    params(("id" = Uuid, Path)), request_body = DatasourceInput, responses(
        (status = 200, description = "Changed", body = Datasource),
        (status = 409, description = "It was changed meanwhile, its name is taken, or domains use it")))]
async fn replace(
    Call(state, caller): Call,
    PathId(id): PathId<DatasourceId>,
    Body(input): Body<DatasourceInput>,
) -> Answer<Datasource> {
    Ok(Json(state.replace_datasource(&caller, id, input).await?))
}

/// Removes a datasource. The database stays as it is; domains over it stay, and can't be asked any more.
#[utoipa::path(delete, path = "/api/datasources/{id}", tag = "domains", operation_id = "removeDatasource",
    params(("id" = Uuid, Path)), responses((status = 204, description = "Removed")))]
async fn remove(Call(state, caller): Call, PathId(id): PathId<DatasourceId>) -> Done {
    done(state.remove_datasource(&caller, id).await)
}

/// Opens the database anew and says what it has.
#[utoipa::path(post, path = "/api/datasources/{id}/check", tag = "domains", operation_id = "checkDatasource",
    params(("id" = Uuid, Path)), responses(
        (status = 200, description = "It can be asked", body = DatasourceSchema),
        (status = 503, description = "It can't be opened")))]
async fn check(Call(state, caller): Call, PathId(id): PathId<DatasourceId>) -> Answer<DatasourceSchema> {
    Ok(Json(state.check_datasource(&caller, id).await?))
}

/// Its tables and columns, as read within the last minutes.
#[utoipa::path(get, path = "/api/datasources/{id}/schema", tag = "domains", operation_id = "datasourceSchema",
    params(("id" = Uuid, Path)), responses(
        (status = 200, description = "Its tables", body = DatasourceSchema),
        (status = 503, description = "It can't be opened")))]
async fn schema(Call(state, caller): Call, PathId(id): PathId<DatasourceId>) -> Answer<DatasourceSchema> {
    Ok(Json(state.datasource_schema(&caller, id).await?))
}

/// Writes first domains and views of its tables, from keys, types and a few values, for a person to refine.
#[utoipa::path(post, path = "/api/datasources/{id}/init", tag = "domains", operation_id = "initDatasource",
    params(("id" = Uuid, Path)), request_body = DatasourceInit, responses(
        (status = 200, description = "The texts", body = InitTexts),
        (status = 503, description = "It can't be opened")))]
async fn init(
    Call(state, caller): Call,
    PathId(id): PathId<DatasourceId>,
    Body(wanted): Body<DatasourceInit>,
) -> Answer<InitTexts> {
    Ok(Json(state.init_datasource(&caller, id, &wanted).await?))
}
