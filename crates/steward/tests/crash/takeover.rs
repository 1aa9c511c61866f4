//! A node that stands still loses its runs to another, and is refused when it wakes up.

use crate::crash::bed::{Bed, TENANT};
use crate::crash::node::{Ack, Node};
use crate::crash::{oracle, settle};
use rustix::process::Signal;
use std::collections::BTreeSet;
use std::time::Duration;
use steward_core::event::EventBody;
use steward_core::ports::{Commit, RunStatus, RunStore as _, StoreError};
use steward_store::Store;
use steward_testkit::EffectOptions;
use steward_testkit::model_server::Reply;
use steward_testkit::postgres::TestPostgres;
use tokio::task::JoinHandle;

/// Runs of the first node: four writes, two keyed, two reads.
const RUNS: usize = 8;

/// Runs that have an event of this kind.
fn with(acks: &[Ack], kind: &str) -> BTreeSet<String> {
    acks.iter().filter(|ack| ack.kind == kind).map(|ack| ack.run.clone()).collect()
}

/// A node that was stopped while all of its runs were at work.
struct StoppedNode {
    bed: Bed,
    first: Node,
    /// How many lines it had said by then.
    said: usize,
    clients: Vec<JoinHandle<()>>,
}

/// The whole test.
pub async fn run(server: &TestPostgres) {
    // On a busy machine runs may end before the node is stopped; with slower calls they don't.
    for call in [700, 6_000, 40_000].map(Duration::from_millis) {
        let database = server.fresh_database().await.unwrap();
        if let Some(stopped) = stop_in_the_middle(database, call).await {
            return take_over(stopped).await;
        }
    }
    panic!("runs ended before their node was stopped, however slow their calls");
}

/// `call`: how long a call of the tool lasts. `None`: a run ended before.
async fn stop_in_the_middle(database: String, call: Duration) -> Option<StoppedNode> {
    let reply = Reply::text("This answer comes slowly, so that a node can be stopped in it.").pieces(3, 120);
    // Long enough that some calls are in flight and others are done when the node stops.
    let effects = EffectOptions { before: Duration::ZERO, after: call, deduplicate: false };
    let bed = Bed::new(Some(database), RUNS, reply, effects).await;
    let first = Node::start(&bed, None, "a");
    let mut clients: Vec<_> = (0..RUNS / 2).map(|n| bed.send(&first, n)).collect();
    // Half of the runs are in the answer, half in the tool, when the node stops.
    assert!(
        first.acked(Duration::from_mins(5), |acks| with(acks, "model.delta").len() == RUNS / 2).await,
        "{}",
        first.log()
    );
    clients.extend((RUNS / 2..RUNS).map(|n| bed.send(&first, n)));
    assert!(
        first.acked(Duration::from_mins(5), |acks| with(acks, "tool.intent").len() == RUNS).await,
        "{}",
        first.log()
    );
    first.signal(Signal::STOP);
    // What is in the pipe was said before.
    tokio::time::sleep(Duration::from_millis(100)).await;
    let said = first.acks.lock().unwrap().len();
    if with(&first.acks.lock().unwrap(), "run.finished").is_empty() {
        return Some(StoppedNode { bed, first, said, clients });
    }
    first.signal(Signal::KILL);
    for client in clients {
        client.abort();
    }
    None
}

async fn take_over(StoppedNode { bed, first, said, clients }: StoppedNode) {
    let second = Node::start(&bed, None, "b");
    let all = second.acked(Duration::from_mins(5), |acks| with(acks, "run.resumed").len() == RUNS).await;
    assert!(all, "not all were taken over:\n{}", second.log());
    // While the second is at work, the first goes on where it was.
    first.signal(Signal::CONT);
    let store = bed.store().await;
    refuses_old_epochs(&store).await;
    let mut answered = BTreeSet::new();
    for _ in 0..3_000 {
        settle::answer(&bed, &store, &mut answered).await;
        if settle::runs(&store).await.iter().all(|row| row.status == RunStatus::Finished) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    for row in settle::runs(&store).await {
        assert_eq!(row.status, RunStatus::Finished, "{row:?}\n{}", second.log());
        assert!(store.events(TENANT, row.id, 0, 10_000).await.unwrap().iter().any(|one| one.event.epoch > 1));
    }
    let log = first.log();
    let refused = log.matches("append refused").count();
    let lost = log.matches("lease lost").count();
    let questions = answered.len();
    let late = first.acks.lock().unwrap()[said..].iter().filter(|ack| ack.kind != "run.resumed").count();
    println!(
        "takeover: {RUNS} runs, {refused} appends refused, {lost} leases seen as lost, {questions} questions, {late} events of the first node later"
    );
    for (name, mut node) in [("first", first), ("second", second)] {
        node.signal(Signal::TERM);
        assert!(node.ends(Duration::from_mins(5)).await, "the {name} node does not stop:\n{}", node.log());
    }
    for client in clients {
        client.abort();
    }
    println!("  {}", oracle::judge(&bed).await);
    // Which of the two comes first is chance; either means that the node let go.
    assert!(refused + lost >= RUNS, "the first node did not notice:\n{log}");
}

/// What the first node would append next, had it noticed nothing.
async fn refuses_old_epochs(store: &Store) {
    for row in settle::runs(store).await {
        let events = store.events(TENANT, row.id, 0, 10_000).await.unwrap();
        let event = &events.iter().rfind(|one| one.event.epoch == 1).unwrap().event;
        let late = |after| Commit {
            tenant: TENANT,
            run: row.id,
            epoch: 1,
            after,
            at: event.at,
            events: vec![EventBody::RunSteered { text: "late".to_owned(), by: "test".to_owned(), source: None }],
            side: Vec::new(),
        };
        // Neither where it was, nor had it guessed the end of the log.
        for after in [event.seq, row.last_seq] {
            let refused = store.commit(late(after)).await;
            assert!(matches!(refused, Err(StoreError::Fenced { epoch: 1, .. })), "{refused:?}");
        }
    }
}
