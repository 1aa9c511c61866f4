//! A store to test, and what is around it.

use async_trait::async_trait;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use steward_core::hash::sha256;
use steward_core::ports::{BlobError, Blobs};
use steward_store::{Place, Store, StoreConfig};
use tempfile::TempDir;

/// Blobs in memory.
#[derive(Debug, Default)]
pub struct MemoryBlobs(
    pub Mutex<HashMap<String, Vec<u8>>>,
    /// Whether the next one that is put is removed at once, as with the last row of others that had it.
    pub AtomicBool,
);

#[async_trait]
impl Blobs for MemoryBlobs {
    async fn put(&self, bytes: Vec<u8>) -> Result<String, BlobError> {
        let hash = sha256(&bytes);
        if !self.1.swap(false, Ordering::Relaxed) {
            self.0.lock().unwrap().insert(hash.clone(), bytes);
        }
        Ok(hash)
    }

    async fn get(&self, hash: &str) -> Result<Vec<u8>, BlobError> {
        let found = self.0.lock().unwrap().get(hash).cloned();
        found.ok_or_else(|| BlobError::Missing(hash.to_owned()))
    }

    async fn remove(&self, hash: &str) -> Result<(), BlobError> {
        self.0.lock().unwrap().remove(hash);
        Ok(())
    }
}

/// A fresh database.
pub struct Bed {
    store: Option<Arc<Store>>,
    config: StoreConfig,
    pub blobs: Arc<MemoryBlobs>,
    _dir: Option<TempDir>,
}

impl Bed {
    pub async fn sqlite() -> Self {
        let dir = TempDir::new().unwrap();
        Self::open(StoreConfig::sqlite(dir.path()), Some(dir)).await
    }

    pub async fn postgres(url: String) -> Self {
        Self::open(StoreConfig::postgres(url), None).await
    }

    async fn open(config: StoreConfig, dir: Option<TempDir>) -> Self {
        let blobs = Arc::new(MemoryBlobs::default());
        let store = Store::open(config.clone(), blobs.clone()).await.unwrap();
        Self { store: Some(Arc::new(store)), config, blobs, _dir: dir }
    }

    pub fn store(&self) -> Arc<Store> {
        self.store.clone().unwrap()
    }

    /// Whether several processes may use the database at once.
    pub fn is_shared(&self) -> bool {
        matches!(self.config.place, Place::Postgres { .. })
    }

    /// Closes the store and opens it again.
    pub async fn reopen(&mut self) {
        drop(self.store.take());
        let store = Store::open(self.config.clone(), self.blobs.clone()).await;
        self.store = Some(Arc::new(store.unwrap()));
    }

    /// Another node on the same database.
    pub async fn second_node(&self) -> Arc<Store> {
        let store = Store::open(self.config.clone(), self.blobs.clone()).await;
        Arc::new(store.unwrap())
    }

    /// Changes rows behind the store's back.
    pub async fn tamper(&self, sql: &'static str) {
        use sqlx::Connection;
        match &self.config.place {
            Place::Sqlite { data_dir } => {
                let other = rusqlite::Connection::open(data_dir.join("steward.db")).unwrap();
                assert!(other.execute(sql, []).unwrap() > 0);
            }
            Place::Postgres { url } => {
                let mut other = sqlx::PgConnection::connect(url).await.unwrap();
                let done = sqlx::query(sql).execute(&mut other).await.unwrap();
                assert!(done.rows_affected() > 0);
            }
        }
    }
}
