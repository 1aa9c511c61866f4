//! The whole document.

use super::answers::complete;
use crate::router::documented;
use utoipa::openapi::OpenApi;

/// The OpenAPI document of this API.
pub fn document() -> OpenApi {
    let mut document = documented().into_openapi();
    complete(&mut document);
    document
}
