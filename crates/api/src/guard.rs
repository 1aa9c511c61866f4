//! What every request passes before its handler, and every answer after it.

mod fallbacks;
mod hosts;
mod idempotency;
mod limits;

pub(crate) use fallbacks::{no_such_method, nothing_here, nothing_in_the_dialect, secure};
pub(crate) use hosts::{check_host, check_origin, serves};
pub(crate) use idempotency::{KeptAs, idempotency_key, oldest_key, once};
pub(crate) use limits::{MAX_BODY, MAX_UPLOAD, in_time, panic_layer};
