//! The runtime of the program. Connections are served by lanes, which only pass bytes on; whatever else a request asks for
//! is done at home, where it may take long, block, and outlive the connection.

use axum::extract::{FromRequestParts, Request, State};
use axum::http::Method;
use axum::http::request::Parts;
use axum::middleware::Next;
use axum::response::Response;
use std::convert::Infallible;
use tokio::runtime::Handle;
use tokio_util::task::AbortOnDropHandle;

/// Requests that may be for a model; their handlers send home what is not.
const FOR_MODELS: [&str; 4] = ["/v1/chat/completions", "/v1/completions", "/v1/embeddings", "/v1/responses"];

/// Where work is done that is no passing on. `None`: here.
#[derive(Debug, Clone, Default)]
pub(crate) struct Home(pub Option<Handle>);

impl Home {
    /// Does the work at home; dropping this ends it.
    pub async fn run<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> T {
        let Some(handle) = &self.0 else {
            return work.await;
        };
        match AbortOnDropHandle::new(handle.spawn(work)).await {
            Ok(done) => done,
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            // The program ends, and this with it.
            Err(_) => std::future::pending().await,
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Home {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(parts.extensions.get::<Self>().cloned().unwrap_or_default())
    }
}

/// Sends requests home, but for those that may be for a model.
pub(crate) async fn send_home(State(home): State<Home>, mut request: Request, next: Next) -> Response {
    let stays = request.method() == Method::POST && FOR_MODELS.contains(&request.uri().path());
    if stays {
        request.extensions_mut().insert(home);
        return next.run(request).await;
    }
    home.run(next.run(request)).await
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::Home;
    use std::sync::Arc;
    use std::time::Duration;
    use tokio::runtime::{Builder, Handle, Runtime};

    fn lane() -> Runtime {
        Builder::new_current_thread().enable_all().build().unwrap()
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn work_is_done_at_home_and_ends_with_who_waits_for_it() {
        let at_home = Handle::current();
        let home = Home(Some(at_home.clone()));
        let held = Arc::new(());
        let kept = Arc::clone(&held);
        std::thread::spawn(move || {
            lane().block_on(async {
                let (here, id) = (Handle::current().id(), home.run(async { Handle::current().id() }).await);
                assert_eq!(id, at_home.id());
                assert_ne!(id, here);
                let endless = home.run(async move {
                    std::future::pending::<()>().await;
                    drop(kept);
                });
                let _over = tokio::time::timeout(Duration::from_millis(20), endless).await;
            });
        })
        .join()
        .unwrap();
        while Arc::strong_count(&held) > 1 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    #[tokio::test]
    async fn without_a_home_it_is_done_here() {
        let id = Home::default().run(async { Handle::current().id() }).await;
        assert_eq!(id, Handle::current().id());
    }
}
