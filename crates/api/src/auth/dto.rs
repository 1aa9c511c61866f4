use serde::{Deserialize, Serialize};
use steward_app::{Account, OpenSession};
use steward_core::ports::{Challenge, LoginSession, Role};
use steward_core::{TenantId, Timestamp, UserId};
use utoipa::ToSchema;
use uuid::Uuid;

/// Body of a login.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Login {
    /// Email.
    #[schema(examples("you@example.org"))]
    pub email: String,
    /// Password.
    pub password: String,
    /// The slug of the organisation; the installation's own if left out.
    #[serde(default)]
    #[schema(max_length = 40)]
    pub tenant: Option<String>,
}

/// Body of a login by the directory.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DirectoryLogin {
    /// The name in the directory, or the email.
    #[schema(examples("ada"), max_length = 256)]
    pub username: String,
    /// Password.
    pub password: String,
    /// The slug of the organisation; the installation's own if left out.
    #[serde(default)]
    #[schema(max_length = 40)]
    pub tenant: Option<String>,
}

/// The password is right, and a code of the second factor is needed.
#[derive(Serialize, ToSchema)]
#[schema(as = SecondFactorRequired)]
pub(crate) struct PendingLogin {
    /// Always true.
    pub second_factor_required: bool,
    /// For `POST /api/auth/second-factor`.
    pub challenge: String,
    /// Seconds that the challenge is good for.
    pub expires_in: u64,
    /// Whether the user must first set a second factor up, with `POST /api/auth/second-factor/enrol`.
    pub enrol: bool,
}

impl From<Challenge> for PendingLogin {
    fn from(challenge: Challenge) -> Self {
        Self {
            second_factor_required: true,
            challenge: challenge.token,
            expires_in: challenge.expires_in,
            enrol: challenge.enrol,
        }
    }
}

/// Body of the first set-up.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SetUp {
    /// The one-time token that the terminal shows.
    pub token: String,
    /// Email of the administrator.
    #[schema(examples("you@example.org"))]
    pub email: String,
    /// At least 10 characters.
    #[schema(min_length = 10, max_length = 1000)]
    pub password: String,
    /// To show; the email's first part if left out.
    pub name: Option<String>,
}

/// Body of the acceptance of an invitation.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AcceptedInvitation {
    /// The one-time token of the link.
    pub token: String,
    /// At least 10 characters.
    #[schema(min_length = 10, max_length = 1000)]
    pub password: String,
    /// To show; the one of the invitation if left out.
    pub name: Option<String>,
}

/// Body of a change of password.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewPassword {
    /// The password of now.
    pub current: String,
    /// At least 10 characters.
    #[schema(min_length = 10, max_length = 1000)]
    pub new: String,
}

/// The caller.
#[derive(Serialize, ToSchema)]
pub(crate) struct Me {
    /// Their id.
    pub id: UserId,
    /// Their email.
    pub email: String,
    /// To show.
    pub name: String,
    /// What they may do.
    pub role: Role,
    /// Whether they are of the installation's own organisation, whose administrators look after all.
    pub installation: bool,
}

impl From<Account> for Me {
    fn from(account: Account) -> Self {
        let installation = account.tenant == TenantId::DEFAULT;
        Self { id: account.id, email: account.email, name: account.name, role: account.role, installation }
    }
}

/// A login. The refresh token is in the cookie `steward_refresh`.
#[derive(Serialize, ToSchema)]
pub(crate) struct Session {
    /// For `Authorization: Bearer …`.
    pub access_token: String,
    /// Always `bearer`.
    #[schema(value_type = TokenType)]
    pub token_type: TokenType,
    /// Seconds that the access token is good for.
    pub expires_in: u64,
    /// Whose.
    pub user: Me,
}

/// How the token is sent.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum TokenType {
    /// In `Authorization`.
    Bearer,
}

impl From<OpenSession> for Session {
    fn from(open: OpenSession) -> Self {
        Self {
            access_token: open.access_token,
            token_type: TokenType::Bearer,
            expires_in: open.expires_in,
            user: open.user.into(),
        }
    }
}

/// What a client must know before a login.
#[derive(Serialize, ToSchema)]
pub(crate) struct AuthStatus {
    /// There is no administrator yet: make one with the token of the terminal.
    pub needs_setup: bool,
    /// Version of the program.
    pub version: String,
    /// Whether people may have to name their organisation.
    pub several_tenants: bool,
}

/// One login of the caller.
#[derive(Serialize, ToSchema)]
pub(crate) struct LoginSessionView {
    /// Its id.
    pub id: Uuid,
    /// What the browser calls itself.
    pub label: String,
    /// When it began.
    pub created_at: Timestamp,
    /// When it was last prolonged.
    pub rotated_at: Timestamp,
    /// When it ends if nobody prolongs it.
    pub expires_at: Timestamp,
    /// Whether this request came by it.
    pub current: bool,
}

impl LoginSessionView {
    /// `current`: the login of the request.
    pub fn of(session: LoginSession, current: Option<Uuid>) -> Self {
        Self {
            current: current == Some(session.id),
            id: session.id,
            label: session.label,
            created_at: session.created_at,
            rotated_at: session.rotated_at,
            expires_at: session.expires_at,
        }
    }
}

/// A key, shown this once.
#[derive(Serialize, ToSchema)]
pub(crate) struct ApiKey {
    /// For `Authorization: Bearer …`.
    pub api_key: String,
}
