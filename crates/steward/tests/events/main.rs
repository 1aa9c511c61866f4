//! The stream of a run's events: cut, resumed, crowded, and how fast it is.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "tests; the figures are printed"
)]

#[path = "../common/mod.rs"]
mod common;
mod crowd;
mod cut;
mod latency;
mod reader;
mod slow;
