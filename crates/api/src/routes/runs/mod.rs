//! `/api/runs`.

mod act;
mod detail;
mod events;
mod fork;
mod keep;
mod list;
mod log;
mod read;
mod replay;
mod stream;
mod undo;

use crate::state::ApiState;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) use events::ALIVE;
pub(crate) use read::each_event;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default()
        .routes(routes!(list::list))
        .routes(routes!(detail::get))
        .routes(routes!(log::log))
        .routes(routes!(events::events))
        .routes(routes!(act::stop))
        .routes(routes!(act::steer))
        .routes(routes!(act::resume))
        .routes(routes!(fork::fork))
        .routes(routes!(replay::replay))
        .routes(routes!(undo::undo))
        .routes(routes!(keep::keep))
}
