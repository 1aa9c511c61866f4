//! `/api/graphql`: domains in one request, to be read only.

use crate::dto::graphql::{GraphQlAnswer, GraphQlBody};
use crate::routes::prelude::*;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

/// The type of answers whose status says whether the request was run.
const GRAPHQL_RESPONSE: &str = "application/graphql-response+json";
const JSON: &str = "application/json";

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default().routes(routes!(graphql)).routes(routes!(graphql_schema))
}

/// Asks domains for rows and numbers by GraphQL. It only reads; what is wrong with the request stands in the answer. With
/// `Accept: application/graphql-response+json` the status of a request that can't be run is 400; else it is 200.
#[utoipa::path(post, path = "/api/graphql", tag = "domains", operation_id = "askGraphQl",
    request_body = GraphQlBody, responses(
        (status = 200, description = "`{data, errors?, extensions?}`; `{errors}` if the request is wrong", content(
            (GraphQlAnswer = "application/json"), (GraphQlAnswer = "application/graphql-response+json"))),
        (status = 400, description = "The request is wrong, for `application/graphql-response+json`", body = GraphQlAnswer,
            content_type = "application/graphql-response+json")))]
async fn graphql(
    Call(state, caller): Call,
    headers: HeaderMap,
    body: Result<Body<GraphQlBody>, Problem>,
) -> Result<Response, Problem> {
    let accept = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let own_type = prefers_graphql_response(accept);
    let answer: Value = match body {
        Ok(Body(body)) => state.graphql(&caller, body).await?,
        Err(problem) if own_type && problem.status.is_client_error() => {
            json!({"errors": [{"message": problem.message()}]})
        }
        Err(problem) => return Err(problem),
    };
    let was_run = answer.get("data").is_some();
    let answer = Json(GraphQlAnswer::from(answer));
    if !own_type {
        return Ok(answer.into_response());
    }
    let status = if was_run { StatusCode::OK } else { StatusCode::BAD_REQUEST };
    Ok((status, [(header::CONTENT_TYPE, GRAPHQL_RESPONSE)], answer).into_response())
}

/// Whether GraphQL's own type is named and no less wanted than JSON.
fn prefers_graphql_response<'h>(accept: impl Iterator<Item = &'h str>) -> bool {
    let (mut own, mut json) = (0.0_f32, 0.0_f32);
    for one in accept.flat_map(|value| value.split(',')) {
        let mut parts = one.split(';').map(str::trim);
        let kind = parts.next().unwrap_or_default();
        let quality = parts.find_map(|part| part.strip_prefix("q=")).map_or(Some(1.0), |text| text.parse().ok());
        let of = match () {
            () if kind.eq_ignore_ascii_case(GRAPHQL_RESPONSE) => &mut own,
            () if kind.eq_ignore_ascii_case(JSON) => &mut json,
            () => continue,
        };
        *of = of.max(quality.unwrap_or(0.0));
    }
    own > 0.0 && own >= json
}

/// The types that one may ask for, in GraphQL's language for schemas.
#[utoipa::path(get, path = "/api/graphql/schema", tag = "domains", operation_id = "getGraphQlSchema",
    responses((status = 200, description = "The schema", body = String, content_type = "text/plain")))]
async fn graphql_schema(Call(state, caller): Call) -> Result<impl IntoResponse, Problem> {
    let text = state.graphql_schema(&caller).await?;
    Ok(([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text))
}

#[cfg(test)]
mod tests {
    use super::prefers_graphql_response;

    #[test]
    fn the_type_of_the_answer_is_negotiated() {
        for (accept, expect) in [
            (&[][..], false),
            (&["*/*"][..], false),
            (&["application/json"][..], false),
            (&["application/graphql-response+json"][..], true),
            (&["application/graphql-response+json; charset=utf-8, application/json; charset=utf-8"][..], true),
            (&["application/json", "application/GraphQL-response+json"][..], true),
            (&["application/graphql-response+json;q=0.9, application/json;q=0.8"][..], true),
            (&["application/graphql-response+json;q=0.5, application/json"][..], false),
            (&["application/graphql-response+json;q=0, */*"][..], false),
            (&["application/graphql-response+json;q=x"][..], false),
        ] {
            assert_eq!(prefers_graphql_response(accept.iter().copied()), expect, "{accept:?}");
        }
    }
}
