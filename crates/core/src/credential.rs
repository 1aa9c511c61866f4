//! Credentials as people and skills see them: names and kinds, never secrets.

use crate::ports::Role;
use crate::{AgentId, ConnectionId, CredentialId, RunId, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use strum::IntoStaticStr;

/// What a secret is.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, utoipa::ToSchema, IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum CredentialKind {
    /// `username`, `password`.
    Password,
    /// `key`; `header` where it isn't `Authorization: Bearer`.
    ApiKey,
    /// `username`, `private_key`, optional `passphrase`, `sudo_password`.
    SshKey,
    /// `token`.
    Token,
    /// `client_id`, `client_secret`, `token_url`, optional `scope`, `refresh_token`, `access_token`.
    Oauth2,
    /// `certificate`, `private_key`, both PEM.
    Certificate,
    /// `url`, or `engine`, `host`, `port`, `database`, with `username` and `password`.
    Database,
}

/// A field of a credential.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[schema(as = CredentialField)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// Whether it is shown to nobody.
    pub secret: bool,
    /// Whether it must be there.
    pub required: bool,
}

const fn field(name: &'static str, secret: bool, required: bool) -> Field {
    Field { name, secret, required }
}

const PASSWORD: &[Field] =
    &[field("username", false, true), field("password", true, true), field("sudo_password", true, false)];
const API_KEY: &[Field] = &[field("key", true, true), field("header", false, false)];
const SSH_KEY: &[Field] = &[
    field("username", false, true),
    field("private_key", true, true),
    field("passphrase", true, false),
    field("sudo_password", true, false),
];
const TOKEN: &[Field] = &[field("token", true, true)];
const OAUTH2: &[Field] = &[
    field("client_id", false, true),
    field("client_secret", true, false),
    field("token_url", false, true),
    field("scope", false, false),
    field("refresh_token", true, false),
    field("access_token", true, false),
];
const CERTIFICATE: &[Field] = &[field("certificate", false, true), field("private_key", true, true)];
const DATABASE: &[Field] = &[
    field("url", true, false),
    field("engine", false, false),
    field("host", false, false),
    field("port", false, false),
    field("database", false, false),
    field("username", false, false),
    field("password", true, false),
];

impl CredentialKind {
    pub const ALL: [Self; 7] =
        [Self::Password, Self::ApiKey, Self::SshKey, Self::Token, Self::Oauth2, Self::Certificate, Self::Database];

    /// Its name, as stored.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Fields of other names are allowed, and secret.
    pub fn fields(self) -> &'static [Field] {
        match self {
            Self::Password => PASSWORD,
            Self::ApiKey => API_KEY,
            Self::SshKey => SSH_KEY,
            Self::Token => TOKEN,
            Self::Oauth2 => OAUTH2,
            Self::Certificate => CERTIFICATE,
            Self::Database => DATABASE,
        }
    }

    pub fn shows(self, name: &str) -> bool {
        self.fields().iter().any(|field| field.name == name && !field.secret)
    }
}

/// A credential without its secrets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Credential {
    /// Its id; also the handle that skills hold.
    pub id: CredentialId,
    /// Its name, unique.
    pub name: String,
    /// What it is.
    pub kind: CredentialKind,
    /// For people.
    pub description: String,
    /// Fields that may be shown.
    pub shown: BTreeMap<String, String>,
    /// Names of the fields that may not.
    pub secret: Vec<String>,
    /// Roles whose runs may use it, beside the agents that name it.
    pub roles: Vec<Role>,
    /// Whether skills may find it by kind and name alone.
    pub discoverable: bool,
    /// The connection whose key it is. Nothing else may use it, and it is changed and removed with it.
    #[schema(required)]
    pub connection: Option<ConnectionId>,
    /// When it was made, milliseconds since 1970 UTC.
    pub created_at: Timestamp,
    /// When its secrets were last changed.
    pub changed_at: Timestamp,
    /// When it was last used.
    #[schema(required)]
    pub used_at: Option<Timestamp>,
    /// When it ends, if it does.
    #[schema(required)]
    pub expires_at: Option<Timestamp>,
}

/// One use of a credential, written down before the secret is handed out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CredentialUse {
    pub credential: CredentialId,
    /// `None` for a test by a person.
    pub run: Option<RunId>,
    pub agent: Option<AgentId>,
    pub tool: String,
    pub at: Timestamp,
}
