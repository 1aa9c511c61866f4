//! The browser's only way out: a forward proxy that checks and pins each request and tunnel like any of ours.

use crate::outbound::Client;
use bytes::Bytes;
use http::header::{CONNECTION, HOST, HeaderName, HeaderValue};
use http::{HeaderMap, Method, Request, Response, StatusCode, Uri};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use steward_core::locks::lock;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::{CancellationToken, DropGuard};
use url::Url;

/// Longest wait for a connection to one address.
const CONNECT: Duration = Duration::from_secs(10);
/// Connections of the browser and tunnels at a time; it makes 32 by itself.
const MAX_CONNECTIONS: usize = 128;
const MAX_REFUSALS: usize = 50;
/// Headers of the connection, not of the message.
const HOP_HEADERS: &str =
    "connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer upgrade";

type Body = BoxBody<Bytes, hyper::Error>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    pub place: String,
    pub why: String,
}

/// The refused requests of a browser: how many there were, and the last ones.
#[derive(Debug, Default)]
pub(super) struct Refusals(Mutex<(usize, VecDeque<Refusal>)>);

impl Refusals {
    fn add(&self, refusal: Refusal) {
        let (count, last) = &mut *lock(&self.0);
        *count += 1;
        last.push_back(refusal);
        if last.len() > MAX_REFUSALS {
            last.pop_front();
        }
    }

    pub fn since_now(self: Arc<Self>) -> RefusalsSince {
        let mark = lock(&self.0).0;
        RefusalsSince { all: self, mark }
    }
}

/// The requests that are refused from some moment on.
#[derive(Debug, Clone)]
pub(super) struct RefusalsSince {
    all: Arc<Refusals>,
    mark: usize,
}

impl RefusalsSince {
    pub fn since_now(&self) -> Self {
        Arc::clone(&self.all).since_now()
    }

    pub fn list(&self) -> Vec<Refusal> {
        let (count, last) = &*lock(&self.all.0);
        let older = last.len().saturating_sub(count - self.mark);
        let mut found = Vec::new();
        for refusal in last.iter().skip(older) {
            if !found.contains(refusal) {
                found.push(refusal.clone());
            }
        }
        found
    }

    /// Why the last of them was refused, of those to the place of `url` if one is given.
    pub fn reason(&self, url: Option<&Url>) -> Option<String> {
        let place = url.map(host_port_of);
        let mut found = self.list();
        found.retain(|refusal| place.as_ref().is_none_or(|place| *place == refusal.place));
        found.pop().map(|refusal| refusal.why)
    }
}

/// A running proxy; dropping it cuts all of its connections.
#[derive(Debug)]
pub(super) struct Proxy {
    pub refusals: Arc<Refusals>,
    _ended: DropGuard,
}

struct ProxyState {
    client: Client,
    refusals: Arc<Refusals>,
    ended: CancellationToken,
    room: Arc<Semaphore>,
}

impl Proxy {
    pub fn begin(gate: TcpListener, client: Client) -> Self {
        let ended = CancellationToken::new();
        let refusals = Arc::new(Refusals::default());
        let door = Arc::new(ProxyState {
            client,
            refusals: Arc::clone(&refusals),
            ended: ended.clone(),
            room: Arc::new(Semaphore::new(MAX_CONNECTIONS)),
        });
        tokio::spawn(serve(gate, door));
        Self { refusals, _ended: ended.drop_guard() }
    }
}

async fn serve(gate: TcpListener, door: Arc<ProxyState>) {
    loop {
        let Some(accepted) = door.ended.run_until_cancelled(gate.accept()).await else {
            return;
        };
        let Ok((stream, _)) = accepted else {
            // For example no free descriptors; the next connection may succeed.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let Ok(room) = Arc::clone(&door.room).try_acquire_owned() else {
            continue;
        };
        let _ = stream.set_nodelay(true);
        let door = Arc::clone(&door);
        tokio::spawn(async move {
            let _room = room;
            let asked = Arc::clone(&door);
            let service = service_fn(move |request| answer(Arc::clone(&asked), request));
            let serving = hyper::server::conn::http1::Builder::new()
                .preserve_header_case(true)
                .serve_connection(TokioIo::new(stream), service)
                .with_upgrades();
            door.ended.run_until_cancelled(serving).await;
        });
    }
}

struct RefusedRequest {
    status: StatusCode,
    refusal: Refusal,
}

impl RefusedRequest {
    fn new(status: StatusCode, place: &str, why: impl Into<String>) -> Self {
        let (place, why) = (place.to_owned(), why.into());
        Self { status, refusal: Refusal { place, why } }
    }
}

async fn answer(door: Arc<ProxyState>, request: Request<Incoming>) -> Result<Response<Body>, Infallible> {
    let done =
        if request.method() == Method::CONNECT { tunnel(&door, request).await } else { forward(&door, request).await };
    Ok(done.unwrap_or_else(|no| {
        let text = format!("Steward refused this request: {}\n", no.refusal.why);
        tracing::debug!(place = no.refusal.place, "request of a browser refused");
        door.refusals.add(no.refusal);
        let mut response = Response::new(full(text));
        *response.status_mut() = no.status;
        let text = HeaderValue::from_static("text/plain; charset=utf-8");
        response.headers_mut().insert("content-type", text);
        response
    }))
}

fn full(text: impl Into<Bytes>) -> Body {
    Full::new(text.into()).map_err(|never| match never {}).boxed()
}

fn host_port_of(url: &Url) -> String {
    let host = url.host_str().unwrap_or("");
    format!("{host}:{}", url.port_or_known_default().unwrap_or(0))
}

async fn connect(door: &ProxyState, url: &Url, place: &str) -> Result<TcpStream, RefusedRequest> {
    let admitted = door.client.checked_addresses(url).await;
    let addresses = admitted.map_err(|error| RefusedRequest::new(StatusCode::FORBIDDEN, place, error.to_string()))?;
    let mut cause = "it has no address".to_owned();
    for address in addresses {
        match tokio::time::timeout(CONNECT, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => {
                let _ = stream.set_nodelay(true);
                return Ok(stream);
            }
            Ok(Err(error)) => cause = error.to_string(),
            Err(_) => cause = format!("no answer within {} s", CONNECT.as_secs()),
        }
    }
    let why = format!("{place} can't be reached: {cause}");
    Err(RefusedRequest::new(StatusCode::BAD_GATEWAY, place, why))
}

async fn tunnel(door: &Arc<ProxyState>, request: Request<Incoming>) -> Result<Response<Body>, RefusedRequest> {
    let place = request.uri().authority().map(ToString::to_string).unwrap_or_default();
    let url = Url::parse(&format!("https://{place}/"))
        .map_err(|error| RefusedRequest::new(StatusCode::BAD_REQUEST, &place, error.to_string()))?;
    // A tunnel carries any protocol, so only the ports of HTTP are allowed.
    let port = url.port_or_known_default().unwrap_or(0);
    if !matches!(port, 80 | 443) && !door.client.allows(&url) {
        let why =
            format!("a browser's tunnel to port {port} is not opened; an operator can allow {place} by name and port");
        return Err(RefusedRequest::new(StatusCode::FORBIDDEN, &place, why));
    }
    let mut stream = connect(door, &url, &place).await?;
    let room = Arc::clone(&door.room)
        .try_acquire_owned()
        .map_err(|_| RefusedRequest::new(StatusCode::SERVICE_UNAVAILABLE, &place, "too many connections at once"))?;
    tokio::spawn(door.ended.clone().run_until_cancelled_owned(async move {
        let _room = room;
        if let Ok(upgraded) = hyper::upgrade::on(request).await {
            let mut inner = TokioIo::new(upgraded);
            let _ = tokio::io::copy_bidirectional(&mut inner, &mut stream).await;
        }
    }));
    Ok(Response::new(full("")))
}

async fn forward(door: &Arc<ProxyState>, request: Request<Incoming>) -> Result<Response<Body>, RefusedRequest> {
    let (mut head, body) = request.into_parts();
    let whole = head.uri.to_string();
    let url = Url::parse(&whole).ok().filter(|url| url.scheme() == "http");
    let Some(url) = url else {
        let why = format!("`{whole}` is no http address");
        return Err(RefusedRequest::new(StatusCode::BAD_REQUEST, &whole, why));
    };
    let place = host_port_of(&url);
    let stream = connect(door, &url, &place).await?;
    let broken = |error: hyper::Error| {
        let why = format!("{place} gave no proper answer: {error}");
        RefusedRequest::new(StatusCode::BAD_GATEWAY, &place, why)
    };
    let (mut sender, connection) = hyper::client::conn::http1::Builder::new()
        .preserve_header_case(true)
        .handshake(TokioIo::new(stream))
        .await
        .map_err(broken)?;
    tokio::spawn(door.ended.clone().run_until_cancelled_owned(connection));
    let target = head.uri.path_and_query().map_or("/", |path| path.as_str());
    head.uri = target.parse::<Uri>().unwrap_or_else(|_| Uri::from_static("/"));
    strip_hop_headers(&mut head.headers);
    // The request goes to the host that was checked.
    let authority = match url.port() {
        Some(port) => format!("{}:{port}", url.host_str().unwrap_or("")),
        None => url.host_str().unwrap_or("").to_owned(),
    };
    if let Ok(host) = HeaderValue::from_str(&authority) {
        head.headers.insert(HOST, host);
    }
    let response = sender.send_request(Request::from_parts(head, body)).await.map_err(broken)?;
    let (mut head, body) = response.into_parts();
    strip_hop_headers(&mut head.headers);
    Ok(Response::from_parts(head, body.boxed()))
}

fn strip_hop_headers(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|list| list.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in named {
        headers.remove(name);
    }
    for name in HOP_HEADERS.split(' ') {
        headers.remove(name);
    }
}
