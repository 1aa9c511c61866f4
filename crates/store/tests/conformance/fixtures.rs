//! Things to store.

use std::sync::atomic::{AtomicU64, Ordering};
use steward_core::event::EventBody;
use steward_core::model::Purpose;
use steward_core::ports::{Commit, Lease, RunRow, RunStatus, RunStore, SideWrite};
use steward_core::{AgentId, RunId, TenantId, Timestamp};
use uuid::Uuid;

pub const TENANT: TenantId = TenantId::DEFAULT;
pub const NOW: Timestamp = Timestamp(1_795_248_000_000);
pub const LATER: Timestamp = Timestamp(1_795_248_060_000);

/// Ids that grow.
pub fn id() -> Uuid {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    Uuid::from_u128((0x0192_0000_0000_7000_8000 << 48) + u128::from(number))
}

pub fn row() -> RunRow {
    RunRow {
        id: RunId(id()),
        tenant: TENANT,
        agent: AgentId(id()),
        conversation: None,
        title: "List the files".to_owned(),
        status: RunStatus::Running,
        outcome: None,
        answer: None,
        created_at: NOW,
        updated_at: NOW,
        last_seq: 1,
        tokens: 0,
        cost_micros: 0,
    }
}

pub fn text(text: &str) -> EventBody {
    EventBody::ModelDelta {
        step: 1,
        purpose: Purpose::Reply,
        text: text.to_owned(),
        reasoning: String::new(),
    }
}

pub fn append(lease: &Lease, after: u64, events: Vec<EventBody>, side: Vec<SideWrite>) -> Commit {
    Commit {
        tenant: lease.tenant,
        run: lease.run,
        epoch: lease.epoch,
        after,
        at: LATER,
        events,
        side,
    }
}

pub fn status(status: RunStatus) -> SideWrite {
    SideWrite::Status {
        status,
        outcome: None,
        answer: None,
        tokens: 12,
        cost_micros: 34,
    }
}

/// A run of one event, leased until `LATER` to the owner "a".
pub async fn started(store: &impl RunStore) -> Lease {
    let first = vec![text("first")];
    store
        .create_run(row(), first, vec![], "a", LATER)
        .await
        .unwrap()
}

/// The texts of a run's events.
pub async fn texts(store: &impl RunStore, lease: &Lease) -> Vec<String> {
    let events = store.events(lease.tenant, lease.run, 0, 0).await.unwrap();
    for (index, stored) in events.iter().enumerate() {
        assert_eq!(stored.event.seq, index as u64 + 1, "the log has no gaps");
    }
    events
        .into_iter()
        .map(|stored| match stored.event.body {
            EventBody::ModelDelta { text, .. } => text,
            other => other.kind().to_owned(),
        })
        .collect()
}
