//! A database of the first version, with rows in it, is brought up to date on both engines.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use async_trait::async_trait;
use sqlx::{Connection, Executor, PgConnection};
use std::fmt::Write;
use std::sync::Arc;
use steward_core::event::{Origin, Outcome};
use steward_core::ports::{
    Agents, BlobError, Blobs, Claim, Conversation, ConversationFilter, Conversations, RunFilter, RunStatus, RunStore,
    StoreError,
};
use steward_core::{AgentId, ConversationId, RunId, TenantId, Timestamp};
use steward_store::{Store, StoreConfig};
use steward_testkit::postgres::TestPostgres;
use tempfile::TempDir;
use uuid::Uuid;

const TENANT: TenantId = TenantId::DEFAULT;
const FIRST: &str = include_str!("../migrations/0001_first.sql");

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

/// Rows as the first version wrote them; `id` writes an id as the engine wants it.
fn rows(id: impl Fn(u128) -> String) -> String {
    let tenant = id(1);
    let mut sql = format!(
        "create table steward_schema (version bigint primary key, name text not null);
         insert into steward_schema values (1, 'first');
         insert into agents values ({tenant}, {}, 'zoe', '{{}}');",
        id(7)
    );
    for (talk, title) in [(20, "Größe"), (21, "unclear"), (22, "empty")] {
        write!(
            sql,
            "insert into conversations values
                 ({tenant}, {}, {}, null, '{title}', {talk}000, 4);",
            id(talk),
            id(7)
        )
        .unwrap();
    }
    let completed = "'{\"status\":\"completed\"}'";
    let limited = "'{\"status\":\"limited\",\"limit\":\"tokens\"}'";
    for (run, talk, status, outcome, answer) in [
        (30, id(20), "finished", completed, "'ÄPFEL'"),
        (31, id(20), "finished", limited, "''"),
        (32, id(20), "finished", completed, "'two'"),
        (33, id(20), "parked", "null", "null"),
        (34, id(21), "finished", completed, "'not what was said'"),
        (35, "null".to_owned(), "running", "null", "null"),
    ] {
        write!(
            sql,
            "insert into runs values
                 ({tenant}, {}, {}, {talk}, 'Wie Groß?', '{status}', {outcome}, {answer},
                  5, 6, 7, 8, null, 1, null, 0);
             insert into events values
                 ({tenant}, {}, 1, 1, 5, 'model.delta',
                  '{{\"type\":\"model.delta\",\"step\":1,\"purpose\":\"reply\"}}', null);",
            id(run),
            id(7),
            id(run)
        )
        .unwrap();
    }
    let said = [
        (20, "user", "Wie Groß?"),
        (20, "assistant", "ÄPFEL"),
        (20, "user", "stopped"),
        (20, "user", "again"),
        (20, "assistant", "two"),
        (21, "user", "ask"),
        (21, "assistant", "said"),
    ];
    for (seq, (talk, role, text)) in said.into_iter().enumerate() {
        write!(
            sql,
            "insert into messages values
                 ({tenant}, {}, {}, '{{\"role\":\"{role}\",\"text\":\"{text}\"}}');",
            id(talk),
            seq + 1
        )
        .unwrap();
    }
    sql
}

async fn check(store: &Store) {
    let run = |number| RunId(Uuid::from_u128(number));
    let row = store.run(TENANT, run(31)).await.unwrap();
    assert_eq!((row.origin, row.model.as_str()), (Origin::Cli, ""));
    assert_eq!((row.user, row.verdict, row.forked_from), (None, None, None));
    assert_eq!(row.status, RunStatus::Finished);
    assert!(matches!(row.outcome, Some(Outcome::Limited { .. })));
    assert_eq!((row.tokens, row.cost_micros, row.last_seq), (7, 8, 1));
    let find = async |filter| {
        let page = store.runs(TENANT, filter).await.unwrap();
        let ids = page.items.iter().map(|row| row.id.0.as_u128());
        ids.collect::<Vec<_>>()
    };
    let any = RunFilter::default;
    let limited = RunFilter { outcome: Some("limited".to_owned()), ..any() };
    assert_eq!(find(limited).await, [31]);
    let apples = RunFilter { text: Some("äpfel".to_owned()), ..any() };
    assert_eq!(find(apples).await, [30]);
    let title = RunFilter { text: Some("WIE GROß".to_owned()), ..any() };
    assert_eq!(find(title).await, [35, 34, 33, 32, 31, 30]);

    let talk = |number| ConversationId(Uuid::from_u128(number));
    let header = store.conversation(TENANT, talk(20)).await.unwrap();
    assert_eq!(header.created_at, Timestamp(20_000));
    assert_eq!(header.updated_at, Timestamp(20_000));
    assert_eq!((header.deleted_at, header.forked_from), (None, None));
    for (text, found) in [("gRÖSSE", 0), ("GRÖß", 1), ("äpfel", 1), ("said", 1)] {
        let filter = ConversationFilter { text: Some(text.to_owned()), ..ConversationFilter::default() };
        let page = store.conversations(TENANT, filter).await.unwrap();
        assert_eq!(page.items.len(), found, "{text}");
    }
    // Whose messages are whose was worked out where that can be done.
    for (at, (before, count)) in [(30, 0), (31, 2), (32, 3), (33, 5)].into_iter().enumerate() {
        let copy = Conversation { id: talk(100 + at as u128), ..header.clone() };
        store.fork_conversation(TENANT, talk(20), Some(run(before)), &copy).await.unwrap();
        let said = store.messages(TENANT, copy.id).await.unwrap();
        assert_eq!(said.len(), count, "before {before}");
    }
    let copy = Conversation { id: talk(200), ..header };
    let unclear = store.fork_conversation(TENANT, talk(21), Some(run(34)), &copy).await;
    assert!(matches!(unclear, Err(StoreError::Conflict(_))), "{unclear:?}");
    let agent = AgentId(Uuid::from_u128(7));
    store.delete_agent(TENANT, agent, Timestamp(9)).await.unwrap();
    store.check().await.unwrap();
    let (now, until) = (Timestamp(10), Timestamp(20));
    let lease = store.claim(Claim::Any, "a", now, until).await.unwrap();
    assert_eq!(lease.unwrap().run, run(35), "the old program's work goes on");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite() {
    let dir = TempDir::new().unwrap();
    let old = rusqlite::Connection::open(dir.path().join("steward.db")).unwrap();
    old.execute_batch(FIRST).unwrap();
    old.execute_batch(&rows(|id| format!("x'{id:032x}'"))).unwrap();
    drop(old);
    let config = StoreConfig::sqlite(dir.path());
    for _ in 0..2 {
        let store = Store::open(config.clone(), Arc::new(NoBlobs)).await;
        drop(store.unwrap());
    }
    let backups = std::fs::read_dir(dir.path().join("backups")).unwrap();
    assert_eq!(backups.count(), 1, "copied once, before the migration");
    check(&Store::open(config, Arc::new(NoBlobs)).await.unwrap()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres() {
    let server = TestPostgres::shared().await.unwrap();
    let url = server.fresh_database().await.unwrap();
    let mut old = PgConnection::connect(&url).await.unwrap();
    old.execute(sqlx::raw_sql(FIRST)).await.unwrap();
    let rows = rows(|id| format!("'{}'::uuid", Uuid::from_u128(id)));
    old.execute(sqlx::raw_sql(sqlx::AssertSqlSafe(rows))).await.unwrap();
    drop(old);
    let config = StoreConfig::postgres(url);
    // Two nodes that start at once: one migrates.
    let opens = (0..3).map(|_| Store::open(config.clone(), Arc::new(NoBlobs)));
    let mut stores = Vec::new();
    for opened in futures::future::join_all(opens).await {
        stores.push(opened.unwrap());
    }
    check(&stores[0]).await;
}
