//! The MCP client against servers of the official Python SDK.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::similar_names,
    clippy::needless_pass_by_value,
    clippy::items_after_statements,
    clippy::await_holding_lock,
    clippy::unnecessary_to_owned,
    reason = "tests"
)]

mod http;
mod node;
mod oauth;
mod odd;
mod ports;
mod stdio;
mod world;
