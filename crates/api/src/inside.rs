//! The API without a socket, for whoever owns this process: past the network and the key, through everything else, so
//! that a command does the same with a server as without one.

use crate::router::router;
use crate::state::ApiState;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Request, header};
use steward_access::Identity;
use tower::ServiceExt as _;

/// Longest answer, bytes.
const MOST: usize = 64 << 20;

/// The API as one identity sees it.
#[derive(Clone)]
pub struct Inside {
    router: Router,
    identity: Identity,
}

/// An answer, read to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InsideAnswer {
    /// HTTP status.
    pub status: u16,
    /// Its body.
    pub body: Vec<u8>,
}

impl Inside {
    /// Nobody is asked who they are: each request is `identity`'s.
    pub fn new(state: ApiState, identity: Identity) -> Self {
        Self { router: router(state), identity }
    }

    /// One request. `path` is that of an address, with its query; `body` its content type and bytes. The error says
    /// why there was no answer.
    pub async fn ask(&self, method: &str, path: &str, body: Option<(&str, Vec<u8>)>) -> Result<InsideAnswer, String> {
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::HOST, "localhost")
            .extension(self.identity.clone());
        let mut bytes = Vec::new();
        if let Some((kind, content)) = body {
            request = request.header(header::CONTENT_TYPE, kind);
            bytes = content;
        }
        let request =
            request.body(Body::from(bytes)).map_err(|error| format!("{method} {path} is no request: {error}"))?;
        let response = match self.router.clone().oneshot(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        };
        let status = response.status().as_u16();
        let body = to_bytes(response.into_body(), MOST)
            .await
            .map_err(|error| format!("the answer to {method} {path} broke off: {error}"))?;
        Ok(InsideAnswer { status, body: body.to_vec() })
    }
}
