//! Routes and the server.

use crate::error::Problem;
use crate::state::ApiState;
use crate::{chat, health, login, models};
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::{HeaderName, HeaderValue, StatusCode, Uri, header};
use axum::routing::{get, post};
use std::future::Future;
use std::net::SocketAddr;
use tokio::net::TcpListener;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::set_header::SetResponseHeaderLayer;

/// Longest request body, bytes.
const MAX_BODY: usize = 4 * 1024 * 1024;

/// All routes.
pub fn router(state: ApiState) -> Router {
    Router::new()
        .route("/healthz", get(health::healthz))
        .route("/readyz", get(health::readyz))
        .route("/api/auth/login", post(login::login))
        .route("/api/auth/setup", post(login::set_up))
        .route("/api/auth/me", get(login::me))
        .route("/v1/models", get(models::list))
        .route("/v1/models/{name}", get(models::one))
        .route("/v1/chat/completions", post(chat::completions))
        .fallback(nothing_here)
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .layer(CatchPanicLayer::new())
        .layer(header_layer(header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .layer(header_layer(header::X_FRAME_OPTIONS, "DENY"))
        .layer(header_layer(header::REFERRER_POLICY, "no-referrer"))
        .layer(header_layer(header::CACHE_CONTROL, "no-store"))
        .with_state(state)
}

fn header_layer(name: HeaderName, value: &'static str) -> SetResponseHeaderLayer<HeaderValue> {
    SetResponseHeaderLayer::if_not_present(name, HeaderValue::from_static(value))
}

async fn nothing_here(uri: Uri) -> Problem {
    Problem::new(
        StatusCode::NOT_FOUND,
        format!("there is nothing at {}", uri.path()),
        "the API has /v1/chat/completions, /v1/models, /api/auth/login, /healthz and /readyz",
    )
}

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

/// Serves until `stop` is done, then lets open requests end.
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
    axum::serve(listener, router(state))
        .with_graceful_shutdown(stop)
        .await
}
