//! The store.

use crate::load::{Figures, Log};
use async_trait::async_trait;
use std::path::Path;
use std::sync::Arc;
use steward_core::event::{EventBody, Origin};
use steward_core::model::Purpose;
use steward_core::ports::{BlobError, Blobs, Commit, Lease, RunFilter, RunRow, RunStatus, RunStore};
use steward_core::{AgentId, RunId, TenantId, Timestamp};
use steward_store::{Store, StoreConfig};
use uuid::Uuid;

/// No body is large here.
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

/// An event whose JSON text has 500 bytes.
pub fn body() -> EventBody {
    let delta = |text| EventBody::ModelDelta {
        step: 1,
        purpose: Purpose::Reply,
        text,
        reasoning: String::new(),
        provisional: false,
        retracts: false,
    };
    let empty = serde_json::to_string(&delta(String::new())).unwrap().len();
    let text = "x".repeat(500 - empty - ",\"text\":\"\"".len());
    let body = delta(text);
    assert_eq!(serde_json::to_string(&body).unwrap().len(), 500);
    body
}

/// Time-ordered ids.
pub fn run_id(producer: usize) -> Uuid {
    Uuid::from_u128((0x0192_0000_0000_7000_8000 << 48) + producer as u128)
}

/// The store with a run for each producer.
pub struct Ours {
    store: Store,
    leases: Vec<Lease>,
    body: EventBody,
}

impl Ours {
    pub async fn sqlite(dir: &Path, producers: usize) -> Arc<Self> {
        Self::new(StoreConfig::sqlite(dir), producers).await
    }

    pub async fn postgres(url: &str, producers: usize) -> Arc<Self> {
        Self::new(StoreConfig::postgres(url), producers).await
    }

    async fn new(config: StoreConfig, producers: usize) -> Arc<Self> {
        let store = Store::open(config, Arc::new(NoBlobs)).await.unwrap();
        let body = body();
        let mut leases = Vec::new();
        for producer in 0..producers {
            let row = RunRow {
                id: RunId(run_id(producer)),
                tenant: TenantId::DEFAULT,
                agent: AgentId(Uuid::from_u128(1)),
                conversation: None,
                title: "bench".to_owned(),
                status: RunStatus::Running,
                outcome: None,
                answer: None,
                origin: Origin::Cli,
                user: None,
                model: String::new(),
                verdict: None,
                forked_from: None,
                created_at: Timestamp(0),
                updated_at: Timestamp(0),
                last_seq: 0,
                tokens: 0,
                cost_micros: 0,
            };
            let first = vec![body.clone()];
            let until = Timestamp(i64::MAX);
            leases.push(store.create_run(row, first, vec![], "bench", until).await.unwrap());
        }
        Arc::new(Self { store, leases, body })
    }

    /// Every acknowledged event is in the logs, and they have no gaps.
    pub async fn verify(&self, figures: &Figures) {
        let filter = RunFilter { limit: 1000, ..RunFilter::default() };
        let runs = self.store.runs(TenantId::DEFAULT, filter).await.unwrap();
        let there: u64 = runs.items.iter().map(|run| run.last_seq - 1).sum();
        assert_eq!(there, figures.events);
        self.store.check().await.unwrap();
    }
}

#[async_trait]
impl Log for Ours {
    async fn append(&self, producer: usize, after: u64) {
        let lease = &self.leases[producer];
        let commit = Commit {
            tenant: lease.tenant,
            run: lease.run,
            epoch: lease.epoch,
            after,
            at: Timestamp(1),
            events: vec![self.body.clone()],
            side: Vec::new(),
        };
        self.store.commit(commit).await.unwrap();
    }
}
