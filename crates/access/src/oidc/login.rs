//! A login with a provider: off to it, and back with a code.

use std::net::IpAddr;

use data_encoding::BASE64URL_NOPAD;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use secrecy::ExposeSecret;
use serde::Deserialize;
use serde_json::Value;
use steward_core::hash::sha256;
use steward_core::ports::LoginError;
use steward_core::sign_on::OidcProvider;
use url::Url;

use super::known::KnownProvider;
use super::reach::json_of;
use super::token::{Claims, TokenRules, text_of, texts_of};
use crate::attempts::network;
use crate::external::{ExternalProfile, NotAdmitted};
use crate::saved::SavedProvider;
use crate::sessions::OpenSession;
use crate::tenants::{marked, unmarked};
use crate::{Access, AccessError, secrets};

/// How long somebody may take at the provider, seconds.
const ABSENCE_S: i64 = 600;
/// Longest path to come back to.
const MAX_NEXT: usize = 500;
const MAX_CODE: usize = 4096;

/// Off to the provider.
#[derive(Debug, Clone)]
pub struct Departure {
    /// Where the browser goes.
    pub location: String,
    /// What the browser keeps until it comes back: state, nonce and PKCE verifier follow from it.
    pub cookie: String,
    /// How long the cookie is good, seconds.
    pub expires_in: u64,
}

/// Back from the provider.
#[derive(Debug, Clone, Copy)]
pub struct Arrival<'a> {
    pub provider: &'a str,
    /// As at the departure.
    pub redirect_uri: &'a str,
    /// What the browser kept; `None`: nothing.
    pub cookie: Option<&'a str>,
    pub state: Option<&'a str>,
    pub code: Option<&'a str>,
    /// What the provider says instead of a code.
    pub error: Option<&'a str>,
    /// Who the provider says it is (RFC 9207).
    pub issuer: Option<&'a str>,
    /// The address that it comes from, for the limit of attempts.
    pub client: Option<IpAddr>,
    /// The browser's name for itself.
    pub label: &'a str,
}

#[derive(Debug, thiserror::Error)]
pub enum SignOnError {
    #[error("there is no such provider, or it is switched off")]
    NoProvider,
    /// Another browser began this login, or it took too long.
    #[error("the login was begun in another browser, or too long ago")]
    State,
    #[error("the provider refused the login")]
    Denied,
    /// It can't be reached, or what it says can't be right.
    #[error("the provider can't be used now")]
    Provider,
    /// What it signed is not good.
    #[error("what the provider says can't be trusted")]
    Token,
    #[error("the provider does not vouch for an email, and this is the first login")]
    NoEmail,
    #[error("they are not admitted")]
    NotAdmitted,
    #[error("they have no account here")]
    NoAccount,
    #[error("another account has their email")]
    EmailTaken,
    #[error(transparent)]
    Login(#[from] LoginError),
}

impl SignOnError {
    /// A word for the page that tells it.
    pub fn word(&self) -> &'static str {
        match self {
            Self::NoProvider => "no_provider",
            Self::State => "state",
            Self::Denied => "denied",
            Self::Provider => "provider",
            Self::Token => "token",
            Self::NoEmail => "no_email",
            Self::NotAdmitted => "not_admitted",
            Self::NoAccount => "no_account",
            Self::EmailTaken => "email_taken",
            Self::Login(LoginError::TooMany { .. }) => "too_many",
            Self::Login(_) => "unavailable",
        }
    }
}

impl From<AccessError> for SignOnError {
    fn from(error: AccessError) -> Self {
        Self::Login(LoginError::Unavailable(error.to_string()))
    }
}

/// What follows from the cookie, which is bound to the provider and the way back.
struct Bound {
    state: String,
    nonce: String,
    verifier: String,
}

impl Access {
    /// `next`: the path of the studio that the person wanted.
    pub async fn begin_sign_on(
        &self,
        provider: &str,
        redirect_uri: &str,
        next: Option<&str>,
    ) -> Result<Departure, SignOnError> {
        let saved = self.usable_provider(provider).await?;
        let known = self.reached(&saved).await?;
        let expires = self.clock.now().0 / 1000 + ABSENCE_S;
        let next = next.filter(|next| is_own_path(next)).unwrap_or_default();
        let cookie = format!("{expires}.{}.{}", secrets::refresh_token(), BASE64URL_NOPAD.encode(next.as_bytes()));
        let cookie = marked(self.tenant, &cookie);
        let bound = self.bound(&saved, redirect_uri, &cookie);
        let mut location = Url::parse(&known.metadata.authorization_endpoint).map_err(|_| SignOnError::Provider)?;
        location
            .query_pairs_mut()
            .append_pair("response_type", "code")
            .append_pair("client_id", &saved.settings.client_id)
            .append_pair("redirect_uri", redirect_uri)
            .append_pair("scope", &saved.settings.scopes.join(" "))
            .append_pair("state", &bound.state)
            .append_pair("nonce", &bound.nonce)
            .append_pair("code_challenge", &challenge_of(&bound.verifier))
            .append_pair("code_challenge_method", "S256");
        Ok(Departure { location: location.into(), cookie, expires_in: ABSENCE_S.unsigned_abs() })
    }

    /// Logs in, and says which path of the studio was wanted.
    pub async fn finish_sign_on(&self, arrival: Arrival<'_>) -> Result<(OpenSession, String), SignOnError> {
        let client = arrival.client.map(network);
        self.closed_to(client.as_deref())?;
        let done = self.arrive(&arrival).await;
        if let Err(error) = &done {
            if !matches!(error, SignOnError::Provider | SignOnError::Login(_)) {
                self.count_failure_of(client.as_deref());
            }
            tracing::info!(provider = arrival.provider, %error, "login with a provider refused");
        }
        done
    }

    async fn arrive(&self, arrival: &Arrival<'_>) -> Result<(OpenSession, String), SignOnError> {
        let saved = self.usable_provider(arrival.provider).await?;
        let cookie = arrival.cookie.ok_or(SignOnError::State)?;
        let bound = self.bound(&saved, arrival.redirect_uri, cookie);
        if !secrets::same(&bound.state, arrival.state.unwrap_or_default()) {
            return Err(SignOnError::State);
        }
        // Ours, since the state fits; so it has this form.
        let mut parts = unmarked(cookie).split('.');
        let expires: i64 = parts.next().and_then(|text| text.parse().ok()).ok_or(SignOnError::State)?;
        if self.clock.now().0 / 1000 >= expires {
            return Err(SignOnError::State);
        }
        let next = parts.nth(1).and_then(|text| BASE64URL_NOPAD.decode(text.as_bytes()).ok()).unwrap_or_default();
        let next = String::from_utf8(next).unwrap_or_default();
        if arrival.issuer.is_some_and(|issuer| issuer != saved.settings.issuer) {
            return Err(SignOnError::Token);
        }
        if let Some(error) = arrival.error {
            let error: String = error.chars().filter(char::is_ascii_graphic).take(60).collect();
            tracing::info!(provider = saved.name, error, "the provider refused a login");
            return Err(SignOnError::Denied);
        }
        let code = arrival.code.filter(|code| !code.is_empty() && code.len() <= MAX_CODE).ok_or(SignOnError::State)?;
        let known = self.reached(&saved).await?;
        let answer = self.exchange(&saved, &known, code, arrival.redirect_uri, &bound.verifier).await?;
        let claims = self.checked(&saved, &known, &answer, &bound.nonce).await?;
        let profile = profile_of(&saved, &claims)?;
        let user = self.admit(&profile, &saved.settings.admission).await.map_err(|error| match error {
            NotAdmitted::NoRole(_) | NotAdmitted::EmailDomain | NotAdmitted::Disabled => SignOnError::NotAdmitted,
            NotAdmitted::NoAccount if profile.email.is_none() => SignOnError::NoEmail,
            NotAdmitted::NoAccount => SignOnError::NoAccount,
            NotAdmitted::EmailTaken => SignOnError::EmailTaken,
            NotAdmitted::Unavailable(error) => error.into(),
        })?;
        Ok((self.open(&user, arrival.label).await?, next))
    }

    async fn usable_provider(&self, name: &str) -> Result<SavedProvider, SignOnError> {
        let found = self.provider(name).await?;
        found.filter(|one| one.settings.enabled).ok_or(SignOnError::NoProvider)
    }

    async fn reached(&self, saved: &SavedProvider) -> Result<std::sync::Arc<KnownProvider>, SignOnError> {
        let found = self.oidc.get(&saved.settings, self.clock.now()).await;
        found.map_err(|error| unusable(saved, &error))
    }

    fn bound(&self, saved: &SavedProvider, redirect_uri: &str, cookie: &str) -> Bound {
        let message = format!("{}\n{redirect_uri}\n{cookie}", saved.id);
        let of = |purpose: &str| BASE64URL_NOPAD.encode(&*self.tokens.mac(purpose, message.as_bytes()));
        Bound { state: of("oidc state"), nonce: of("oidc nonce"), verifier: of("oidc verifier") }
    }

    /// The code for tokens.
    async fn exchange(
        &self,
        saved: &SavedProvider,
        known: &KnownProvider,
        code: &str,
        redirect_uri: &str,
        verifier: &str,
    ) -> Result<TokenAnswer, SignOnError> {
        let secret = if saved.has_secret {
            self.login_secrets.login_secret(self.tenant, saved.id).await.map_err(AccessError::from)?
        } else {
            None
        };
        let client_id = &saved.settings.client_id;
        let mut form = vec![
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", redirect_uri),
            ("code_verifier", verifier),
        ];
        let mut request = known.client.post(&known.metadata.token_endpoint);
        let secret = secret.as_ref().map(ExposeSecret::expose_secret);
        match secret {
            Some(secret) if known.metadata.takes_basic() => {
                // RFC 6749, 2.3.1: both are encoded as in a form.
                let encoded = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
                request = request.basic_auth(encoded(client_id), Some(encoded(secret)));
            }
            Some(secret) => form.extend([("client_id", client_id.as_str()), ("client_secret", secret)]),
            None => form.push(("client_id", client_id)),
        }
        let body = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(form).finish();
        let request = request
            .header("content-type", "application/x-www-form-urlencoded")
            .header("accept", "application/json")
            .body(body);
        json_of(request, "the exchange of the code").await.map_err(|error| {
            // A code that was used, or is of another login, is not the provider's failure.
            let refused = error.contains("invalid_grant");
            let unusable = unusable(saved, &error);
            if refused { SignOnError::Token } else { unusable }
        })
    }

    /// The claims of the ID token, with those that only the user-info address tells.
    async fn checked(
        &self,
        saved: &SavedProvider,
        known: &KnownProvider,
        answer: &TokenAnswer,
        nonce: &str,
    ) -> Result<Claims, SignOnError> {
        let OidcProvider { issuer, client_id, groups_claim, .. } = &saved.settings;
        let skew_s = i64::from(self.login_settings().await.clock_skew_s);
        let rules = TokenRules { issuer, audience: client_id, now: self.clock.now(), skew_s };
        let bad = |why: &str| {
            tracing::warn!(provider = saved.name, why, "a token of a provider was refused");
            SignOnError::Token
        };
        let mut claims = known.verify(&answer.id_token, &rules).await.map_err(|why| bad(&why))?;
        if !secrets::same(nonce, text_of(&claims, "nonce").unwrap_or_default()) {
            return Err(bad("it is of another login"));
        }
        let audiences = claims.get("aud").and_then(Value::as_array).map_or(1, Vec::len);
        if text_of(&claims, "azp").map_or(audiences > 1, |azp| azp != client_id) {
            return Err(bad("it is for another program"));
        }
        let complete = claims.contains_key("email") && (groups_claim.is_empty() || claims.contains_key(groups_claim));
        if let Some((place, token)) =
            known.metadata.userinfo_endpoint.as_ref().zip(answer.access_token.as_ref()).filter(|_| !complete)
        {
            let request = known.client.get(place).bearer_auth(token);
            let more: Claims =
                json_of(request, "the user-info address").await.map_err(|error| unusable(saved, &error))?;
            if more.get("sub") != claims.get("sub") {
                return Err(bad("the user-info address speaks of somebody else"));
            }
            for (name, value) in more {
                claims.entry(name).or_insert(value);
            }
        }
        Ok(claims)
    }
}

#[derive(Deserialize)]
struct TokenAnswer {
    id_token: String,
    access_token: Option<String>,
}

fn unusable(saved: &SavedProvider, why: &str) -> SignOnError {
    tracing::warn!(provider = saved.name, why, "a provider of logins can't be used");
    SignOnError::Provider
}

fn profile_of(saved: &SavedProvider, claims: &Claims) -> Result<ExternalProfile, SignOnError> {
    let subject = text_of(claims, "sub").filter(|subject| subject.len() <= 255).ok_or(SignOnError::Token)?;
    let vouched = match claims.get("email_verified") {
        Some(Value::Bool(verified)) => *verified,
        Some(Value::String(text)) => text == "true",
        Some(_) => false,
        None => saved.settings.trust_emails,
    };
    let email = text_of(claims, "email").filter(|_| vouched).map(|email| email.trim().to_lowercase());
    let name = text_of(claims, "name").or_else(|| text_of(claims, "preferred_username"));
    let groups = &saved.settings.groups_claim;
    Ok(ExternalProfile {
        source: saved.name.clone(),
        issuer: saved.settings.issuer.clone(),
        subject: subject.to_owned(),
        email,
        name: name.map(str::to_owned),
        groups: if groups.is_empty() { Vec::new() } else { texts_of(claims, groups) },
    })
}

fn challenge_of(verifier: &str) -> String {
    BASE64URL_NOPAD.encode(&hex::decode(sha256(verifier.as_bytes())).unwrap_or_default())
}

/// A path of this server: never another site's address.
fn is_own_path(path: &str) -> bool {
    let mut letters = path.chars();
    letters.next() == Some('/')
        && !matches!(letters.next(), Some('/' | '\\'))
        && path.len() <= MAX_NEXT
        && !path.contains(|c: char| c.is_control() || c == '\\')
}

#[cfg(test)]
mod tests {
    use super::{challenge_of, is_own_path};

    #[test]
    fn a_challenge_is_that_of_the_standard() {
        // RFC 7636, appendix B.
        let challenge = challenge_of("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk");
        assert_eq!(challenge, "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
    }

    #[test]
    fn the_way_on_stays_here() {
        for (path, expect) in [
            ("/chat", true),
            ("/runs?x=1#y", true),
            ("//evil.example", false),
            ("/\\evil.example", false),
            ("/a\\b", false),
            ("https://evil.example", false),
            ("chat", false),
            ("/\nx", false),
            ("", false),
        ] {
            assert_eq!(is_own_path(path), expect, "{path}");
        }
    }
}
