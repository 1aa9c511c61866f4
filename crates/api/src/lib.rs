//! HTTP: the only room with HTTP types.

mod auth;
mod chat;
mod error;
mod health;
mod login;
mod models;
mod openai;
mod router;
mod state;
mod stream;

pub use health::{Health, Probe};
pub use router::{Listening, router, serve};
pub use state::ApiState;
