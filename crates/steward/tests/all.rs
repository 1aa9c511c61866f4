//! The real program: its commands, its API, its engine, and what becomes of runs when it is killed.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::needless_pass_by_value,
    clippy::panic,
    clippy::print_stderr,
    clippy::similar_names,
    clippy::single_match_else,
    clippy::unwrap_used,
    reason = "tests"
)]

mod api_routes;
mod bad_input;
mod cli;
mod client_mode;
mod clients;
mod commands;
mod common;
#[cfg(feature = "failpoints")]
mod crash;
mod developer_attempts;
mod dialect_mistakes;
mod documents;
mod domains;
mod engine;
mod events;
mod exam;
mod extraction;
mod leaving_clients;
mod live_settings;
mod mcp_server;
mod model_exam;
mod nats;
mod ocr;
mod openai_client;
mod repeated_requests;
mod schemathesis;
mod serve;
mod sign_on;
mod skills;
mod tls;
