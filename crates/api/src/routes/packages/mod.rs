//! `/api/skills/packages` and the imports.

mod archive;
mod import;
mod one;
mod problem;
mod several;

use crate::state::ApiState;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default()
        .routes(routes!(import::import))
        .routes(routes!(import::import_for_agent))
        .routes(routes!(several::list))
        .routes(routes!(several::ready))
        .routes(routes!(one::get, one::remove))
        .routes(routes!(one::accept))
        .routes(routes!(one::export))
        .routes(routes!(one::diff))
}
