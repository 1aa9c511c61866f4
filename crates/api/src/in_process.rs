//! The API without a socket, for whoever owns this process: past the network and the key, through everything else, so
//! that a command does the same with a server as without one.

use crate::router::router;
use crate::state::ApiState;
use axum::Router;
use axum::body::{Body, BodyDataStream, Bytes};
use axum::http::{HeaderValue, Request, Response, header};
use steward_app::Identity;
use tower::ServiceExt as _;

/// The API as one identity sees it.
#[derive(Clone)]
pub struct InProcessClient {
    router: Router,
    identity: Identity,
}

impl InProcessClient {
    /// Nobody is asked who they are: each request is `identity`'s.
    pub fn new(state: ApiState, identity: Identity) -> Self {
        Self { router: router(state), identity }
    }

    /// One request. The answer's body comes as it is made, as over a socket.
    pub async fn send(&self, request: Request<Bytes>) -> Response<BodyDataStream> {
        let mut request = request.map(Body::from);
        request.headers_mut().insert(header::HOST, HeaderValue::from_static("localhost"));
        request.extensions_mut().insert(self.identity.clone());
        match self.router.clone().oneshot(request).await {
            Ok(response) => response.map(Body::into_data_stream),
            Err(never) => match never {},
        }
    }
}
