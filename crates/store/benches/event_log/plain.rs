//! sqlx through a pool, one insert a transaction, into the same table.

use crate::load::Log;
use crate::ours::{body, run_id};
use async_trait::async_trait;
use sqlx::postgres::PgPoolOptions;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{PgPool, SqlitePool};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

const SCHEMA: &str = include_str!("../../migrations/0001_first.sql");
const INSERT: &str = "insert into events (tenant_id, run_id, seq, epoch, at, kind, body)
                      values ($1, $2, $3, 1, 1, 'model.delta', $4)";

enum Pool {
    Sqlite(SqlitePool),
    Postgres(PgPool),
}

/// A pool, and the runs' ids.
pub struct Plain {
    pool: Pool,
    runs: Vec<Uuid>,
    body: String,
}

impl Plain {
    pub async fn sqlite(dir: &Path, producers: usize) -> Arc<Self> {
        let options = SqliteConnectOptions::new()
            .filename(dir.join("plain.db"))
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .busy_timeout(Duration::from_mins(1));
        let pool = SqlitePoolOptions::new()
            .max_connections(8)
            .acquire_timeout(Duration::from_mins(1))
            .connect_with(options)
            .await
            .unwrap();
        sqlx::raw_sql(SCHEMA).execute(&pool).await.unwrap();
        Self::new(Pool::Sqlite(pool), producers)
    }

    pub async fn postgres(url: &str, producers: usize) -> Arc<Self> {
        let pool = PgPoolOptions::new()
            .max_connections(32)
            .acquire_timeout(Duration::from_mins(1))
            .connect(url)
            .await
            .unwrap();
        sqlx::raw_sql(SCHEMA).execute(&pool).await.unwrap();
        Self::new(Pool::Postgres(pool), producers)
    }

    fn new(pool: Pool, producers: usize) -> Arc<Self> {
        Arc::new(Self {
            pool,
            runs: (0..producers).map(run_id).collect(),
            body: serde_json::to_string(&body()).unwrap(),
        })
    }
}

#[async_trait]
impl Log for Plain {
    async fn append(&self, producer: usize, after: u64) {
        let tenant = Uuid::from_u128(1);
        let (run, seq) = (self.runs[producer], i64::try_from(after).unwrap());
        match &self.pool {
            Pool::Sqlite(pool) => {
                let insert = sqlx::query(INSERT).bind(tenant).bind(run).bind(seq);
                insert.bind(&self.body).execute(pool).await.unwrap();
            }
            Pool::Postgres(pool) => {
                let insert = sqlx::query(INSERT).bind(tenant).bind(run).bind(seq);
                insert.bind(&self.body).execute(pool).await.unwrap();
            }
        }
    }
}
