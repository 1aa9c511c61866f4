//! Errors as `application/problem+json` (RFC 9457) with a `hint`.

mod body;
mod from;
mod types;

pub(crate) use body::ProblemBody;
pub(crate) use types::Problem;
