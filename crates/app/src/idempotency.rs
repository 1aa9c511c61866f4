//! Requests that are sent again with the same key.

use crate::app::App;
use steward_core::Timestamp;
use steward_core::ports::{Remembered, StoreResult};

/// How long a key is kept, milliseconds.
const KEPT_MS: i64 = 24 * 60 * 60 * 1000;

impl App {
    /// Notes the key of `owner` with a hash of the request, unless it is known.
    pub async fn begin_request(&self, owner: &str, key: &str, request_hash: &str) -> StoreResult<Remembered> {
        let now = self.now();
        let oldest = Timestamp(now.0.saturating_sub(KEPT_MS));
        self.store.begin_request(self.tenant(), owner, key, request_hash, now, oldest).await
    }

    /// Keeps what the request was answered with.
    pub async fn remember_request(&self, owner: &str, key: &str, status: u16, body: &str) -> StoreResult<()> {
        self.store.remember_request(self.tenant(), owner, key, status, body).await
    }

    /// Forgets a key whose request changed nothing.
    pub async fn forget_request(&self, owner: &str, key: &str) -> StoreResult<()> {
        self.store.forget_request(self.tenant(), owner, key).await
    }
}
