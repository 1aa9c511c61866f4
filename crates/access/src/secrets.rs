//! Password hashes (Argon2id with the library's defaults: 19 MiB, 2 passes, 1 lane), random secrets, JWTs (HS256).

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation, decode, encode};
use rand::Rng;
use secrecy::{ExposeSecret, SecretBox};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use steward_core::live::Live;
use steward_core::ports::LoginError;
use steward_core::{TenantId, Timestamp, UserId};
use subtle::ConstantTimeEq;
use uuid::Uuid;
use zeroize::Zeroizing;

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

pub(crate) fn random(bytes: usize) -> Vec<u8> {
    let mut buffer = vec![0u8; bytes];
    rand::rng().fill_bytes(&mut buffer);
    buffer
}

/// For a secret that two programs share.
pub fn random_key() -> [u8; 32] {
    let mut key = [0; 32];
    rand::rng().fill_bytes(&mut key);
    key
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

/// How far the clock may have gone back since a token was made, seconds.
const DRIFT_S: u64 = 900;
pub(crate) const ISSUER: &str = "steward";
/// What an access token is for; a token that this key signs for anything else opens nothing.
const AUDIENCE: &str = "steward-api";

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Claims {
    iss: String,
    aud: String,
    pub sub: UserId,
    tid: TenantId,
    /// The token is good as long as this session.
    pub sid: Uuid,
    iat: u64,
    exp: u64,
}

/// What the proof of a right password is for.
const CHALLENGE: &str = "steward-second-factor";

#[derive(Debug, Serialize, Deserialize)]
struct ChallengeClaims {
    iss: String,
    aud: String,
    sub: UserId,
    tid: TenantId,
    exp: u64,
}

fn seconds(now: Timestamp) -> u64 {
    u64::try_from(now.0 / 1000).unwrap_or(0)
}

/// Those of one tenant. All have the same key.
pub(crate) struct Tokens {
    tenant: TenantId,
    key: Live<SecretBox<Vec<u8>>>,
}

impl Tokens {
    pub fn new(tenant: TenantId, key: SecretBox<Vec<u8>>) -> Self {
        Self { tenant, key: Live::new(key) }
    }

    pub fn change_key(&self, key: SecretBox<Vec<u8>>) {
        self.key.replace(key);
    }

    /// `lifetime_s`: seconds.
    pub fn issue(&self, user: UserId, session: Uuid, now: Timestamp, lifetime_s: u64) -> Result<String, LoginError> {
        let iat = seconds(now);
        let claims = Claims {
            iss: ISSUER.to_owned(),
            aud: AUDIENCE.to_owned(),
            sub: user,
            tid: self.tenant,
            sid: session,
            iat,
            exp: iat + lifetime_s,
        };
        self.sign(&claims)
    }

    /// Signs the proof of a right password.
    pub fn challenge(&self, user: UserId, now: Timestamp, lifetime_s: u64) -> Result<String, LoginError> {
        let exp = seconds(now) + lifetime_s;
        let (iss, aud) = (ISSUER.to_owned(), CHALLENGE.to_owned());
        self.sign(&ChallengeClaims { iss, aud, sub: user, tid: self.tenant, exp })
    }

    pub fn check_challenge(&self, token: &str, now: Timestamp) -> Result<UserId, LoginError> {
        let claims: ChallengeClaims = self.open(token, CHALLENGE)?;
        if seconds(now) >= claims.exp || claims.tid != self.tenant {
            return Err(LoginError::Token);
        }
        Ok(claims.sub)
    }

    /// A key for `purpose` that says nothing about the one that it comes from.
    pub fn derive(&self, purpose: &str) -> Zeroizing<[u8; 32]> {
        self.mac(purpose, b"")
    }

    /// Nobody without the key can compute it for another `message`.
    pub fn mac(&self, purpose: &str, message: &[u8]) -> Zeroizing<[u8; 32]> {
        let mut out = Zeroizing::new([0; 32]);
        // HMAC takes keys of any length.
        if let Ok(mut mac) = <Hmac<Sha256> as KeyInit>::new_from_slice(self.key.get().expose_secret()) {
            mac.update(self.tenant.0.as_bytes());
            mac.update(purpose.as_bytes());
            mac.update(b"\0");
            mac.update(message);
            out.copy_from_slice(&mac.finalize().into_bytes());
        }
        out
    }

    fn sign(&self, claims: &impl Serialize) -> Result<String, LoginError> {
        let key = EncodingKey::from_secret(self.key.get().expose_secret());
        encode(&Header::new(Algorithm::HS256), claims, &key).map_err(|error| LoginError::Unavailable(error.to_string()))
    }

    /// The time is the caller's to check.
    fn open<C: DeserializeOwned>(&self, token: &str, audience: &str) -> Result<C, LoginError> {
        let mut rules = Validation::new(Algorithm::HS256);
        rules.validate_exp = false;
        rules.set_issuer(&[ISSUER]);
        rules.set_audience(&[audience]);
        rules.set_required_spec_claims(&["iss", "aud", "sub", "exp"]);
        let key = DecodingKey::from_secret(self.key.get().expose_secret());
        Ok(decode::<C>(token, &key, &rules).map_err(|_| LoginError::Token)?.claims)
    }

    /// The time comes from the caller, so the library's own check of the expiry is off.
    pub fn check(&self, token: &str, now: Timestamp) -> Result<Claims, LoginError> {
        let claims: Claims = self.open(token, AUDIENCE)?;
        let seconds = seconds(now);
        // One from the future was not made here, or the clock went back far.
        if seconds >= claims.exp || claims.iat > seconds + DRIFT_S || claims.tid != self.tenant {
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
    use super::Tokens;
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
    use secrecy::SecretBox;
    use serde_json::{Value, json};
    use steward_core::{TenantId, Timestamp, UserId};

    const KEY: [u8; 32] = [1; 32];
    const SECOND: u64 = 1_000_000_000;

    fn claims(change: &Value) -> Value {
        let user = uuid::Uuid::from_u128(7);
        let mut claims = json!({
            "iss": "steward", "aud": "steward-api", "sub": user, "tid": TenantId::DEFAULT, "sid": user,
            "iat": SECOND, "exp": SECOND + 900,
        });
        for (name, value) in change.as_object().expect("an object") {
            if value.is_null() {
                claims.as_object_mut().expect("an object").remove(name);
            } else {
                claims[name] = value.clone();
            }
        }
        claims
    }

    fn signed(header: &Header, key: &[u8], change: &Value) -> String {
        encode(header, &claims(change), &EncodingKey::from_secret(key)).expect("a token")
    }

    /// A token with this header and signature, whatever they say.
    fn forged(header: &Value, signature: &str) -> String {
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        format!("{}.{}.{signature}", part(header), part(&claims(&json!({}))))
    }

    #[test]
    fn attacks_on_tokens_open_nothing() {
        let tokens = Tokens::new(TenantId::DEFAULT, SecretBox::new(Box::new(KEY.to_vec())));
        let now = Timestamp(1_000 * i64::try_from(SECOND).expect("small"));
        let hs256 = Header::new(Algorithm::HS256);
        let good = signed(&hs256, &KEY, &json!({}));
        assert!(tokens.check(&good, now).is_ok());
        let (body, signature) = good.rsplit_once('.').expect("a token");
        let other_body = signed(&hs256, &[9; 32], &json!({"sub": uuid::Uuid::from_u128(9)}));
        let swapped = format!("{}.{signature}", other_body.rsplit_once('.').expect("a token").0);
        let kid = |kid: &str| Header { kid: Some(kid.to_owned()), ..hs256.clone() };
        let attacks = [
            ("no algorithm", forged(&json!({"alg": "none", "typ": "JWT"}), "")),
            ("no algorithm, in capitals", forged(&json!({"alg": "NONE"}), "")),
            ("no algorithm with a signature", forged(&json!({"alg": "none"}), signature)),
            ("an algorithm that there is not", forged(&json!({"alg": "HS999"}), signature)),
            ("an empty header", forged(&json!({}), signature)),
            (
                "a public-key algorithm with the secret as its key",
                forged(&json!({"alg": "RS256", "typ": "JWT"}), signature),
            ),
            ("another algorithm of the family", signed(&Header::new(Algorithm::HS512), &KEY, &json!({}))),
            ("another key", signed(&hs256, &[2; 32], &json!({}))),
            ("an empty key", signed(&hs256, &[], &json!({}))),
            ("a key named by a path", signed(&kid("../../../../dev/null"), &[], &json!({}))),
            ("a key named by a statement", signed(&kid("' union select 'x' --"), b"x", &json!({}))),
            ("a key from an address", forged(&json!({"alg": "HS256", "jku": "http://evil.example/keys"}), signature)),
            ("a key in the header", forged(&json!({"alg": "HS256", "jwk": {"kty": "oct", "k": "AA"}}), signature)),
            ("no signature", format!("{body}.")),
            ("only two parts", body.to_owned()),
            ("another body under a good signature", swapped),
            ("four parts", format!("{good}.{signature}")),
            ("expired", signed(&hs256, &KEY, &json!({"exp": SECOND}))),
            ("expired long ago", signed(&hs256, &KEY, &json!({"iat": 0, "exp": 900}))),
            ("no end", signed(&hs256, &KEY, &json!({"exp": null}))),
            ("an end that is no number", signed(&hs256, &KEY, &json!({"exp": "never"}))),
            ("from the future", signed(&hs256, &KEY, &json!({"iat": SECOND + 86_400, "exp": SECOND + 90_000}))),
            ("another audience", signed(&hs256, &KEY, &json!({"aud": "somebody-else"}))),
            ("no audience", signed(&hs256, &KEY, &json!({"aud": null}))),
            ("another issuer", signed(&hs256, &KEY, &json!({"iss": "somebody-else"}))),
            ("no issuer", signed(&hs256, &KEY, &json!({"iss": null}))),
            ("nobody", signed(&hs256, &KEY, &json!({"sub": null}))),
            ("another tenant", signed(&hs256, &KEY, &json!({"tid": uuid::Uuid::from_u128(2)}))),
            ("no tenant", signed(&hs256, &KEY, &json!({"tid": null}))),
            ("no session", signed(&hs256, &KEY, &json!({"sid": null}))),
            ("nothing", String::new()),
            ("dots", "..".to_owned()),
        ];
        for (attack, token) in attacks {
            assert!(tokens.check(&token, now).is_err(), "{attack}: {token}");
        }
    }

    #[test]
    fn ends_and_can_not_be_forged() {
        let one = Tokens::new(TenantId::DEFAULT, SecretBox::new(Box::new(vec![1; 32])));
        let other = Tokens::new(TenantId::DEFAULT, SecretBox::new(Box::new(vec![2; 32])));
        let user = UserId(uuid::Uuid::from_u128(7));
        let now = Timestamp(1_000_000_000_000);
        let token = one.issue(user, uuid::Uuid::from_u128(8), now, 900).expect("token");
        let claims = one.check(&token, now).expect("valid");
        assert_eq!((claims.sub, claims.sid.as_u128()), (user, 8));
        assert!(other.check(&token, now).is_err());
        let later = Timestamp(now.0 + 900_000);
        assert!(one.check(&token, later).is_err());
        assert!(one.check("a.b.c", now).is_err());
    }

    #[test]
    fn a_challenge_is_no_access_token_and_ends() {
        let tokens = Tokens::new(TenantId::DEFAULT, SecretBox::new(Box::new(KEY.to_vec())));
        let (user, now) = (UserId(uuid::Uuid::from_u128(7)), Timestamp(1_000_000_000_000));
        let challenge = tokens.challenge(user, now, 300).expect("a challenge");
        assert_eq!(tokens.check_challenge(&challenge, now).ok(), Some(user));
        assert!(tokens.check(&challenge, now).is_err());
        assert!(tokens.check_challenge(&challenge, Timestamp(now.0 + 300_000)).is_err());
        let token = tokens.issue(user, user.0, now, 900).expect("a token");
        assert!(tokens.check_challenge(&token, now).is_err());
        let elsewhere = Tokens::new(TenantId(user.0), SecretBox::new(Box::new(KEY.to_vec())));
        assert!(elsewhere.check(&token, now).is_err() && elsewhere.check_challenge(&challenge, now).is_err());
        assert_ne!(*tokens.derive("a"), *elsewhere.derive("a"));
        assert_ne!(*tokens.derive("a"), *tokens.derive("b"));
        assert_ne!(*tokens.mac("a", b"x"), *tokens.mac("a", b"y"));
    }
}
