//! The operations of the OpenAPI document as routes.

use crate::ApiState;
use axum::extract::Request;
use axum::handler::Handler;
use axum::response::Response;
use futures::future::BoxFuture;
use std::sync::Arc;
use utoipa::__dev::{SchemaReferences, Tags};
use utoipa::Path;
use utoipa_axum::PathItemExt as _;
use utoipa_axum::router::UtoipaMethodRouter;

/// A handler of any type: what axum makes of a handler is compiled once, not for each
/// (docs/decisions/064-building-the-api.md).
#[derive(Clone)]
pub(crate) struct AnyHandler(Arc<dyn Fn(Request, ApiState) -> BoxFuture<'static, Response> + Send + Sync>);

impl AnyHandler {
    pub fn new<T: 'static>(handler: impl Handler<T, ApiState, Future = BoxFuture<'static, Response>>) -> Self {
        Self(Arc::new(move |request, state| handler.clone().call(request, state)))
    }
}

impl Handler<(), ApiState> for AnyHandler {
    type Future = BoxFuture<'static, Response>;

    fn call(self, request: Request, state: ApiState) -> Self::Future {
        (self.0)(request, state)
    }
}

/// The handlers of one path, for `OpenApiRouter::routes`: like the macro of utoipa-axum, but of one type.
macro_rules! routes {
    ($($handler:ident),+) => {{
        let operations = Default::default();
        $(let operations = ::utoipa_axum::paste! {
            $crate::operations::add::<[<__path_ $handler>]>(operations, &$crate::operations::AnyHandler::new($handler))
        };)+
        operations
    }};
    ($module:ident::$handler:ident) => {
        ::utoipa_axum::paste! {{
            use $module::{$handler, [<__path_ $handler>]};
            $crate::operations::routes!($handler)
        }}
    };
}
pub(crate) use routes;

/// Adds the operation that `P` describes to those of a path.
pub(crate) fn add<P: Path + Tags<'static> + SchemaReferences>(
    (mut schemas, mut paths, router): UtoipaMethodRouter<ApiState>,
    handler: &AnyHandler,
) -> UtoipaMethodRouter<ApiState> {
    let (methods, mut operation, tags) = (P::methods(), P::operation(), P::tags());
    if !tags.is_empty() {
        operation.tags.get_or_insert_default().extend(tags.into_iter().map(str::to_owned));
    }
    P::schemas(&mut schemas);
    let router = methods.iter().fold(router, |router, method| router.on(method.to_method_filter(), handler.clone()));
    paths.add_path_operation(P::path(), methods, operation);
    (schemas, paths, router)
}
