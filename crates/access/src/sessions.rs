//! Logins: begun by a password, prolonged by a rotating refresh token, ended by hand, by time or by theft.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use steward_core::hash::sha256;
use steward_core::ports::{LoginError, LoginSession, User};
use steward_core::{Timestamp, UserId};
use uuid::Uuid;

use super::identity::{Account, account};
use super::secrets::{self, LIFETIME_S};
use super::{Access, AccessError, unavailable};

/// A session that nobody prolongs ends after this long.
pub const REFRESH_LIFETIME: Duration = Duration::from_hours(30 * 24);
/// Two tabs may send the same refresh token at the same time; for so long the old one is no theft.
const TOLERATED: Duration = Duration::from_secs(10);
/// Sessions of one user; a further login ends the oldest.
const MAX_SESSIONS: usize = 50;

#[derive(Debug, Clone, Copy)]
pub struct LogIn<'a> {
    pub email: &'a str,
    pub password: &'a str,
    /// Where it comes from, for the limit of attempts.
    pub client: Option<IpAddr>,
    /// What the browser calls itself.
    pub label: &'a str,
}

#[derive(Debug, Clone)]
pub struct OpenSession {
    pub id: Uuid,
    pub access_token: String,
    /// Seconds that it is good for.
    pub expires_in: u64,
    /// The new refresh token; `None`: the newest one stays.
    pub refresh_token: Option<String>,
    pub user: Account,
}

impl Access {
    pub async fn log_in(&self, login: LogIn<'_>) -> Result<OpenSession, LoginError> {
        let email = login.email.trim().to_lowercase();
        let client = login.client.map(network);
        let closed = || {
            let now = self.clock.now();
            let wait = self
                .by_email
                .closed(&email, now)
                .max(client.as_ref().and_then(|client| self.by_client.closed(client, now)));
            wait.map_or(Ok(()), |seconds| Err(LoginError::TooMany { seconds }))
        };
        closed()?;
        let user = self.users.user_by_email(self.tenant, &email).await.map_err(unavailable)?;
        let phc = user.as_ref().and_then(|user| user.password_hash.clone());
        let fits = self.fits(login.password, phc, closed).await?;
        if let Some(user) = user.filter(|_| fits) {
            self.by_email.succeeded(&email);
            return self.open(&user, login.label).await;
        }
        let now = self.clock.now();
        self.by_email.failed(&email, now);
        if let Some(client) = &client {
            self.by_client.failed(client, now);
        }
        tracing::info!("login refused");
        Err(LoginError::Wrong)
    }

    /// Begins a session of a user that has proved who they are.
    pub(crate) async fn open(&self, user: &User, label: &str) -> Result<OpenSession, LoginError> {
        let now = self.clock.now();
        let token = secrets::refresh_token();
        let session = LoginSession {
            id: self.ids.next(),
            user: user.id,
            token_hash: sha256(token.as_bytes()),
            previous_hash: None,
            rotated_at: now,
            created_at: now,
            expires_at: now.plus(REFRESH_LIFETIME),
            label: label.chars().take(100).collect(),
        };
        let others = self.sessions.sessions(self.tenant, user.id, now).await.map_err(unavailable)?;
        for old in others.iter().skip(MAX_SESSIONS - 1) {
            self.end(old.id).await.map_err(unavailable)?;
        }
        self.sessions.create_session(self.tenant, &session).await.map_err(unavailable)?;
        self.opened(session.id, user, Some(token))
    }

    /// Prolongs a session: a new access token for a refresh token, and a new refresh token. An old refresh
    /// token shows that somebody else has a copy, so it ends the session; but for a moment after a
    /// rotation it is another tab, which gets its access token only.
    pub async fn refresh(&self, token: &str) -> Result<OpenSession, LoginError> {
        let hash = sha256(token.as_bytes());
        let mut session = self.session_of(&hash).await?;
        let user = self.users.user(self.tenant, session.user).await.map_err(unavailable)?.ok_or(LoginError::Token)?;
        let now = self.clock.now();
        if secrets::same(&session.token_hash, &hash) {
            let fresh = secrets::refresh_token();
            let rotated = self
                .sessions
                .rotate_session(
                    self.tenant,
                    session.id,
                    &hash,
                    &sha256(fresh.as_bytes()),
                    now,
                    now.plus(REFRESH_LIFETIME),
                )
                .await
                .map_err(unavailable)?;
            if rotated {
                return self.opened(session.id, &user, Some(fresh));
            }
            // Somebody was faster: the token is the one before by now.
            session = self.session_of(&hash).await?;
        }
        if now.since(session.rotated_at) <= TOLERATED {
            return self.opened(session.id, &user, None);
        }
        self.end(session.id).await.map_err(unavailable)?;
        tracing::warn!(
            session = %session.id,
            "an old refresh token was used: the session was ended"
        );
        Err(LoginError::Token)
    }

    /// Ends the session of a refresh token, if there is one.
    pub async fn log_out(&self, token: &str) -> Result<(), LoginError> {
        let hash = sha256(token.as_bytes());
        match self.session_of(&hash).await {
            Ok(session) => self.end(session.id).await.map_err(unavailable),
            Err(LoginError::Token) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// The sessions of a user, newest first.
    pub async fn sessions(&self, user: UserId) -> Result<Vec<LoginSession>, AccessError> {
        let now = self.clock.now();
        Ok(self.sessions.sessions(self.tenant, user, now).await?)
    }

    /// Ends one session of a user; `false` if they have none of that id.
    pub async fn end_session(&self, user: UserId, id: Uuid) -> Result<bool, AccessError> {
        let theirs = self.sessions(user).await?.iter().any(|one| one.id == id);
        if theirs {
            self.end(id).await?;
        }
        Ok(theirs)
    }

    /// Another password; ends all sessions but `keep`.
    pub async fn change_password(
        &self,
        user: UserId,
        keep: Option<Uuid>,
        current: &str,
        new: &str,
    ) -> Result<(), AccessError> {
        let phc = self.known_user(user).await?;
        let email = phc.email;
        let closed = || {
            let wait = self.by_email.closed(&email, self.clock.now());
            wait.map_or(Ok(()), |seconds| Err(LoginError::TooMany { seconds }))
        };
        if !self.fits(current, phc.password_hash, closed).await? {
            self.by_email.failed(&email, self.clock.now());
            return Err(AccessError::CurrentPassword);
        }
        self.by_email.succeeded(&email);
        let hash = self.hash(new).await?;
        {
            let _changes = self.changes.lock().await;
            let mut user = self.known_user(user).await?;
            user.password_hash = Some(hash);
            self.users.save_user(self.tenant, &user).await?;
        }
        self.sessions.end_sessions(self.tenant, user, keep).await?;
        Ok(())
    }

    /// The session of a refresh token, in force or the one before.
    async fn session_of(&self, hash: &str) -> Result<LoginSession, LoginError> {
        let session =
            self.sessions.session_by_token(self.tenant, hash).await.map_err(unavailable)?.ok_or(LoginError::Token)?;
        if session.expires_at <= self.clock.now() {
            self.end(session.id).await.map_err(unavailable)?;
            return Err(LoginError::Token);
        }
        Ok(session)
    }

    /// Somebody else may have ended it first.
    async fn end(&self, id: Uuid) -> steward_core::ports::StoreResult<()> {
        use steward_core::ports::StoreError;
        match self.sessions.end_session(self.tenant, id).await {
            Err(StoreError::NotFound(_)) => Ok(()),
            other => other,
        }
    }

    fn opened(&self, id: Uuid, user: &User, refresh_token: Option<String>) -> Result<OpenSession, LoginError> {
        Ok(OpenSession {
            id,
            access_token: self.tokens.issue(user.id, id, self.clock.now())?,
            expires_in: LIFETIME_S,
            refresh_token,
            user: account(user)?,
        })
    }
}

/// What stands for one client: an IPv4 address, or the half of an IPv6 address that one household has.
fn network(address: IpAddr) -> String {
    match address.to_canonical() {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            format!("{a:x}:{b:x}:{c:x}:{d:x}::/64")
        }
    }
}

// @doc attempts.rs: Rate limit of logins: failures within a quarter of an hour close an email, or a client, for a while.
/// Window of the count, and how long it stays closed after the last failure.
const WINDOW: Duration = Duration::from_mins(15);
/// Keys remembered; the one that failed longest ago is forgotten first.
const REMEMBERED: usize = 10_000;

#[derive(Debug)]
pub(crate) struct Attempts {
    allowed: usize,
    failures: Mutex<HashMap<String, Vec<Timestamp>>>,
}

impl Attempts {
    /// Closes a key after so many failures.
    pub fn new(allowed: usize) -> Self {
        Self { allowed, failures: Mutex::default() }
    }

    /// Seconds to wait before `key` may try again; `None`: now.
    pub fn closed(&self, key: &str, now: Timestamp) -> Option<u64> {
        let mut all = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        let times = all.get_mut(key)?;
        times.retain(|at| now.since(*at) < WINDOW);
        if times.len() < self.allowed {
            return None;
        }
        let last = times.last().copied()?;
        Some(WINDOW.saturating_sub(now.since(last)).as_secs().max(1))
    }

    pub fn failed(&self, key: &str, now: Timestamp) {
        let mut all = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= REMEMBERED && !all.contains_key(key) {
            all.retain(|_, times| times.last().is_some_and(|at| now.since(*at) < WINDOW));
            let oldest = all.iter().min_by_key(|(_, times)| times.last().copied()).map(|(key, _)| key.clone());
            if let Some(oldest) = oldest.filter(|_| all.len() >= REMEMBERED) {
                all.remove(&oldest);
            }
        }
        all.entry(key.to_owned()).or_default().push(now);
    }

    /// Forgets failures after a success.
    pub fn succeeded(&self, key: &str) {
        self.failures.lock().unwrap_or_else(PoisonError::into_inner).remove(key);
    }
}

#[cfg(test)]
mod tests {
    use super::{Attempts, REMEMBERED};
    use steward_core::Timestamp;

    #[test]
    fn closes_after_failures_and_opens_again() {
        let attempts = Attempts::new(3);
        let at = |minutes: i64| Timestamp(minutes * 60_000);
        for minute in 0..3 {
            assert_eq!(attempts.closed("a", at(minute)), None);
            attempts.failed("a", at(minute));
        }
        assert_eq!(attempts.closed("a", at(3)), Some(14 * 60));
        assert_eq!(attempts.closed("b", at(3)), None);
        assert_eq!(attempts.closed("a", at(17)), None);
        attempts.succeeded("a");
        attempts.failed("a", at(18));
        assert_eq!(attempts.closed("a", at(18)), None);
    }

    #[test]
    fn remembers_a_bounded_number() {
        let attempts = Attempts::new(1);
        for number in 0..=i64::try_from(REMEMBERED).expect("small") {
            attempts.failed(&number.to_string(), Timestamp(number));
        }
        let now = Timestamp(20_000);
        assert_eq!(attempts.failures.lock().expect("lock").len(), REMEMBERED);
        assert_eq!(attempts.closed("0", now), None, "the oldest is forgotten");
        assert!(attempts.closed("1", now).is_some());
    }
}
