//! Invitations: how somebody other than the first administrator comes to a password. An administrator hands the token
//! over; only its hash is kept.

use std::net::IpAddr;
use std::time::Duration;

use steward_core::hash::sha256;
use steward_core::ports::{Invitation, Role, User, UserChange};
use steward_core::{Timestamp, UserId};

use super::attempts::network;
use super::sessions::OpenSession;
use super::tenants::marked;
use super::users::checked_name;
use super::{Access, AccessError, secrets};

/// The token is not kept, so this is the only time that it can be handed over.
#[derive(Debug, Clone)]
pub struct IssuedInvitation {
    pub token: String,
    pub expires_at: Timestamp,
}

#[derive(Debug, Clone, Copy)]
pub struct AcceptInvitation<'a> {
    pub token: &'a str,
    pub password: &'a str,
    /// `None`: the name stays.
    pub name: Option<&'a str>,
    /// The address that it comes from, for the limit of attempts.
    pub client: Option<IpAddr>,
    /// The browser's name for itself.
    pub label: &'a str,
}

impl Access {
    /// Creates a user without a password.
    pub async fn invite(
        &self,
        email: &str,
        name: Option<&str>,
        role: Role,
    ) -> Result<(User, IssuedInvitation), AccessError> {
        let (issued, invitation) = self.issue_invitation().await;
        let new = User { invitation: Some(invitation), ..self.new_user(email, name, role)? };
        self.create_user(&new).await?;
        Ok((new, issued))
    }

    /// The invitation before, if there is one, is good no more. Who has a password keeps it until they choose another.
    pub async fn renew_invitation(&self, user: UserId) -> Result<(User, IssuedInvitation), AccessError> {
        if self.user(user).await?.is_disabled() {
            return Err(AccessError::Disabled);
        }
        let (issued, invitation) = self.issue_invitation().await;
        let change = UserChange { invitation: Some(invitation), ..UserChange::default() };
        Ok((self.users.change_user(self.tenant, user, &change).await?, issued))
    }

    /// Sets the password, ends all sessions and logs in, as [`Self::log_in`] does. Attempts count like those of a login.
    pub async fn accept_invitation(&self, accept: AcceptInvitation<'_>) -> Result<OpenSession, AccessError> {
        let client = accept.client.map(network);
        self.closed_to(client.as_deref())?;
        let refused = || {
            self.count_failure_of(client.as_deref());
            tracing::info!("invitation refused");
            AccessError::Invitation
        };
        let token_hash = sha256(accept.token.as_bytes());
        // Looked at before the password is hashed, which is dear, and told that it is too short only to who is invited.
        let invited = self.users.user_by_invitation(self.tenant, &token_hash).await?;
        let now = self.clock.now();
        let open = invited.filter(|user| {
            !user.is_disabled() && user.invitation.as_ref().is_some_and(|invitation| invitation.expires_at > now)
        });
        if open.is_none() {
            return Err(refused());
        }
        let name = accept.name.map(checked_name).transpose()?.flatten();
        let password_hash = self.hash(accept.password).await?;
        let accepted = self
            .users
            .accept_invitation(self.tenant, &token_hash, &password_hash, name, self.clock.now())
            .await?
            .ok_or_else(refused)?;
        self.attempts.succeeded(&accepted.email, client.as_deref(), self.clock.now());
        self.note_administrator(&accepted).await?;
        tracing::info!(user = %accepted.id, "invitation accepted");
        Ok(self.with_password(&accepted, client.as_deref(), accept.label).await?)
    }

    async fn issue_invitation(&self) -> (IssuedInvitation, Invitation) {
        let token = marked(self.tenant, &secrets::hexadecimal(24));
        let lifetime = Duration::from_secs(u64::from(self.login_settings().await.invitation_s));
        let expires_at = self.clock.now().plus(lifetime);
        let token_hash = sha256(token.as_bytes());
        (IssuedInvitation { token, expires_at }, Invitation { token_hash, expires_at })
    }
}
