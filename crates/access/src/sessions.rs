//! Login sessions: begun by a password, prolonged by a rotating refresh token, ended by the user, by time or by theft.

use std::net::IpAddr;
use std::time::Duration;

use async_trait::async_trait;
use steward_core::UserId;
use steward_core::hash::sha256;
use steward_core::ports::{Authenticator, LoginError, LoginSession, Principal, User, UserChange};
use steward_core::sign_on::LoginSettings;
use uuid::Uuid;

use super::attempts::network;
use super::identity::Account;
use super::secrets;
use super::tenants::marked;
use super::{Access, AccessError, unavailable};

/// Two tabs may send the same refresh token at the same time; within this time the old token is no theft.
const TOLERATED: Duration = Duration::from_secs(10);
/// Most sessions of one user; another login ends the oldest.
const MAX_SESSIONS: usize = 50;

#[derive(Debug, Clone, Copy)]
pub struct LogIn<'a> {
    pub email: &'a str,
    pub password: &'a str,
    /// The address that it comes from, for the limit of attempts.
    pub client: Option<IpAddr>,
    /// The browser's name for itself.
    pub label: &'a str,
}

#[derive(Debug, Clone)]
pub struct OpenSession {
    pub id: Uuid,
    pub access_token: String,
    /// How long the access token is good, seconds.
    pub expires_in: u64,
    /// `None`: the newest refresh token stays.
    pub refresh_token: Option<String>,
    /// How long the refresh token is good, seconds.
    pub refresh_expires_in: u64,
    pub user: Account,
}

impl Access {
    pub async fn log_in(&self, login: LogIn<'_>) -> Result<OpenSession, LoginError> {
        let email = login.email.trim().to_lowercase();
        let client = login.client.map(network);
        let closed = || self.closed(&email, client.as_deref());
        closed()?;
        let user = self.users.user_by_email(self.tenant, &email).await.map_err(unavailable)?;
        let phc = user.as_ref().and_then(|user| user.password_hash.clone());
        let fits = self.verify_password(login.password, phc, closed).await?;
        if let Some(user) = user.filter(|user| fits && !user.is_disabled()) {
            return self.with_password(&user, client.as_deref(), login.label).await;
        }
        // Counted before the directory is asked, so that parallel attempts count like successive ones.
        self.note_failure(&email, client.as_deref());
        // Asked whether or not there is such a user here, so that the time does not tell.
        if let Some(user) = self.directory_user(login.email, login.password).await? {
            self.forgive(&email, client.as_deref());
            return self.by_directory(&user, &email, client.as_deref(), login.label).await;
        }
        tracing::info!("login refused");
        Err(LoginError::Wrong)
    }

    /// A login at a tenant that is not there. It takes as long as one with a wrong password, and counts like it.
    pub async fn refuse_log_in(&self, tenant: &str, login: LogIn<'_>) -> LoginError {
        let slug: String = tenant.chars().take(64).collect();
        // No email begins so; who fails there locks nobody out here.
        let name = format!("@{slug} {}", login.email.trim().to_lowercase());
        let client = login.client.map(network);
        let closed = || self.closed(&name, client.as_deref());
        if let Err(error) = closed() {
            return error;
        }
        if let Err(error) = self.verify_password(login.password, None, closed).await {
            return error;
        }
        self.note_failure(&name, client.as_deref());
        tracing::info!("login at an unknown tenant refused");
        LoginError::Wrong
    }

    /// As [`Self::log_in`], with accounts of the directory only.
    pub async fn log_in_by_directory(&self, login: LogIn<'_>) -> Result<OpenSession, LoginError> {
        let name = login.email.trim().to_lowercase();
        let client = login.client.map(network);
        self.closed(&name, client.as_deref())?;
        self.note_failure(&name, client.as_deref());
        let found = self.directory_user(login.email, login.password).await;
        if !matches!(found, Ok(None)) {
            self.forgive(&name, client.as_deref());
        }
        let Some(user) = found? else {
            tracing::info!("login by the directory refused");
            return Err(LoginError::Wrong);
        };
        self.by_directory(&user, &name, client.as_deref(), login.label).await
    }

    /// `name`: what they are called there.
    async fn by_directory(
        &self,
        user: &User,
        name: &str,
        client: Option<&str>,
        label: &str,
    ) -> Result<OpenSession, LoginError> {
        let open = self.with_password(user, client, label).await?;
        self.attempts.succeeded(name, client, self.clock.now());
        Ok(open)
    }

    /// An error while a name or a client has failed too often.
    pub(crate) fn closed(&self, name: &str, client: Option<&str>) -> Result<(), LoginError> {
        let now = self.clock.now();
        let by_client = client.and_then(|client| self.attempts_by_client.closed(client, now));
        let wait = self.attempts.closed(name, client, now).max(by_client);
        wait.map_or(Ok(()), |seconds| Err(LoginError::TooMany { seconds }))
    }

    /// The same where no name is known yet.
    pub(crate) fn closed_to(&self, client: Option<&str>) -> Result<(), LoginError> {
        let wait = client.and_then(|client| self.attempts_by_client.closed(client, self.clock.now()));
        wait.map_or(Ok(()), |seconds| Err(LoginError::TooMany { seconds }))
    }

    pub(crate) fn note_failure(&self, name: &str, client: Option<&str>) {
        self.attempts.failed(name, client, self.clock.now());
        self.count_failure_of(client);
    }

    /// Takes the latest failure back.
    fn forgive(&self, name: &str, client: Option<&str>) {
        self.attempts.forgive(name, client);
        if let Some(client) = client {
            self.attempts_by_client.forgive(client);
        }
    }

    /// Their password was right: a session, or what is still missing.
    pub(crate) async fn with_password(
        &self,
        user: &User,
        client: Option<&str>,
        label: &str,
    ) -> Result<OpenSession, LoginError> {
        if let Some(challenge) = self.challenge_for(user).await? {
            return Err(LoginError::SecondFactor(Box::new(challenge)));
        }
        self.attempts.succeeded(&user.email, client, self.clock.now());
        self.open(user, label).await
    }

    /// `client`: the [`network`] of an address.
    pub(crate) fn count_failure_of(&self, client: Option<&str>) {
        if let Some(client) = client {
            self.attempts_by_client.failed(client, self.clock.now());
        }
    }

    pub(crate) async fn open(&self, user: &User, label: &str) -> Result<OpenSession, LoginError> {
        let now = self.clock.now();
        let rules = self.login_settings().await;
        let token = marked(self.tenant, &secrets::refresh_token());
        let session = LoginSession {
            id: self.ids.next(),
            user: user.id,
            token_hash: sha256(token.as_bytes()),
            previous_hash: None,
            rotated_at: now,
            created_at: now,
            expires_at: now.plus(session_lifetime(&rules)),
            label: label.chars().take(100).collect(),
        };
        let others = self.sessions.sessions(self.tenant, user.id, now).await.map_err(unavailable)?;
        for old in others.iter().skip(MAX_SESSIONS - 1) {
            self.end(old.id).await.map_err(unavailable)?;
        }
        self.sessions.create_session(self.tenant, &session).await.map_err(unavailable)?;
        self.users.note_login(self.tenant, user.id, now).await.map_err(unavailable)?;
        self.opened(session.id, user, Some(token), &rules)
    }

    /// An old refresh token means that somebody has a copy, so it ends the session; except shortly after a rotation,
    /// when it is another tab, which gets an access token only.
    pub async fn refresh(&self, token: &str) -> Result<OpenSession, LoginError> {
        let hash = sha256(token.as_bytes());
        let mut session = self.session_of(&hash).await?;
        let user = self.users.user(self.tenant, session.user).await.map_err(unavailable)?;
        let user = user.filter(|user| !user.is_disabled()).ok_or(LoginError::Token)?;
        let now = self.clock.now();
        let rules = self.login_settings().await;
        if secrets::same(&session.token_hash, &hash) {
            let fresh = marked(self.tenant, &secrets::refresh_token());
            let rotated = self
                .sessions
                .rotate_session(
                    self.tenant,
                    session.id,
                    &hash,
                    &sha256(fresh.as_bytes()),
                    now,
                    now.plus(session_lifetime(&rules)),
                )
                .await
                .map_err(unavailable)?;
            if rotated {
                return self.opened(session.id, &user, Some(fresh), &rules);
            }
            // Another request was faster, so the token is now the previous one.
            session = self.session_of(&hash).await?;
        }
        if now.since(session.rotated_at) <= TOLERATED {
            return self.opened(session.id, &user, None, &rules);
        }
        self.end(session.id).await.map_err(unavailable)?;
        tracing::warn!(
            session = %session.id,
            "an old refresh token was used: the session was ended"
        );
        Err(LoginError::Stolen { user: user.id, email: user.email })
    }

    /// Whose session it was; `None`: it had ended before.
    pub async fn log_out(&self, token: &str) -> Result<Option<User>, LoginError> {
        let hash = sha256(token.as_bytes());
        match self.session_of(&hash).await {
            Ok(session) => {
                self.end(session.id).await.map_err(unavailable)?;
                self.users.user(self.tenant, session.user).await.map_err(unavailable)
            }
            Err(LoginError::Token) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Newest first.
    pub async fn sessions(&self, user: UserId) -> Result<Vec<LoginSession>, AccessError> {
        let now = self.clock.now();
        Ok(self.sessions.sessions(self.tenant, user, now).await?)
    }

    /// `false`: the user has no such session.
    pub async fn end_session(&self, user: UserId, id: Uuid) -> Result<bool, AccessError> {
        let theirs = self.sessions(user).await?.iter().any(|one| one.id == id);
        if theirs {
            self.end(id).await?;
        }
        Ok(theirs)
    }

    /// Returns how many there were.
    pub async fn end_sessions(&self, user: UserId) -> Result<u64, AccessError> {
        Ok(self.sessions.end_sessions(self.tenant, user, None).await?)
    }

    /// Changes the password and ends all sessions but `keep`.
    pub async fn change_password(
        &self,
        user: UserId,
        keep: Option<Uuid>,
        current: &str,
        new: &str,
    ) -> Result<(), AccessError> {
        let phc = self.user(user).await?;
        let email = phc.email;
        // Of this session alone: strangers who fail at the login don't keep its user from a new password.
        let name = format!("{email} {}", keep.unwrap_or(user.0));
        let closed = || self.closed(&name, None);
        if !self.verify_password(current, phc.password_hash, closed).await? {
            self.note_failure(&name, None);
            return Err(AccessError::CurrentPassword);
        }
        self.attempts.succeeded(&name, None, self.clock.now());
        let hash = self.hash(new).await.map_err(|error| match error {
            AccessError::Invalid { title, .. } => AccessError::invalid("new", title),
            other => other,
        })?;
        let change = UserChange { password_hash: Some(hash), ..UserChange::default() };
        self.users.change_user(self.tenant, user, &change).await?;
        self.sessions.end_sessions(self.tenant, user, keep).await?;
        Ok(())
    }

    /// The session whose present or previous refresh token this is.
    async fn session_of(&self, hash: &str) -> Result<LoginSession, LoginError> {
        let session =
            self.sessions.session_by_token(self.tenant, hash).await.map_err(unavailable)?.ok_or(LoginError::Token)?;
        if session.expires_at <= self.clock.now() {
            self.end(session.id).await.map_err(unavailable)?;
            return Err(LoginError::Token);
        }
        Ok(session)
    }

    /// Another request may have ended it first.
    async fn end(&self, id: Uuid) -> steward_core::ports::StoreResult<()> {
        use steward_core::ports::StoreError;
        match self.sessions.end_session(self.tenant, id).await {
            Err(StoreError::NotFound(_)) => Ok(()),
            other => other,
        }
    }

    fn opened(
        &self,
        id: Uuid,
        user: &User,
        refresh_token: Option<String>,
        rules: &LoginSettings,
    ) -> Result<OpenSession, LoginError> {
        let expires_in = u64::from(rules.access_token_s);
        Ok(OpenSession {
            id,
            access_token: self.tokens.issue(user.id, id, self.clock.now(), expires_in)?,
            expires_in,
            refresh_token,
            refresh_expires_in: u64::from(rules.session_s),
            user: Account::of(self.tenant, user),
        })
    }
}

fn session_lifetime(rules: &LoginSettings) -> Duration {
    Duration::from_secs(u64::from(rules.session_s))
}

#[async_trait]
impl Authenticator for Access {
    async fn login(&self, email: &str, password: &str) -> Result<(String, u64), LoginError> {
        let login = LogIn { email, password, client: None, label: "a program" };
        let open = self.log_in(login).await?;
        Ok((open.access_token, open.expires_in))
    }

    async fn verify(&self, bearer: &str) -> Result<Principal, LoginError> {
        Ok(self.identify(bearer).await?.principal)
    }
}
