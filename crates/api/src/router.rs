use crate::ApiState;
use crate::assets::assets;
use crate::guard::{AuditGuard, BodyBudget, answered, no_such_method, nothing_here, nothing_in_the_dialect};
use crate::hook_door::receive;
use crate::mcp::mcp_routes;
use crate::openai::{chat, models, responses};
use crate::openapi::{docs_routes, documented};
use crate::request_id::number;
use crate::scim::scim_routes;
use crate::{gateway, health, metrics};
use axum::Router;
use axum::body::{Body, BodyDataStream, Bytes};
use axum::http::{HeaderValue, Response, header};
use axum::middleware::from_fn_with_state;
use axum::routing::{any, get, post};
use std::sync::Arc;
use steward_app::Identity;
use tower::ServiceExt as _;

pub fn router(state: ApiState) -> Router {
    let (api, _) = documented().split_for_parts();
    let all = api
        .merge(docs_routes())
        .merge(openai_routes(&state))
        .merge(mcp_routes(&state))
        .merge(scim_routes())
        .route("/hooks/{id}", post(receive))
        .route("/healthz", get(health::healthz))
        .route("/readyz", get(health::readyz))
        .route("/metrics", get(metrics::metrics))
        .route("/api", any(nothing_here))
        .route("/api/", any(nothing_here))
        .route("/api/{*rest}", any(nothing_here))
        .route("/v1", any(nothing_in_the_dialect))
        .route("/v1/", any(nothing_in_the_dialect))
        .route("/v1/{*rest}", any(nothing_in_the_dialect))
        // Monitors ask here; the studio's page must not tell them that all is well.
        .route("/health", any(nothing_here))
        .route("/docs/", any(nothing_here))
        .route("/docs/{*rest}", any(nothing_here));
    guarded(all, state, BodyBudget::of_this_process())
}

pub(crate) fn guarded(routes: Router<ApiState>, state: ApiState, bodies: Arc<BodyBudget>) -> Router {
    let handlers = routes.clone().with_state(state.clone());
    routes
        .method_not_allowed_fallback(no_such_method)
        .fallback_service(assets().with_state(state.clone()))
        .layer(from_fn_with_state(AuditGuard::new(state.clone(), bodies, handlers), answered))
        .with_state(state)
}

fn openai_routes(state: &ApiState) -> Router<ApiState> {
    Router::new()
        .route("/v1/models", get(models::list))
        .route("/v1/models/{*name}", get(models::one))
        .route("/v1/chat/completions", post(chat::completions))
        .route("/v1/completions", post(gateway::completions))
        .route("/v1/embeddings", post(gateway::embeddings))
        .route("/v1/responses", post(responses::create))
        .route("/v1/responses/{id}", get(responses::kept::get).delete(responses::kept::delete))
        .route("/v1/responses/{id}/cancel", post(responses::kept::cancel))
        .route("/v1/responses/{id}/input_items", get(responses::kept::input_items))
        .layer(from_fn_with_state(state.clone(), number))
}

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
    pub async fn send(&self, request: axum::http::Request<Bytes>) -> Response<BodyDataStream> {
        let mut request = request.map(Body::from);
        request.headers_mut().insert(header::HOST, HeaderValue::from_static("localhost"));
        request.extensions_mut().insert(self.identity.clone());
        match self.router.clone().oneshot(request).await {
            Ok(response) => response.map(Body::into_data_stream),
            Err(never) => match never {},
        }
    }
}
