//! Whom a bearer token belongs to.

use crate::access::{Access, unavailable};
use crate::error::AccessError;
use crate::keys::PREFIX;
use crate::session::LogIn;
use crate::token::LIFETIME_S;
use crate::virtual_keys::VIRTUAL;
use async_trait::async_trait;
use steward_core::UserId;
use steward_core::hash::sha256;
use steward_core::ports::{Authenticator, LoginError, Principal, Role, User};
use uuid::Uuid;

/// A user as others may see them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// Their id.
    pub id: UserId,
    /// Lower case.
    pub email: String,
    /// To show.
    pub name: String,
    /// What they may do.
    pub role: Role,
}

/// A caller that has proved who they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Who.
    pub principal: Principal,
    /// Their email.
    pub email: String,
    /// The login it came by; `None`: an API key.
    pub session: Option<Uuid>,
}

impl Identity {
    /// The user.
    pub fn account(&self) -> Account {
        Account {
            id: self.principal.user,
            email: self.email.clone(),
            name: self.principal.name.clone(),
            role: self.principal.role,
        }
    }
}

impl Access {
    /// Whom a bearer token (access token, API key or virtual key) belongs to. An access token is good as long as its
    /// session is: that is looked up each time (two reads by index), so that a logout counts at once, on
    /// every node.
    pub async fn identify(&self, bearer: &str) -> Result<Identity, LoginError> {
        let now = self.clock.now();
        if bearer.starts_with(PREFIX) {
            let hash = sha256(bearer.as_bytes());
            // Before the look: what changes meanwhile makes it void.
            let identities = self.users.identities();
            if let Some(known) = self.known.find(&hash, identities, now) {
                return Ok(known);
            }
            let found = if bearer.starts_with(VIRTUAL) {
                self.by_virtual_key(&hash, now).await?
            } else {
                let user = self.users.user_by_api_key(self.tenant, &hash).await;
                self.identity(user.map_err(unavailable)?, None)?
            };
            self.known.keep(hash, identities, &found);
            return Ok(found);
        }
        let claims = self.tokens.check(bearer, now)?;
        let alive = self
            .sessions
            .sessions(self.tenant, claims.sub, now)
            .await
            .map_err(unavailable)?
            .iter()
            .any(|session| session.id == claims.sid);
        if !alive {
            return Err(LoginError::Token);
        }
        let user = self.users.user(self.tenant, claims.sub).await.map_err(unavailable)?;
        self.identity(user, Some(claims.sid))
    }

    /// The email of a user, if there is one of this id.
    pub async fn email(&self, user: UserId) -> Result<Option<String>, AccessError> {
        let user = self.users.user(self.tenant, user).await?;
        Ok(user.map(|user| user.email))
    }

    fn identity(&self, user: Option<User>, session: Option<Uuid>) -> Result<Identity, LoginError> {
        let account = account(&user.ok_or(LoginError::Token)?)?;
        Ok(Identity {
            principal: Principal {
                tenant: self.tenant,
                user: account.id,
                name: account.name,
                role: account.role,
                key: None,
            },
            email: account.email,
            session,
        })
    }
}

pub(crate) fn account(user: &User) -> Result<Account, LoginError> {
    let role = match user.role.as_str() {
        "admin" => Role::Admin,
        "operator" => Role::Operator,
        "developer" => Role::Developer,
        "viewer" => Role::Viewer,
        other => return Err(LoginError::Unavailable(format!("unknown role `{other}`"))),
    };
    Ok(Account { id: user.id, email: user.email.clone(), name: user.name.clone(), role })
}

#[async_trait]
impl Authenticator for Access {
    async fn login(&self, email: &str, password: &str) -> Result<(String, u64), LoginError> {
        let login = LogIn { email, password, client: None, label: "a program" };
        let open = self.log_in(login).await?;
        Ok((open.access_token, LIFETIME_S))
    }

    async fn verify(&self, bearer: &str) -> Result<Principal, LoginError> {
        Ok(self.identify(bearer).await?.principal)
    }
}
