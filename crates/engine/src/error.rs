//! What can go wrong outside a run.

use steward_core::model::ModelError;
use steward_core::ports::StoreError;

/// Why the engine refused. What goes wrong inside a run ends up in its log instead.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The store refused or failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// No model can be asked.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The request can't be.
    #[error("{0}")]
    Invalid(String),
}
