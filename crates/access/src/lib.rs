//! Who is asking: passwords, sessions, tokens, API keys, the first administrator. What they may use:
//! the vault.

mod identity;
mod keys;
mod secrets;
mod sessions;
mod users;
mod vault;

pub use identity::{Account, Identity};
pub use keys::NewKey;
pub use sessions::{LogIn, OpenSession, REFRESH_LIFETIME};
pub use users::FirstStart;
pub use vault::{FileKeys, FixedKeys, KeySource, PassphraseKeys, SealedVault, VaultDeps, VaultKey};

use std::sync::Arc;

use secrecy::SecretBox;
use steward_core::TenantId;
use steward_core::ports::{Clock, Ids, LoginError, LoginSessions, Settings, StoreError, Users, VirtualKeys};
use tokio::sync::{Mutex, Semaphore};

use identity::Known;
use secrets::Tokens;
use sessions::Attempts;

// @doc access.rs: The service.
/// Passwords hashed at a time: each takes 19 MiB, and anybody may ask.
const HASHES_AT_ONCE: usize = 4;

/// What [`Access`] needs.
pub struct AccessDeps {
    pub tenant: TenantId,
    pub users: Arc<dyn Users>,
    pub sessions: Arc<dyn LoginSessions>,
    /// Settings, for the one-time token's hash.
    pub settings: Arc<dyn Settings>,
    pub keys: Arc<dyn VirtualKeys>,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn Ids>,
    /// At least 32 random bytes, the same at every start.
    pub signing_key: SecretBox<Vec<u8>>,
}

/// Logins, tokens, keys.
pub struct Access {
    pub(crate) tenant: TenantId,
    pub(crate) users: Arc<dyn Users>,
    pub(crate) sessions: Arc<dyn LoginSessions>,
    pub(crate) settings: Arc<dyn Settings>,
    pub(crate) keys: Arc<dyn VirtualKeys>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn Ids>,
    pub(crate) tokens: Tokens,
    pub(crate) by_email: Attempts,
    pub(crate) by_client: Attempts,
    /// Held while a user is read, changed and saved.
    pub(crate) changes: Mutex<()>,
    /// Who came by which key of late.
    pub(crate) known: Known,
    hashes: Semaphore,
}

impl Access {
    /// A service over these parts.
    pub fn new(deps: AccessDeps) -> Self {
        Self {
            tenant: deps.tenant,
            users: deps.users,
            sessions: deps.sessions,
            settings: deps.settings,
            keys: deps.keys,
            clock: deps.clock,
            ids: deps.ids,
            tokens: Tokens::new(deps.signing_key),
            by_email: Attempts::new(5),
            by_client: Attempts::new(30),
            changes: Mutex::new(()),
            known: Known::default(),
            hashes: Semaphore::new(HASHES_AT_ONCE),
        }
    }

    /// The PHC string of a new password.
    pub(crate) async fn hash(&self, password: &str) -> Result<String, AccessError> {
        secrets::check(password)?;
        let failed = |error: String| AccessError::Hash(error);
        let _permit = self.hashes.acquire().await.map_err(|error| failed(error.to_string()))?;
        let password = password.to_owned();
        tokio::task::spawn_blocking(move || secrets::hash(&password))
            .await
            .map_err(|error| failed(error.to_string()))?
    }

    /// Whether `password` has this PHC string. `closed` is asked once it is our turn, so that attempts
    /// made side by side count like attempts made one after the other.
    pub(crate) async fn fits(
        &self,
        password: &str,
        phc: Option<String>,
        closed: impl Fn() -> Result<(), LoginError>,
    ) -> Result<bool, LoginError> {
        let failed = |error: String| LoginError::Unavailable(error);
        closed()?;
        let _permit = self.hashes.acquire().await.map_err(|error| failed(error.to_string()))?;
        closed()?;
        let password = password.to_owned();
        tokio::task::spawn_blocking(move || secrets::verify(&password, phc.as_deref()))
            .await
            .map_err(|error| failed(error.to_string()))
    }
}

/// A store that failed, while somebody logs in.
#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
pub(crate) fn unavailable(error: StoreError) -> LoginError {
    LoginError::Unavailable(error.to_string())
}

// @doc error.rs: What can go wrong while identities are made or changed.
/// Why users could not be made or kept.
#[derive(Debug, thiserror::Error)]
pub enum AccessError {
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
    #[error(transparent)]
    Login(#[from] LoginError),
    #[error("cannot hash a password: {0}")]
    Hash(String),
}
