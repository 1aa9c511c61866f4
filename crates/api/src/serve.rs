use crate::ApiState;
use crate::connection::Serving;
use crate::connection_places::{ConnectionPlace, ConnectionPlaces};
use crate::main_runtime::MainRuntime;
use crate::router::router;
use crate::tls::Tls;
use crate::worker_threads::WorkerThreads;
use std::future::Future;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use steward_core::live::Live;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Handle;

/// How long open requests may take once the server stops. Event streams of browsers never end by themselves.
const GRACE: Duration = Duration::from_secs(3);
/// How long to wait when there is no room for another connection.
const NO_ROOM: Duration = Duration::from_millis(500);

/// Longest wait for a request's head, between two pieces of its body, and between two requests of a connection.
const PATIENCE: Duration = Duration::from_mins(1);

pub struct Listening {
    listener: TcpListener,
    pub address: SocketAddr,
    tls: Live<Option<Arc<Tls>>>,
}

impl Listening {
    /// Takes `address`; the error says what is wrong with it.
    pub async fn bind(address: &str) -> Result<Self, String> {
        let listener = TcpListener::bind(address).await.map_err(|error| match error.kind() {
            std::io::ErrorKind::AddrInUse => format!(
                "{address} is taken by another program; end it, or choose another port with --listen 127.0.0.1:PORT"
            ),
            std::io::ErrorKind::PermissionDenied => {
                format!("{address} needs more rights; choose a port above 1023 with --listen")
            }
            _ => format!("cannot listen on {address}: {error}; give --listen as ADDRESS:PORT"),
        })?;
        let address = listener.local_addr().map_err(|error| error.to_string())?;
        Ok(Self { listener, address, tls: Live::default() })
    }

    /// New connections are encrypted; `None`: they are not.
    #[must_use]
    pub fn with_tls(self, tls: Live<Option<Arc<Tls>>>) -> Self {
        Self { tls, ..self }
    }
}

/// Serves until `stop` is done, then gives open requests a moment; dropping what this returns cuts off the rest.
pub async fn serve(
    listening: Listening,
    state: ApiState,
    stop: impl Future<Output = ()> + Send + 'static,
) -> std::io::Result<WorkerThreads> {
    serve_within(listening, state, stop, PATIENCE, ConnectionPlaces::of_this_process()).await
}

async fn serve_within(
    listening: Listening,
    state: ApiState,
    stop: impl Future<Output = ()> + Send + 'static,
    patience: Duration,
    places: ConnectionPlaces,
) -> std::io::Result<WorkerThreads> {
    let main = MainRuntime(Some(Handle::current()));
    let serving = Serving { router: router(state), main, patience, tls: listening.tls.clone(), over_tls: false };
    let mut workers = WorkerThreads::start(&serving)?;
    tokio::select! {
        () = accept_all(&listening.listener, &workers, &places) => {}
        () = stop => {}
    }
    drop(listening);
    // Those who take longer are told so by whoever ends them.
    let _in_time = tokio::time::timeout(GRACE, workers.stop()).await;
    Ok(workers)
}

async fn accept_all(listener: &TcpListener, workers: &WorkerThreads, places: &ConnectionPlaces) {
    while let Some(room) = places.room().await {
        let taken = match listener.accept().await {
            Ok((stream, peer)) => match places.take(room, peer.ip()) {
                Some(place) => take(stream, peer, place, workers),
                None => continue,
            },
            Err(error) => Err(error),
        };
        let Err(error) = taken else { continue };
        let clients_own = matches!(
            error.kind(),
            ErrorKind::ConnectionRefused | ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset
        );
        if !clients_own {
            // Mostly too many open files: some will be closed.
            tracing::error!(%error, "a connection was not accepted");
            tokio::time::sleep(NO_ROOM).await;
        }
    }
}

fn take(stream: TcpStream, peer: SocketAddr, place: ConnectionPlace, workers: &WorkerThreads) -> std::io::Result<()> {
    // Without it, streams stall for 40 ms now and then.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "TCP_NODELAY refused");
    }
    workers.take(stream, peer, place)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]
mod tests {
    use super::{Listening, serve, serve_within};
    use crate::connection_places::ConnectionPlaces;
    use crate::testing::bed;
    use std::time::Duration;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;

    async fn within(patience: Duration, connections: usize) -> std::net::SocketAddr {
        let listening = Listening::bind("127.0.0.1:0").await.unwrap();
        let address = listening.address;
        let forever = std::future::pending();
        let (state, places) = (bed().await.state, ConnectionPlaces::new(connections));
        tokio::spawn(async move { serve_within(listening, state, forever, patience, places).await });
        address
    }

    #[tokio::test]
    async fn clients_that_send_too_slowly_are_given_up() {
        let address = within(Duration::from_millis(300), 64).await;
        let half_a_head = "GET /healthz HTTP/1.1\r\nHost: loc".to_owned();
        let half_a_body = format!(
            "POST /api/auth/login HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{{"
        );
        for begun in [half_a_head, half_a_body] {
            let mut client = TcpStream::connect(address).await.unwrap();
            client.write_all(begun.as_bytes()).await.unwrap();
            let mut rest = Vec::new();
            let ended = tokio::time::timeout(Duration::from_secs(10), client.read_to_end(&mut rest)).await;
            assert!(ended.is_ok(), "it is still open: {begun}");
        }
    }

    /// An answer without its body, which it must not be sent in pieces.
    async fn answer_of(client: &mut TcpStream) -> String {
        let mut all = Vec::new();
        loop {
            let mut piece = [0; 4096];
            let read = client.read(&mut piece).await.unwrap();
            assert!(read > 0, "it was closed: {}", String::from_utf8_lossy(&all));
            all.extend_from_slice(&piece[..read]);
            let text = String::from_utf8_lossy(&all).to_lowercase();
            let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap_or("0");
            if body.len() >= length.parse::<usize>().unwrap() {
                return head.to_owned();
            }
        }
    }

    #[tokio::test]
    async fn a_body_that_was_not_read_is_dealt_with() {
        let address = within(Duration::from_secs(30), 64).await;
        let lines = [
            "POST /v1/chat/completions",  // 401
            "POST /v1/responses/compact", // 404
            "POST /mcp",                  // 401
            "POST /api/files?name=x",     // 401
            "POST /api/about",            // 405
            "POST /api/none",             // 404
            "POST /scim/v2/Users",        // 401
            "POST /anything",
        ];
        for line in lines {
            let head = |length: usize| {
                format!(
                    "{line} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
                )
            };
            let mut client = TcpStream::connect(address).await.unwrap();
            client.write_all((head(60_000) + &"x".repeat(60_000)).as_bytes()).await.unwrap();
            let answer = answer_of(&mut client).await;
            assert!(!answer.contains("connection: close"), "{line}: {answer}");
            let next = format!("GET /healthz HTTP/1.1\r\nHost: {address}\r\n\r\n");
            client.write_all(next.as_bytes()).await.unwrap();
            assert!(answer_of(&mut client).await.starts_with("http/1.1 200"), "{line}");
            // Too much to read it for nothing.
            client.write_all(head(1_000_000).as_bytes()).await.unwrap();
            let answer = answer_of(&mut client).await;
            assert!(answer.contains("connection: close"), "{line}: {answer}");
            // Whoever goes on sending is not cut off before they have read it.
            client.write_all(&vec![b'x'; 900_000]).await.unwrap();
            assert_eq!(client.read(&mut [0; 16]).await.unwrap(), 0, "{line}");
        }
    }

    #[tokio::test]
    async fn a_connection_beyond_the_limit_waits_for_another_to_end() {
        let address = within(Duration::from_secs(30), 1).await;
        let head = format!("GET /healthz HTTP/1.1\r\nHost: {address}\r\n\r\n");
        let mut answer = [0; 1024];
        let mut first = TcpStream::connect(address).await.unwrap();
        first.write_all(head.as_bytes()).await.unwrap();
        assert!(first.read(&mut answer).await.unwrap() > 0);
        let mut second = TcpStream::connect(address).await.unwrap();
        second.write_all(head.as_bytes()).await.unwrap();
        let early = tokio::time::timeout(Duration::from_millis(300), second.read(&mut answer));
        assert!(early.await.is_err(), "it was served beyond the limit");
        drop(first);
        let late = tokio::time::timeout(Duration::from_secs(10), second.read(&mut answer));
        assert!(late.await.expect("it is served").unwrap() > 0);
    }

    #[tokio::test]
    async fn a_request_that_never_ends_does_not_keep_the_server_up() {
        let listening = Listening::bind("127.0.0.1:0").await.unwrap();
        let address = listening.address;
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let stop_when = async move {
            let _ = stopped.await;
        };
        let server = tokio::spawn(serve(listening, bed().await.state, stop_when));
        let mut client = TcpStream::connect(address).await.unwrap();
        let head = format!("GET /healthz HTTP/1.1\r\nHost: {address}\r\n\r\n");
        client.write_all(head.as_bytes()).await.unwrap();
        let mut answer = [0; 1024];
        let read = client.read(&mut answer).await.unwrap();
        assert!(answer[..read].starts_with(b"HTTP/1.1 200"));
        // Begun, never finished.
        let half = "POST /api/auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{";
        client.write_all(half.as_bytes()).await.unwrap();
        tokio::time::sleep(Duration::from_millis(100)).await;
        stop.send(()).unwrap();
        let ended = tokio::time::timeout(Duration::from_secs(8), server).await;
        let _workers = ended.expect("it ends").unwrap().unwrap();
    }
}
