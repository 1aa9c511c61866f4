//! How a connection proves who it is: the header that is sent, and what must not be told of it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use steward_core::model::{Auth, Connection, Provider};

use super::secrets::Secrets;

/// The header of a call, and every form of the secret that an answer could repeat.
#[derive(Debug, Clone, Default)]
pub(crate) struct Credential {
    pub header: Option<(HeaderName, HeaderValue)>,
    pub secrets: Vec<SecretString>,
}

/// Why there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NoCredential {
    /// The environment variable is not set.
    Missing(String),
    /// Its value can't stand in a header.
    Unusable,
    /// The header's name is none.
    BadHeader(String),
}

/// The credential of `connection`.
pub(super) fn credential(
    connection: &Connection,
    secrets: &Secrets,
) -> Result<Credential, NoCredential> {
    let Some(variable) = connection.auth.variable() else {
        return Ok(Credential::default());
    };
    let secret = secrets
        .get(variable)
        .ok_or_else(|| NoCredential::Missing(variable.to_owned()))?;
    let key = secret.expose_secret().trim();
    let mut kept = Vec::with_capacity(2);
    let (name, value) = match &connection.auth {
        Auth::None => return Ok(Credential::default()),
        Auth::BearerEnv { .. } => (AUTHORIZATION, format!("Bearer {key}")),
        Auth::ApiKeyEnv { .. } => match key_header(connection.provider) {
            Some(name) => (HeaderName::from_static(name), key.to_owned()),
            None => (AUTHORIZATION, format!("Bearer {key}")),
        },
        Auth::BasicEnv { user, .. } => {
            let coded = STANDARD.encode(format!("{user}:{key}"));
            kept.push(SecretString::from(coded.as_str()));
            (AUTHORIZATION, format!("Basic {coded}"))
        }
        Auth::HeaderEnv { header, .. } => {
            let name = HeaderName::try_from(header.trim())
                .map_err(|_| NoCredential::BadHeader(header.clone()))?;
            (name, key.to_owned())
        }
    };
    let mut value = HeaderValue::try_from(value).map_err(|_| NoCredential::Unusable)?;
    value.set_sensitive(true);
    kept.push(secret);
    Ok(Credential {
        header: Some((name, value)),
        secrets: kept,
    })
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

    fn check(provider: Provider, auth: &Auth, header: &str, value: &str) {
        let secrets = Secrets::new(|name| (name == "KEY").then(|| " k3y-value\n".into()));
        let made = credential(&connection(provider, auth.clone()), &secrets).unwrap();
        let (name, got) = made.header.clone().unwrap();
        assert_eq!((name.as_str(), got.to_str().unwrap()), (header, value));
        assert!(got.is_sensitive());
        assert!(!format!("{made:?}").contains("k3y"), "{auth:?}");
    }

    #[test]
    fn every_kind() {
        let variable = || "KEY".to_owned();
        let bearer = Auth::BearerEnv {
            variable: variable(),
        };
        let own = Auth::ApiKeyEnv {
            variable: variable(),
        };
        check(Provider::Vllm, &bearer, "authorization", "Bearer k3y-value");
        for (provider, header) in [
            (Provider::AzureOpenAi, "api-key"),
            (Provider::Anthropic, "x-api-key"),
            (Provider::Gemini, "x-goog-api-key"),
            (Provider::Compatible, "x-api-key"),
        ] {
            check(provider, &own, header, "k3y-value");
        }
        check(Provider::Cohere, &own, "authorization", "Bearer k3y-value");
        let basic = Auth::BasicEnv {
            user: "me".to_owned(),
            variable: variable(),
        };
        check(
            Provider::Compatible,
            &basic,
            "authorization",
            "Basic bWU6azN5LXZhbHVl",
        );
        let header = Auth::HeaderEnv {
            header: "X-Portal-Token".to_owned(),
            variable: variable(),
        };
        check(Provider::Compatible, &header, "x-portal-token", "k3y-value");
    }

    #[test]
    fn what_can_not_be_sent() {
        let none = Secrets::none();
        let odd = Secrets::new(|_| Some("a\nb".into()));
        let bearer = Auth::BearerEnv {
            variable: "KEY".to_owned(),
        };
        let of = |auth: &Auth, secrets: &Secrets| {
            credential(&connection(Provider::OpenAi, auth.clone()), secrets).unwrap_err()
        };
        assert_eq!(of(&bearer, &none), NoCredential::Missing("KEY".to_owned()));
        assert_eq!(of(&bearer, &odd), NoCredential::Unusable);
        let header = Auth::HeaderEnv {
            header: "X Token".to_owned(),
            variable: "KEY".to_owned(),
        };
        assert_eq!(
            of(&header, &odd),
            NoCredential::BadHeader("X Token".to_owned())
        );
        let no_auth = connection(Provider::OpenAi, Auth::None);
        assert!(credential(&no_auth, &none).unwrap().header.is_none());
    }
}
