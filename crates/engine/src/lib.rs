//! Runs: started, driven, stopped, resumed. Knows ports only; never an adapter.

mod ask;
mod config;
mod deps;
mod dialect;
mod error;
mod finish;
pub mod intent;
mod journal;
mod model_call;
mod planning;
mod runner;
mod service;
mod start;
mod tool_call;
mod undo;
mod watch;

pub use config::EngineConfig;
pub use deps::{Deps, Storage};
pub use error::EngineError;
pub use service::RunService;
pub use start::StartRun;
