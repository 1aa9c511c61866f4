//! How a connection proves who it is, with keys. They go one way only.

use secrecy::SecretString;
use serde::Deserialize;
use steward_core::model::{ACCESS_KEY_FIELD, Auth, KEY_FIELD, SESSION_FIELD};
use steward_core::ports::TypedKey;
use utoipa::ToSchema;

/// How a connection proves who it is, with the secret, which is sealed in the vault and never shown again. One that is
/// left out stays as it is; a new one acts at the next call.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum AuthInput {
    /// Not at all.
    #[default]
    None,
    /// `Authorization: Bearer`.
    Bearer {
        /// The key.
        #[serde(default)]
        #[schema(value_type = Option<String>, write_only)]
        key: Option<SecretString>,
    },
    /// The provider's own header for keys.
    ApiKey {
        /// The key.
        #[serde(default)]
        #[schema(value_type = Option<String>, write_only)]
        key: Option<SecretString>,
    },
    /// User name and password.
    Basic {
        /// User name.
        user: String,
        /// Password.
        #[serde(default)]
        #[schema(value_type = Option<String>, write_only)]
        key: Option<SecretString>,
    },
    /// Any header.
    Header {
        /// Name of the header.
        header: String,
        /// Its value.
        #[serde(default)]
        #[schema(value_type = Option<String>, write_only)]
        key: Option<SecretString>,
    },
    /// Signed requests to Amazon.
    Aws {
        /// Where the model runs, such as `eu-central-1`.
        region: String,
        /// Id of the access key; goes with the secret one.
        #[serde(default)]
        #[schema(value_type = Option<String>, write_only)]
        access_key_id: Option<SecretString>,
        /// The secret access key.
        #[serde(default)]
        #[schema(value_type = Option<String>, write_only)]
        secret_access_key: Option<SecretString>,
        /// The token of a passing access key.
        #[serde(default)]
        #[schema(value_type = Option<String>, write_only)]
        session_token: Option<SecretString>,
    },
    /// The key is in an environment variable of the server.
    BearerEnv {
        /// Its name.
        variable: String,
    },
    /// The same, in the provider's own header for keys.
    ApiKeyEnv {
        /// Name of the environment variable.
        variable: String,
    },
    /// User name and password; the password is in an environment variable.
    BasicEnv {
        /// User name.
        user: String,
        /// Name of the environment variable.
        variable: String,
    },
    /// Any header; its value is in an environment variable.
    HeaderEnv {
        /// Name of the header.
        header: String,
        /// Name of the environment variable.
        variable: String,
    },
    /// Signed requests to Amazon, with `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY` of the server.
    AwsEnv {
        /// Where the model runs.
        region: String,
    },
}

impl AuthInput {
    pub fn parted(self) -> (Auth, TypedKey) {
        let one = |key: Option<SecretString>| -> TypedKey {
            key.map(|key| (KEY_FIELD.to_owned(), key)).into_iter().collect()
        };
        match self {
            Self::None => (Auth::None, TypedKey::new()),
            Self::Bearer { key } => (Auth::Bearer, one(key)),
            Self::ApiKey { key } => (Auth::ApiKey, one(key)),
            Self::Basic { user, key } => (Auth::Basic { user }, one(key)),
            Self::Header { header, key } => (Auth::Header { header }, one(key)),
            Self::Aws { region, access_key_id: None, .. } => (Auth::Aws { region }, TypedKey::new()),
            Self::Aws { region, access_key_id: Some(id), secret_access_key, session_token } => {
                let mut key = one(secret_access_key);
                key.insert(ACCESS_KEY_FIELD.to_owned(), id);
                // An empty one takes away what was there.
                key.insert(SESSION_FIELD.to_owned(), session_token.unwrap_or_default());
                (Auth::Aws { region }, key)
            }
            Self::BearerEnv { variable } => (Auth::BearerEnv { variable }, TypedKey::new()),
            Self::ApiKeyEnv { variable } => (Auth::ApiKeyEnv { variable }, TypedKey::new()),
            Self::BasicEnv { user, variable } => (Auth::BasicEnv { user, variable }, TypedKey::new()),
            Self::HeaderEnv { header, variable } => (Auth::HeaderEnv { header, variable }, TypedKey::new()),
            Self::AwsEnv { region } => (Auth::AwsEnv { region }, TypedKey::new()),
        }
    }
}
