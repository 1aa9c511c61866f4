//! `/api/agents` and `/api/tools`.

mod change;
mod check;
mod one;
mod patch;
mod prompt;
mod several;
mod skills;
mod tools;

use crate::state::ApiState;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) use one::live;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default()
        .routes(routes!(several::list, several::create))
        .routes(routes!(one::get, one::replace, one::remove))
        .routes(routes!(one::restore))
        .routes(routes!(patch::patch))
        .routes(routes!(skills::attach, skills::detach))
        .routes(routes!(skills::create_and_attach))
        .routes(routes!(prompt::preview))
        .routes(routes!(tools::list))
}
