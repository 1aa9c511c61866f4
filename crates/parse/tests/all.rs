//! Replies of models as they were seen, and properties of reading them.
#![allow(clippy::expect_used, clippy::too_many_lines, clippy::unwrap_used, reason = "tests")]

mod aliases;
mod cases;
mod deep;
mod fit;
mod plans;
mod properties;
mod replies;
mod support;
