//! Models: the local model in a child process, the in-process embedder, and the clients of model
//! servers.

pub mod discovery;
pub mod embed;
pub mod exam;
mod gateway;
pub mod local;
mod native;
pub mod openai;
pub mod price;
pub mod recognise;
pub mod registry;
