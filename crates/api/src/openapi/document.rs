//! The whole document.

use super::answers::complete;
use crate::router::documented;
use steward_core::event::EventBody;
use utoipa::openapi::schema::Schema;
use utoipa::openapi::{OpenApi, RefOr};
use utoipa::{PartialSchema, ToSchema};

/// The OpenAPI document of this API.
pub fn document() -> OpenApi {
    let mut document = documented().into_openapi();
    add_events(&mut document);
    complete(&mut document);
    document
}

/// What each type of event holds, as components. `Event` itself stays open, since a newer server may send types that
/// an older client does not know.
fn add_events(document: &mut OpenApi) {
    let mut body = EventBody::schema();
    if let RefOr::T(Schema::OneOf(types)) = &mut body {
        // The last one stands for types of newer programs.
        types.items.pop();
    }
    let mut schemas = vec![(EventBody::name().into_owned(), body)];
    EventBody::schemas(&mut schemas);
    if let Some(components) = &mut document.components {
        components.schemas.extend(schemas);
    }
}
