//! The vault's errors as problems.

use crate::problem::Problem;
use steward_core::ports::VaultError;

impl From<VaultError> for Problem {
    fn from(error: VaultError) -> Self {
        let title = error.to_string();
        match error {
            VaultError::Unknown(what) => Self::not_found(format!("credential {what}")),
            VaultError::Invalid(_) => {
                Self::invalid("fields", title, "see GET /api/credentials/kinds for what each kind takes")
            }
            VaultError::Ambiguous(_) | VaultError::Missing(_) => {
                Self::conflict("credential", title, "name a credential in the skill or in the agent")
            }
            VaultError::OfConnection(_) => {
                Self::conflict("of_connection", title, "change the connection, or remove it, under Connections")
            }
            VaultError::Store(error) => error.into(),
            VaultError::Sealed(_) | VaultError::Key(_) => {
                tracing::error!(error = title, "the vault can't be opened");
                Self::unavailable(title)
            }
        }
    }
}
