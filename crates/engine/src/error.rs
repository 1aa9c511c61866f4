use steward_core::RunId;
use steward_core::model::ModelError;
use steward_core::ports::StoreError;

#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    #[error(transparent)]
    Store(StoreError),
    #[error("{0} was not found")]
    NotFound(String),
    /// A conversation has one run at a time.
    #[error("the conversation is busy: run {run} has not ended; wait for it, steer it or stop it")]
    Busy {
        /// The run at work or waiting there.
        run: RunId,
    },
    /// So that one user doesn't fill the queue.
    #[error("{waiting} of your runs wait already: the limit is reached")]
    TooManyWaiting {
        /// Of this user.
        waiting: u64,
        /// Seconds after which to try again.
        wait_s: u64,
    },
    #[error("{0}")]
    AlreadyDecided(String),
    #[error(transparent)]
    Model(#[from] ModelError),
    /// What the agent can call can't be told.
    #[error("{0}")]
    Tools(String),
    #[error("{0}")]
    Invalid(String),
}

impl From<StoreError> for EngineError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NotFound(what) => Self::NotFound(what),
            StoreError::Busy { run } => Self::Busy { run },
            other => Self::Store(other),
        }
    }
}
