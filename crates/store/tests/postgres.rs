//! What can happen with a server.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use async_trait::async_trait;
use sqlx::{Connection, PgConnection};
use std::sync::Arc;
use steward_core::TenantId;
use steward_core::ports::{BlobError, Blobs, Settings, StoreError};
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

async fn refusal(url: &str) -> StoreError {
    match Store::open(StoreConfig::postgres(url), Arc::new(NoBlobs)).await {
        Ok(_) => panic!("the database was opened"),
        Err(error) => error,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_refuses_is_told_and_a_newer_schema_is_left_alone() {
    for url in ["postgres://127.0.0.1:1/none", "mysql://x", "nonsense"] {
        let refused = refusal(url).await;
        assert!(
            matches!(&refused, StoreError::Backend(text) if text.contains("URL")),
            "{refused:?}"
        );
    }
    let server = TestPostgres::shared().await.unwrap();
    let refused = refusal(&server.url("no_such_database")).await;
    assert!(
        matches!(&refused, StoreError::Backend(text) if text.contains("create it")),
        "{refused:?}"
    );

    // Two nodes that start at once agree on the schema.
    let url = server.fresh_database().await.unwrap();
    let opens = (0..4).map(|_| Store::open(StoreConfig::postgres(&url), Arc::new(NoBlobs)));
    let mut stores = Vec::new();
    for opened in futures::future::join_all(opens).await {
        stores.push(opened.unwrap());
    }
    let (one, two) = (&stores[0], &stores[1]);
    let value = serde_json::json!("seen by both");
    one.set_setting(TenantId::DEFAULT, "s", &value)
        .await
        .unwrap();
    assert_eq!(
        two.setting(TenantId::DEFAULT, "s").await.unwrap(),
        Some(value)
    );

    let mut admin = PgConnection::connect(&url).await.unwrap();
    sqlx::query("insert into steward_schema values (9000, 'future')")
        .execute(&mut admin)
        .await
        .unwrap();
    let refused = refusal(&url).await;
    assert!(
        matches!(
            refused,
            StoreError::Newer {
                found: 9000,
                known: 4
            }
        ),
        "{refused:?}"
    );
}
