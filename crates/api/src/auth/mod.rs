//! Who is asking, and `/api/auth`.

mod client;
mod cookie;
mod dto;
mod key;
mod login;
mod password;
mod person;
mod sessions;
mod set_up;

use crate::state::ApiState;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) use client::Client;
pub(crate) use person::{Caller, Person, identify};

/// The operations under `/api/auth`.
pub(crate) fn auth_routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default()
        .routes(routes!(login::login))
        .routes(routes!(login::refresh))
        .routes(routes!(login::logout))
        .routes(routes!(set_up::status))
        .routes(routes!(set_up::set_up))
        .routes(routes!(sessions::me))
        .routes(routes!(sessions::list))
        .routes(routes!(sessions::end))
        .routes(routes!(password::change))
        .routes(routes!(key::make, key::remove))
}
