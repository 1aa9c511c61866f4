//! `/api/connections`.

mod check;
mod exam;
mod health;
mod one;
mod recognise;
mod several;

use crate::state::ApiState;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default()
        .routes(routes!(several::list, several::create))
        .routes(routes!(one::replace, one::remove))
        .routes(routes!(one::make_default))
        .routes(routes!(one::test))
        .routes(routes!(exam::report, exam::examine))
        .routes(routes!(health::health))
        .routes(routes!(recognise::recognise))
}
