//! `/api/routing`.

mod check;
mod preview;

use crate::state::ApiState;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(super) use check::{deep, routing};

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default().routes(routes!(preview::preview))
}
