//! Runs: started, driven, stopped, resumed. Knows ports only; never an adapter.

mod ask;
mod config;
mod deps;
mod dialect;
mod error;
mod finish;
mod fork;
pub mod intent;
mod journal;
mod log;
mod model_call;
mod planning;
mod preview;
mod raw;
mod replay;
mod runner;
mod service;
mod start;
mod tool_call;
mod undo;
mod watch;

pub use config::EngineConfig;
pub use deps::{Deps, Storage};
pub use error::EngineError;
pub use fork::ForkRun;
pub use preview::{PromptPreview, Section};
pub use replay::ReplayReport;
pub use service::RunService;
pub use start::StartRun;
pub use steward_core::run::{Difference, ForkPoint};
pub use undo::Undone;
