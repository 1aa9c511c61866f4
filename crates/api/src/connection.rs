//! One connection: TLS if the server has a certificate, then HTTP/1.1 or, if the client wants it, HTTP/2.

use crate::lingering::{Lingering, Unread};
use crate::main_runtime::{MainRuntime, stays};
use crate::received_body::receive_body;
use crate::tls::{OverTls, Tls};
use axum::Router;
use axum::extract::ConnectInfo;
use axum::http::{HeaderValue, header};
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use steward_core::live::Live;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio_rustls::server::TlsStream;
use tower::Service as _;

/// Longest wait for a client to agree on keys.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// The first byte of a client that speaks TLS.
const HANDSHAKE_RECORD: u8 = 0x16;
/// How long a client of plain HTTP may go on sending after its answer.
const LINGER: Duration = Duration::from_secs(1);

/// How connections are served.
#[derive(Clone)]
pub(crate) struct Serving {
    pub router: Router,
    /// Where requests are answered that are not for a model.
    pub main: MainRuntime,
    /// How long a client may take for a request's head, and between two pieces of its body.
    pub patience: Duration,
    /// Asked for each connection; one that is open stays as it is.
    pub tls: Live<Option<Arc<Tls>>>,
    /// Whether this connection is encrypted.
    pub over_tls: bool,
}

pub(crate) async fn serve_one(
    stream: TcpStream,
    peer: SocketAddr,
    mut serving: Serving,
    stopped: watch::Receiver<bool>,
) {
    let Some(tls) = serving.tls.copy() else {
        return serve_http1(stream, peer, serving, stopped).await;
    };
    let agreed = tokio::time::timeout(HANDSHAKE.min(serving.patience), handshake(stream, &tls)).await;
    let Ok(Some(stream)) = agreed else { return };
    serving.over_tls = true;
    if stream.get_ref().1.alpn_protocol() == Some(b"h2") {
        serve_http2(stream, peer, serving, stopped).await;
    } else {
        serve_http1(stream, peer, serving, stopped).await;
    }
}

/// `None`: the client speaks something else, and was told so if it can be.
async fn handshake(mut stream: TcpStream, tls: &Tls) -> Option<TlsStream<TcpStream>> {
    let mut first = [0];
    match stream.peek(&mut first).await {
        Ok(1) if first[0] == HANDSHAKE_RECORD => {}
        Ok(1) if first[0].is_ascii_uppercase() => {
            refuse_plain(&mut stream).await;
            return None;
        }
        _ => return None,
    }
    match tls.acceptor().accept(stream).await {
        Ok(stream) => Some(stream),
        Err(error) => {
            tracing::debug!(%error, "no keys were agreed on with a client");
            None
        }
    }
}

async fn refuse_plain(stream: &mut TcpStream) {
    const TEXT: &str = "This port speaks TLS: begin the address with https:// in the place of http://.\n";
    let answer = format!(
        "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{TEXT}",
        TEXT.len()
    );
    if stream.write_all(answer.as_bytes()).await.is_err() || stream.shutdown().await.is_err() {
        return;
    }
    // What is left unread would reset the connection before the answer is read.
    let mut rest = [0; 4096];
    let drained = async { while stream.read(&mut rest).await.is_ok_and(|length| length > 0) {} };
    let _in_time = tokio::time::timeout(LINGER, drained).await;
}

async fn serve_http1<S>(stream: S, peer: SocketAddr, serving: Serving, stopped: watch::Receiver<bool>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let patience = serving.patience;
    let unread = Unread::default();
    let stream = Lingering::new(stream, unread.clone());
    let service = service_fn(move |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(unread.clone());
        answer(&serving, peer, request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(patience)
        .serve_connection(TokioIo::new(stream), service);
    run(connection, http1::Connection::graceful_shutdown, stopped).await;
}

async fn serve_http2<S>(stream: S, peer: SocketAddr, serving: Serving, stopped: watch::Receiver<bool>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let patience = serving.patience;
    let service = service_fn(move |request| answer(&serving, peer, request));
    let connection = http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .keep_alive_interval(patience)
        .serve_connection(TokioIo::new(stream), service);
    run(connection, http2::Connection::graceful_shutdown, stopped).await;
}

/// Until it ends; once the server stops, with no further requests.
async fn run<C: Future<Output = hyper::Result<()>>>(
    connection: C,
    shut_down: fn(Pin<&mut C>),
    stopped: watch::Receiver<bool>,
) {
    let mut connection = std::pin::pin!(connection);
    let ended = tokio::select! {
        ended = &mut connection => ended,
        () = when_stopped(stopped) => {
            shut_down(connection.as_mut());
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended");
    }
}

fn answer(
    serving: &Serving,
    peer: SocketAddr,
    request: hyper::Request<Incoming>,
) -> impl Future<Output = Result<axum::response::Response, std::convert::Infallible>> + Send + use<> {
    let patience = serving.patience;
    let mut request = request.map(|body| receive_body(body, patience));
    request.extensions_mut().insert(ConnectInfo(peer));
    if serving.over_tls {
        request.extensions_mut().insert(OverTls);
    }
    // HTTP/2 has the name in the address only.
    if !request.headers().contains_key(header::HOST)
        && let Some(host) = request.uri().authority().and_then(|host| HeaderValue::from_str(host.as_str()).ok())
    {
        request.headers_mut().insert(header::HOST, host);
    }
    let (main, stays) = (serving.main.clone(), stays(&request));
    if stays {
        request.extensions_mut().insert(main.clone());
    }
    // Always ready.
    let answer = serving.router.clone().call(request);
    async move { if stays { answer.await } else { main.run(answer).await } }
}

async fn when_stopped(mut stopped: watch::Receiver<bool>) {
    drop(stopped.wait_for(|stopped| *stopped).await);
}
