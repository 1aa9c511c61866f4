//! Things to store.

use std::sync::atomic::{AtomicU64, Ordering};
use steward_core::event::{EventBody, Origin};
use steward_core::message::Message;
use steward_core::model::Purpose;
use steward_core::ports::{
    Commit, Conversation, Lease, RunRow, RunStatus, RunStore, SideWrite, UserFilter, Users as _,
};
use steward_core::{AgentId, ConversationId, RunId, TenantId, Timestamp};
use steward_store::Store;
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
        origin: Origin::Cli,
        user: None,
        model: "m".to_owned(),
        verdict: None,
        forked_from: None,
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
        provisional: false,
        retracts: false,
    }
}

pub fn append(lease: &Lease, after: u64, events: Vec<EventBody>, side: Vec<SideWrite>) -> Commit {
    Commit { tenant: lease.tenant, run: lease.run, epoch: lease.epoch, after, at: LATER, events, side }
}

pub fn status(status: RunStatus) -> SideWrite {
    SideWrite::Status { status, outcome: None, answer: None, tokens: 12, cost_micros: 34, verdict: None }
}

pub fn header(title: &str) -> Conversation {
    Conversation {
        id: ConversationId(id()),
        agent: AgentId(id()),
        user: None,
        title: title.to_owned(),
        created_at: NOW,
        updated_at: NOW,
        deleted_at: None,
        forked_from: None,
    }
}

/// A new conversation.
pub async fn conversation(store: &Store) -> ConversationId {
    let header = header("talk");
    store.create_conversation(TENANT, &header).await.unwrap();
    header.id
}

/// A run at work in a conversation.
pub async fn started_in(store: &Store, conversation: ConversationId) -> Lease {
    let row = RunRow { conversation: Some(conversation), ..row() };
    store.create_run(row, vec![text("first")], vec![], "a", LATER).await.unwrap()
}

/// Ends a run of one event as the engine does: with what was said.
pub async fn ended(store: &Store, lease: &Lease, talk: ConversationId, said: &[&str]) {
    let said = said.iter().enumerate().map(
        |(at, text)| {
            if at % 2 == 0 { Message::user(*text) } else { Message::assistant(*text) }
        },
    );
    let side = vec![status(RunStatus::Finished), SideWrite::Messages(talk, said.collect())];
    store.commit(append(lease, 1, vec![], side)).await.unwrap();
}

/// A run of one event, leased until `LATER` to the owner "a".
pub async fn started(store: &Store) -> Lease {
    let first = vec![text("first")];
    store.create_run(row(), first, vec![], "a", LATER).await.unwrap()
}

/// The texts of a run's events.
pub async fn texts(store: &Store, lease: &Lease) -> Vec<String> {
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

/// How many users a tenant has, up to a page of them.
pub async fn user_count(store: &Store, tenant: TenantId) -> usize {
    store.users(tenant, &UserFilter::default(), None, 100).await.unwrap().items.len()
}
