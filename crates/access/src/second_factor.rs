//! The second factor: codes of an app (RFC 6238), asked for after a right password, and recovery codes for who loses it.

mod totp;

use std::net::IpAddr;

use data_encoding::BASE32_NOPAD;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use steward_core::UserId;
use steward_core::hash::sha256;
use steward_core::ports::{Challenge, LoginError, SecondFactor, StoreError, User};
use zeroize::Zeroizing;

use super::attempts::network;
use super::sessions::OpenSession;
use super::{Access, AccessError, secrets, unavailable};

/// How long somebody may take from the password to the code, seconds.
const CHALLENGE_S: u64 = 300;
/// As RFC 4226 recommends, bytes.
const SECRET_LENGTH: usize = 20;
const RECOVERY_CODES: usize = 10;
/// Of the secrets; another purpose has another key.
const PURPOSE: &str = "second factor";

/// What an app needs to show codes. Only told once.
#[derive(Debug, Clone)]
pub struct Enrolment {
    /// Base32, to type in.
    pub secret: String,
    /// `otpauth://…`, to scan.
    pub uri: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SecondFactorState {
    pub enabled: bool,
    /// Whether the user's role needs one.
    pub required: bool,
    pub recovery_codes_left: u64,
}

#[derive(Debug, Clone, Copy)]
pub struct SecondStep<'a> {
    /// The proof of the password.
    pub challenge: &'a str,
    /// Of the app, or a recovery code.
    pub code: &'a str,
    /// The address that it comes from, for the limit of attempts.
    pub client: Option<IpAddr>,
    /// The browser's name for itself.
    pub label: &'a str,
}

impl Access {
    pub async fn second_factor_state(&self, user: UserId) -> Result<SecondFactorState, AccessError> {
        let known = self.user(user).await?;
        let factor = self.second_factors.second_factor(self.tenant, user).await?;
        Ok(SecondFactorState {
            enabled: factor.is_some_and(|factor| factor.confirmed_at.is_some()),
            required: self.login_settings().await.second_factor_roles.contains(&known.role),
            recovery_codes_left: self.second_factors.recovery_codes_left(self.tenant, user).await?,
        })
    }

    /// Makes a secret, in the place of one that was not confirmed. It is asked for once a code of it was shown.
    pub async fn begin_second_factor(&self, user: UserId) -> Result<Enrolment, AccessError> {
        let known = self.user(user).await?;
        let secret = Zeroizing::new(secrets::random(SECRET_LENGTH));
        let sealed = self.seal(PURPOSE, user.0, &secret).ok_or_else(damaged)?;
        match self.second_factors.begin_second_factor(self.tenant, user, &sealed).await {
            Err(StoreError::Conflict(_)) => {
                return Err(AccessError::SecondFactor("there is a second factor already; end it first"));
            }
            done => done?,
        }
        let secret = BASE32_NOPAD.encode(&secret);
        let account = utf8_percent_encode(&known.email, NON_ALPHANUMERIC);
        let uri = format!(
            "otpauth://totp/Steward:{account}?secret={secret}&issuer=Steward&algorithm=SHA1&digits=6&period=30"
        );
        Ok(Enrolment { secret, uri })
    }

    /// With the first code of the app. Returns the recovery codes, which are told this once.
    pub async fn confirm_second_factor(&self, user: UserId, code: &str) -> Result<Vec<String>, AccessError> {
        self.user(user).await?;
        let name = own_codes(user);
        self.closed(&name, None)?;
        let factor = self.second_factors.second_factor(self.tenant, user).await?;
        let Some(factor) = factor.filter(|factor| factor.confirmed_at.is_none()) else {
            return Err(AccessError::SecondFactor("there is no second factor to confirm; begin with one"));
        };
        let Some(codes) = self.confirm(user, &factor, code).await? else {
            self.note_failure(&name, None);
            return Err(LoginError::Code.into());
        };
        self.attempts.succeeded(&name, None, self.clock.now());
        Ok(codes)
    }

    /// New ones in the place of those before.
    pub async fn new_recovery_codes(&self, user: UserId, code: &str) -> Result<Vec<String>, AccessError> {
        self.show_code(user, code).await?;
        let (codes, hashes) = recovery_codes();
        self.second_factors.set_recovery_codes(self.tenant, user, &hashes).await?;
        Ok(codes)
    }

    /// By its user, who shows a last code.
    pub async fn end_second_factor(&self, user: UserId, code: &str) -> Result<(), AccessError> {
        self.show_code(user, code).await?;
        self.second_factors.remove_second_factor(self.tenant, user).await?;
        Ok(())
    }

    /// By an administrator, for somebody who has lost app and recovery codes. `false`: there was none.
    pub async fn reset_second_factor(&self, user: UserId) -> Result<bool, AccessError> {
        self.user(user).await?;
        Ok(self.second_factors.remove_second_factor(self.tenant, user).await?)
    }

    /// For somebody whose role needs a second factor and who has none: the first step of getting one, before they are in.
    pub async fn begin_second_factor_at_login(&self, challenge: &str) -> Result<Enrolment, AccessError> {
        let user = self.challenged(challenge).await?;
        self.begin_second_factor(user.id).await
    }

    /// The second step of a login. Recovery codes come with it if it was the first code of a new app.
    pub async fn second_step(&self, step: SecondStep<'_>) -> Result<(OpenSession, Vec<String>), LoginError> {
        let client = step.client.map(network);
        let user = self.challenged(step.challenge).await?;
        // Whoever gets here knows the password, so all networks together may fail no more often than one.
        let name = codes_of(user.id);
        self.closed(&user.email, client.as_deref())?;
        let known = self.attempts.is_known_client(&user.email, client.as_deref(), self.clock.now());
        if !known {
            self.closed(&name, None)?;
        }
        let factor = self.second_factors.second_factor(self.tenant, user.id).await.map_err(unavailable)?;
        let shown = match factor {
            None => None,
            Some(factor) if factor.confirmed_at.is_none() => self.confirm(user.id, &factor, step.code).await?,
            Some(factor) => self.fits(user.id, &factor, step.code).await?.then(Vec::new),
        };
        let Some(recovery) = shown else {
            self.note_failure(&user.email, client.as_deref());
            if !known {
                self.note_failure(&name, None);
            }
            tracing::info!(user = %user.id, "a code of the second factor was refused");
            return Err(LoginError::Code);
        };
        self.attempts.succeeded(&user.email, client.as_deref(), self.clock.now());
        self.attempts.succeeded(&name, None, self.clock.now());
        Ok((self.open(&user, step.label).await?, recovery))
    }

    /// What a user with a right password must still show; `None`: nothing.
    pub(crate) async fn challenge_for(&self, user: &User) -> Result<Option<Challenge>, LoginError> {
        let factor = self.second_factors.second_factor(self.tenant, user.id).await.map_err(unavailable)?;
        let has_one = factor.is_some_and(|factor| factor.confirmed_at.is_some());
        if !has_one && !self.login_settings().await.second_factor_roles.contains(&user.role) {
            return Ok(None);
        }
        Ok(Some(Challenge {
            user: user.id,
            email: user.email.clone(),
            token: self.tokens.challenge(user.id, self.clock.now(), CHALLENGE_S)?,
            expires_in: CHALLENGE_S,
            enrol: !has_one,
        }))
    }

    async fn challenged(&self, challenge: &str) -> Result<User, LoginError> {
        let user = self.tokens.check_challenge(challenge, self.clock.now())?;
        let user = self.users.user(self.tenant, user).await.map_err(unavailable)?;
        user.filter(|user| !user.is_disabled()).ok_or(LoginError::Token)
    }

    async fn show_code(&self, user: UserId, code: &str) -> Result<(), AccessError> {
        self.user(user).await?;
        let name = own_codes(user);
        self.closed(&name, None)?;
        let factor = self.second_factors.second_factor(self.tenant, user).await?;
        let Some(factor) = factor.filter(|factor| factor.confirmed_at.is_some()) else {
            return Err(AccessError::SecondFactor("there is no second factor"));
        };
        if self.fits(user, &factor, code).await? {
            self.attempts.succeeded(&name, None, self.clock.now());
            return Ok(());
        }
        self.note_failure(&name, None);
        Err(LoginError::Code.into())
    }

    /// The recovery codes; `None`: the code is wrong.
    async fn confirm(
        &self,
        user: UserId,
        factor: &SecondFactor,
        code: &str,
    ) -> Result<Option<Vec<String>>, LoginError> {
        let now = self.clock.now();
        let secret = self.unseal(PURPOSE, user.0, &factor.sealed).ok_or_else(damaged)?;
        let Some(step) = totp::step_of(&secret, code, now) else {
            return Ok(None);
        };
        let (codes, hashes) = recovery_codes();
        let confirmed = self.second_factors.confirm_second_factor(self.tenant, user, step, &hashes, now).await;
        Ok(confirmed.map_err(unavailable)?.then_some(codes))
    }

    /// Uses the code up.
    async fn fits(&self, user: UserId, factor: &SecondFactor, code: &str) -> Result<bool, LoginError> {
        let secret = self.unseal(PURPOSE, user.0, &factor.sealed).ok_or_else(damaged)?;
        let accepted = match totp::step_of(&secret, code, self.clock.now()) {
            Some(step) => self.second_factors.use_step(self.tenant, user, step).await,
            None => self.second_factors.use_recovery_code(self.tenant, user, &hash_of(code)).await,
        };
        accepted.map_err(unavailable)
    }
}

fn damaged() -> LoginError {
    LoginError::Unavailable(
        "the second factor can't be opened with the key that signs logins; an administrator can reset it".to_owned(),
    )
}

/// New ones with their hashes. Each has 80 random bits, so a plain hash will do.
fn recovery_codes() -> (Vec<String>, Vec<String>) {
    let codes: Vec<String> = (0..RECOVERY_CODES)
        .map(|_| {
            let text = BASE32_NOPAD.encode(&secrets::random(10)).to_lowercase();
            [&text[..4], &text[4..8], &text[8..12], &text[12..]].join("-")
        })
        .collect();
    let hashes = codes.iter().map(|code| hash_of(code)).collect();
    (codes, hashes)
}

/// Of a recovery code as somebody types it.
fn hash_of(code: &str) -> String {
    let plain: String = code.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase();
    sha256(plain.as_bytes())
}

/// Codes that somebody shows who is logged in are counted apart: strangers at the login are none of theirs.
fn own_codes(user: UserId) -> String {
    format!("own codes of {user}")
}

fn codes_of(user: UserId) -> String {
    format!("codes of {user}")
}

#[cfg(test)]
mod tests {
    use super::{RECOVERY_CODES, hash_of, recovery_codes};

    #[test]
    fn recovery_codes_are_read_as_people_type_them() {
        let (codes, hashes) = recovery_codes();
        assert_eq!((codes.len(), hashes.len()), (RECOVERY_CODES, RECOVERY_CODES));
        assert_eq!(codes[0].len(), 19);
        assert_eq!(hash_of(&codes[0].to_uppercase().replace('-', " ")), hashes[0]);
        assert_ne!(hashes[0], hashes[1]);
    }
}
