//! Virtual keys at work: their limits a minute.

mod limiter;
mod runs;

pub(crate) use limiter::Limiter;
pub(crate) use runs::count_tokens;
