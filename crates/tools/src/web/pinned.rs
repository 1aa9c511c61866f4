//! A client that can reach one checked place and no other.

use super::guard::{self, HostPort};
use super::resolve::SystemResolver;
use crate::error::ToolsError;
use reqwest::redirect;
use std::time::Duration;
use url::Url;

/// Longest wait for a connection.
const CONNECT: Duration = Duration::from_secs(10);

/// A URL and a client whose connections go to its checked addresses only. Redirects are not followed.
#[derive(Debug, Clone)]
pub(crate) struct Pinned {
    pub url: Url,
    pub client: reqwest::Client,
    /// Whether what is sent can be read on the way: plain http to a place that no operator allows.
    pub readable: bool,
}

impl Pinned {
    /// Resolves and checks the host of `url` once.
    pub async fn to(url: &str, allow: &[HostPort]) -> Result<Self, ToolsError> {
        let target = guard::target(guard::parse(url)?)?;
        let addresses = target.addresses(allow, &SystemResolver).await?;
        // Fails only if another part of the program has chosen a provider before; that one serves too.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut client = reqwest::Client::builder()
            .no_proxy()
            .redirect(redirect::Policy::none())
            .connect_timeout(CONNECT)
            .tcp_nodelay(true)
            .user_agent(concat!("steward/", env!("CARGO_PKG_VERSION")));
        if let Some(name) = target.name() {
            client = client.resolve_to_addrs(name, &addresses);
        }
        let client =
            client.build().map_err(|error| ToolsError::Refused(format!("no connection can be made: {error}")))?;
        let place = target.place();
        let allowed = allow.iter().any(|entry| entry.to_string() == place);
        Ok(Self { readable: target.url.scheme() == "http" && !allowed, url: target.url, client })
    }
}
