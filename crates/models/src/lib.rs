//! Models: the local model in a child process, the in-process embedder, and the clients of model
//! servers.

pub mod discovery;
pub mod embed;
pub mod local;
pub mod openai;
pub mod registry;
pub mod telemetry;
