//! The service.

use crate::attempts::Attempts;
use crate::error::AccessError;
use crate::known::Known;
use crate::password;
use crate::token::Tokens;
use secrecy::SecretBox;
use std::sync::Arc;
use steward_core::TenantId;
use steward_core::ports::{Clock, Ids, LoginError, LoginSessions, Settings, StoreError, Users, VirtualKeys};
use tokio::sync::{Mutex, Semaphore};

/// Passwords hashed at a time: each takes 19 MiB, and anybody may ask.
const HASHES_AT_ONCE: usize = 4;

/// What [`Access`] needs.
pub struct AccessDeps {
    /// Tenant.
    pub tenant: TenantId,
    /// Users.
    pub users: Arc<dyn Users>,
    /// Their logins.
    pub sessions: Arc<dyn LoginSessions>,
    /// Settings, for the one-time token's hash.
    pub settings: Arc<dyn Settings>,
    /// Virtual keys.
    pub keys: Arc<dyn VirtualKeys>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Ids.
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
    /// Failures by email.
    pub(crate) by_email: Attempts,
    /// Failures by client address.
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
        password::check(password)?;
        let failed = |error: String| AccessError::Hash(error);
        let _permit = self.hashes.acquire().await.map_err(|error| failed(error.to_string()))?;
        let password = password.to_owned();
        tokio::task::spawn_blocking(move || password::hash(&password))
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
        tokio::task::spawn_blocking(move || password::verify(&password, phc.as_deref()))
            .await
            .map_err(|error| failed(error.to_string()))
    }
}

/// A store that failed, while somebody logs in.
#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
pub(crate) fn unavailable(error: StoreError) -> LoginError {
    LoginError::Unavailable(error.to_string())
}
