use serde::{Deserialize, Serialize};
use steward_access::{IssuedInvitation, LOCAL_USER};
use steward_core::ports::{self, Role, UserState};
use steward_core::{Timestamp, UserId};
use utoipa::ToSchema;

/// Somebody who can log in, was invited to, or is disabled.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct User {
    /// Their id.
    pub id: UserId,
    /// Lower case.
    pub email: String,
    /// To show.
    pub name: String,
    /// What they may do.
    pub role: Role,
    /// Whether they can use the installation.
    pub state: UserState,
    /// The user behind the programs of this machine's owner, such as the command line. It can't be changed.
    pub built_in: bool,
    /// Whether they have an API key.
    pub has_api_key: bool,
    /// When they were made or invited, milliseconds since 1970 UTC.
    pub created_at: Timestamp,
    /// When they last logged in; null: never.
    #[schema(required)]
    pub last_login_at: Option<Timestamp>,
    /// When they were disabled.
    #[schema(required)]
    pub disabled_at: Option<Timestamp>,
    /// When their invitation ends or ended; null: there is none that was not accepted.
    #[schema(required)]
    pub invitation_expires_at: Option<Timestamp>,
}

impl From<ports::User> for User {
    fn from(user: ports::User) -> Self {
        Self {
            state: user.state(),
            built_in: user.email == LOCAL_USER,
            has_api_key: user.api_key_hash.is_some(),
            id: user.id,
            email: user.email,
            name: user.name,
            role: user.role,
            created_at: user.created_at,
            last_login_at: user.last_login_at,
            disabled_at: user.disabled_at,
            invitation_expires_at: user.invitation.map(|invitation| invitation.expires_at),
        }
    }
}

/// A user, and how often they are logged in.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct UserDetail {
    /// The user.
    #[serde(flatten)]
    pub user: User,
    /// Logins that have not ended.
    pub sessions: usize,
}

/// An invitation that was just made.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Invitation {
    /// For the link `/invitation#token=…` of the studio. Shown this once; null where the answer is repeated for an
    /// idempotency key.
    #[schema(required)]
    pub token: Option<String>,
    /// When it ends.
    pub expires_at: Timestamp,
}

/// A user who was just invited.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct InvitedUser {
    /// The user.
    pub user: User,
    /// How they come to a password.
    pub invitation: Invitation,
}

impl InvitedUser {
    pub(crate) fn new(user: ports::User, issued: IssuedInvitation) -> Self {
        let invitation = Invitation { token: Some(issued.token), expires_at: issued.expires_at };
        Self { user: user.into(), invitation }
    }

    /// Without the token, which is kept nowhere.
    #[must_use]
    pub fn without_token(mut self) -> Self {
        self.invitation.token = None;
        self
    }
}

/// Whom to invite.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct UserInput {
    /// Email.
    #[schema(examples("ann@example.org"), max_length = 254)]
    pub email: String,
    /// To show; the email's first part if left out. They can choose another when they accept.
    #[schema(max_length = 100)]
    pub name: Option<String>,
    /// What they may do.
    pub role: Role,
}

/// What to change of a user. What is left out stays.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct UserPatch {
    /// To show.
    #[schema(nullable = false, max_length = 100)]
    pub name: Option<String>,
    /// What they may do, from the next request on.
    #[schema(nullable = false)]
    pub role: Option<Role>,
    /// Whether they are shut out: their sessions end, and no key of theirs opens anything.
    #[schema(nullable = false)]
    pub disabled: Option<bool>,
}

/// How many sessions were ended.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct EndedSessions {
    /// How many.
    pub ended: u64,
}
