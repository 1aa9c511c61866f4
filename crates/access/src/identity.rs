use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, RwLock};

use steward_core::hash::sha256;
use steward_core::locks::{read, write};
use steward_core::permission::Permissions;
use steward_core::ports::{LoginError, Principal, Role, StoreResult, User, UserState, VirtualKey};
use steward_core::{TenantId, Timestamp, UserId};
use uuid::Uuid;

use super::{Access, AccessError, unavailable};

/// By this prefix people and scanners recognise a key.
pub(crate) const PREFIX: &str = "sk-steward-";
/// By this prefix virtual keys are told from API keys of users.
pub(crate) const VIRTUAL: &str = "sk-steward-v-";
/// By this prefix tokens of providers are told from keys of users.
pub(crate) const SCIM: &str = "sk-steward-scim-";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    pub tenant: TenantId,
    pub id: UserId,
    /// In lower case.
    pub email: String,
    pub name: String,
    pub role: Role,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    pub principal: Principal,
    pub email: String,
    /// The login session; `None`: the caller came with an API key.
    pub session: Option<Uuid>,
    pub permissions: Arc<Permissions>,
}

impl Identity {
    /// Whether nothing was taken since it was `earlier`, and the role is the same.
    fn keeps_rights_of(&self, earlier: &Self) -> bool {
        let (now, then) = (&self.principal, &earlier.principal);
        (now.user, now.role, &now.key) == (then.user, then.role, &then.key)
            && self.permissions.keeps(&earlier.permissions)
    }

    pub fn account(&self) -> Account {
        Account {
            tenant: self.principal.tenant,
            id: self.principal.user,
            email: self.email.clone(),
            name: self.principal.name.clone(),
            role: self.principal.role,
        }
    }
}

impl Access {
    /// A session is looked up each time (two reads by index), so that a logout counts at once, on every node.
    pub async fn identify(&self, bearer: &str) -> Result<Identity, LoginError> {
        let now = self.clock.now();
        if bearer.starts_with(SCIM) {
            return Err(LoginError::ScimToken);
        }
        if bearer.starts_with(PREFIX) {
            let hash = sha256(bearer.as_bytes());
            // Read first, so that a change made meanwhile makes the entry void.
            let identities = self.users.identities();
            if let Some(known) = self.identity_cache.find(&hash, identities)
                && is_in_force(&known, now)
            {
                return Ok(known);
            }
            let found = if bearer.starts_with(VIRTUAL) {
                self.by_virtual_key(&hash, now).await?
            } else {
                let user = self.users.user_by_api_key(self.tenant, &hash).await;
                self.identity(user.map_err(unavailable)?, None, None).await?
            };
            self.identity_cache.keep(hash, identities, &found);
            return Ok(found);
        }
        let claims = match self.tokens.check(bearer, now) {
            Ok(claims) => claims,
            Err(error) => return self.program(bearer, now).await?.ok_or(error),
        };
        self.of_session(claims.sub, claims.sid).await
    }

    /// A user as whom something works that they set up before, with the rights that they have now. Fails with
    /// [`LoginError::Token`] if they are gone or disabled.
    pub async fn identify_owner(&self, user: UserId) -> Result<Identity, LoginError> {
        let user = self.users.user(self.tenant, user).await.map_err(unavailable)?;
        self.identity(user, None, None).await
    }

    async fn of_session(&self, user: UserId, session: Uuid) -> Result<Identity, LoginError> {
        let sessions = self.sessions.sessions(self.tenant, user, self.clock.now()).await.map_err(unavailable)?;
        if sessions.iter().all(|one| one.id != session) {
            return Err(LoginError::Token);
        }
        let user = self.users.user(self.tenant, user).await.map_err(unavailable)?;
        self.identity(user, Some(session), None).await
    }

    /// A user as whom requests run that bring no key of their own. Fails with [`LoginError::Token`] if there is no such
    /// user, or they can't use the installation.
    pub async fn identify_user(&self, email: &str) -> Result<Identity, LoginError> {
        let user = self.users.user_by_email(self.tenant, email).await.map_err(unavailable)?;
        self.identity(user.filter(|user| user.state() == UserState::Active), None, None).await
    }

    /// Whether what `bearer` was found to be would still be let in, in the same role and with all that was granted then; that
    /// an access token has expired does not count. Who can't be looked up now is.
    pub async fn is_in_force(&self, bearer: &str, known: &Identity) -> bool {
        let now = match known.session {
            Some(session) => self.of_session(known.principal.user, session).await,
            None => self.identify(bearer).await,
        };
        match now {
            Ok(now) => now.keeps_rights_of(known),
            Err(error) => matches!(error, LoginError::Unavailable(_)),
        }
    }

    /// `None`: there is no such user.
    pub async fn email(&self, user: UserId) -> Result<Option<String>, AccessError> {
        let user = self.users.user(self.tenant, user).await?;
        Ok(user.map(|user| user.email))
    }

    /// Fails with [`LoginError::Token`] if there is no such user any more, or they are disabled.
    pub(crate) async fn identity(
        &self,
        user: Option<User>,
        session: Option<Uuid>,
        key: Option<VirtualKey>,
    ) -> Result<Identity, LoginError> {
        let user = user.filter(|user| !user.is_disabled()).ok_or(LoginError::Token)?;
        let permissions = self.permissions(&user).await.map_err(unavailable)?;
        Ok(Identity {
            permissions,
            principal: Principal {
                tenant: self.tenant,
                user: user.id,
                name: user.name,
                role: user.role,
                key: key.map(Box::new),
            },
            email: user.email,
            session,
        })
    }

    /// What somebody may do with single resources. Operators and administrators need no grants, so theirs are not read.
    async fn permissions(&self, user: &User) -> StoreResult<Arc<Permissions>> {
        if matches!(user.role, Role::Admin | Role::Operator) {
            return Ok(Arc::default());
        }
        let identities = self.users.identities();
        if let Some(known) = self.permission_cache.find(&user.id, identities) {
            return Ok(known);
        }
        let found = Arc::new(self.grants.permissions(self.tenant, user.id).await?);
        self.permission_cache.keep(user.id, identities, &found);
        Ok(found)
    }
}

/// A key that ends by itself is not a change that empties the cache.
fn is_in_force(identity: &Identity, now: Timestamp) -> bool {
    let ends = identity.principal.key.as_ref().and_then(|key| key.expires_at);
    ends.is_none_or(|ends| ends > now)
}

impl Account {
    pub(crate) fn of(tenant: TenantId, user: &User) -> Self {
        Self { tenant, id: user.id, email: user.email.clone(), name: user.name.clone(), role: user.role }
    }
}

/// Most cached entries; at that number a cache is emptied.
const MOST: usize = 1_000;

/// Spares database look-ups. An entry counts only while no user, key, group or grant has changed since: revoking is instant.
#[derive(Debug)]
pub(crate) struct LookupCache<K, V>(RwLock<HashMap<K, (u64, V)>>);

impl<K, V> Default for LookupCache<K, V> {
    fn default() -> Self {
        Self(RwLock::default())
    }
}

impl<K: Eq + Hash, V: Clone> LookupCache<K, V> {
    /// What was kept for `key`, if it was read while `identities` had its present value.
    pub fn find(&self, key: &K, identities: Option<u64>) -> Option<V> {
        let known = read(&self.0);
        let (since, value) = known.get(key)?;
        (Some(*since) == identities).then(|| value.clone())
    }

    pub fn clear(&self) {
        write(&self.0).clear();
    }

    /// Keeps what was read after `identities` was.
    pub fn keep(&self, key: K, identities: Option<u64>, value: &V) {
        let Some(since) = identities else { return };
        let mut known = write(&self.0);
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(key, (since, value.clone()));
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::Identity;
    use super::{LookupCache, MOST, is_in_force};
    use std::sync::Arc;
    use steward_core::ports::{Principal, Role, VirtualKey};
    use steward_core::{KeyId, TenantId, Timestamp, UserId};
    use uuid::Uuid;

    const NOW: Timestamp = Timestamp(1_000);

    fn somebody(expires_at: Option<Timestamp>) -> Identity {
        let user = UserId(Uuid::from_u128(7));
        let key = VirtualKey {
            id: KeyId(Uuid::from_u128(8)),
            name: "n".to_owned(),
            user,
            prefix: String::new(),
            connections: Vec::new(),
            agents: None,
            requests_per_minute: None,
            tokens_per_minute: None,
            created_at: Timestamp(0),
            expires_at,
            revoked_at: None,
        };
        Identity {
            principal: Principal {
                tenant: TenantId::DEFAULT,
                user,
                name: "ann".to_owned(),
                role: Role::Developer,
                key: Some(Box::new(key)),
            },
            email: "ann@example.org".to_owned(),
            session: None,
            permissions: Arc::default(),
        }
    }

    #[test]
    fn what_is_kept_ends_with_the_next_change() {
        let (known, ann) = (LookupCache::default(), somebody(None));
        known.keep("a", Some(4), &ann);
        assert_eq!(known.find(&"a", Some(4)), Some(ann));
        for since in [Some(5), Some(3), None] {
            assert_eq!(known.find(&"a", since), None);
        }
        assert_eq!(known.find(&"b", Some(4)), None);
    }

    #[test]
    fn nothing_is_kept_where_others_may_change_it() {
        let known = LookupCache::default();
        known.keep("a", None, &somebody(None));
        assert_eq!(known.find(&"a", None), None);
    }

    #[test]
    fn a_key_ends_at_its_time() {
        let ann = somebody(Some(Timestamp(1_001)));
        assert!(is_in_force(&ann, NOW));
        assert!(!is_in_force(&ann, Timestamp(1_001)));
        assert!(is_in_force(&somebody(None), NOW));
    }

    #[test]
    fn a_bounded_number_is_kept() {
        let known = LookupCache::default();
        for number in 0..=MOST {
            known.keep(number, Some(1), &number);
        }
        assert!(known.0.read().unwrap().len() <= MOST);
    }
}
