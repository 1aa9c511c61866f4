//! `/api/skills`.

mod check;
mod hosts;
mod kinds;
mod one;
mod several;
mod test;
mod versions;

use crate::state::ApiState;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) use check::{checked, may_write, to_skill};

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default()
        .routes(routes!(several::list, several::create))
        .routes(routes!(kinds::kinds))
        .routes(routes!(hosts::list, hosts::trust))
        .routes(routes!(hosts::forget))
        .routes(routes!(one::get, one::replace, one::remove))
        .routes(routes!(versions::list))
        .routes(routes!(versions::rollback))
        .routes(routes!(test::test))
}
