//! One GET, redirects followed by hand, each hop checked anew.

use super::guard::{self, HostPort, Target};
use crate::error::ToolsError;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderValue, LOCATION};
use reqwest::{Response, redirect};
use std::net::SocketAddr;
use std::time::Duration;
use url::Url;

/// Most redirects followed.
const HOPS: usize = 5;
/// Most bytes of a body.
const BYTES: usize = 2 << 20;
/// Longest fetch, redirects included.
pub(super) const WALL: Duration = Duration::from_secs(20);
/// Longest wait for a connection.
const CONNECT: Duration = Duration::from_secs(10);

/// What came back.
#[derive(Debug)]
pub(super) struct Page {
    /// After redirects.
    pub url: Url,
    pub status: u16,
    /// Media type without parameters, lower case.
    pub media: String,
    pub bytes: Vec<u8>,
    /// The value of `charset`, from the header.
    pub charset: Option<String>,
    /// Whether there was more than is ever read.
    pub cut: bool,
}

/// Fetches a page under SAFE-4.
pub(super) async fn fetch(url: Url, allow: &[HostPort]) -> Result<Page, ToolsError> {
    let work = hops(url, allow);
    tokio::time::timeout(WALL, work).await.unwrap_or_else(|_| {
        Err(ToolsError::Refused(format!(
            "the page did not arrive within {} s; try again later",
            WALL.as_secs()
        )))
    })
}

async fn hops(url: Url, allow: &[HostPort]) -> Result<Page, ToolsError> {
    let mut target = guard::target(url)?;
    let mut addresses = target.addresses(allow).await?;
    for _ in 0..=HOPS {
        let response = get(&target, &addresses).await?;
        let status = response.status();
        let moved = matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308);
        let Some(location) = response.headers().get(LOCATION).filter(|_| moved) else {
            return body(target.url, response).await;
        };
        let from = target.url.clone();
        let next = location.to_str().ok().and_then(|text| from.join(text).ok());
        let next = next.ok_or_else(|| {
            ToolsError::Refused(format!("{from} redirects to something that is no URL"))
        })?;
        if from.scheme() == "https" && next.scheme() == "http" {
            return Err(ToolsError::Refused(format!(
                "{from} redirects from https to plain http ({next}); fetch that address itself if you mean it"
            )));
        }
        let elsewhere = |error: ToolsError| {
            ToolsError::Refused(format!(
                "{from} redirects to {}: {error}",
                location_text(location)
            ))
        };
        target = guard::target(next).map_err(elsewhere)?;
        addresses = target.addresses(allow).await.map_err(elsewhere)?;
    }
    Err(ToolsError::Refused(format!(
        "more than {HOPS} redirects, the last to {}",
        target.url
    )))
}

fn location_text(location: &HeaderValue) -> &str {
    location.to_str().unwrap_or("another place")
}

async fn get(target: &Target, addresses: &[SocketAddr]) -> Result<Response, ToolsError> {
    // Fails only if another part of the program has chosen a provider before; that one serves too.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut client = reqwest::Client::builder()
        .no_proxy()
        .redirect(redirect::Policy::none())
        .connect_timeout(CONNECT)
        .tcp_nodelay(true)
        .pool_max_idle_per_host(0)
        .user_agent(concat!("steward/", env!("CARGO_PKG_VERSION")));
    if let Some(name) = target.name() {
        client = client.resolve_to_addrs(name, addresses);
    }
    let client = client
        .build()
        .map_err(|error| ToolsError::Refused(format!("no connection can be made: {error}")))?;
    client
        .get(target.url.clone())
        .header(ACCEPT, "text/html, application/json, text/*, */*;q=0.5")
        .send()
        .await
        .map_err(|error| unreachable_host(target, &error))
}

fn unreachable_host(target: &Target, error: &reqwest::Error) -> ToolsError {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    let place = target.place();
    ToolsError::Refused(if error.is_connect() {
        format!("{place} can't be reached: {cause}")
    } else {
        format!("{place} gave no proper answer: {cause}")
    })
}

async fn body(url: Url, mut response: Response) -> Result<Page, ToolsError> {
    let kind = response
        .headers()
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let kind = kind.unwrap_or("").to_lowercase();
    let media = kind.split(';').next().unwrap_or("").trim().to_owned();
    let charset = kind
        .split(';')
        .filter_map(|part| part.trim().strip_prefix("charset="))
        .map(|name| name.trim_matches(['"', '\'']).to_owned())
        .next();
    let status = response.status().as_u16();
    let (mut bytes, mut cut) = (Vec::new(), false);
    loop {
        let chunk = response.chunk().await.map_err(|error| {
            ToolsError::Refused(format!("the connection to {url} broke off: {error}"))
        })?;
        let Some(chunk) = chunk else { break };
        let room = BYTES - bytes.len();
        bytes.extend_from_slice(&chunk[..chunk.len().min(room)]);
        if chunk.len() > room {
            cut = true;
            break;
        }
    }
    Ok(Page {
        url,
        status,
        media,
        bytes,
        charset,
        cut,
    })
}
