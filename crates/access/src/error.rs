//! What can go wrong while identities are made or changed.

use steward_core::ports::{LoginError, StoreError};

/// Why users could not be made or kept.
#[derive(Debug, thiserror::Error)]
pub enum AccessError {
    /// The store refused.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A password that is too weak, an email that is none.
    #[error("{0}")]
    Invalid(String),
    /// The one-time token is wrong or used up.
    #[error("the set-up token is not valid; the newest one was printed at the last start")]
    SetupToken,
    /// The password of now is not that.
    #[error("the current password is wrong")]
    CurrentPassword,
    /// Logging in failed.
    #[error(transparent)]
    Login(#[from] LoginError),
    /// Hashing failed.
    #[error("cannot hash a password: {0}")]
    Hash(String),
}
