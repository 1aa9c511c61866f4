//! HTTP clients: loopback without proxy, the network with TLS and proxies, a Unix socket.

use super::auth::AccessKey;
use crate::local::{Endpoint, LocalModelError, Supervisor};
use async_trait::async_trait;
use reqwest::ClientBuilder;
use reqwest::header::{HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;
use steward_core::locks::lock;
use tokio::runtime::Handle;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

#[async_trait]
pub trait LocalModels: Send + Sync {
    /// Starts the server of the model at `path` and returns once it listens.
    async fn endpoint(&self, path: &str) -> Result<Endpoint, LocalModelError>;
}

/// One child process, whose command names its model.
#[async_trait]
impl LocalModels for Supervisor {
    async fn endpoint(&self, _path: &str) -> Result<Endpoint, LocalModelError> {
        Supervisor::endpoint(self).await
    }
}

/// One client per runtime: a connection is served by the runtime that opened it, so another's call would wait for it.
#[derive(Debug, Default)]
struct Clients(Mutex<HashMap<Option<tokio::runtime::Id>, Result<reqwest::Client, String>>>);

impl Clients {
    fn here(&self, make: impl FnOnce() -> ClientBuilder) -> Result<reqwest::Client, String> {
        let here = Handle::try_current().ok().map(|handle| handle.id());
        let mut known = lock(&self.0);
        known.entry(here).or_insert_with(|| build(make())).clone()
    }
}

/// Each client is made at first use: reading the system's certificates takes time that an offline start saves.
#[derive(Debug, Default)]
pub(super) struct Transports {
    loopback: Clients,
    network: Clients,
    unix: Mutex<Option<(PathBuf, reqwest::Client)>>,
}

impl Transports {
    pub fn for_url(&self, url: &url::Url) -> Result<reqwest::Client, String> {
        if is_loopback(url) && url.scheme() == "http" {
            // No proxy can reach this machine's loopback, and no certificate is needed.
            return self.loopback.here(|| base().no_proxy().tls_certs_only(Vec::new()));
        }
        self.network.here(base)
    }

    /// Only the last one is kept, since there is one child.
    pub fn for_socket(&self, path: &Path) -> Result<reqwest::Client, String> {
        let mut kept = lock(&self.unix);
        if let Some((_, client)) = kept.as_ref().filter(|(known, _)| known == path) {
            return Ok(client.clone());
        }
        let client = build(base().no_proxy().tls_certs_only(Vec::new()).unix_socket(path))?;
        *kept = Some((path.to_owned(), client.clone()));
        Ok(client)
    }
}

fn base() -> ClientBuilder {
    reqwest::Client::builder()
        .user_agent(concat!("steward/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT_TIMEOUT)
        .tcp_nodelay(true)
        .tcp_keepalive(Duration::from_secs(30))
        // A model API never redirects; following one would carry the prompt elsewhere.
        .redirect(Policy::none())
}

fn build(builder: ClientBuilder) -> Result<reqwest::Client, String> {
    // Fails only if another provider was installed before, which then serves.
    let _installed_before = rustls::crypto::ring::default_provider().install_default();
    builder.build().map_err(|e| causes(&e))
}

pub(crate) fn is_loopback(url: &url::Url) -> bool {
    match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// An error with its causes, without the URL, which may hold a password.
pub(super) fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let words = inner.to_string();
        if !text.contains(&words) {
            text.push_str(": ");
            text.push_str(&words);
        }
        cause = inner.source();
    }
    text
}

/// The causes below reqwest, whose own message has no more than the URL.
pub(super) fn causes_without_url(error: &reqwest::Error) -> String {
    match std::error::Error::source(error) {
        Some(source) => causes(source),
        None => "the request could not be sent".to_owned(),
    }
}

/// The destination of one call, and the key that opens it.
#[derive(Debug, Clone)]
pub(super) struct Target {
    pub http: reqwest::Client,
    pub url: url::Url,
    pub header: Option<(HeaderName, HeaderValue)>,
    /// Signs the request, in place of the header.
    pub access_key: Option<AccessKey>,
}
