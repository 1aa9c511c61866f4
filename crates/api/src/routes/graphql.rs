//! `/api/graphql`: domains in one request, to be read only.

use crate::dto::graphql::{GraphQlAnswer, GraphQlBody};
use crate::routes::prelude::*;
use axum::http::header;
use axum::response::IntoResponse;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default().routes(routes!(ask)).routes(routes!(schema))
}

/// Asks domains for rows and numbers by GraphQL. It only reads; what is wrong with the request stands in the answer.
#[utoipa::path(post, path = "/api/graphql", tag = "domains", operation_id = "askGraphQl",
    request_body = GraphQlBody, responses(
        (status = 200, description = "`{data, errors?, extensions?}`", body = GraphQlAnswer)))]
async fn ask(Call(state, caller): Call, Body(body): Body<GraphQlBody>) -> Answer<GraphQlAnswer> {
    Ok(Json(state.graphql(&caller, body).await?.into()))
}

/// The types that one may ask for, in GraphQL's language for schemas.
#[utoipa::path(get, path = "/api/graphql/schema", tag = "domains", operation_id = "getGraphQlSchema",
    responses((status = 200, description = "The schema", body = String, content_type = "text/plain")))]
async fn schema(Call(state, caller): Call) -> Result<impl IntoResponse, Problem> {
    let text = state.graphql_schema(&caller).await?;
    Ok(([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text))
}
