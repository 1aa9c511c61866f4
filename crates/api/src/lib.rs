//! HTTP: the only room with HTTP types.

mod agent_fields;
mod assets;
mod auth;
mod begin;
mod chat;
mod dto;
mod extract;
mod gateway;
mod guard;
mod health;
mod home;
mod in_process;
mod lanes;
mod mcp;
mod models;
mod openai;
mod openapi;
mod pieces;
mod problem;
mod responses;
mod router;
mod routes;
mod serve;
mod state;
mod stream;
#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]
mod testing;

pub use gateway::Ledger;
pub use health::{Health, Probe};
pub use in_process::InProcessClient;
pub use lanes::Lanes;
pub use openapi::document;
pub use router::router;
pub use serve::{Listening, serve};
pub use state::{AboutFacts, ApiState, Hosts};
