use crate::conformance::bed::Bed;
use crate::conformance::fixtures::{LATER, NOW, TENANT, append, started, status, text, texts};
use std::collections::HashSet;
use std::sync::Arc;
use steward_core::AgentId;
use steward_core::agent::KeptFor;
use steward_core::ports::{Claim, Commit, Facts, Lease, Note, RunStatus, RunStore, Settings, StoreError};
use steward_core::provenance::Provenance;
use steward_store::Store;
use tokio::task::JoinSet;

pub async fn many_runs_append_at_once(bed: Bed) {
    let store = bed.store();
    let mut tasks = JoinSet::new();
    for task in 0..64_u64 {
        let store = Arc::clone(&store);
        tasks.spawn(async move {
            let lease = started(&store).await;
            for number in 0..20 {
                let after = number + 1;
                let word = text(&format!("{task}-{number}"));
                // Refusals, other rows and rows beside events share the batches.
                if number % 7 == 3 {
                    let stale = append(&lease, after + 1, vec![word.clone()], vec![]);
                    let refused = store.commit(stale).await;
                    assert!(matches!(refused, Err(StoreError::Fenced { .. })));
                    let name = format!("setting-{task}");
                    store.set_setting(TENANT, &name, &number.into()).await.unwrap();
                    let missing = store.remove_note(TENANT, AgentId(lease.run.0), KeptFor::Everybody, "none").await;
                    assert!(matches!(missing, Err(StoreError::NotFound(_))));
                    let note = Note {
                        title: "n".into(),
                        text: "t".into(),
                        updated_at: NOW,
                        provenance: Provenance::default(),
                    };
                    store.save_note(TENANT, AgentId(lease.run.0), KeptFor::Everybody, &note).await.unwrap();
                }
                let side = if number % 5 == 4 { vec![status(RunStatus::Running)] } else { vec![] };
                store.commit(append(&lease, after, vec![word], side)).await.unwrap();
            }
            (task, lease)
        });
    }
    while let Some(done) = tasks.join_next().await {
        let (task, lease) = done.unwrap();
        let read = texts(&store, &lease).await;
        assert_eq!(read.len(), 21);
        for (number, word) in read.iter().skip(1).enumerate() {
            assert_eq!(*word, format!("{task}-{number}"));
        }
    }
    store.check().await.unwrap();
}

/// Appends wherever the log is, until it has 60 events; returns the words that were acknowledged.
async fn push(store: Arc<Store>, lease: Lease, name: &'static str) -> Vec<String> {
    let mut acknowledged = Vec::new();
    loop {
        let after = store.run(lease.tenant, lease.run).await.unwrap().last_seq;
        if after >= 60 {
            return acknowledged;
        }
        let word = format!("{name}{after}");
        let side = if after % 3 == 0 { vec![status(RunStatus::Running)] } else { vec![] };
        match store.commit(append(&lease, after, vec![text(&word)], side)).await {
            Ok(_) => acknowledged.push(word),
            Err(StoreError::Fenced { .. }) => {}
            Err(other) => panic!("{other}"),
        }
    }
}

pub async fn two_owners_of_one_run(bed: Bed) {
    let store = bed.store();
    let lease = started(&store).await;
    let one = tokio::spawn(push(Arc::clone(&store), lease.clone(), "a"));
    let two = if bed.is_shared() {
        tokio::spawn(push(bed.second_node().await, lease.clone(), "b"))
    } else {
        tokio::spawn(push(Arc::clone(&store), lease.clone(), "b"))
    };
    let mut acknowledged = one.await.unwrap();
    acknowledged.extend(two.await.unwrap());
    let log = texts(&store, &lease).await;
    let kept: HashSet<_> = log.iter().skip(1).cloned().collect();
    assert_eq!(kept, acknowledged.iter().cloned().collect());
    assert_eq!(log.len(), acknowledged.len() + 1, "each number has one winner");
    store.check().await.unwrap();

    // A takeover in the middle: nothing of the old epoch comes after it.
    let lease = started(&store).await;
    let appender = tokio::spawn({
        let (store, lease) = (Arc::clone(&store), lease.clone());
        async move {
            let mut after = 1;
            loop {
                let next: Commit = append(&lease, after, vec![text("old")], vec![]);
                match store.commit(next).await {
                    Ok(_) => after += 1,
                    Err(StoreError::Fenced { .. }) => return after,
                    Err(other) => panic!("{other}"),
                }
            }
        }
    });
    tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    let later = LATER.plus(std::time::Duration::from_secs(1));
    let claim = Claim::Run(lease.run);
    let new = store.claim(TENANT, claim, "b", later, later).await.unwrap().unwrap();
    store.commit(append(&new, new.last_seq, vec![text("new")], vec![])).await.unwrap();
    let last_acknowledged = appender.await.unwrap();
    assert_eq!(last_acknowledged, new.last_seq, "the claim saw every acknowledged event");
    let events = store.events(TENANT, lease.run, 0, 0).await.unwrap();
    let epochs: Vec<_> = events.iter().map(|stored| stored.event.epoch).collect();
    assert!(epochs.is_sorted());
    assert_eq!(epochs.last(), Some(&2));
}

pub async fn claims_of_many_nodes_are_disjoint(bed: Bed) {
    let store = bed.store();
    let mut all = HashSet::new();
    for _ in 0..20 {
        let lease = started(&store).await;
        store.release(&lease).await.unwrap();
        all.insert(lease.run);
    }
    let mut tasks = JoinSet::new();
    for node in 0..8 {
        let store = Arc::clone(&store);
        tasks.spawn(async move {
            let mut mine = Vec::new();
            let owner = format!("node-{node}");
            // SKIP LOCKED may find nothing while others hold what is left: ask a few times more.
            let mut misses = 0;
            while misses < 5 {
                match store.claim(TENANT, Claim::Any, &owner, NOW, LATER).await.unwrap() {
                    Some(lease) => mine.push(lease.run),
                    None => misses += 1,
                }
            }
            mine
        });
    }
    let mut taken = Vec::new();
    while let Some(mine) = tasks.join_next().await {
        taken.extend(mine.unwrap());
    }
    assert_eq!(taken.len(), 20);
    assert_eq!(taken.into_iter().collect::<HashSet<_>>(), all);
}
