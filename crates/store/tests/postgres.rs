//! What can happen with a server.

use async_trait::async_trait;
use sqlx::{Connection, PgConnection};
use std::sync::Arc;
use steward_core::event::{EventBody, Origin};
use steward_core::ports::{BlobError, Blobs, Commit, RunRow, RunStatus, RunStore, Settings, StoreError};
use steward_core::{AgentId, RunId, TenantId, Timestamp};
use steward_store::{Store, StoreConfig};
use steward_testkit::postgres::TestPostgres;
use uuid::Uuid;

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
        assert!(matches!(&refused, StoreError::Backend(text) if text.contains("URL")), "{refused:?}");
    }
    let server = TestPostgres::shared().await.unwrap();
    let refused = refusal(&server.url("no_such_database")).await;
    assert!(matches!(&refused, StoreError::Backend(text) if text.contains("create it")), "{refused:?}");

    // Two nodes that start at once agree on the schema.
    let url = server.fresh_database().await.unwrap();
    let opens = (0..4).map(|_| Store::open(StoreConfig::postgres(&url), Arc::new(NoBlobs)));
    let mut stores = Vec::new();
    for opened in futures::future::join_all(opens).await {
        stores.push(opened.unwrap());
    }
    let (one, two) = (&stores[0], &stores[1]);
    let value = serde_json::json!("seen by both");
    one.set_setting(TenantId::DEFAULT, "s", &value).await.unwrap();
    assert_eq!(two.setting(TenantId::DEFAULT, "s").await.unwrap(), Some(value));

    let mut admin = PgConnection::connect(&url).await.unwrap();
    sqlx::query("insert into steward_schema values (9000, 'future', '', '9.0')").execute(&mut admin).await.unwrap();
    let refused = refusal(&url).await;
    assert!(matches!(refused, StoreError::Newer { found: 9000, known: 1 }), "{refused:?}");

    // A step that was edited since, and a database from before the steps had hashes.
    sqlx::query("delete from steward_schema where version = 9000").execute(&mut admin).await.unwrap();
    for change in ["update steward_schema set hash = 'another'", "alter table steward_schema drop column hash"] {
        sqlx::query(change).execute(&mut admin).await.unwrap();
        let refused = refusal(&url).await;
        assert!(matches!(refused, StoreError::OtherSchema { .. }), "{refused:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_log_is_written_as_a_whole_or_not_at_all() {
    let server = TestPostgres::shared().await.unwrap();
    let url = server.fresh_database().await.unwrap();
    let store = Store::open(StoreConfig::postgres(&url), Arc::new(NoBlobs)).await.unwrap();
    let row = RunRow {
        id: RunId(Uuid::from_u128(1)),
        tenant: TenantId::DEFAULT,
        agent: AgentId(Uuid::from_u128(2)),
        conversation: None,
        title: "t".to_owned(),
        status: RunStatus::Running,
        outcome: None,
        answer: None,
        origin: Origin::Api,
        user: None,
        model: "m".to_owned(),
        verdict: None,
        forked_from: None,
        created_at: Timestamp(1),
        updated_at: Timestamp(1),
        last_seq: 0,
        tokens: 0,
        cost_micros: 0,
    };
    let said = |text: &str| EventBody::PlanFailed { message: text.to_owned() };
    let until = Timestamp(i64::MAX);
    let lease = store.create_run(row, vec![said("one")], Vec::new(), "n", until).await.unwrap();
    // As if another writer of the same epoch had been quicker with the third event only.
    let mut admin = PgConnection::connect(&url).await.unwrap();
    for statement in [
        "create function skip() returns trigger language plpgsql as $$ begin if new.seq = 3 then return null; end if; return new; end $$",
        "create trigger skip before insert on events for each row execute function skip()",
    ] {
        sqlx::query(statement).execute(&mut admin).await.unwrap();
    }
    let append = |events| Commit {
        tenant: lease.tenant,
        run: lease.run,
        epoch: lease.epoch,
        after: 1,
        at: Timestamp(2),
        events,
        side: Vec::new(),
    };
    let refused = store.commit(append(vec![said("two"), said("three")])).await;
    assert!(refused.is_err(), "{refused:?}");
    let log = store.events(lease.tenant, lease.run, 0, 10).await.unwrap();
    assert_eq!(log.len(), 1, "nothing of it is written");
    store.commit(append(vec![said("two")])).await.unwrap();
}
