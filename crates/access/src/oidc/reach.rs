//! What of the network a provider may make us ask: its own hosts by https, the public internet only, nothing twice.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use reqwest::Client;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::redirect::Policy;
use serde::de::DeserializeOwned;
use steward_core::address::not_public;
use url::{Host, Url};

/// For one request, with its answer.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Longest answer, bytes.
const MAX_ANSWER: usize = 512 * 1024;

/// Which hosts may be asked on behalf of a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reach {
    /// Named by an administrator, lower case.
    private_hosts: Vec<String>,
    /// The provider is on this machine, as in tests.
    loopback: bool,
}

impl Reach {
    /// An error says what is wrong with the issuer.
    pub fn of(issuer: &str, private_hosts: &[String]) -> Result<Self, String> {
        let url = Url::parse(issuer).map_err(|error| format!("the issuer is no address ({error})"))?;
        let loopback = url.scheme() == "http" && is_loopback(&url);
        let reach =
            Self { private_hosts: private_hosts.iter().map(|host| host.trim().to_lowercase()).collect(), loopback };
        if url.query().is_some() {
            return Err("an issuer has no query".to_owned());
        }
        reach.check(issuer)?;
        Ok(reach)
    }

    /// The address, if it may be asked. Names are looked at again when they are resolved.
    pub fn check(&self, address: &str) -> Result<Url, String> {
        let url = Url::parse(address).map_err(|error| format!("`{address}` is no address ({error})"))?;
        let shown = format!("{}://{}", url.scheme(), url.host_str().unwrap_or_default());
        if !url.username().is_empty() || url.password().is_some() || url.fragment().is_some() {
            return Err(format!("{shown} has a user name, a password or a fragment"));
        }
        if url.scheme() == "http" && self.loopback && is_loopback(&url) {
            return Ok(url);
        }
        if url.scheme() != "https" {
            return Err(format!("{shown} is not https"));
        }
        let literal = match url.host() {
            Some(Host::Ipv4(address)) => Some(IpAddr::V4(address)),
            Some(Host::Ipv6(address)) => Some(IpAddr::V6(address)),
            Some(Host::Domain(_)) => None,
            None => return Err(format!("{shown} names no host")),
        };
        let host = url.host_str().unwrap_or_default().to_lowercase();
        if let Some(why) = literal.and_then(not_public).filter(|_| !self.names(&host)) {
            return Err(format!(
                "{shown} is not on the public internet ({why}); name it under private_hosts to allow it"
            ));
        }
        Ok(url)
    }

    fn names(&self, host: &str) -> bool {
        // IPv6 addresses stand in brackets in URLs.
        let plain = |text: &str| text.trim_matches(['[', ']']).to_owned();
        self.private_hosts.iter().any(|one| plain(one) == plain(host))
    }

    pub fn client(&self) -> Result<Client, String> {
        Client::builder()
            .dns_resolver(Arc::new(self.clone()))
            .redirect(Policy::none())
            .timeout(TIMEOUT)
            .connect_timeout(Duration::from_secs(5))
            .no_proxy()
            .build()
            .map_err(|error| error.to_string())
    }
}

impl Resolve for Reach {
    fn resolve(&self, name: Name) -> Resolving {
        let reach = self.clone();
        Box::pin(async move {
            let host = name.as_str().to_lowercase();
            let found: Vec<SocketAddr> = tokio::net::lookup_host((host.as_str(), 0)).await?.collect();
            let named = reach.names(&host) || reach.loopback && host == "localhost";
            // One forbidden address among good ones suggests rebinding; the whole host is refused.
            if let Some(why) = found.iter().find_map(|one| not_public(one.ip())).filter(|_| !named) {
                let text =
                    format!("{host} is not on the public internet ({why}); name it under private_hosts to allow it");
                return Err(text.into());
            }
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

pub(crate) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        // The parser leaves addresses in URLs that are not of the web as they are written.
        Some(Host::Domain(name)) => name == "localhost" || name.parse::<IpAddr>().is_ok_and(|one| one.is_loopback()),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// Sends a request and reads the JSON of its answer. An error says what happened, without what the answer held.
pub(super) async fn json_of<T: DeserializeOwned>(request: reqwest::RequestBuilder, what: &str) -> Result<T, String> {
    let mut response = request.send().await.map_err(|error| format!("{what}: {}", causes(&error)))?;
    let status = response.status();
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| format!("{what}: {}", causes(&error)))? {
        if bytes.len() + chunk.len() > MAX_ANSWER {
            return Err(format!("{what}: the answer is longer than {MAX_ANSWER} bytes"));
        }
        bytes.extend_from_slice(&chunk);
    }
    if !status.is_success() {
        let word = serde_json::from_slice::<serde_json::Value>(&bytes).ok();
        let word = word.as_ref().and_then(|value| value["error"].as_str()).unwrap_or_default();
        let word: String = word.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').take(60).collect();
        return Err(format!("{what}: the answer was {} {word}", status.as_u16()).trim_end().to_owned());
    }
    serde_json::from_slice(&bytes).map_err(|_| format!("{what}: the answer is not the JSON that is expected"))
}

fn causes(error: &reqwest::Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(one) = cause {
        text = format!("{text}: {one}");
        cause = one.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::Reach;

    #[test]
    fn an_issuer_is_public_and_encrypted() {
        for (issuer, expect) in [
            ("https://login.example.org/realms/staff", true),
            ("http://127.0.0.1:9000", true),
            ("http://[::1]:9000", true),
            ("http://localhost:9000/x", true),
            ("http://login.example.org", false),
            ("http://127.0.0.1.evil.example", false),
            ("http://169.254.169.254", false),
            ("http://10.0.0.1", false),
            ("https://127.0.0.1", false),
            ("https://10.1.2.3", false),
            ("https://169.254.169.254/latest", false),
            ("https://[fd00::1]", false),
            ("https://[::ffff:10.0.0.1]", false),
            ("https://0x7f000001", false),
            ("https://2130706433", false),
            ("https://user@login.example.org", false),
            ("https://login.example.org?x=1", false),
            ("https://login.example.org#x", false),
            ("ftp://login.example.org", false),
            ("file:///etc/passwd", false),
            ("login.example.org", false),
            ("", false),
        ] {
            assert_eq!(Reach::of(issuer, &[]).is_ok(), expect, "{issuer}");
        }
        let named = ["10.1.2.3".to_owned(), "FD00::1".to_owned()];
        assert!(Reach::of("https://10.1.2.3", &named).is_ok());
        assert!(Reach::of("https://[fd00::1]", &named).is_ok());
        assert!(Reach::of("https://10.1.2.4", &named).is_err());
    }

    #[test]
    fn what_a_provider_names_is_no_way_inwards() {
        let public = Reach::of("https://login.example.org", &[]).expect("a public one");
        for inwards in [
            "http://127.0.0.1:80/token",
            "https://127.0.0.1/token",
            "https://192.168.1.1/",
            "http://login.example.org/token",
        ] {
            assert!(public.check(inwards).is_err(), "{inwards}");
        }
        assert!(public.check("https://keys.example.net/jwks").is_ok());
        let near = Reach::of("http://127.0.0.1:9000", &[]).expect("one on this machine");
        assert!(near.check("http://127.0.0.1:9000/token").is_ok());
        assert!(near.check("http://10.0.0.1/token").is_err());
        assert!(near.check("https://10.0.0.1/token").is_err());
    }
}
