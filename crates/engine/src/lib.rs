//! Runs: started, driven, stopped, resumed, through ports only. Layers: `service`, `readers`, `run`, `prompting`.

mod deps;
mod error;
mod prompting;
mod readers;
mod run;
mod service;

pub use deps::{Deps, EngineConfig, PriceOf, Storage};
pub use error::EngineError;
pub use readers::replay::ReplayReport;
pub use service::RunService;
pub use service::fork::ForkRun;
pub use service::preview::{PreviewFor, RoutePreview};
pub use service::request::StartRun;
pub use service::undo::Undone;
pub use steward_core::run::{Difference, ForkPoint};
