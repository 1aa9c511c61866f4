//! Which hosts and addresses requests may reach: the public internet, and what an operator allows by host and port.

use super::Resolve;
use crate::error::{ToolsError, refused};
use ipnet::Ipv6Net;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::str::FromStr;
use steward_core::address::not_public;
use url::{Host, Url};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostPort {
    host: Host<String>,
    port: u16,
}

impl FromStr for HostPort {
    type Err = ToolsError;

    /// Reads `127.0.0.1:8080`, `[::1]:8080` or `wiki.example:443`.
    fn from_str(text: &str) -> Result<Self, ToolsError> {
        let bad = || refused!("`{text}` is no host with a port; write it as 127.0.0.1:8080 or wiki.example:443");
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

/// A URL of a valid form: http or https, a host, no user information.
#[derive(Debug, Clone)]
pub(crate) struct CheckedUrl {
    pub url: Url,
    host: Host<String>,
    port: u16,
}

pub(crate) fn checked_url(url: Url) -> Result<CheckedUrl, ToolsError> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err(refused!("only http and https can be fetched, not {}:", url.scheme()));
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
    Ok(CheckedUrl { url, host, port })
}

/// Parses a URL as a person or a model writes it; without a scheme it is https.
pub(crate) fn parse_url(text: &str) -> Result<Url, ToolsError> {
    let text = text.trim();
    let bad = |error: url::ParseError| refused!("`{text}` is no URL ({error}); write it as https://example.org/page");
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

impl CheckedUrl {
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

    /// All addresses of the host, resolved once and checked; connections go to exactly these.
    pub async fn addresses(&self, allow: &[HostPort], resolver: &dyn Resolve) -> Result<Vec<SocketAddr>, ToolsError> {
        let addresses: Vec<SocketAddr> = match &self.host {
            Host::Ipv4(address) => vec![SocketAddr::new(IpAddr::V4(*address), self.port)],
            Host::Ipv6(address) => vec![SocketAddr::new(IpAddr::V6(*address), self.port)],
            // These never leave the machine (RFC 6761), whatever a resolver answers.
            Host::Domain(name) if is_local_name(name) => {
                vec![SocketAddr::new(Ipv4Addr::LOCALHOST.into(), self.port)]
            }
            Host::Domain(name) => resolver
                .resolve(name, self.port)
                .await
                .map_err(|error| refused!("the host {name} can't be found ({error}); check its spelling"))?,
        };
        if addresses.is_empty() {
            return Err(refused!("the host {} has no address", self.host));
        }
        if self.is_allowed(allow) {
            return Ok(addresses);
        }
        // One forbidden address among good ones suggests DNS rebinding; the whole host is refused.
        for address in &addresses {
            if let Some(why) = forbidden_reason(address.ip()) {
                return Err(refused!(
                    "{} is not on the public internet ({}: {why}); an operator can allow {} by name and port",
                    self.host,
                    address.ip(),
                    self.place()
                ));
            }
        }
        Ok(addresses)
    }
}

/// Why `address` is not on the public internet, or belongs to this machine's network; `None` if neither.
fn forbidden_reason(address: IpAddr) -> Option<&'static str> {
    not_public(address).or_else(|| own_network_reason(address, &own_addresses()))
}

fn own_addresses() -> Vec<(IpAddr, u8)> {
    let found = if_addrs::get_if_addrs().unwrap_or_default();
    found
        .into_iter()
        .map(|interface| match interface.addr {
            if_addrs::IfAddr::V4(v4) => (v4.ip.into(), v4.prefixlen),
            if_addrs::IfAddr::V6(v6) => (v6.ip.into(), v6.prefixlen),
        })
        .collect()
}

/// A public address of this machine is refused too, and with IPv6 its whole network; with IPv4 the neighbours of a
/// public address are strangers.
fn own_network_reason(address: IpAddr, interfaces: &[(IpAddr, u8)]) -> Option<&'static str> {
    let address = address.to_canonical();
    interfaces.iter().find_map(|(own, prefix)| {
        if *own == address {
            return Some("this machine");
        }
        let (IpAddr::V6(own), IpAddr::V6(address)) = (own, address) else {
            return None;
        };
        let network = Ipv6Net::new(*own, *prefix).ok()?;
        (*prefix > 0 && network.contains(&address)).then_some("in this machine's network")
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::{forbidden_reason, own_addresses, own_network_reason};
    use std::net::IpAddr;

    #[test]
    fn what_is_public_and_in_the_house_is_refused() {
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        let house = [(ip("198.51.100.7"), 24), (ip("2a02:8071:1:2::7"), 64)];
        for (address, refused) in [
            ("198.51.100.7", true),
            ("::ffff:198.51.100.7", true),
            ("198.51.100.8", false),
            ("2a02:8071:1:2::7", true),
            ("2a02:8071:1:2:aaaa:bbbb:cccc:dddd", true),
            ("2a02:8071:1:3::7", false),
            ("1.1.1.1", false),
        ] {
            assert_eq!(own_network_reason(ip(address), &house).is_some(), refused, "{address}");
        }
        assert!(own_addresses().iter().any(|(own, _)| own.is_loopback()));
    }

    #[test]
    fn public_addresses_pass_and_others_do_not() {
        let public = [
            "1.1.1.1",
            "8.8.8.8",
            "93.184.215.14",
            "100.63.255.255",
            "100.128.0.1",
            "172.15.0.1",
            "172.32.0.1",
            "192.0.1.1",
            "198.17.0.1",
            "198.20.0.1",
            "223.255.255.255",
            "2606:4700:4700::1111",
            "2a00:1450:4001:80b::200e",
            "::ffff:8.8.8.8",
        ];
        for text in public {
            assert_eq!(forbidden_reason(text.parse().unwrap()), None, "{text}");
        }
        let closed = [
            "0.0.0.0",
            "10.1.2.3",
            "100.64.0.1",
            "127.0.0.1",
            "127.255.255.254",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.8",
            "192.168.1.1",
            "198.18.0.1",
            "198.19.255.255",
            "224.0.0.1",
            "239.1.1.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::ffff:169.254.169.254",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b:1::a00:1",
            "64:ff9b::808:808",
            "2002:7f00:1::",
            "2002:a00:1::1",
            "2001::1",
            "2001:0:4136:e378:8000:63bf:3fff:fdd2",
            "2001:db8::1",
            "fe80::1",
            "fec0::1",
            "fc00::1",
            "fd12:3456:789a::1",
            "ff02::1",
            "100::1",
            "3fff::1",
            "4000::1",
            "5f00::1",
        ];
        for text in closed {
            assert!(forbidden_reason(text.parse().unwrap()).is_some(), "{text}");
        }
    }
}
