//! What providers say of themselves: their addresses and keys, fetched when they are needed and kept for a while.

use std::collections::HashMap;
use std::sync::{Arc, RwLock};
use std::time::Duration;

use jsonwebtoken::jwk::{Jwk, JwkSet};
use reqwest::Client;
use serde::Deserialize;
use serde_json::Value;
use steward_core::Timestamp;
use steward_core::locks::{read, write};
use steward_core::sign_on::OidcProvider;

use super::reach::{Reach, json_of};
use super::token::{Claims, TokenProblem, TokenRules, verify};
use crate::AccessError;

/// Addresses and keys are fetched again after this.
const KEPT: Duration = Duration::from_hours(1);
/// Keys are not fetched more often than this, whatever keys tokens name.
const KEYS_AT_MOST: Duration = Duration::from_secs(5);

/// The part of a provider's description that is used.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Metadata {
    issuer: String,
    pub authorization_endpoint: String,
    pub token_endpoint: String,
    pub userinfo_endpoint: Option<String>,
    jwks_uri: String,
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
}

impl Metadata {
    /// Whether id and secret go into a header, rather than into the body.
    pub fn takes_basic(&self) -> bool {
        let methods = self.token_endpoint_auth_methods_supported.as_ref();
        methods.is_none_or(|methods| methods.iter().any(|one| one == "client_secret_basic"))
    }
}

/// A provider that has answered.
pub(crate) struct KnownProvider {
    reach: Reach,
    pub(super) client: Client,
    pub(super) metadata: Metadata,
    fetched_at: Timestamp,
    keys: RwLock<(JwkSet, Timestamp)>,
}

/// Checks that an issuer may be asked at all.
pub(crate) fn check_issuer(provider: &OidcProvider) -> Result<(), AccessError> {
    Reach::of(&provider.issuer, &provider.private_hosts)
        .map(|_| ())
        .map_err(|title| AccessError::Invalid { field: "issuer", title })
}

/// By issuer.
#[derive(Default)]
pub(crate) struct KnownProviders(RwLock<HashMap<String, Arc<KnownProvider>>>);

impl KnownProviders {
    pub fn forget(&self, issuer: &str) {
        write(&self.0).remove(issuer);
    }

    /// Asks the provider in any case, and keeps nothing. What it says of itself, else why it can't be used.
    pub async fn look(provider: &OidcProvider, now: Timestamp) -> Result<Vec<String>, String> {
        let reach = Reach::of(&provider.issuer, &provider.private_hosts)?;
        let known = KnownProvider::discover(&provider.issuer, reach, now).await?;
        let host = |address: &str| address.chars().filter(|c| !c.is_control()).take(200).collect::<String>();
        let keys = read(&known.keys).0.keys.len();
        if keys == 0 {
            return Err("the provider names no key that tokens can be checked with".to_owned());
        }
        Ok(vec![
            format!("the issuer is {}", host(&known.metadata.issuer)),
            format!("people log in at {}", host(&known.metadata.authorization_endpoint)),
            format!("{keys} keys for tokens were found"),
        ])
    }

    /// Asks the provider, unless it has answered lately. An error says why it can't be used.
    pub async fn get(&self, provider: &OidcProvider, now: Timestamp) -> Result<Arc<KnownProvider>, String> {
        let reach = Reach::of(&provider.issuer, &provider.private_hosts)?;
        let kept = read(&self.0).get(&provider.issuer).cloned();
        if let Some(kept) = kept.filter(|kept| kept.reach == reach && now.since(kept.fetched_at) < KEPT) {
            return Ok(kept);
        }
        let known = Arc::new(KnownProvider::discover(&provider.issuer, reach, now).await?);
        let mut all = write(&self.0);
        all.insert(provider.issuer.clone(), Arc::clone(&known));
        Ok(known)
    }
}

impl KnownProvider {
    async fn discover(issuer: &str, reach: Reach, now: Timestamp) -> Result<Self, String> {
        let client = reach.client()?;
        let place = format!("{}/.well-known/openid-configuration", issuer.trim_end_matches('/'));
        let place = reach.check(&place)?;
        let metadata: Metadata = json_of(client.get(place), "the description of the provider").await?;
        if metadata.issuer != issuer {
            let own: String = metadata.issuer.chars().filter(|c| !c.is_control()).take(200).collect();
            return Err(format!("the provider says that its issuer is `{own}`"));
        }
        for address in [&metadata.authorization_endpoint, &metadata.token_endpoint, &metadata.jwks_uri]
            .into_iter()
            .chain(&metadata.userinfo_endpoint)
        {
            reach.check(address)?;
        }
        let keys = fetch_keys(&client, &reach, &metadata.jwks_uri).await?;
        Ok(Self { reach, client, metadata, fetched_at: now, keys: RwLock::new((keys, now)) })
    }

    /// Fetches the keys once more if the token names one that is not known.
    pub async fn verify(&self, token: &str, rules: &TokenRules<'_>) -> Result<Claims, String> {
        let keys = read(&self.keys).0.clone();
        match verify(token, &keys, rules) {
            Err(TokenProblem::UnknownKey) if self.may_fetch_keys(rules.now) => {}
            other => return other.map_err(|problem| problem.to_string()),
        }
        let keys = fetch_keys(&self.client, &self.reach, &self.metadata.jwks_uri).await?;
        write(&self.keys).0 = keys.clone();
        verify(token, &keys, rules).map_err(|problem| problem.to_string())
    }

    /// One of many at the same time.
    fn may_fetch_keys(&self, now: Timestamp) -> bool {
        let mut kept = write(&self.keys);
        let may = now.since(kept.1) >= KEYS_AT_MOST;
        if may {
            kept.1 = now;
        }
        may
    }
}

/// Keys of a kind that is not known are left out.
async fn fetch_keys(client: &Client, reach: &Reach, place: &str) -> Result<JwkSet, String> {
    #[derive(Deserialize)]
    struct Keys {
        keys: Vec<Value>,
    }
    let found: Keys = json_of(client.get(reach.check(place)?), "the keys of the provider").await?;
    let keys = found.keys.into_iter().take(100).filter_map(|key| serde_json::from_value::<Jwk>(key).ok());
    Ok(JwkSet { keys: keys.collect() })
}
