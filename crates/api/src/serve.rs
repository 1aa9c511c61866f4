//! The server.

use crate::router::router;
use crate::state::ApiState;
use axum::extract::connect_info::IntoMakeServiceWithConnectInfo;
use std::future::Future;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;

/// How long open requests may take once the server stops. Event streams of browsers never end by themselves.
const GRACE: Duration = Duration::from_secs(3);

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

/// Serves until `stop` is done, then lets open requests end, for a moment.
pub async fn serve(
    listening: Listening,
    state: ApiState,
    stop: impl Future<Output = ()> + Send + 'static,
) -> std::io::Result<()> {
    use axum::serve::ListenerExt;
    let listener = listening.listener.tap_io(|stream| {
        // Without it, streams stall for 40 ms now and then.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "TCP_NODELAY refused");
        }
    });
    let service: IntoMakeServiceWithConnectInfo<_, SocketAddr> =
        router(state).into_make_service_with_connect_info();
    let (stopping, mut stopped) = watch::channel(false);
    let server = axum::serve(listener, service).with_graceful_shutdown(async move {
        stop.await;
        stopping.send_replace(true);
    });
    let too_long = async move {
        if stopped.wait_for(|stopped| *stopped).await.is_ok() {
            tokio::time::sleep(GRACE).await;
        } else {
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        result = server => result,
        () = too_long => Ok(()),
    }
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
        ended.expect("it ends").unwrap().unwrap();
    }
}
