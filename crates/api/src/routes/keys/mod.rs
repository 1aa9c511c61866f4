//! `/api/keys`: virtual keys.

mod check;
mod one;
mod several;

use crate::state::ApiState;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default().routes(routes!(several::list, several::create)).routes(routes!(one::change, one::revoke))
}
