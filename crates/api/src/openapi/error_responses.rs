//! The refusals that any operation can meet, so that none has to list them itself.

use crate::problem::ProblemBody;
use utoipa::openapi::path::{Operation, ParameterBuilder, ParameterIn};
use utoipa::openapi::{
    ContentBuilder, ObjectBuilder, OpenApi, PathItem, Ref, RefOr, Required, Response, ResponseBuilder, Type,
};
use utoipa::{PartialSchema, ToSchema};

const REFUSALS: [(u16, &str, &str); 9] = [
    (400, "Unreadable", "The body is not JSON."),
    (401, "Unauthorized", "There is no valid token: log in."),
    (403, "Forbidden", "The role doesn't allow it, or the request comes from another site or to another name."),
    (404, "NotFound", "It isn't there, or isn't yours to see."),
    (409, "Conflict", "It is not in a state for that; `code` says which."),
    (413, "TooLong", "The body is too long."),
    (415, "NotJson", "The body is not marked as what it has to be."),
    (422, "Invalid", "A field or parameter can't be that; `field` says which."),
    (503, "Unavailable", "Something that this needs doesn't answer; see /readyz."),
];

#[derive(Clone, Copy)]
struct Kind {
    write: bool,
    auth: bool,
    by_id: bool,
}

/// Adds the refusals, and the parameter `Idempotency-Key`.
pub(super) fn complete(document: &mut OpenApi) {
    let components = document.components.get_or_insert_default();
    components.schemas.insert(ProblemBody::name().into_owned(), ProblemBody::schema());
    let mut within = Vec::new();
    ProblemBody::schemas(&mut within);
    components.schemas.extend(within);
    for (_, name, meaning) in REFUSALS {
        components.responses.insert(name.to_owned(), problem(meaning).into());
    }
    for (path, item) in &mut document.paths.paths {
        let kind = Kind { write: false, auth: path.starts_with("/api/auth/"), by_id: path.contains('{') };
        for (write, operation) in operations(item) {
            complete_one(operation, Kind { write, ..kind });
        }
    }
}

fn operations(item: &mut PathItem) -> impl Iterator<Item = (bool, &mut Operation)> {
    [
        (false, item.get.as_mut()),
        (true, item.put.as_mut()),
        (true, item.post.as_mut()),
        (true, item.delete.as_mut()),
        (true, item.patch.as_mut()),
    ]
    .into_iter()
    .filter_map(|(write, operation)| Some((write, operation?)))
}

fn complete_one(operation: &mut Operation, kind: Kind) {
    let keyed = kind.write && !kind.auth;
    if keyed {
        let parameters = operation.parameters.get_or_insert_default();
        parameters.push(RefOr::T(idempotency_key()));
    }
    let has_body = operation.request_body.is_some();
    let has_query = operation
        .parameters
        .iter()
        .flatten()
        .any(|one| matches!(one, RefOr::T(parameter) if parameter.parameter_in == ParameterIn::Query));
    let met = |status: u16| match status {
        400 | 415 => has_body,
        401 => operation.security.is_none(),
        // A body names things too.
        404 => kind.by_id || has_body,
        409 => keyed,
        413 => has_body || keyed,
        422 => has_body || has_query || keyed,
        _ => true,
    };
    let responses = &mut operation.responses.responses;
    for (status, name, _) in REFUSALS {
        if met(status) {
            responses.entry(status.to_string()).or_insert_with(|| RefOr::Ref(Ref::from_response_name(name)));
        }
    }
    for (status, response) in responses {
        if let RefOr::T(response) = response
            && status.as_str() >= "400"
            && response.content.is_empty()
        {
            *response = problem(&response.description);
        }
    }
}

fn problem(meaning: &str) -> Response {
    let content = ContentBuilder::new().schema(Some(Ref::from_schema_name(ProblemBody::name()))).build();
    ResponseBuilder::new().description(meaning).content("application/problem+json", content).build()
}

fn idempotency_key() -> utoipa::openapi::path::Parameter {
    let schema = ObjectBuilder::new().schema_type(Type::String).min_length(Some(1)).max_length(Some(128)).build();
    ParameterBuilder::new()
        .name("Idempotency-Key")
        .parameter_in(ParameterIn::Header)
        .required(Required::False)
        .description(Some(
            "Sent again within 24 hours, the very same request gives the first answer again, with the header \
             `Idempotency-Replayed: true`.",
        ))
        .schema(Some(schema))
        .build()
}
