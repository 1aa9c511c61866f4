//! Argon2id with the library's defaults (19 MiB, 2 passes, 1 lane), PHC strings.

use crate::error::AccessError;
use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};

/// Shortest password taken.
const MIN_LENGTH: usize = 10;
/// Longest; hashing reads it all.
const MAX_LENGTH: usize = 1000;

/// Whether `password` may be one.
pub(crate) fn check(password: &str) -> Result<(), AccessError> {
    let length = password.chars().count();
    if !(MIN_LENGTH..=MAX_LENGTH).contains(&length) {
        return Err(AccessError::Invalid(format!(
            "the password has {length} characters; choose {MIN_LENGTH} to {MAX_LENGTH}"
        )));
    }
    Ok(())
}

/// The PHC string of `password`.
pub(crate) fn hash(password: &str) -> Result<String, AccessError> {
    Argon2::default()
        .hash_password(password.as_bytes())
        .map(|hash| hash.to_string())
        .map_err(|error| AccessError::Hash(error.to_string()))
}

/// Whether `password` has this PHC string. Takes as long for a string that is none.
pub(crate) fn verify(password: &str, phc: Option<&str>) -> bool {
    /// Of a random password that nobody knows: unknown users cost as much time as known ones.
    const NOBODY: &str =
        "$argon2id$v=19$m=19456,t=2,p=1$c3Rld2FyZC1ub2JvZHk$0kWmPCk6yhLqJ1V7l0jPzqk1S5o6a2T9b1m0zv0c9aE";
    let Ok(parsed) = PasswordHash::new(phc.unwrap_or(NOBODY)) else {
        return false;
    };
    let fits = Argon2::default().verify_password(password.as_bytes(), &parsed).is_ok();
    fits && phc.is_some()
}

#[cfg(test)]
mod tests {
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
