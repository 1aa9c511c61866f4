//! What every request passes before its handler, and every answer after it.

mod headers;
mod hosts;
mod idempotency;
mod limits;
mod missing;
mod origin;
mod panic;

pub(crate) use headers::secure;
pub(crate) use hosts::{check_host, serves};
pub(crate) use idempotency::{KeptAs, idempotency_key, oldest_key, once};
pub(crate) use limits::{MAX_BODY, MAX_UPLOAD, in_time};
pub(crate) use missing::{no_such_method, nothing_here, nothing_in_the_dialect};
pub(crate) use origin::check_origin;
pub(crate) use panic::layer as panic_layer;
