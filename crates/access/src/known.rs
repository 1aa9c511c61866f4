//! Who came by which key of late, so that not every request asks the database. What is kept counts as long as the store
//! says that no user and no key has changed since; so a key that is revoked is refused at once.

use crate::identity::Identity;
use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};
use steward_core::Timestamp;

/// Most keys that are remembered; then all are forgotten.
const MOST: usize = 1_000;

/// Identities by the hash of their key.
#[derive(Debug, Default)]
pub(crate) struct Known(RwLock<HashMap<String, (u64, Identity)>>);

impl Known {
    /// Who has the key of this hash, if that was found out since `identities` became what it is.
    pub fn find(&self, hash: &str, identities: Option<u64>, now: Timestamp) -> Option<Identity> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let (since, identity) = known.get(hash)?;
        let ends = identity.principal.key.as_ref().and_then(|key| key.expires_at);
        (Some(*since) == identities && ends.is_none_or(|ends| ends > now)).then(|| identity.clone())
    }

    /// Keeps what was looked up after `identities` was read.
    pub fn keep(&self, hash: String, identities: Option<u64>, identity: &Identity) {
        let Some(since) = identities else { return };
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(hash, (since, identity.clone()));
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::{Known, MOST};
    use crate::identity::Identity;
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
        }
    }

    #[test]
    fn what_is_kept_ends_with_the_next_change() {
        let (known, ann) = (Known::default(), somebody(None));
        known.keep("a".to_owned(), Some(4), &ann);
        assert_eq!(known.find("a", Some(4), NOW), Some(ann));
        for since in [Some(5), Some(3), None] {
            assert_eq!(known.find("a", since, NOW), None);
        }
        assert_eq!(known.find("b", Some(4), NOW), None);
    }

    #[test]
    fn nothing_is_kept_where_others_may_change_it() {
        let known = Known::default();
        known.keep("a".to_owned(), None, &somebody(None));
        assert_eq!(known.find("a", None, NOW), None);
    }

    #[test]
    fn a_key_ends_at_its_time() {
        let known = Known::default();
        known.keep("a".to_owned(), Some(1), &somebody(Some(Timestamp(1_001))));
        assert!(known.find("a", Some(1), NOW).is_some());
        assert!(known.find("a", Some(1), Timestamp(1_001)).is_none());
    }

    #[test]
    fn a_bounded_number_is_kept() {
        let (known, ann) = (Known::default(), somebody(None));
        for number in 0..=MOST {
            known.keep(number.to_string(), Some(1), &ann);
        }
        assert!(known.0.read().unwrap().len() <= MOST);
    }
}
