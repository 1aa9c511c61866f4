//! How connections prove who they are.

use serde::{Deserialize, Serialize};

/// How a connection proves who it is. Names, not secrets: a key lies in the vault, under the connection's
/// id, or in an environment variable.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Auth {
    /// Not at all.
    #[default]
    None,
    /// `Authorization: Bearer`, the key from the vault.
    Bearer,
    /// The provider's own header for keys: `api-key`, `x-api-key`, `x-goog-api-key`.
    ApiKey,
    /// `Authorization: Basic`, the password from the vault.
    Basic {
        /// User name.
        user: String,
    },
    /// Any header, its value from the vault.
    Header {
        /// Name of the header.
        header: String,
    },
    /// Requests signed as Amazon wants it, with access keys from the vault.
    Aws {
        /// Where the model runs, such as `eu-central-1`.
        region: String,
    },
    /// `Authorization: Bearer`; the key is in an environment variable of the server.
    BearerEnv {
        /// Name of the environment variable.
        variable: String,
    },
    /// The same, in the provider's own header for keys.
    ApiKeyEnv {
        /// Name of the environment variable that holds the key.
        variable: String,
    },
    /// `Authorization: Basic`; the password is in an environment variable of the server.
    BasicEnv {
        /// User name.
        user: String,
        /// Name of the environment variable that holds the password.
        variable: String,
    },
    /// Any header; its value is in an environment variable of the server.
    HeaderEnv {
        /// Name of the header.
        header: String,
        /// Name of the environment variable that holds its value.
        variable: String,
    },
    /// Signed requests to Amazon, with `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and, where it is set,
    /// `AWS_SESSION_TOKEN` of the server.
    AwsEnv {
        /// Where the model runs.
        region: String,
    },
}

/// Vault field of the key, the password, the header's value or the secret access key.
pub const KEY_FIELD: &str = "key";
/// Vault field of the access key's id, for [`Auth::Aws`].
pub const ACCESS_KEY_FIELD: &str = "access_key_id";
/// Vault field of the session token, for [`Auth::Aws`].
pub const SESSION_FIELD: &str = "session_token";

impl Auth {
    pub fn variable(&self) -> Option<&str> {
        match self {
            Self::BearerEnv { variable }
            | Self::ApiKeyEnv { variable }
            | Self::BasicEnv { variable, .. }
            | Self::HeaderEnv { variable, .. } => Some(variable),
            _ => None,
        }
    }

    pub fn is_sealed(&self) -> bool {
        matches!(self, Self::Bearer | Self::ApiKey | Self::Basic { .. } | Self::Header { .. } | Self::Aws { .. })
    }
}
