//! `/api/credentials`: what is in the vault. Values go in and never come back.

mod kinds;
mod one;
mod problem;
mod several;
mod uses;

use crate::state::ApiState;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default()
        .routes(routes!(several::list, several::create))
        .routes(routes!(several::rotate))
        .routes(routes!(kinds::kinds))
        .routes(routes!(one::get, one::change, one::remove))
        .routes(routes!(uses::uses))
}
