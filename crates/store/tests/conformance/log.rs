use crate::conformance::bed::Bed;
use crate::conformance::fixtures::{LATER, NOW, TENANT, append, conversation, id, row, started, status, text, texts};
use steward_core::event::{EventBody, Origin, Outcome};
use steward_core::ports::{RunFilter, RunRow, RunStatus, RunStore, SideWrite, StoreError};
use steward_core::receipts::Verdict;
use steward_core::{ConversationId, RunId, TenantId, TimerId, Timestamp, UserId};
use uuid::Uuid;

pub async fn creates_and_reads_a_run(bed: Bed) {
    let store = bed.store();
    let row = RunRow {
        conversation: Some(conversation(&store).await),
        origin: Origin::Chat,
        user: Some(UserId(id())),
        model: "tiny".to_owned(),
        forked_from: Some(RunId(id())),
        ..row()
    };
    let first = vec![text("one"), text("two")];
    let lease = store.create_run(row.clone(), first.clone(), vec![], "a", LATER).await.unwrap();
    assert_eq!((lease.epoch, lease.last_seq), (1, 2));
    let read = store.run(TENANT, row.id).await.unwrap();
    assert_eq!(read, RunRow { last_seq: 2, ..row.clone() });
    let again = store.create_run(row.clone(), first, vec![], "a", LATER).await;
    assert!(matches!(again, Err(StoreError::Conflict(_))), "{again:?}");
    assert_eq!(texts(&store, &lease).await, ["one", "two"]);
    let unknown = store.run(TENANT, RunId(id())).await;
    assert!(matches!(unknown, Err(StoreError::NotFound(_))));
    store.check().await.unwrap();
}

pub async fn appends_in_order_and_pages(bed: Bed) {
    let store = bed.store();
    let lease = started(&store).await;
    let mut last = 1;
    for number in 0..5 {
        let bodies = vec![text(&format!("{number}a")), text(&format!("{number}b"))];
        let events = store.commit(append(&lease, last, bodies.clone(), vec![])).await.unwrap();
        assert_eq!(events.len(), 2);
        assert_eq!(events[0].seq, last + 1);
        assert_eq!((events[1].epoch, events[1].at), (1, LATER));
        assert_eq!(events[1].body, bodies[1]);
        last += 2;
    }
    let page = store.events(TENANT, lease.run, 3, 4).await.unwrap();
    let seqs: Vec<_> = page.iter().map(|stored| stored.event.seq).collect();
    assert_eq!(seqs, [4, 5, 6, 7]);
    assert!(store.events(TENANT, lease.run, 11, 4).await.unwrap().is_empty());
    assert_eq!(store.events(TENANT, lease.run, 0, 0).await.unwrap().len(), 11);
    let read = store.run(TENANT, lease.run).await.unwrap();
    assert_eq!((read.last_seq, read.updated_at), (11, LATER));
}

pub async fn refuses_what_is_not_next(bed: Bed) {
    let store = bed.store();
    let lease = started(&store).await;
    store.commit(append(&lease, 1, vec![text("second")], vec![])).await.unwrap();
    // With and without side rows: these are two ways through a store.
    for side in [vec![], vec![status(RunStatus::Running)]] {
        for after in [0, 1, 3, 100] {
            let stale = append(&lease, after, vec![text("stale")], side.clone());
            let refused = store.commit(stale).await;
            assert!(matches!(refused, Err(StoreError::Fenced { run, epoch: 1 }) if run == lease.run));
        }
        for epoch in [0, 2] {
            let mut other = append(&lease, 2, vec![text("other")], side.clone());
            other.epoch = epoch;
            let refused = store.commit(other).await;
            assert!(matches!(refused, Err(StoreError::Fenced { .. })), "{refused:?}");
        }
        let mut nobody = append(&lease, 0, vec![text("nobody")], side.clone());
        nobody.run = RunId(id());
        let refused = store.commit(nobody).await;
        let is_refused = matches!(refused, Err(StoreError::NotFound(_) | StoreError::Fenced { .. }));
        assert!(is_refused, "{refused:?}");
    }
    let unknown = append(&lease, 2, vec![EventBody::Unknown], vec![]);
    assert!(matches!(store.commit(unknown).await, Err(StoreError::Conflict(_))));
    assert_eq!(texts(&store, &lease).await, ["first", "second"]);
}

pub async fn is_all_or_nothing(bed: Bed) {
    let store = bed.store();
    let lease = started(&store).await;
    let timer = SideWrite::Timer { id: TimerId(id()), at: NOW, purpose: "wake".to_owned() };
    let nowhere = SideWrite::Messages(ConversationId(id()), vec![]);
    let side = vec![timer.clone(), status(RunStatus::Parked), nowhere];
    let refused = store.commit(append(&lease, 1, vec![text("lost")], side)).await;
    assert!(matches!(refused, Err(StoreError::NotFound(_))), "{refused:?}");
    assert_eq!(texts(&store, &lease).await, ["first"]);
    assert!(store.due_timers(TENANT, LATER, 10).await.unwrap().is_empty());
    let read = store.run(TENANT, lease.run).await.unwrap();
    assert_eq!(read.status, RunStatus::Running);
    // Nothing of it is in the way of the next.
    let finish = SideWrite::Status {
        status: RunStatus::Finished,
        outcome: Some(Outcome::Completed),
        answer: Some("42".to_owned()),
        tokens: 7,
        cost_micros: 9,
        verdict: Some(Verdict::Verified),
    };
    let side = vec![timer, finish];
    store.commit(append(&lease, 1, vec![text("kept")], side)).await.unwrap();
    let read = store.run(TENANT, lease.run).await.unwrap();
    assert_eq!(read.outcome, Some(Outcome::Completed));
    assert_eq!(read.answer.as_deref(), Some("42"));
    assert_eq!((read.tokens, read.cost_micros), (7, 9));
    assert_eq!(read.verdict, Some(Verdict::Verified));
    assert_eq!((read.status, read.last_seq), (RunStatus::Finished, 2));
    // Side rows alone are a commit too.
    let side = vec![status(RunStatus::Running)];
    assert!(store.commit(append(&lease, 2, vec![], side)).await.unwrap().is_empty());
}

pub async fn keeps_events_of_newer_programs(bed: Bed) {
    let store = bed.store();
    let lease = started(&store).await;
    store.commit(append(&lease, 1, vec![text("two"), text("three")], vec![])).await.unwrap();
    bed.tamper(
        "update events set kind = 'from.future',
                body = '{\"type\":\"from.future\", \"x\" : [1,  2]}' where seq = 2",
    )
    .await;
    // A kind that is known, with a field that is not of the known type.
    bed.tamper("update events set body = '{\"type\":\"model.delta\",\"step\":\"one\"}' where seq = 3").await;
    let events = store.events(TENANT, lease.run, 1, 0).await.unwrap();
    assert_eq!(events[0].event.body, EventBody::Unknown);
    assert_eq!(events[0].raw, "{\"type\":\"from.future\", \"x\" : [1,  2]}");
    assert_eq!(events[1].event.body, EventBody::Unknown);
    bed.tamper("update events set body = '{\"type\":' where seq = 3").await;
    let broken = store.events(TENANT, lease.run, 1, 0).await;
    assert!(matches!(broken, Err(StoreError::Corrupt(_))), "{broken:?}");
}

pub async fn lists_runs_newest_first(bed: Bed) {
    let store = bed.store();
    let talk = conversation(&store).await;
    let mut ids = Vec::new();
    for number in 0..5 {
        let row = RunRow { conversation: (number % 2 == 0).then_some(talk), ..row() };
        ids.push(row.id);
        let first = vec![text("first")];
        let lease = store.create_run(row, first, vec![], "a", LATER).await.unwrap();
        let now = match number {
            4 => RunStatus::Parked,
            0 | 2 => RunStatus::Finished,
            _ => continue,
        };
        let side = vec![status(now)];
        store.commit(append(&lease, 1, vec![], side)).await.unwrap();
    }
    let list = async |filter| {
        let page = store.runs(TENANT, filter).await.unwrap();
        let found: Vec<_> = page.items.iter().map(|row| row.id).collect();
        (found, page.more)
    };
    let two = RunFilter { limit: 2, ..RunFilter::default() };
    assert_eq!(list(two.clone()).await, (vec![ids[4], ids[3]], true));
    let next = RunFilter { before: Some(ids[3]), ..two.clone() };
    assert_eq!(list(next).await, (vec![ids[2], ids[1]], true));
    let rest = RunFilter { before: Some(ids[1]), ..two };
    assert_eq!(list(rest).await, (vec![ids[0]], false));
    let all = RunFilter::default();
    assert_eq!(list(all.clone()).await.0.len(), 5);
    let said = RunFilter { conversation: Some(talk), ..all.clone() };
    assert_eq!(list(said).await.0, [ids[4], ids[2], ids[0]]);
    let parked = RunFilter { status: Some(RunStatus::Parked), ..all.clone() };
    assert_eq!(list(parked).await.0, [ids[4]]);
    let running = RunFilter { status: Some(RunStatus::Running), ..all.clone() };
    assert_eq!(list(running).await.0, [ids[3], ids[1]]);
    let finished = RunFilter { status: Some(RunStatus::Finished), ..all };
    assert_eq!(list(finished).await.0, [ids[2], ids[0]]);
}

pub async fn tenants_do_not_see_each_other(bed: Bed) {
    let store = bed.store();
    let lease = started(&store).await;
    let other = TenantId(Uuid::from_u128(2));
    assert!(matches!(store.run(other, lease.run).await, Err(StoreError::NotFound(_))));
    assert!(store.events(other, lease.run, 0, 0).await.unwrap().is_empty());
    assert!(store.runs(other, RunFilter::default()).await.unwrap().items.is_empty());
    let mut foreign = append(&lease, 1, vec![text("foreign")], vec![]);
    foreign.tenant = other;
    assert!(store.commit(foreign).await.is_err());
    // The same id may exist in both.
    let twin = RunRow { id: lease.run, tenant: other, ..row() };
    store.create_run(twin, vec![text("twin")], vec![], "a", LATER).await.unwrap();
    assert_eq!(texts(&store, &lease).await, ["first"]);
}

pub async fn finds_a_gap(bed: Bed) {
    let store = bed.store();
    let lease = started(&store).await;
    store.commit(append(&lease, 1, vec![text("two"), text("three")], vec![])).await.unwrap();
    store.check().await.unwrap();
    bed.tamper("delete from events where seq = 2").await;
    assert!(matches!(store.check().await, Err(StoreError::Corrupt(_))));
}

pub async fn survives_reopening(mut bed: Bed) {
    let lease = started(&bed.store()).await;
    bed.store().commit(append(&lease, 1, vec![text("second")], vec![])).await.unwrap();
    bed.reopen().await;
    let store = bed.store();
    assert_eq!(texts(&store, &lease).await, ["first", "second"]);
    let read = store.run(TENANT, lease.run).await.unwrap();
    assert_eq!((read.last_seq, read.created_at), (2, NOW));
    assert_eq!(read.updated_at, Timestamp(LATER.0));
    store.check().await.unwrap();
}
