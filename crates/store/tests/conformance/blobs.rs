use crate::conformance::bed::Bed;
use crate::conformance::fixtures::{LATER, TENANT, append, row, started, status, text, texts};
use std::sync::atomic::Ordering;
use steward_core::ports::{RunStatus, RunStore, StoreError};

pub async fn large_bodies_come_back_whole(bed: Bed) {
    let store = bed.store();
    let large = "ü\"\n".repeat(50_000);
    let lease = store.create_run(row(), vec![text(&large)], vec![], "a", LATER).await.unwrap();
    assert_eq!(bed.blobs.0.lock().unwrap().len(), 1);
    let mixed = vec![text("small"), text(&format!("{large}!")), text(&large)];
    store.commit(append(&lease, 1, mixed, vec![])).await.unwrap();
    store.commit(append(&lease, 4, vec![text(&large)], vec![status(RunStatus::Running)])).await.unwrap();
    let read = texts(&store, &lease).await;
    assert_eq!(read, [&large, "small", &format!("{large}!"), &large, &large]);
    assert_eq!(bed.blobs.0.lock().unwrap().len(), 2, "the same content is kept once");
    let raw = &store.events(TENANT, lease.run, 0, 1).await.unwrap()[0].raw;
    assert!(raw.starts_with("{\"type\":\"model.delta\"") && raw.len() > large.len());
}

pub async fn a_missing_blob_is_told(bed: Bed) {
    let store = bed.store();
    let lease = started(&store).await;
    let large = "x".repeat(70_000);
    store.commit(append(&lease, 1, vec![text(&large)], vec![])).await.unwrap();
    bed.blobs.0.lock().unwrap().clear();
    let read = store.events(TENANT, lease.run, 0, 0).await;
    assert!(matches!(read, Err(StoreError::Corrupt(_))), "{read:?}");
    // What does not need it is not held up.
    assert_eq!(store.events(TENANT, lease.run, 0, 1).await.unwrap().len(), 1);
}

pub async fn a_blob_that_others_removed_before_the_commit_is_put_again(bed: Bed) {
    let store = bed.store();
    let large = "x".repeat(70_000);
    bed.blobs.1.store(true, Ordering::Relaxed);
    let lease = store.create_run(row(), vec![text(&large)], vec![], "a", LATER).await.unwrap();
    let other = "y".repeat(70_000);
    for (after, side) in [(1, vec![]), (2, vec![status(RunStatus::Running)])] {
        bed.blobs.1.store(true, Ordering::Relaxed);
        store.commit(append(&lease, after, vec![text(&format!("{other}{after}"))], side)).await.unwrap();
    }
    assert_eq!(texts(&store, &lease).await, [large, format!("{other}1"), format!("{other}2")]);
}
