//! The main runtime of the program. Connections are served by worker threads, which only pass bytes on; whatever else a
//! request asks for is done on the main runtime, where it may take long, block, and outlive the connection.

use axum::extract::{FromRequestParts, Request};
use axum::http::Method;
use axum::http::request::Parts;
use std::convert::Infallible;
use tokio::runtime::Handle;
use tokio_util::task::AbortOnDropHandle;

/// Requests that may be for a model; their handlers run what is not on the main runtime.
const FOR_MODELS: [&str; 4] = ["/v1/chat/completions", "/v1/completions", "/v1/embeddings", "/v1/responses"];

/// Where work is done that is more than passing bytes on. `None`: on the current runtime.
#[derive(Debug, Clone, Default)]
pub(crate) struct MainRuntime(pub Option<Handle>);

impl MainRuntime {
    /// Does the work there; dropping this ends it.
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

impl<S: Send + Sync> FromRequestParts<S> for MainRuntime {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(parts.extensions.get::<Self>().cloned().unwrap_or_default())
    }
}

/// Whether it stays on the thread of its connection, as it may be for a model; all others go to the main runtime.
pub(crate) fn stays(request: &Request) -> bool {
    request.method() == Method::POST && FOR_MODELS.contains(&request.uri().path())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::MainRuntime;
    use std::sync::Arc;
    use std::time::Duration;
    use tokio::runtime::{Builder, Handle, Runtime};

    fn worker() -> Runtime {
        Builder::new_current_thread().enable_all().build().unwrap()
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn work_is_done_main_handle_and_ends_with_who_waits_for_it() {
        let main_handle = Handle::current();
        let main = MainRuntime(Some(main_handle.clone()));
        let held = Arc::new(());
        let kept = Arc::clone(&held);
        std::thread::spawn(move || {
            worker().block_on(async {
                let (here, id) = (Handle::current().id(), main.run(async { Handle::current().id() }).await);
                assert_eq!(id, main_handle.id());
                assert_ne!(id, here);
                let endless = main.run(async move {
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
    async fn without_a_main_runtime_it_is_done_here() {
        let id = MainRuntime::default().run(async { Handle::current().id() }).await;
        assert_eq!(id, Handle::current().id());
    }
}
