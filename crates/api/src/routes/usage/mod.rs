//! `/api/usage`: what calls of models took.

mod labels;
mod report;

use crate::state::ApiState;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(super) use labels::Labels;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default().routes(routes!(report::report))
}
