//! Servers that ssh skills reach.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A server and its key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(crate) struct SshHost {
    /// Name or address, lower case.
    pub host: String,
    /// Port.
    pub port: u16,
    /// SHA-256 fingerprint of its host key, as OpenSSH writes it.
    pub fingerprint: String,
}

/// A key to accept.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SshHostInput {
    /// Name or address.
    #[schema(min_length = 1, max_length = 255)]
    pub host: String,
    /// Port; left out: 22.
    #[serde(default)]
    #[schema(minimum = 1)]
    pub port: Option<u16>,
    /// `SHA256:…`, as the refusal showed it.
    #[schema(pattern = "^SHA256:[A-Za-z0-9+/]{43}$")]
    pub fingerprint: String,
}
