//! From a URL to the addresses that may be connected to.

use super::address;
use super::resolve::Resolve;
use crate::error::ToolsError;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::str::FromStr;
use url::{Host, Url};

/// A host and port that an operator allows although they are not of the public internet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostPort {
    host: Host<String>,
    port: u16,
}

impl FromStr for HostPort {
    type Err = ToolsError;

    /// Reads `127.0.0.1:8080`, `[::1]:8080` or `wiki.example:443`.
    fn from_str(text: &str) -> Result<Self, ToolsError> {
        let bad = || {
            ToolsError::Refused(format!(
                "`{text}` is no host with a port; write it as 127.0.0.1:8080 or wiki.example:443"
            ))
        };
        let (host, port) = text.trim().rsplit_once(':').ok_or_else(bad)?;
        Ok(Self {
            host: Host::parse(host).map_err(|_| bad())?,
            port: port.parse().ok().filter(|port| *port != 0).ok_or_else(bad)?,
        })
    }
}

impl fmt::Display for HostPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

/// A URL whose form is fine: scheme, host, no user information.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub url: Url,
    host: Host<String>,
    port: u16,
}

/// Checks the form of a URL.
pub(crate) fn target(url: Url) -> Result<Target, ToolsError> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err(ToolsError::Refused(format!("only http and https can be fetched, not {}:", url.scheme())));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(ToolsError::refused("a user name or password in a URL is not allowed; leave it out"));
    }
    let host = match url.host() {
        Some(Host::Domain(name)) => Host::Domain(name.to_owned()),
        Some(Host::Ipv4(address)) => Host::Ipv4(address),
        Some(Host::Ipv6(address)) => Host::Ipv6(address),
        None => return Err(ToolsError::refused("the URL names no host")),
    };
    let port = url.port_or_known_default().unwrap_or(80);
    Ok(Target { url, host, port })
}

/// Reads a URL as a person or a model writes it; without a scheme it is https.
pub(crate) fn parse(text: &str) -> Result<Url, ToolsError> {
    let text = text.trim();
    let bad = |error: url::ParseError| {
        ToolsError::Refused(format!("`{text}` is no URL ({error}); write it as https://example.org/page"))
    };
    match Url::parse(text) {
        Ok(url) => Ok(url),
        Err(url::ParseError::RelativeUrlWithoutBase) if text.contains('.') => {
            Url::parse(&format!("https://{text}")).map_err(bad)
        }
        Err(error) => Err(bad(error)),
    }
}

fn is_local_name(name: &str) -> bool {
    let name = name.trim_end_matches('.');
    name == "localhost" || name.ends_with(".localhost")
}

impl Target {
    pub(super) fn is_allowed(&self, allow: &[HostPort]) -> bool {
        allow.iter().any(|entry| entry.port == self.port && entry.host == self.host)
    }

    /// `host:port` as in the allow list.
    pub fn place(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    /// The name for which [`Self::addresses`] were resolved; `None` for a literal.
    pub fn name(&self) -> Option<&str> {
        match &self.host {
            Host::Domain(name) => Some(name),
            _ => None,
        }
    }

    /// Every address of the host, resolved once and checked; connections go to exactly these.
    pub async fn addresses(&self, allow: &[HostPort], resolver: &dyn Resolve) -> Result<Vec<SocketAddr>, ToolsError> {
        let addresses: Vec<SocketAddr> = match &self.host {
            Host::Ipv4(address) => vec![SocketAddr::new(IpAddr::V4(*address), self.port)],
            Host::Ipv6(address) => vec![SocketAddr::new(IpAddr::V6(*address), self.port)],
            // These never leave the machine (RFC 6761), whatever a resolver would say of them.
            Host::Domain(name) if is_local_name(name) => {
                vec![SocketAddr::new(Ipv4Addr::LOCALHOST.into(), self.port)]
            }
            Host::Domain(name) => resolver.resolve(name, self.port).await.map_err(|error| {
                ToolsError::Refused(format!("the host {name} can't be found ({error}); check its spelling"))
            })?,
        };
        if addresses.is_empty() {
            return Err(ToolsError::Refused(format!("the host {} has no address", self.host)));
        }
        if self.is_allowed(allow) {
            return Ok(addresses);
        }
        // One bad address among good ones is how rebinding looks; the host is refused whole.
        for address in &addresses {
            if let Some(why) = address::forbidden(address.ip()) {
                return Err(ToolsError::Refused(format!(
                    "{} is not on the public internet ({}: {why}); an operator can allow {} by name and port",
                    self.host,
                    address.ip(),
                    self.place()
                )));
            }
        }
        Ok(addresses)
    }
}
