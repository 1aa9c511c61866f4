//! The server.

use crate::home::{Home, send_home};
use crate::lanes::Lanes;
use crate::router::router;
use crate::state::ApiState;
use axum::middleware::from_fn_with_state;
use std::future::Future;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Handle;

/// How long open requests may take once the server stops. Event streams of browsers never end by themselves.
const GRACE: Duration = Duration::from_secs(3);
/// How long to wait when there is no room for another connection.
const NO_ROOM: Duration = Duration::from_millis(500);

/// A server that has its port.
pub struct Listening {
    listener: TcpListener,
    /// Where it listens.
    pub address: SocketAddr,
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
        Ok(Self { listener, address })
    }
}

/// Serves until `stop` is done, then lets open requests end, for a moment. Those that go on even then are cut off when
/// what this returns is dropped.
pub async fn serve(
    listening: Listening,
    state: ApiState,
    stop: impl Future<Output = ()> + Send + 'static,
) -> std::io::Result<Lanes> {
    let home = Home(Some(Handle::current()));
    let router = router(state).layer(from_fn_with_state(home, send_home));
    let mut lanes = Lanes::start(&router)?;
    tokio::select! {
        () = accept_all(&listening.listener, &lanes) => {}
        () = stop => {}
    }
    drop(listening);
    // Those who take longer are told so by whoever ends them.
    let _in_time = tokio::time::timeout(GRACE, lanes.stop()).await;
    Ok(lanes)
}

async fn accept_all(listener: &TcpListener, lanes: &Lanes) {
    loop {
        let taken = match listener.accept().await {
            Ok((stream, peer)) => take(stream, peer, lanes),
            Err(error) => Err(error),
        };
        let Err(error) = taken else { continue };
        let clients_own = matches!(
            error.kind(),
            ErrorKind::ConnectionRefused
                | ErrorKind::ConnectionAborted
                | ErrorKind::ConnectionReset
        );
        if !clients_own {
            // Mostly too many open files: some will be closed.
            tracing::error!(%error, "a connection was not accepted");
            tokio::time::sleep(NO_ROOM).await;
        }
    }
}

fn take(stream: TcpStream, peer: SocketAddr, lanes: &Lanes) -> std::io::Result<()> {
    // Without it, streams stall for 40 ms now and then.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "TCP_NODELAY refused");
    }
    lanes.take(stream, peer)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]
mod tests {
    use super::{Listening, serve};
    use crate::testing::bed;
    use std::time::Duration;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;

    #[tokio::test]
    async fn a_request_that_never_ends_does_not_keep_the_server_up() {
        let listening = Listening::bind("127.0.0.1:0").await.unwrap();
        let address = listening.address;
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let stop_when = async move {
            let _ = stopped.await;
        };
        let server = tokio::spawn(serve(listening, bed().state, stop_when));
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
        let _lanes = ended.expect("it ends").unwrap().unwrap();
    }
}
