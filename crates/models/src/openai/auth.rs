//! How a connection proves who it is: the header that is sent, or the signature of the whole request, and
//! what must not be told of it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use steward_core::model::{ACCESS_KEY_FIELD, Auth, Connection, KEY_FIELD, Provider, SESSION_FIELD};
use steward_core::ports::TypedKey;

use super::sign::AccessKey;

/// The proof of a call, and every form of the secret that an answer could repeat.
#[derive(Debug, Clone, Default)]
pub(crate) struct Credential {
    pub header: Option<(HeaderName, HeaderValue)>,
    pub access_key: Option<AccessKey>,
    pub secrets: Vec<SecretString>,
}

/// Why there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NoCredential {
    /// The environment variable is not set.
    Missing(String),
    /// The variable is not one for keys; why.
    Refused(String),
    /// The vault has no key for the connection.
    NotKept,
    /// The vault can't open it; why.
    Sealed(String),
    /// Its value can't stand in a header.
    Unusable,
    /// The header's name is none.
    BadHeader(String),
}

/// The proof that `connection` gives with the `fields` of its key.
pub(super) fn credential(connection: &Connection, fields: &TypedKey) -> Result<Credential, NoCredential> {
    let field = |name: &str| fields.get(name).map(|value| value.expose_secret().trim());
    let key = || field(KEY_FIELD).ok_or(NoCredential::NotKept);
    let mut kept: Vec<SecretString> = fields.values().cloned().collect();
    let (name, value) = match &connection.auth {
        Auth::None => return Ok(Credential::default()),
        Auth::Bearer | Auth::BearerEnv { .. } => (AUTHORIZATION, format!("Bearer {}", key()?)),
        Auth::ApiKey | Auth::ApiKeyEnv { .. } => match key_header(connection.provider) {
            Some(name) => (HeaderName::from_static(name), key()?.to_owned()),
            None => (AUTHORIZATION, format!("Bearer {}", key()?)),
        },
        Auth::Basic { user } | Auth::BasicEnv { user, .. } => {
            let coded = STANDARD.encode(format!("{user}:{}", key()?));
            kept.push(SecretString::from(coded.as_str()));
            (AUTHORIZATION, format!("Basic {coded}"))
        }
        Auth::Header { header } | Auth::HeaderEnv { header, .. } => {
            let name = HeaderName::try_from(header.trim()).map_err(|_| NoCredential::BadHeader(header.clone()))?;
            (name, key()?.to_owned())
        }
        Auth::Aws { region } | Auth::AwsEnv { region } => {
            let access_key = AccessKey {
                region: region.trim().to_owned(),
                id: field(ACCESS_KEY_FIELD).ok_or(NoCredential::NotKept)?.into(),
                secret: key()?.into(),
                session: field(SESSION_FIELD).map(Into::into),
            };
            return Ok(Credential { header: None, access_key: Some(access_key), secrets: kept });
        }
    };
    let mut value = HeaderValue::try_from(value).map_err(|_| NoCredential::Unusable)?;
    value.set_sensitive(true);
    Ok(Credential { header: Some((name, value)), access_key: None, secrets: kept })
}

/// The provider's own header for keys; `None` where that is `Authorization: Bearer`.
fn key_header(provider: Provider) -> Option<&'static str> {
    match provider {
        Provider::AzureOpenAi => Some("api-key"),
        Provider::Gemini => Some("x-goog-api-key"),
        Provider::OpenAi | Provider::Cohere | Provider::HuggingFace | Provider::Bedrock => None,
        _ => Some("x-api-key"),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use steward_core::ConnectionId;
    use steward_core::model::Capabilities;

    fn connection(provider: Provider, auth: Auth) -> Connection {
        Connection {
            id: ConnectionId::from(uuid::Uuid::from_u128(1)),
            name: "work".to_owned(),
            provider,
            base_url: String::new(),
            model: "m".to_owned(),
            auth,
            capabilities: Capabilities::default(),
            wire: None,
            price: None,
            weight: 1,
            by_hand: Vec::new(),
        }
    }

    fn fields(key: &str) -> TypedKey {
        [(KEY_FIELD.to_owned(), key.into())].into()
    }

    fn check(provider: Provider, auth: &Auth, header: &str, value: &str) {
        let made = credential(&connection(provider, auth.clone()), &fields(" k3y-value\n")).unwrap();
        let (name, got) = made.header.clone().unwrap();
        assert_eq!((name.as_str(), got.to_str().unwrap()), (header, value));
        assert!(got.is_sensitive());
        assert!(!format!("{made:?}").contains("k3y"), "{auth:?}");
    }

    #[test]
    fn every_kind() {
        let variable = || "KEY".to_owned();
        let pairs = |sealed: Auth, env: Auth| [sealed, env];
        for bearer in pairs(Auth::Bearer, Auth::BearerEnv { variable: variable() }) {
            check(Provider::Vllm, &bearer, "authorization", "Bearer k3y-value");
        }
        for own in pairs(Auth::ApiKey, Auth::ApiKeyEnv { variable: variable() }) {
            for (provider, header) in [
                (Provider::AzureOpenAi, "api-key"),
                (Provider::Anthropic, "x-api-key"),
                (Provider::Gemini, "x-goog-api-key"),
                (Provider::Compatible, "x-api-key"),
            ] {
                check(provider, &own, header, "k3y-value");
            }
            check(Provider::Cohere, &own, "authorization", "Bearer k3y-value");
        }
        let user = || "me".to_owned();
        for basic in pairs(Auth::Basic { user: user() }, Auth::BasicEnv { user: user(), variable: variable() }) {
            let coded = "Basic bWU6azN5LXZhbHVl";
            check(Provider::Compatible, &basic, "authorization", coded);
        }
        let header = || "X-Portal-Token".to_owned();
        for header in
            pairs(Auth::Header { header: header() }, Auth::HeaderEnv { header: header(), variable: variable() })
        {
            check(Provider::Compatible, &header, "x-portal-token", "k3y-value");
        }
    }

    #[test]
    fn what_can_not_be_sent() {
        let of = |auth: &Auth, fields: &TypedKey| {
            credential(&connection(Provider::OpenAi, auth.clone()), fields).unwrap_err()
        };
        assert_eq!(of(&Auth::Bearer, &TypedKey::new()), NoCredential::NotKept);
        let aws = Auth::Aws { region: "us-east-1".to_owned() };
        assert_eq!(of(&aws, &fields("secret")), NoCredential::NotKept);
        assert_eq!(of(&Auth::Bearer, &fields("a\nb")), NoCredential::Unusable);
        let header = Auth::Header { header: "X Token".to_owned() };
        assert_eq!(of(&header, &fields("k")), NoCredential::BadHeader("X Token".to_owned()));
        let no_auth = connection(Provider::OpenAi, Auth::None);
        assert!(credential(&no_auth, &TypedKey::new()).unwrap().header.is_none());
    }
}
