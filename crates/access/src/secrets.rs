//! Password hashes (Argon2id with the library's defaults: 19 MiB, 2 passes, 1 lane), random secrets, JWTs (HS256).

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation, decode, encode};
use rand::Rng;
use secrecy::{ExposeSecret, SecretBox};
use serde::{Deserialize, Serialize};
use steward_core::ports::LoginError;
use steward_core::{Timestamp, UserId};
use subtle::ConstantTimeEq;
use uuid::Uuid;

use super::AccessError;

const MIN_LENGTH: usize = 10;
/// Bounds the time that hashing takes.
const MAX_LENGTH: usize = 1000;

pub(crate) fn check(password: &str) -> Result<(), AccessError> {
    let length = password.chars().count();
    if !(MIN_LENGTH..=MAX_LENGTH).contains(&length) {
        return Err(AccessError::invalid(
            "password",
            format!("the password has {length} characters; choose {MIN_LENGTH} to {MAX_LENGTH}"),
        ));
    }
    Ok(())
}

pub(crate) fn hash(password: &str) -> Result<String, AccessError> {
    Argon2::default()
        .hash_password(password.as_bytes())
        .map(|hash| hash.to_string())
        .map_err(|error| AccessError::Hash(error.to_string()))
}

/// Whether `password` has this PHC string. Without one it takes as long.
pub(crate) fn verify(password: &str, phc: Option<&str>) -> bool {
    /// The hash of a random password that nobody knows, so that unknown users take as much time as known ones.
    const NOBODY: &str =
        "$argon2id$v=19$m=19456,t=2,p=1$c3Rld2FyZC1ub2JvZHk$0kWmPCk6yhLqJ1V7l0jPzqk1S5o6a2T9b1m0zv0c9aE";
    let Ok(parsed) = PasswordHash::new(phc.unwrap_or(NOBODY)) else {
        return false;
    };
    let fits = Argon2::default().verify_password(password.as_bytes(), &parsed).is_ok();
    fits && phc.is_some()
}

fn random(bytes: usize) -> Vec<u8> {
    let mut buffer = vec![0u8; bytes];
    rand::rng().fill_bytes(&mut buffer);
    buffer
}

/// `bytes` random bytes in hexadecimal.
pub(crate) fn hexadecimal(bytes: usize) -> String {
    hex::encode(random(bytes))
}

/// 32 random bytes in base64url.
pub(crate) fn refresh_token() -> String {
    URL_SAFE_NO_PAD.encode(random(32))
}

/// Compares hashes in a time that does not depend on where they differ.
pub(crate) fn same(one: &str, other: &str) -> bool {
    one.as_bytes().ct_eq(other.as_bytes()).into()
}

/// How long an access token is good, seconds.
pub(crate) const LIFETIME_S: u64 = 900;
const ISSUER: &str = "steward";

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Claims {
    iss: String,
    pub sub: UserId,
    /// The token is good as long as this session.
    pub sid: Uuid,
    iat: u64,
    exp: u64,
}

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

    /// The time comes from the caller, so the library's own check of the expiry is off.
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
mod password_tests {
    use super::{check, hash, verify};

    #[test]
    fn hashes_and_verifies() {
        let phc = hash("correct horse battery").expect("hash");
        assert!(phc.starts_with("$argon2id$"));
        assert!(verify("correct horse battery", Some(&phc)));
        assert!(!verify("correct horse batterx", Some(&phc)));
        assert!(!verify("correct horse battery", None));
        assert!(!verify("x", Some("not a hash")));
        assert!(check("short").is_err());
        assert!(check("correct horse battery").is_ok());
        let nobody = argon2::password_hash::phc::PasswordHash::new(
            "$argon2id$v=19$m=19456,t=2,p=1$c3Rld2FyZC1ub2JvZHk$0kWmPCk6yhLqJ1V7l0jPzqk1S5o6a2T9b1m0zv0c9aE",
        );
        assert!(nobody.is_ok(), "the stand-in must cost a real verification");
    }
}

#[cfg(test)]
mod token_tests {
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
