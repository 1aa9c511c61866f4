//! What can be done under `/api` and `/v1/responses`, through the real program.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::needless_pass_by_value,
    clippy::similar_names,
    reason = "tests"
)]

mod agents;
mod approvals;
mod chat;
#[path = "../common/mod.rs"]
mod common;
mod connections;
mod dialect;
mod event_stream;
mod exams;
mod files;
mod house;
mod mcp;
mod people;
mod responses;
mod runs;
mod skills;
mod spending;
mod trusted;
