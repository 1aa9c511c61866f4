//! Models: clients of model servers and the router over them, the exam, the local model in a child process, the
//! embedder.

pub mod discovery;
pub mod embed;
pub mod exam;
pub mod local;
mod local_servers;
mod native;
pub mod openai;
pub mod price;
pub mod recognise;
pub mod router;
