//! HTTP: the only room with HTTP types.

mod assets;
mod auth;
mod chat;
mod chat_stream;
mod delta_projector;
mod extract;
mod gateway;
mod guard;
mod health;
mod idempotent_start;
mod in_process;
mod main_runtime;
mod mcp;
mod models;
mod openai;
mod openapi;
mod problem;
mod published;
mod responses;
mod router;
mod routes;
mod serve;
mod state;
#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]
mod testing;
mod unsupported_fields;
mod worker_threads;

pub use in_process::InProcessClient;
pub use openapi::document;
pub use router::router;
pub use serve::{Listening, serve};
pub use state::{ApiState, Hosts};
pub use worker_threads::WorkerThreads;

use steward_app::dto;
