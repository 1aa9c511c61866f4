//! Access tokens: JWT, HS256, short-lived, bound to this installation's key.

use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation, decode, encode};
use secrecy::{ExposeSecret, SecretBox};
use serde::{Deserialize, Serialize};
use steward_core::ports::LoginError;
use steward_core::{Timestamp, UserId};
use uuid::Uuid;

/// Seconds that a token is good for.
pub(crate) const LIFETIME_S: u64 = 900;
const ISSUER: &str = "steward";

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Claims {
    iss: String,
    /// The user.
    pub sub: UserId,
    /// The session; the token is good as long as it is.
    pub sid: Uuid,
    iat: u64,
    exp: u64,
}

/// Signs and checks.
pub(crate) struct Tokens {
    key: SecretBox<Vec<u8>>,
}

impl Tokens {
    pub fn new(key: SecretBox<Vec<u8>>) -> Self {
        Self { key }
    }

    pub fn issue(&self, user: UserId, session: Uuid, now: Timestamp) -> Result<String, LoginError> {
        let iat = u64::try_from(now.0 / 1000).unwrap_or(0);
        let claims = Claims { iss: ISSUER.to_owned(), sub: user, sid: session, iat, exp: iat + LIFETIME_S };
        let key = EncodingKey::from_secret(self.key.expose_secret());
        encode(&Header::new(Algorithm::HS256), &claims, &key)
            .map_err(|error| LoginError::Unavailable(error.to_string()))
    }

    /// Time comes from the caller, so the library's own clock check is off.
    pub fn check(&self, token: &str, now: Timestamp) -> Result<Claims, LoginError> {
        let mut rules = Validation::new(Algorithm::HS256);
        rules.validate_exp = false;
        rules.set_issuer(&[ISSUER]);
        let key = DecodingKey::from_secret(self.key.expose_secret());
        let claims = decode::<Claims>(token, &key, &rules).map_err(|_| LoginError::Token)?.claims;
        let seconds = u64::try_from(now.0 / 1000).unwrap_or(0);
        if seconds >= claims.exp {
            return Err(LoginError::Token);
        }
        Ok(claims)
    }
}

#[cfg(test)]
mod tests {
    use super::{LIFETIME_S, Tokens};
    use secrecy::SecretBox;
    use steward_core::{Timestamp, UserId};

    #[test]
    fn ends_and_can_not_be_forged() {
        let one = Tokens::new(SecretBox::new(Box::new(vec![1; 32])));
        let other = Tokens::new(SecretBox::new(Box::new(vec![2; 32])));
        let user = UserId(uuid::Uuid::from_u128(7));
        let now = Timestamp(1_000_000_000_000);
        let token = one.issue(user, uuid::Uuid::from_u128(8), now).expect("token");
        let claims = one.check(&token, now).expect("valid");
        assert_eq!((claims.sub, claims.sid.as_u128()), (user, 8));
        assert!(other.check(&token, now).is_err());
        let later = Timestamp(now.0 + i64::try_from(LIFETIME_S * 1000).expect("small"));
        assert!(one.check(&token, later).is_err());
        assert!(one.check("a.b.c", now).is_err());
    }
}
