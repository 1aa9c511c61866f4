use crate::Hosts;
use crate::guard::without_port;
use crate::headers::text;
use crate::tls::OverTls;
use axum::extract::{ConnectInfo, FromRequestParts};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};

#[derive(Debug, Clone)]
pub(crate) struct Client {
    /// Its address; that of `X-Forwarded-For` where a proxy on this machine adds it.
    pub address: Option<IpAddr>,
    /// Whether it came by https: to us, or by the word of a proxy on this machine.
    pub https: bool,
    pub label: String,
}

impl<S: Send + Sync> FromRequestParts<S> for Client {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self::of_request(parts))
    }
}

impl Client {
    pub fn of_request(parts: &Parts) -> Self {
        let own = parts.extensions.get::<OverTls>().is_some();
        let client = Self::of(peer_of(parts), &parts.headers);
        Self { https: client.https || own, ..client }
    }

    /// Its address alone: the label takes longer to make than a request of the gateway has time for.
    pub fn address_of(parts: &Parts) -> Option<IpAddr> {
        let peer = peer_of(parts);
        forwarded(peer, &parts.headers).or(peer)
    }

    /// Our own address by the name that the client uses.
    pub fn origin(&self, hosts: &Hosts, headers: &HeaderMap) -> String {
        let host = text(headers, header::HOST).unwrap_or("localhost");
        let named = hosts.origins.iter().find(|origin| {
            let of = origin.split_once("://").map_or("", |(_, of)| of).trim_end_matches('/');
            of.eq_ignore_ascii_case(host) || of.eq_ignore_ascii_case(without_port(host))
        });
        named.map_or_else(
            || format!("{}://{host}", if self.https { "https" } else { "http" }),
            |origin| origin.trim_end_matches('/').to_owned(),
        )
    }

    /// Forwarded headers count only from `peer`s on this machine: anybody can write them.
    fn of(peer: Option<IpAddr>, headers: &HeaderMap) -> Self {
        Self {
            address: forwarded(peer, headers).or(peer),
            https: is_trusted(peer)
                && last(headers, "x-forwarded-proto").is_some_and(|proto| proto.eq_ignore_ascii_case("https")),
            label: label(text(headers, header::USER_AGENT).unwrap_or_default()),
        }
    }
}

fn peer_of(parts: &Parts) -> Option<IpAddr> {
    parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(address)| address.ip())
}

fn is_trusted(peer: Option<IpAddr>) -> bool {
    peer.is_some_and(|peer| peer.to_canonical().is_loopback())
}

fn forwarded(peer: Option<IpAddr>, headers: &HeaderMap) -> Option<IpAddr> {
    last(headers, "x-forwarded-for").filter(|_| is_trusted(peer))?.parse().ok()
}

/// What the nearest proxy has put into a header: the end of its last line. What stands before, the client may have sent.
fn last<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let line = headers.get_all(name).iter().next_back()?.to_str().ok()?;
    line.rsplit(',').next().map(str::trim)
}

/// `Firefox on Linux`; else the first words of what the client calls itself.
fn label(agent: &str) -> String {
    // Order matters: every browser names the ones that it descends from.
    const BROWSERS: [(&str, &str); 5] =
        [("Edg", "Edge"), ("OPR/", "Opera"), ("Firefox/", "Firefox"), ("Chrome/", "Chrome"), ("Safari/", "Safari")];
    const SYSTEMS: [(&str, &str); 6] = [
        ("iPhone", "iPhone"),
        ("iPad", "iPad"),
        ("Android", "Android"),
        ("Windows", "Windows"),
        ("Mac OS X", "macOS"),
        ("Linux", "Linux"),
    ];
    let find =
        |table: &[(&str, &'static str)]| table.iter().find(|(mark, _)| agent.contains(mark)).map(|(_, name)| *name);
    match (find(&BROWSERS), find(&SYSTEMS)) {
        (Some(browser), Some(system)) => format!("{browser} on {system}"),
        (Some(browser), None) => browser.to_owned(),
        _ if agent.is_empty() => "a program".to_owned(),
        _ => agent.chars().filter(|c| !c.is_control()).take(60).collect(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]
mod tests {
    use super::{Client, label};
    use axum::http::HeaderMap;
    use std::net::IpAddr;

    #[test]
    fn believes_forwarded_headers_of_this_machine_only() {
        let mut headers = HeaderMap::new();
        headers.insert("x-forwarded-for", "6.6.6.6, 203.0.113.9".parse().unwrap());
        headers.insert("x-forwarded-proto", "https".parse().unwrap());
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        let near = Client::of(Some(ip("127.0.0.1")), &headers);
        assert_eq!((near.address, near.https), (Some(ip("203.0.113.9")), true));
        let far = Client::of(Some(ip("198.51.100.7")), &headers);
        assert_eq!((far.address, far.https), (Some(ip("198.51.100.7")), false));
        headers.append("x-forwarded-for", "203.0.113.10".parse().unwrap());
        let own_line = Client::of(Some(ip("127.0.0.1")), &headers);
        assert_eq!(own_line.address, Some(ip("203.0.113.10")), "some proxies add a line of their own");
        let unknown = Client::of(None, &headers);
        assert_eq!((unknown.address, unknown.https), (None, false));
    }

    #[test]
    fn names_browsers() {
        let firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
        assert_eq!(label(firefox), "Firefox on Linux");
        let edge =
            "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36 Edg/140.0";
        assert_eq!(label(edge), "Edge on Windows");
        assert_eq!(label("curl/8.9"), "curl/8.9");
        assert_eq!(label(""), "a program");
    }
}
