//! Lets everything come to its end: a node that is not killed, and a person who answers.

use crate::crash::bed::{Bed, TENANT};
use crate::crash::node::Node;
use rustix::process::Signal;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use steward_core::RunId;
use steward_core::approval::{Answer, Subject};
use steward_core::event::EventBody;
use steward_core::ports::{ApprovalFilter, Command, RunFilter, RunRow, RunStatus, RunStore as _};
use steward_store::Store;

/// Longest time of one round.
const LIMIT: Duration = Duration::from_mins(1);
/// A node that committed nothing for so long has nothing to do; more than a lease, a poll and a look at a locked database.
const QUIET: Duration = Duration::from_secs(5);

/// Rounds that it took.
pub async fn settle(bed: &Bed) -> usize {
    let mut answered = BTreeSet::new();
    for round in 1..=6 {
        let mut node = Node::start(bed, None, "last");
        let begun = Instant::now();
        let (mut seen, mut since) = (0, Instant::now());
        while since.elapsed() < QUIET {
            assert!(begun.elapsed() < LIMIT, "the last node does not come to rest:\n{}", node.log());
            tokio::time::sleep(Duration::from_millis(50)).await;
            let now = node.acks.lock().unwrap().len();
            if now > seen {
                (seen, since) = (now, Instant::now());
            }
        }
        node.signal(Signal::TERM);
        assert!(node.ends(Duration::from_mins(5)).await, "SIGTERM did not end the node:\n{}", node.log());
        let store = bed.store().await;
        let open = answer(bed, &store, &mut answered).await;
        let unfinished: Vec<_> =
            runs(&store).await.into_iter().filter(|row| row.status != RunStatus::Finished).collect();
        if unfinished.is_empty() {
            return round;
        }
        let driven = unfinished.iter().filter(|row| row.status == RunStatus::Running).count();
        println!("round {round}: {open} answered so far, {} unfinished, {driven} of them not parked", unfinished.len());
    }
    let store = bed.store().await;
    for row in runs(&store).await {
        if row.status != RunStatus::Finished {
            let events = store.events(TENANT, row.id, 0, 10_000).await.unwrap();
            let kinds: Vec<_> = events.iter().map(|one| one.event.body.kind()).collect();
            let last = kinds.len().saturating_sub(8);
            println!("{} {:?} {:?}: … {}", row.id, row.origin, row.status, kinds[last..].join(" "));
        }
    }
    panic!("some runs never end");
}

/// A person who looked: what the counter saw has happened, anything else is left out. Returns how
/// many questions there were so far.
pub async fn answer(bed: &Bed, store: &Store, answered: &mut BTreeSet<String>) -> usize {
    let filter = ApprovalFilter { open: true, limit: 1000, ..ApprovalFilter::default() };
    let open = store.approvals(TENANT, filter).await.unwrap().items;
    for approval in &open {
        if !answered.insert(approval.id.to_string()) {
            continue;
        }
        let Subject::Uncertain { .. } = &approval.subject else {
            panic!("nothing but interrupted writes needs a person here: {approval:?}");
        };
        let key = last_key(store, approval.run_id).await;
        let answer = if bed.effects.counts().contains_key(&key) { Answer::Happened } else { Answer::Skip };
        let command = Command::Decide { id: approval.id, answer, by: "test".to_owned(), source: None };
        store.push_command(TENANT, approval.run_id, command).await.unwrap();
    }
    answered.len()
}

async fn last_key(store: &Store, run: RunId) -> String {
    let events = store.events(TENANT, run, 0, 10_000).await.unwrap();
    let mut keys = events.into_iter().filter_map(|stored| match stored.event.body {
        EventBody::ToolIntent { idempotency_key, .. } => Some(idempotency_key),
        _ => None,
    });
    keys.next_back().unwrap()
}

/// All runs, newest first.
pub async fn runs(store: &Store) -> Vec<RunRow> {
    let mut all: Vec<RunRow> = Vec::new();
    loop {
        let filter = RunFilter { before: all.last().map(|row| row.id), limit: 500, ..RunFilter::default() };
        let page = store.runs(TENANT, filter).await.unwrap();
        all.extend(page.items);
        if !page.more {
            return all;
        }
    }
}
