//! HTTP: the only room with HTTP types.

mod assets;
mod auth;
mod extract;
mod gateway;
mod guard;
mod health;
mod in_process;
mod main_runtime;
mod mcp;
mod openai;
mod openapi;
mod problem;
mod published;
mod router;
mod routes;
mod serve;
mod state;
#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]
mod testing;
mod worker_threads;

pub use in_process::InProcessClient;
pub use openapi::document;
pub use router::router;
pub use serve::{Listening, serve};
pub use state::{ApiState, Hosts};
pub use worker_threads::WorkerThreads;

use steward_app::dto;
