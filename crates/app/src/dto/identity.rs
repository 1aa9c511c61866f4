use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use steward_access::{SavedDirectory, SavedProvider, Tried};
use steward_core::ports::ScimToken;
use steward_core::sign_on::{Directory, OidcProvider};
use utoipa::ToSchema;

/// A provider of OpenID Connect as it is saved.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = IdentityProvider)]
pub struct ProviderView {
    /// Its name, which stands in the address that the browser comes back to: `/api/auth/oidc/NAME/callback`.
    pub name: String,
    /// Its settings.
    pub settings: OidcProvider,
    /// Whether a client secret is kept. It is shown to nobody.
    pub has_secret: bool,
}

impl From<SavedProvider> for ProviderView {
    fn from(saved: SavedProvider) -> Self {
        Self { name: saved.name, settings: saved.settings, has_secret: saved.has_secret }
    }
}

/// What to save of a provider.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = IdentityProviderInput)]
#[serde(deny_unknown_fields)]
pub struct ProviderInput {
    /// Its settings.
    pub settings: OidcProvider,
    /// By which Steward proves itself to it. Left out: the one before stays; empty: there is none.
    #[serde(default)]
    #[schema(value_type = Option<String>, write_only, max_length = 4096)]
    pub client_secret: Option<SecretString>,
}

/// The directory as it is saved.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = IdentityDirectory)]
pub struct DirectoryView {
    /// Its settings; null: there is none.
    #[schema(required)]
    pub settings: Option<Directory>,
    /// Whether a password of the account that looks for people is kept. It is shown to nobody.
    pub has_password: bool,
}

impl From<Option<SavedDirectory>> for DirectoryView {
    fn from(saved: Option<SavedDirectory>) -> Self {
        let has_password = saved.as_ref().is_some_and(|saved| saved.has_secret);
        Self { settings: saved.map(|saved| saved.settings), has_password }
    }
}

/// What to save of the directory.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = IdentityDirectoryInput)]
#[serde(deny_unknown_fields)]
pub struct DirectoryInput {
    /// Its settings.
    pub settings: Directory,
    /// Of the account that looks for people. Left out: the one before stays; empty: there is none.
    #[serde(default)]
    #[schema(value_type = Option<String>, write_only, max_length = 4096)]
    pub password: Option<SecretString>,
}

/// A directory to try.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = IdentityDirectoryTrial)]
#[serde(deny_unknown_fields)]
pub struct DirectoryTrial {
    /// Its settings, saved or not.
    pub settings: Directory,
    /// Of the account that looks for people. Left out: the one that is kept, if server and account are those that it is
    /// kept for.
    #[serde(default)]
    #[schema(value_type = Option<String>, write_only, max_length = 4096)]
    pub password: Option<SecretString>,
    /// Somebody to look for.
    #[schema(max_length = 256)]
    pub login: Option<String>,
}

/// What came of trying a provider or the directory.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct TriedLogin {
    /// Whether people could log in with it, as far as that can be seen.
    pub works: bool,
    /// What was found, else why it does not work; for people.
    pub found: Vec<String>,
}

impl From<Tried> for TriedLogin {
    fn from(tried: Tried) -> Self {
        Self { works: tried.works, found: tried.found }
    }
}

/// Ways to log in, beside a password of Steward.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct OfferedLogins {
    /// Providers, by name.
    pub providers: Vec<OfferedProvider>,
    /// What the directory is called, whose accounts log in with a password too; null: there is none.
    #[schema(required)]
    pub directory: Option<String>,
}

/// A provider that people may log in with.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct OfferedProvider {
    /// For `/api/auth/oidc/NAME/start`, where the browser goes.
    pub name: String,
    /// For the button.
    pub label: String,
}

impl From<SavedProvider> for OfferedProvider {
    fn from(saved: SavedProvider) -> Self {
        Self { name: saved.name, label: saved.settings.label }
    }
}

/// A token for a provider to keep users and groups here.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ScimTokenInput {
    /// Its name, such as that of the provider.
    #[schema(min_length = 1, max_length = 100)]
    pub name: String,
}

/// A token that was just made.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct NewScimToken {
    /// The token.
    #[serde(flatten)]
    pub token: ScimToken,
    /// What the provider sends as the bearer token. Shown this once; null where the answer is repeated for an
    /// idempotency key.
    #[schema(required)]
    pub secret: Option<String>,
}
