//! `/api/mcp/servers`: MCP servers whose tools agents may use.

mod login;
mod one;
mod page;
mod problem;
mod several;
mod tools;

use crate::state::ApiState;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default()
        .routes(routes!(several::list, several::create))
        .routes(routes!(one::get, one::replace, one::remove))
        .routes(routes!(login::begin))
        .routes(routes!(login::status))
        .routes(routes!(login::callback))
        .routes(routes!(tools::check))
        .routes(routes!(tools::accept))
        .routes(routes!(tools::attach))
}
