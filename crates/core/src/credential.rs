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
    /// Hosts that it may be sent to: `api.example.org`, `*.example.org` for all below it, with `:port` or for any port.
    /// Empty: wherever an operator's skill sends it.
    #[serde(default)]
    #[schema(required)]
    pub hosts: Vec<String>,
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

impl Credential {
    /// Whether it may be sent to this host. `port`: `None` where it is not known, which fits no host with a port.
    pub fn may_go_to(&self, host: &str, port: Option<u16>) -> bool {
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        self.hosts.is_empty()
            || self.hosts.iter().any(|allowed| {
                let (name, allowed_port) = split_port(allowed);
                let named = match name.strip_prefix("*.") {
                    Some(parent) => host.strip_suffix(parent).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.')),
                    None => host == name,
                };
                named && (allowed_port.is_none() || allowed_port == port)
            })
    }
}

/// Whether a text can stand in [`Credential::hosts`].
pub fn is_host_pattern(text: &str) -> bool {
    let (name, port) = split_port(text);
    let name = name.strip_prefix("*.").unwrap_or(name);
    let address = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let label = |label: &str| {
        !label.is_empty()
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_')
    };
    let host = address.map_or_else(
        || name.len() <= 253 && name.split('.').all(label),
        |address| address.parse::<std::net::Ipv6Addr>().is_ok(),
    );
    host && (port.is_some() || !text.rsplit(']').next().unwrap_or(text).contains(':'))
}

fn split_port(text: &str) -> (&str, Option<u16>) {
    match text.rsplit_once(':') {
        Some((name, port)) => match port.parse() {
            Ok(port) if port > 0 => (name, Some(port)),
            _ => (text, None),
        },
        None => (text, None),
    }
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

#[cfg(test)]
mod tests {
    use super::{Credential, CredentialKind, is_host_pattern};
    use crate::{CredentialId, Timestamp};
    use std::collections::BTreeMap;
    use uuid::Uuid;

    fn sent_to(hosts: &[&str]) -> Credential {
        Credential {
            id: CredentialId(Uuid::nil()),
            name: "key".to_owned(),
            kind: CredentialKind::Token,
            description: String::new(),
            shown: BTreeMap::new(),
            secret: Vec::new(),
            roles: Vec::new(),
            discoverable: false,
            hosts: hosts.iter().map(|host| (*host).to_owned()).collect(),
            connection: None,
            created_at: Timestamp(0),
            changed_at: Timestamp(0),
            used_at: None,
            expires_at: None,
        }
    }

    #[test]
    fn a_kind_has_one_word() {
        for kind in CredentialKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
        }
    }

    #[test]
    fn a_credential_goes_only_to_its_hosts() {
        for (hosts, host, port, expect) in [
            (&[][..], "anywhere.example", Some(80), true),
            (&["api.example.org"], "api.example.org", Some(443), true),
            (&["api.example.org"], "API.example.org.", None, true),
            (&["api.example.org"], "example.org", Some(443), false),
            (&["api.example.org"], "evil-api.example.org", Some(443), false),
            (&["api.example.org"], "api.example.org.evil.net", Some(443), false),
            (&["*.example.org"], "api.example.org", Some(443), true),
            (&["*.example.org"], "a.b.example.org", Some(443), true),
            (&["*.example.org"], "example.org", Some(443), false),
            (&["*.example.org"], ".example.org", Some(443), false),
            (&["*.example.org"], "evilexample.org", Some(443), false),
            (&["api.example.org:8443"], "api.example.org", Some(8443), true),
            (&["api.example.org:8443"], "api.example.org", Some(443), false),
            (&["api.example.org:8443"], "api.example.org", None, false),
            (&["a.example", "10.0.0.7:5432"], "10.0.0.7", Some(5432), true),
            (&["[::1]:5432"], "[::1]", Some(5432), true),
            (&["[::1]"], "[::1]", Some(1), true),
        ] {
            assert_eq!(sent_to(hosts).may_go_to(host, port), expect, "{hosts:?} {host} {port:?}");
        }
    }

    #[test]
    fn a_host_pattern_is_a_name_or_an_address() {
        for good in ["a.example", "*.a.example", "localhost:8080", "10.0.0.1", "10.0.0.1:80", "[::1]", "[fe80::1]:22"] {
            assert!(is_host_pattern(good), "{good}");
        }
        for bad in [
            "",
            "*",
            "*.",
            "https://a.example",
            "a.example/x",
            "a b",
            "a..b",
            "A.example",
            "a:0",
            "a:99999",
            "a:b",
            "-a",
            "::1",
            "user@a.example",
        ] {
            assert!(!is_host_pattern(bad), "{bad}");
        }
    }
}
