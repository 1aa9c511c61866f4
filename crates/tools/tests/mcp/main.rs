//! The MCP client against servers of the official Python SDK.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod http;
mod oauth;
mod ports;
mod stdio;
mod world;
