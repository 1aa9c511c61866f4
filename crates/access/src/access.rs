//! The service.

use crate::attempts::Attempts;
use crate::error::AccessError;
use crate::first::FirstStart;
use crate::password;
use crate::token::{LIFETIME_S, Tokens};
use async_trait::async_trait;
use rand::Rng;
use secrecy::SecretBox;
use std::sync::Arc;
use steward_core::hash::sha256;
use steward_core::ports::{
    Authenticator, Clock, Ids, LoginError, Principal, Role, Settings, User, Users,
};
use steward_core::{TenantId, UserId};

/// Setting that holds the hash of the one-time token.
const SETUP_TOKEN: &str = "auth.setup_token_hash";
/// Prefix by which people and scanners recognise a key.
const KEY_PREFIX: &str = "sk-steward-";

/// What [`Access`] needs.
pub struct AccessDeps {
    /// Tenant.
    pub tenant: TenantId,
    /// Users.
    pub users: Arc<dyn Users>,
    /// Settings, for the one-time token's hash.
    pub settings: Arc<dyn Settings>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Ids.
    pub ids: Arc<dyn Ids>,
    /// At least 32 random bytes, the same at every start.
    pub signing_key: SecretBox<Vec<u8>>,
}

/// Logins, tokens, keys.
pub struct Access {
    tenant: TenantId,
    users: Arc<dyn Users>,
    settings: Arc<dyn Settings>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
    tokens: Tokens,
    attempts: Attempts,
}

/// `bytes` random bytes as hexadecimal.
fn random_hex(bytes: usize) -> String {
    let mut buffer = vec![0u8; bytes];
    rand::rng().fill_bytes(&mut buffer);
    hex::encode(buffer)
}

impl Access {
    /// A service over these parts.
    pub fn new(deps: AccessDeps) -> Self {
        Self {
            tenant: deps.tenant,
            users: deps.users,
            settings: deps.settings,
            clock: deps.clock,
            ids: deps.ids,
            tokens: Tokens::new(deps.signing_key),
            attempts: Attempts::default(),
        }
    }

    /// To be called at each start: makes the administrator of the environment, or a fresh one-time
    /// token while there is no administrator.
    pub async fn first_start(
        &self,
        admin: Option<(&str, &str)>,
    ) -> Result<FirstStart, AccessError> {
        if self.has_admin().await? {
            return Ok(FirstStart::Ready);
        }
        if let Some((email, password)) = admin {
            self.make_user(email, password, Role::Admin).await?;
            return Ok(FirstStart::Made {
                email: email.to_lowercase(),
            });
        }
        let token = random_hex(24);
        let hash = serde_json::Value::String(sha256(token.as_bytes()));
        self.settings
            .set_setting(self.tenant, SETUP_TOKEN, &hash)
            .await?;
        Ok(FirstStart::Token(token))
    }

    /// Makes the first administrator; the token is used up by it.
    pub async fn set_up(
        &self,
        token: &str,
        email: &str,
        password: &str,
    ) -> Result<(), AccessError> {
        let kept = self.settings.setting(self.tenant, SETUP_TOKEN).await?;
        let kept = kept
            .as_ref()
            .and_then(serde_json::Value::as_str)
            .unwrap_or_default();
        if kept.is_empty() || kept != sha256(token.as_bytes()) || self.has_admin().await? {
            return Err(AccessError::SetupToken);
        }
        self.make_user(email, password, Role::Admin).await?;
        self.settings
            .set_setting(self.tenant, SETUP_TOKEN, &serde_json::Value::Null)
            .await?;
        Ok(())
    }

    /// A new API key for the user of `email`; the one before it ends. Shown once, kept as a hash.
    pub async fn new_api_key(&self, email: &str) -> Result<String, AccessError> {
        let Some(mut user) = self
            .users
            .user_by_email(self.tenant, &email.to_lowercase())
            .await?
        else {
            return Err(AccessError::Invalid(format!("there is no user {email}")));
        };
        let key = format!("{KEY_PREFIX}{}", random_hex(24));
        user.api_key_hash = Some(sha256(key.as_bytes()));
        self.users.save_user(self.tenant, &user).await?;
        Ok(key)
    }

    /// A user that only programs on this machine use; made if it isn't there. Has no password.
    pub async fn service_user(&self, email: &str, name: &str) -> Result<(), AccessError> {
        if self
            .users
            .user_by_email(self.tenant, email)
            .await?
            .is_none()
        {
            self.save(email, name, Role::Operator, None).await?;
        }
        Ok(())
    }

    async fn has_admin(&self) -> Result<bool, AccessError> {
        let marker = self.settings.setting(self.tenant, "auth.has_admin").await?;
        Ok(marker == Some(serde_json::Value::Bool(true)))
    }

    async fn make_user(&self, email: &str, password: &str, role: Role) -> Result<(), AccessError> {
        let email = email.trim().to_lowercase();
        let plausible = email.split_once('@').is_some_and(|(name, host)| {
            !name.is_empty() && !host.is_empty() && !email.contains(char::is_whitespace)
        });
        if !plausible || email.len() > 254 {
            return Err(AccessError::Invalid(format!(
                "`{email}` is not an email address"
            )));
        }
        let password = password.to_owned();
        let hash = tokio::task::spawn_blocking(move || password::hash(&password))
            .await
            .map_err(|error| AccessError::Hash(error.to_string()))??;
        self.save(
            &email,
            email.split('@').next().unwrap_or(&email),
            role,
            Some(hash),
        )
        .await?;
        if role == Role::Admin {
            let yes = serde_json::Value::Bool(true);
            self.settings
                .set_setting(self.tenant, "auth.has_admin", &yes)
                .await?;
        }
        Ok(())
    }

    async fn save(
        &self,
        email: &str,
        name: &str,
        role: Role,
        password_hash: Option<String>,
    ) -> Result<(), AccessError> {
        let user = User {
            id: UserId(self.ids.next()),
            email: email.to_owned(),
            name: name.to_owned(),
            role: role.as_str().to_owned(),
            password_hash,
            api_key_hash: None,
            created_at: self.clock.now(),
        };
        Ok(self.users.save_user(self.tenant, &user).await?)
    }

    fn principal(&self, user: &User) -> Result<Principal, LoginError> {
        let role = match user.role.as_str() {
            "admin" => Role::Admin,
            "operator" => Role::Operator,
            "developer" => Role::Developer,
            "viewer" => Role::Viewer,
            other => return Err(LoginError::Unavailable(format!("unknown role `{other}`"))),
        };
        Ok(Principal {
            tenant: self.tenant,
            user: user.id,
            name: user.name.clone(),
            role,
        })
    }
}

#[async_trait]
impl Authenticator for Access {
    async fn login(&self, email: &str, password: &str) -> Result<(String, u64), LoginError> {
        let email = email.trim().to_lowercase();
        let now = self.clock.now();
        if let Some(seconds) = self.attempts.closed(&email, now) {
            return Err(LoginError::TooMany { seconds });
        }
        let unavailable =
            |error: steward_core::ports::StoreError| LoginError::Unavailable(error.to_string());
        let user = self
            .users
            .user_by_email(self.tenant, &email)
            .await
            .map_err(unavailable)?;
        let phc = user.as_ref().and_then(|user| user.password_hash.clone());
        let password = password.to_owned();
        let fits = tokio::task::spawn_blocking(move || password::verify(&password, phc.as_deref()))
            .await
            .map_err(|error| LoginError::Unavailable(error.to_string()))?;
        match user {
            Some(user) if fits => {
                self.attempts.succeeded(&email);
                Ok((self.tokens.issue(user.id, now)?, LIFETIME_S))
            }
            _ => {
                self.attempts.failed(&email, now);
                tracing::info!("login refused");
                Err(LoginError::Wrong)
            }
        }
    }

    async fn verify(&self, bearer: &str) -> Result<Principal, LoginError> {
        let unavailable =
            |error: steward_core::ports::StoreError| LoginError::Unavailable(error.to_string());
        let user = if bearer.starts_with(KEY_PREFIX) {
            let hash = sha256(bearer.as_bytes());
            self.users
                .user_by_api_key(self.tenant, &hash)
                .await
                .map_err(unavailable)?
        } else {
            let id = self.tokens.check(bearer, self.clock.now())?;
            self.users
                .user(self.tenant, id)
                .await
                .map_err(unavailable)?
        };
        self.principal(&user.ok_or(LoginError::Token)?)
    }
}
