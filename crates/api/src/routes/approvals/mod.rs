//! `/api/approvals`: the inbox.

mod alike;
mod check;
mod decide;
mod denied;
mod desk;
mod list;
mod one;

use crate::state::ApiState;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default().routes(routes!(list::list)).routes(routes!(one::get)).routes(routes!(decide::decide))
}
