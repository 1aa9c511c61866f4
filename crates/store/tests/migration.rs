//! Several nodes that begin on one empty database at once.

use async_trait::async_trait;
use std::sync::Arc;
use steward_core::ports::{BlobError, Blobs};
use steward_store::{Store, StoreConfig};
use steward_testkit::postgres::TestPostgres;

struct NoBlobs;

#[async_trait]
impl Blobs for NoBlobs {
    async fn put(&self, _: Vec<u8>) -> Result<String, BlobError> {
        Err(BlobError::Missing("none are kept".to_owned()))
    }

    async fn get(&self, hash: &str) -> Result<Vec<u8>, BlobError> {
        Err(BlobError::Missing(hash.to_owned()))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_several_nodes_makes_the_schema() {
    let server = TestPostgres::shared().await.unwrap();
    let config = StoreConfig::postgres(server.fresh_database().await.unwrap());
    let opens = (0..3).map(|_| Store::open(config.clone(), Arc::new(NoBlobs)));
    for opened in futures::future::join_all(opens).await {
        opened.unwrap().check().await.unwrap();
    }
}
