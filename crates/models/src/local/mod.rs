//! The local model: llama.cpp in a child process that speaks the OpenAI dialect on a Unix socket.
//!
//! A child process because a crash, a leak or an endless evaluation inside native code must not
//! take the runs of the parent with it, and because stopping it gives all its memory back.

mod error;
mod fit;
mod gguf;
mod options;
mod serve;
mod supervisor;

#[cfg(feature = "local-model")]
mod infer;
#[cfg(feature = "local-model")]
mod server;

pub use error::LocalModelError;
pub use fit::{ModelFit, Verdict, fit, fit_with};
pub use gguf::GgufHeader;
pub use options::{Handshake, ServeOptions, ServeTuning};
pub use serve::{available, serve, serve_supervised};
pub use supervisor::{ChildCommand, Endpoint, Phase, Supervisor, SupervisorOptions};
