//! Who is asking: passwords, sessions, tokens, API keys and the first administrator. What they may use: the vault. What must not
//! be seen by all: personal data and secrets in texts.

mod aead;
mod attempts;
mod backup_seal;
mod browser_proof;
mod directory;
mod external;
pub mod governance;
mod groups;
mod identity;
mod invitations;
mod keys;
mod oidc;
mod programs;
mod providers;
mod saved;
mod scim;
mod second_factor;
mod secrets;
mod sessions;
mod tenants;
mod users;
mod vault;

pub use backup_seal::{BackupKey, SHORTEST_BACKUP_PASSPHRASE};
pub use identity::{Account, Identity};
pub use invitations::{AcceptInvitation, IssuedInvitation};
pub use keys::NewKey;
pub use oidc::{Arrival, Departure, SignOnError};
pub use saved::{SavedDirectory, SavedProvider, Tried};
pub use scim::ScimProfile;
pub use second_factor::{Enrolment, SecondFactorState, SecondStep};
pub use secrets::random_key;
pub use sessions::{LogIn, OpenSession};
pub use tenants::claimed_tenant;
pub use users::{FirstStart, LOCAL_USER};
pub use vault::{FileKeys, FixedKeys, KeySource, PassphraseKeys, SealedVault, VaultDeps, VaultKey, VaultKeyPlace};

use std::sync::Arc;

use secrecy::SecretBox;
use steward_core::permission::Permissions;
use steward_core::ports::{
    Clock, ExternalAccounts, Groups, Ids, LoginError, LoginSecrets, LoginSessions, ResourceGrants, ScimDirectory,
    SecondFactors, Settings, StoreError, UserChangeError, Users, VaultError, VirtualKeys,
};
use steward_core::{TenantId, UserId};
use tokio::sync::{Mutex, Semaphore};

use attempts::{AccountAttempts, LoginAttempts};
use identity::LookupCache;
use oidc::KnownProviders;
use secrets::Tokens;

/// How many passwords are hashed at a time: each takes 19 MiB, and anybody may ask.
const HASHES_AT_ONCE: usize = 4;

/// What the logins of all tenants share, so that more tenants are no more tries.
#[derive(Clone)]
pub struct LoginLimits {
    by_client: Arc<LoginAttempts>,
    hashes: Arc<Semaphore>,
}

impl Default for LoginLimits {
    fn default() -> Self {
        Self { by_client: Arc::new(LoginAttempts::new(30)), hashes: Arc::new(Semaphore::new(HASHES_AT_ONCE)) }
    }
}

pub struct AccessDeps {
    pub tenant: TenantId,
    pub users: Arc<dyn Users>,
    pub sessions: Arc<dyn LoginSessions>,
    pub groups: Arc<dyn Groups>,
    pub grants: Arc<dyn ResourceGrants>,
    /// For the hash of the one-time token.
    pub settings: Arc<dyn Settings>,
    pub external: Arc<dyn ExternalAccounts>,
    pub scim: Arc<dyn ScimDirectory>,
    pub second_factors: Arc<dyn SecondFactors>,
    /// What providers and directories know Steward by.
    pub login_secrets: Arc<dyn LoginSecrets>,
    pub keys: Arc<dyn VirtualKeys>,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn Ids>,
    pub limits: LoginLimits,
    /// At least 32 random bytes, the same at every start.
    pub signing_key: SecretBox<Vec<u8>>,
}

pub struct Access {
    tenant: TenantId,
    users: Arc<dyn Users>,
    sessions: Arc<dyn LoginSessions>,
    groups: Arc<dyn Groups>,
    grants: Arc<dyn ResourceGrants>,
    settings: Arc<dyn Settings>,
    external: Arc<dyn ExternalAccounts>,
    scim: Arc<dyn ScimDirectory>,
    second_factors: Arc<dyn SecondFactors>,
    login_secrets: Arc<dyn LoginSecrets>,
    keys: Arc<dyn VirtualKeys>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
    tokens: Tokens,
    oidc: KnownProviders,
    /// Held while what providers are known is changed.
    changing_providers: Mutex<()>,
    /// Held while a provider changes users and groups, since a change begins with how they are.
    writing_scim: Mutex<()>,
    attempts: AccountAttempts,
    attempts_by_client: Arc<LoginAttempts>,
    /// Held while the first administrator is made.
    setting_up: Mutex<()>,
    identity_cache: LookupCache<String, Identity>,
    permission_cache: LookupCache<UserId, Arc<Permissions>>,
    hashes: Arc<Semaphore>,
}

impl Access {
    pub fn new(deps: AccessDeps) -> Self {
        Self {
            tenant: deps.tenant,
            users: deps.users,
            sessions: deps.sessions,
            groups: deps.groups,
            grants: deps.grants,
            settings: deps.settings,
            external: deps.external,
            scim: deps.scim,
            second_factors: deps.second_factors,
            login_secrets: deps.login_secrets,
            keys: deps.keys,
            clock: deps.clock,
            ids: deps.ids,
            tokens: Tokens::new(deps.tenant, deps.signing_key),
            oidc: KnownProviders::default(),
            changing_providers: Mutex::new(()),
            writing_scim: Mutex::new(()),
            attempts: AccountAttempts::new(),
            attempts_by_client: deps.limits.by_client,
            setting_up: Mutex::new(()),
            identity_cache: LookupCache::default(),
            permission_cache: LookupCache::default(),
            hashes: deps.limits.hashes,
        }
    }

    /// Signs access tokens from now on; those that another key has signed open nothing, so their holders log in anew, or
    /// their programs renew them.
    pub fn change_signing_key(&self, key: SecretBox<Vec<u8>>) {
        self.tokens.change_key(key);
        self.identity_cache.clear();
    }

    /// Checks a new password and returns its PHC string.
    async fn hash(&self, password: &str) -> Result<String, AccessError> {
        secrets::check(password)?;
        let failed = |error: String| AccessError::Hash(error);
        let _permit = self.hashes.acquire().await.map_err(|error| failed(error.to_string()))?;
        let password = password.to_owned();
        tokio::task::spawn_blocking(move || secrets::hash(&password))
            .await
            .map_err(|error| failed(error.to_string()))?
    }

    /// `closed` is asked before and after the wait for a turn, so that parallel attempts count like successive ones.
    async fn verify_password(
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

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn unavailable(error: StoreError) -> LoginError {
    LoginError::Unavailable(error.to_string())
}

#[derive(Debug, thiserror::Error)]
pub enum AccessError {
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A field that can't be that, such as a password that is too short.
    #[error("{title}")]
    Invalid { field: &'static str, title: String },
    /// The one-time token is wrong or used up.
    #[error("the set-up token is not valid; the newest one was printed at the last start")]
    SetupToken,
    /// The token of an invitation is wrong, used up or expired, or its user is disabled.
    #[error("the invitation is not valid: it was used, has expired, or was replaced by a newer one")]
    Invitation,
    #[error("{0} is in use by another user")]
    EmailTaken(String),
    #[error("another group has the name {0}")]
    GroupTaken(String),
    #[error("the account was made in Steward, so its email stays as it is")]
    FixedEmail,
    #[error("the user is disabled")]
    Disabled,
    #[error("this is the last active administrator")]
    LastAdministrator,
    #[error("the current password is wrong")]
    CurrentPassword,
    #[error("there is no {0}")]
    Unknown(String),
    /// There is a second factor already, or none.
    #[error("{0}")]
    SecondFactor(&'static str),
    #[error(transparent)]
    Vault(#[from] VaultError),
    #[error(transparent)]
    Login(#[from] LoginError),
    #[error("cannot hash a password: {0}")]
    Hash(String),
}

impl AccessError {
    fn invalid(field: &'static str, title: impl Into<String>) -> Self {
        Self::Invalid { field, title: title.into() }
    }

    /// `problem`: the field at fault, and why.
    fn refuse(problem: Option<(&'static str, String)>) -> Result<(), Self> {
        problem.map_or(Ok(()), |(field, title)| Err(Self::Invalid { field, title }))
    }
}

impl From<UserChangeError> for AccessError {
    fn from(error: UserChangeError) -> Self {
        match error {
            UserChangeError::LastAdministrator => Self::LastAdministrator,
            UserChangeError::Store(error) => error.into(),
        }
    }
}
