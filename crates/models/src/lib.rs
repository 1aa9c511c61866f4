//! Models: clients of model servers, the router over them, the exam, the local model's child process, the embedder.

pub mod discovery;
pub mod embed;
pub mod exam;
pub mod local;
pub mod memory;
mod native;
pub mod openai;
pub mod price;
pub mod recognise;
pub mod router;
mod turns;
