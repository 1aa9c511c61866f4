//! What the audit trail costs. Run by hand, in release for figures to publish:
//! cargo nextest run -p steward-store --release --run-ignored only --no-capture -E 'test(audit_speed)'

use crate::conformance::bed::Bed;
use crate::conformance::fixtures::{LATER, NOW, TENANT, append, id, row, text};
use std::sync::Arc;
use std::time::{Duration, Instant};
use steward_core::audit::{AuditEntry, Verifier};
use steward_core::event::Origin;
use steward_core::ports::{AuditFilter, AuditOrder, RunStatus, RunStore as _, SideWrite};
use steward_core::{RunId, Timestamp, UserId};
use steward_store::Store;

const ENTRIES: u64 = 100_000;

fn entry(action: &str, at: u64) -> AuditEntry {
    AuditEntry::new(id(), Timestamp(NOW.0 + at.cast_signed()), action)
        .by("ada@example.org", Some(UserId(id())))
        .via(Some(Origin::Chat), None)
        .on("write")
        .in_run(RunId(id()))
        .with("agent", "steward")
        .with("args_hash", steward_core::hash::sha256(&at.to_be_bytes()))
        .with("call_id", format!("call-{at}"))
        .with("ms", at % 1000)
        .with("risk", "write")
}

async fn seal(store: &Store) {
    while store.seal_audit(TENANT, 200).await.unwrap() > 0 {}
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "measures"]
async fn a_long_chain_is_checked_and_searched() {
    let bed = Bed::sqlite().await;
    let store = bed.store();
    let begun = Instant::now();
    let writers = (0..100).map(|writer| {
        let store = Arc::clone(&store);
        tokio::spawn(async move {
            for at in 0..ENTRIES / 100 {
                store.record_audit(TENANT, &entry("tool.called", writer * 1000 + at)).await.unwrap();
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    println!("{ENTRIES} entries written in {:?}", begun.elapsed());
    let begun = Instant::now();
    seal(&store).await;
    println!("sealed in {:?}", begun.elapsed());
    let begun = Instant::now();
    let ends = store.audit_ends(TENANT).await.unwrap();
    let mut verifier = Verifier::new(ends.anchor, None);
    loop {
        let rows = store.audit_chain(TENANT, verifier.last().seq, 2000).await.unwrap();
        if rows.is_empty() {
            break;
        }
        for row in &rows {
            verifier.check(row).unwrap();
        }
    }
    verifier.end(&ends.head).unwrap();
    assert_eq!(verifier.checked(), ENTRIES);
    println!("checked in {:?}", begun.elapsed());
    let text = |text: &str| Some(text.to_owned());
    for (what, filter) in [
        ("the newest", AuditFilter::default()),
        ("by actor", AuditFilter { actor: text("ada@example.org"), ..AuditFilter::default() }),
        ("by an action that is not there", AuditFilter { action: text("auth"), ..AuditFilter::default() }),
        ("by a text that is not there", AuditFilter { text: text("nothing"), ..AuditFilter::default() }),
        ("of an hour", AuditFilter { from: Some(Timestamp(NOW.0 + 50_000)), ..AuditFilter::default() }),
    ] {
        let begun = Instant::now();
        store.audit_entries(TENANT, &filter, AuditOrder::NewestBefore(None), 30).await.unwrap();
        println!("{what}: {:?}", begun.elapsed());
    }
}

/// A run of a dozen commits, as the engine makes them for one tool call, without the engine.
async fn run(store: &Store, audited: bool) {
    let audit = |action: &str| {
        let entry = audited.then(|| SideWrite::Audit(entry(action, 1)));
        entry.into_iter().collect::<Vec<_>>()
    };
    let event = || text(&"x".repeat(500));
    let lease = store.create_run(row(), vec![event()], audit("run.started"), "a", LATER).await.unwrap();
    for seq in 1..11 {
        let side = if seq == 5 { audit("tool.called") } else { Vec::new() };
        store.commit(append(&lease, seq, vec![event()], side)).await.unwrap();
    }
    let mut side = audit("run.finished");
    let (outcome, answer) = (None, Some("done".to_owned()));
    let status = RunStatus::Finished;
    side.push(SideWrite::Status { status, outcome, answer, tokens: 1, cost_micros: 1, verdict: None });
    store.commit(append(&lease, 11, vec![event()], side)).await.unwrap();
}

async fn runs_per_second(audited: bool) -> f64 {
    const RUNS: u32 = 4000;
    let bed = Bed::sqlite().await;
    let store = bed.store();
    let sealing = {
        let store = Arc::clone(&store);
        tokio::spawn(async move {
            loop {
                seal(&store).await;
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        })
    };
    let begun = Instant::now();
    let workers = (0..32).map(|_| {
        let store = Arc::clone(&store);
        tokio::spawn(async move {
            for _ in 0..RUNS / 32 {
                run(&store, audited).await;
            }
        })
    });
    for worker in workers.collect::<Vec<_>>() {
        worker.await.unwrap();
    }
    seal(&store).await;
    sealing.abort();
    f64::from(RUNS) / begun.elapsed().as_secs_f64()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "measures"]
async fn runs_with_and_without_entries() {
    for round in 1..=4 {
        let (without, with) = (runs_per_second(false).await, runs_per_second(true).await);
        let cost = (without - with) / without * 100.0;
        println!("round {round}: {without:.0} runs a second without entries, {with:.0} with them ({cost:.1} %)");
    }
}
