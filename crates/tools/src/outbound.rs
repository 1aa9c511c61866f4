//! HTTP of tools and skills: every hop is checked anew, and connections go only to the checked addresses.

pub(crate) mod address_guard;
mod posting;

pub use address_guard::HostPort;
pub use posting::Posted;

use crate::error::{ToolsError, refused};
use address_guard::CheckedUrl;
use async_trait::async_trait;
use reqwest::header::{ACCEPT, ACCEPT_LANGUAGE, CONTENT_TYPE, HeaderMap, HeaderName, LOCATION};
use reqwest::{Identity, Method, Response, StatusCode, redirect};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use steward_core::live::Live;
use steward_core::provenance::Consulted;
use url::Url;

const CONNECT: Duration = Duration::from_secs(10);
/// Headers that may be sent to another origin than the one that was meant.
const CROSS_ORIGIN_HEADERS: &[HeaderName] = &[ACCEPT, ACCEPT_LANGUAGE];

#[derive(Debug, Clone)]
pub struct HttpRequest {
    pub method: Method,
    pub url: Url,
    /// None but `Accept` and `Accept-Language` are sent to another origin.
    pub headers: HeaderMap,
    /// Empty: no body.
    pub body: Vec<u8>,
    /// Certificate and key of the client, shown to the origin of `url` only.
    pub identity: Option<Identity>,
}

impl HttpRequest {
    pub fn get(url: Url) -> Self {
        Self { method: Method::GET, url, headers: HeaderMap::new(), body: Vec::new(), identity: None }
    }
}

#[derive(Debug, Clone, Copy)]
pub struct HttpLimits {
    /// Bytes of the body that are read.
    pub max_bytes: usize,
    /// For everything, redirects and body included.
    pub timeout: Duration,
    /// Redirects that are followed; 0: the redirect itself is the answer.
    pub redirects: usize,
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self { max_bytes: 2 << 20, timeout: Duration::from_secs(20), redirects: 5 }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// Not allowed or malformed: it would be refused again.
    #[error("{0}")]
    Refused(String),
    /// No connection was made, so nothing was sent: may work later.
    #[error("{0}")]
    Unreachable(String),
    /// The connection broke, or the answer was no HTTP: the request may have been carried out.
    #[error("{0}")]
    Broken(String),
    #[error("no complete answer within {0} ms; try again later, or ask for less")]
    TimedOut(u128),
}

impl From<HttpError> for ToolsError {
    fn from(error: HttpError) -> Self {
        Self::Refused(error.to_string())
    }
}

#[derive(Debug, Clone)]
pub struct HttpResponse {
    /// After redirects.
    pub url: Url,
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub bytes: Vec<u8>,
    /// Whether there was more than is read.
    pub cut: bool,
}

#[derive(Clone)]
pub struct Client {
    /// Those of the settings.
    allow: Live<Vec<HostPort>>,
    more: Vec<HostPort>,
    resolver: Arc<dyn Resolve>,
}

impl Client {
    /// `allow`: hosts and ports outside the public internet that may be reached.
    pub fn new(allow: Vec<HostPort>) -> Self {
        Self::resolving(allow, Arc::new(SystemResolver))
    }

    /// Which hosts are allowed is read for each request.
    pub fn reading(allow: Live<Vec<HostPort>>) -> Self {
        Self { allow, more: Vec::new(), resolver: Arc::new(SystemResolver) }
    }

    pub fn resolving(allow: Vec<HostPort>, resolver: Arc<dyn Resolve>) -> Self {
        Self { allow: Live::new(allow), more: Vec::new(), resolver }
    }

    #[must_use]
    pub fn allowing(&self, more: impl IntoIterator<Item = HostPort>) -> Self {
        let mut client = self.clone();
        client.more.extend(more);
        client
    }

    pub async fn checked_addresses(&self, url: &Url) -> Result<Vec<SocketAddr>, ToolsError> {
        Ok(self.checked(url).await?.1)
    }

    pub(crate) fn allowed(&self) -> Vec<HostPort> {
        let mut allowed = self.allow.copy();
        allowed.extend(self.more.iter().cloned());
        allowed
    }

    pub(crate) fn allows(&self, url: &Url) -> bool {
        address_guard::checked_url(url.clone()).is_ok_and(|target| target.is_allowed(&self.allowed()))
    }

    async fn checked(&self, url: &Url) -> Result<(CheckedUrl, Vec<SocketAddr>), ToolsError> {
        let target = address_guard::checked_url(url.clone())?;
        let addresses = target.addresses(&self.allowed(), self.resolver.as_ref()).await?;
        Ok((target, addresses))
    }

    /// Sends a request and reads the body. Each server that it turns to is noted in `consulted`.
    pub async fn send(
        &self,
        request: HttpRequest,
        limits: HttpLimits,
        consulted: &Consulted,
    ) -> Result<HttpResponse, HttpError> {
        let work = async {
            let (url, response) = self.follow_redirects(request, limits.redirects, consulted).await?;
            read_body(url, response, limits.max_bytes).await
        };
        let done = tokio::time::timeout(limits.timeout, work).await;
        done.unwrap_or_else(|_| Err(HttpError::TimedOut(limits.timeout.as_millis())))
    }

    async fn follow_redirects(
        &self,
        mut request: HttpRequest,
        hops: usize,
        consulted: &Consulted,
    ) -> Result<(Url, Response), HttpError> {
        let mut checked = self.checked(&request.url).await.map_err(|error| HttpError::Refused(error.to_string()))?;
        for hop in 0..=hops {
            let (target, addresses) = &checked;
            consulted.outside(&request.url.origin().ascii_serialization());
            let response = send(target, addresses, &request).await?;
            let status = response.status().as_u16();
            let moved = hops > 0 && matches!(status, 301 | 302 | 303 | 307 | 308);
            let Some(location) = response.headers().get(LOCATION).filter(|_| moved) else {
                return Ok((request.url, response));
            };
            let to = location.to_str().map(str::to_owned);
            let nowhere = || HttpError::Refused(format!("{} redirects to something that is no URL", request.url));
            let to = to.map_err(|_| nowhere())?;
            if hop == hops {
                return Err(HttpError::Refused(format!("more than {hops} redirects, the last to {to}")));
            }
            let from = request.url.clone();
            let next = from.join(&to).map_err(|_| nowhere())?;
            prepare_redirect(&mut request, status, next)?;
            let next = self.checked(&request.url).await;
            checked = next.map_err(|error| HttpError::Refused(format!("{from} redirects to {to}: {error}")))?;
        }
        Err(HttpError::Refused(format!("more than {hops} redirects")))
    }
}

fn prepare_redirect(request: &mut HttpRequest, status: u16, next: Url) -> Result<(), HttpError> {
    let from = &request.url;
    if from.scheme() == "https" && next.scheme() == "http" {
        return Err(HttpError::Refused(format!(
            "{from} redirects from https to plain http ({next}); use that address itself if you mean it"
        )));
    }
    let becomes_get = match status {
        303 => request.method != Method::HEAD,
        301 | 302 => request.method == Method::POST,
        _ => false,
    };
    if becomes_get && request.method != Method::GET {
        request.method = Method::GET;
        request.body.clear();
        request.headers.remove(CONTENT_TYPE);
    }
    if from.origin() != next.origin() {
        if !matches!(request.method, Method::GET | Method::HEAD) {
            return Err(HttpError::Refused(format!(
                "{from} redirects a {} to another server ({next}); use that address itself if you mean it",
                request.method
            )));
        }
        request.identity = None;
        request.body.clear();
        let kept: HeaderMap = CROSS_ORIGIN_HEADERS
            .iter()
            .filter_map(|name| Some((name.clone(), request.headers.get(name)?.clone())))
            .collect();
        request.headers = kept;
    }
    request.url = next;
    Ok(())
}

/// A client that connects to `addresses` only, without proxies and redirects.
fn client_builder(target: &CheckedUrl, addresses: &[SocketAddr]) -> reqwest::ClientBuilder {
    // Fails only if a provider is installed already, which is fine.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder()
        .no_proxy()
        .redirect(redirect::Policy::none())
        .connect_timeout(CONNECT)
        .tcp_nodelay(true)
        .user_agent(concat!("steward/", env!("CARGO_PKG_VERSION")));
    match target.name() {
        Some(name) => client.resolve_to_addrs(name, addresses),
        None => client,
    }
}

async fn send(target: &CheckedUrl, addresses: &[SocketAddr], request: &HttpRequest) -> Result<Response, HttpError> {
    let mut client = client_builder(target, addresses).pool_max_idle_per_host(0);
    if let Some(identity) = &request.identity {
        client = client.identity(identity.clone());
    }
    let client = client.build().map_err(|error| HttpError::Refused(format!("no connection can be made: {error}")))?;
    let mut builder = client.request(request.method.clone(), request.url.clone()).headers(request.headers.clone());
    if !request.body.is_empty() {
        builder = builder.body(request.body.clone());
    }
    builder.send().await.map_err(|error| connection_error(target, &error))
}

/// The innermost cause; the outer ones repeat the address.
fn innermost_cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

fn connection_error(target: &CheckedUrl, error: &reqwest::Error) -> HttpError {
    let (place, cause) = (target.place(), innermost_cause(error));
    if error.is_connect() {
        HttpError::Unreachable(format!("{place} can't be reached: {cause}"))
    } else {
        HttpError::Broken(format!("{place} gave no proper answer: {cause}"))
    }
}

/// The response with the first `max_bytes` of its body.
async fn read_body(url: Url, mut response: Response, max_bytes: usize) -> Result<HttpResponse, HttpError> {
    let (mut bytes, mut cut) = (Vec::new(), false);
    while !cut {
        let chunk = response.chunk().await.map_err(|error| {
            let origin = url.origin().ascii_serialization();
            HttpError::Broken(format!("the connection to {origin} broke off: {}", innermost_cause(&error)))
        })?;
        let Some(chunk) = chunk else { break };
        let left = max_bytes - bytes.len();
        bytes.extend_from_slice(&chunk[..chunk.len().min(left)]);
        cut = chunk.len() > left;
    }
    Ok(HttpResponse { url, status: response.status(), headers: std::mem::take(response.headers_mut()), bytes, cut })
}

impl HttpResponse {
    /// Media type without parameters, lower case.
    pub fn media(&self) -> String {
        let kind = self.kind();
        kind.split(';').next().unwrap_or("").trim().to_owned()
    }

    /// The value of `charset`, from the header.
    pub fn charset(&self) -> Option<String> {
        self.kind()
            .split(';')
            .find_map(|part| part.trim().strip_prefix("charset="))
            .map(|name| name.trim_matches(['"', '\'']).to_owned())
    }

    fn kind(&self) -> String {
        let kind = self.headers.get(CONTENT_TYPE);
        let kind = kind.and_then(|value| value.to_str().ok());
        kind.unwrap_or("").to_lowercase()
    }
}

/// A URL and a client that connects to its checked addresses only, without following redirects.
#[derive(Debug, Clone)]
pub(crate) struct PinnedClient {
    pub url: Url,
    pub client: reqwest::Client,
    /// Whether the traffic is readable on the way: plain http to a host that no operator allows.
    pub plaintext: bool,
}

impl PinnedClient {
    /// Resolves and checks the host of `url` once.
    pub async fn connect(url: &str, allow: &[HostPort]) -> Result<Self, ToolsError> {
        let (target, addresses) = Client::new(allow.to_vec()).checked(&address_guard::parse_url(url)?).await?;
        let client = client_builder(&target, &addresses)
            .build()
            .map_err(|error| refused!("no connection can be made: {error}"))?;
        Ok(Self { plaintext: target.url.scheme() == "http" && !target.is_allowed(allow), url: target.url, client })
    }
}

/// Resolves host names. Called once for each hop; its addresses are checked and connected to.
#[async_trait]
pub trait Resolve: Send + Sync {
    /// All addresses of `host`, each with `port`.
    async fn resolve(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>>;
}

#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

#[async_trait]
impl Resolve for SystemResolver {
    async fn resolve(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        Ok(tokio::net::lookup_host((host, port)).await?.collect())
    }
}
