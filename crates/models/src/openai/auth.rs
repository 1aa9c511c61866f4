//! How a connection authenticates: a header or a key that signs, and the secrets that errors must not repeat.

use aws_credential_types::Credentials;
use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningSettings, UriPathNormalizationMode, sign};
use aws_sigv4::sign::v4;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use steward_core::TenantId;
use steward_core::model::{ACCESS_KEY_FIELD, Auth, Connection, KEY_FIELD, Provider, SESSION_FIELD};
use steward_core::ports::{Clock, ConnectionKeys, TypedKey};
use steward_core::scrub::Scrubber;
use url::Url;

#[derive(Debug, Clone, Default)]
pub(crate) struct Credential {
    pub header: Option<(HeaderName, HeaderValue)>,
    pub access_key: Option<AccessKey>,
    /// Every form of the secret that an answer could repeat.
    pub secrets: Vec<SecretString>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NoCredential {
    /// This environment variable is not set.
    Missing(String),
    /// The variable may not be used for keys; why.
    Refused(String),
    /// The vault has no key for the connection.
    NotKept,
    /// The vault can't open it; why.
    Sealed(String),
    /// The value can't be a header's.
    Unusable,
    BadHeader(String),
}

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

/// Signs requests by Amazon's signature version 4.
#[derive(Debug, Clone)]
pub(crate) struct AccessKey {
    pub region: String,
    pub id: SecretString,
    pub secret: SecretString,
    pub session: Option<SecretString>,
}

impl AccessKey {
    /// The headers that sign a request, which must have this body and at least these headers.
    pub fn sign(
        &self,
        service: &str,
        method: &str,
        url: &Url,
        headers: &[(&str, &str)],
        body: &[u8],
        now: SystemTime,
    ) -> Result<HeaderMap, String> {
        let identity = Credentials::new(
            self.id.expose_secret(),
            self.secret.expose_secret(),
            self.session.as_ref().map(|token| token.expose_secret().to_owned()),
            None,
            "connection",
        )
        .into();
        let mut settings = SigningSettings::default();
        // The URL is sent as it is, so it is signed as it is.
        settings.uri_path_normalization_mode = UriPathNormalizationMode::Disabled;
        let params = v4::SigningParams::builder()
            .identity(&identity)
            .region(&self.region)
            .name(service)
            .time(now)
            .settings(settings)
            .build()
            .map_err(|error| error.to_string())?;
        let request = SignableRequest::new(method, url.as_str(), headers.iter().copied(), SignableBody::Bytes(body));
        let request = request.map_err(|error| error.to_string())?;
        let signed = sign(request, &params.into()).map_err(|error| error.to_string())?;
        let (instructions, _) = signed.into_parts();
        let mut out = HeaderMap::new();
        for (name, value) in instructions.headers() {
            let unusable = || "its access key holds characters that no key has".to_owned();
            let name = HeaderName::try_from(name).map_err(|_| unusable())?;
            let mut value = HeaderValue::try_from(value).map_err(|_| unusable())?;
            value.set_sensitive(true);
            out.insert(name, value);
        }
        Ok(out)
    }
}

/// The provider's own header for keys; `None`: `Authorization: Bearer`.
fn key_header(provider: Provider) -> Option<&'static str> {
    match provider {
        Provider::AzureOpenAi => Some("api-key"),
        Provider::Gemini => Some("x-goog-api-key"),
        Provider::OpenAi | Provider::Cohere | Provider::HuggingFace | Provider::Bedrock => None,
        _ => Some("x-api-key"),
    }
}

type Lookup = dyn Fn(&str) -> Option<SecretString> + Send + Sync;
type Check = dyn Fn(&str) -> Result<(), String> + Send + Sync;

/// Finds keys in the vault or in environment variables at each call, so that a changed key needs no restart.
#[derive(Clone)]
pub struct Secrets {
    lookup: Arc<Lookup>,
    check: Arc<Check>,
    vault: Option<(TenantId, Arc<dyn ConnectionKeys>)>,
    clock: Option<Arc<dyn Clock>>,
}

impl Secrets {
    /// `lookup` reads environment variables.
    pub fn new(lookup: impl Fn(&str) -> Option<SecretString> + Send + Sync + 'static) -> Self {
        Self { lookup: Arc::new(lookup), check: Arc::new(|_| Ok(())), vault: None, clock: None }
    }

    pub fn none() -> Self {
        Self::new(|_| None)
    }

    /// Only variables that `check` allows are read.
    #[must_use]
    pub fn checked(mut self, check: impl Fn(&str) -> Result<(), String> + Send + Sync + 'static) -> Self {
        self.check = Arc::new(check);
        self
    }

    #[must_use]
    pub fn with_vault(mut self, tenant: TenantId, vault: Arc<dyn ConnectionKeys>) -> Self {
        self.vault = Some((tenant, vault));
        self
    }

    #[must_use]
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = Some(clock);
        self
    }

    /// The time of a signature; the epoch without a clock.
    pub(super) fn now(&self) -> SystemTime {
        let ms = self.clock.as_ref().map_or(0, |clock| clock.now().0);
        SystemTime::UNIX_EPOCH + Duration::from_millis(u64::try_from(ms).unwrap_or(0))
    }

    /// The fields of the connection's key; `typed` replaces the vault's.
    pub(super) async fn fields(
        &self,
        connection: &Connection,
        typed: Option<&TypedKey>,
    ) -> Result<TypedKey, NoCredential> {
        match &connection.auth {
            Auth::None => Ok(TypedKey::new()),
            Auth::AwsEnv { .. } => {
                let needed = [(ACCESS_KEY_FIELD, "AWS_ACCESS_KEY_ID"), (KEY_FIELD, "AWS_SECRET_ACCESS_KEY")];
                let mut found = TypedKey::new();
                for (field, name) in needed {
                    found.insert(field.to_owned(), self.required(name)?);
                }
                if let Some(token) = self.variable("AWS_SESSION_TOKEN") {
                    found.insert(SESSION_FIELD.to_owned(), token);
                }
                Ok(found)
            }
            auth => match auth.variable() {
                Some(name) => {
                    (self.check)(name).map_err(NoCredential::Refused)?;
                    Ok([(KEY_FIELD.to_owned(), self.required(name)?)].into())
                }
                None => self.sealed(connection, typed).await,
            },
        }
    }

    async fn sealed(&self, connection: &Connection, typed: Option<&TypedKey>) -> Result<TypedKey, NoCredential> {
        if let Some(typed) = typed {
            return Ok(typed.clone());
        }
        let Some((tenant, vault)) = &self.vault else {
            return Err(NoCredential::NotKept);
        };
        let opened = vault.open_key(*tenant, connection.id).await;
        match opened {
            Ok(opened) => Ok(opened.fields),
            Err(steward_core::ports::VaultError::Missing(_)) => Err(NoCredential::NotKept),
            Err(error) => Err(NoCredential::Sealed(error.to_string())),
        }
    }

    fn required(&self, name: &str) -> Result<SecretString, NoCredential> {
        self.variable(name).ok_or_else(|| NoCredential::Missing(name.to_owned()))
    }

    /// `None` if it is unset or blank.
    fn variable(&self, name: &str) -> Option<SecretString> {
        (self.lookup)(name).filter(|key| !key.expose_secret().trim().is_empty())
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secrets")
    }
}

/// Longest raw text kept in an error, bytes.
const DETAIL_LIMIT: usize = 2048;

/// Finds secrets in whatever form an endpoint repeats them.
pub(super) fn scrubber(secrets: &[SecretString]) -> Scrubber {
    Scrubber::new(secrets.iter().map(|secret| ("key", secret.expose_secret().trim())))
}

pub(super) fn scrub(text: &str, secrets: &[SecretString]) -> String {
    let text = scrubber(secrets).scrub(text).into_owned();
    if text.len() <= DETAIL_LIMIT {
        return text;
    }
    let end = text.floor_char_boundary(DETAIL_LIMIT);
    format!("{}… [{} bytes cut]", &text[..end], text.len() - end)
}

#[cfg(test)]
mod auth_tests {
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
            in_house: None,
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

#[cfg(test)]
mod secrets_tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn keys_are_taken_out_before_the_cut() {
        let key = [SecretString::from("sk-1234567890")];
        let long = format!("{}sk-1234567890", "é".repeat(1020));
        let kept = scrub(&long, &key);
        assert!(!kept.contains("sk-12"), "{kept}");
        assert!(kept.len() < 2100);
        for said in ["key sk-1234567890 is wrong", "key c2stMTIzNDU2Nzg5MA== is wrong"] {
            assert_eq!(scrub(said, &key), "key [secret key] is wrong");
        }
    }

    #[test]
    fn blank_keys_are_none() {
        assert!(Secrets::new(|_| Some(" ".into())).variable("X").is_none());
        assert!(Secrets::none().variable("X").is_none());
        assert_eq!(format!("{:?}", Secrets::new(|_| Some("k3y".into()))), "Secrets");
    }
}

#[cfg(test)]
mod signature_tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use std::time::Duration;

    /// Amazon's published test suite of signature version 4: its access key, 2015-08-30T12:36:00Z,
    /// us-east-1, `service`.
    fn signature(method: &str, url: &str, headers: &[(&str, &str)], body: &str) -> String {
        let key = AccessKey {
            region: "us-east-1".to_owned(),
            id: "AKIDEXAMPLE".into(),
            secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY".into(),
            session: None,
        };
        let now = SystemTime::UNIX_EPOCH + Duration::from_mins(24_015_636);
        let url = Url::parse(url).unwrap();
        let made = key.sign("service", method, &url, headers, body.as_bytes(), now).unwrap();
        assert_eq!(made["x-amz-date"], "20150830T123600Z");
        let header = made["authorization"].to_str().unwrap().to_owned();
        assert!(!format!("{made:?}{key:?}").contains("AKIDEXAMPLE"));
        header
    }

    #[test]
    fn amazons_own_vectors() {
        let scope = "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, ";
        for (method, url, headers, body, names, expect) in [
            // get-vanilla
            (
                "GET",
                "https://example.amazonaws.com/",
                &[][..],
                "",
                "host;x-amz-date",
                "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
            ),
            // get-vanilla-query-order-key-case
            (
                "GET",
                "https://example.amazonaws.com/?Param2=value2&Param1=value1",
                &[],
                "",
                "host;x-amz-date",
                "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
            ),
            // post-vanilla
            (
                "POST",
                "https://example.amazonaws.com/",
                &[],
                "",
                "host;x-amz-date",
                "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b",
            ),
            // post-x-www-form-urlencoded
            (
                "POST",
                "https://example.amazonaws.com/",
                &[("content-type", "application/x-www-form-urlencoded")],
                "Param1=value1",
                "content-type;host;x-amz-date",
                "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
            ),
        ] {
            let made = signature(method, url, headers, body);
            let expect = format!("{scope}SignedHeaders={names}, Signature={expect}");
            assert_eq!(made, expect, "{method} {url}");
        }
    }
}
