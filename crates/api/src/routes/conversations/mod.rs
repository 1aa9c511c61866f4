//! `/api/conversations`.

mod fork;
mod one;
mod several;
mod show;

use crate::state::ApiState;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) use fork::copy;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default()
        .routes(routes!(several::list))
        .routes(routes!(one::get, one::rename, one::remove))
        .routes(routes!(one::restore))
        .routes(routes!(fork::fork))
}
