use super::bed::Bed;
use super::fixtures::{LATER, NOW, TENANT, id, row, text};
use serde_json::json;
use std::time::Duration;
use steward_core::event::Outcome;
use steward_core::ports::{
    OccurrenceKey, RunStatus, RunStore as _, ScheduleBody, ScheduleFilter, ScheduleRow, SettledFate, Settlement,
    SideWrite, StartedBy, StoreError,
};
use steward_core::{AgentId, RunId, ScheduleId, Timestamp, UserId};

fn schedule(owner: UserId) -> ScheduleRow {
    ScheduleRow {
        id: ScheduleId(id()),
        owner,
        agent: AgentId(id()),
        body: ScheduleBody {
            name: "nightly".to_owned(),
            request: "Check it".to_owned(),
            time: json!({"any": 1}),
            policy: json!({}),
            pause_after_failures: Some(3),
            pause: None,
        },
        planned_until: NOW,
        wake_at: Some(NOW),
        resumed_at: NOW,
        revision: 1,
        created_at: NOW,
        updated_at: NOW,
        deleted_at: None,
    }
}

fn at(seconds: u64) -> Timestamp {
    NOW.plus(Duration::from_secs(seconds))
}

fn two_rows() -> Settlement {
    Settlement {
        make: vec![(at(60), at(61)), (at(120), at(120))],
        planned_until: at(120),
        wake_at: Some(at(61)),
        ..Settlement::default()
    }
}

async fn start(bed: &Bed, key: OccurrenceKey) -> Result<RunId, StoreError> {
    let run = row();
    let id = run.id;
    let side = vec![SideWrite::StartedBy(StartedBy::Occurrence(key))];
    bed.store().create_run(run, vec![text("x")], side, "node", LATER).await.map(|_| id)
}

pub async fn schedules_are_kept_changed_and_listed(bed: Bed) {
    let (store, owner, other) = (bed.store(), UserId(id()), UserId(id()));
    let (first, second, third) = (schedule(owner), schedule(other), schedule(owner));
    for row in [&first, &second, &third] {
        store.create_schedule(TENANT, row).await.unwrap();
    }
    assert_eq!(store.schedule(TENANT, first.id).await.unwrap().unwrap(), first);
    assert_eq!(store.count_schedules(TENANT, owner).await.unwrap(), 2);
    let of = |owner, before, limit| ScheduleFilter { owner, before, limit, ..ScheduleFilter::default() };
    let page = store.schedules(TENANT, &of(None, None, 2)).await.unwrap();
    assert!(page.more);
    assert_eq!(page.items.iter().map(|one| one.id).collect::<Vec<_>>(), [third.id, second.id]);
    let page = store.schedules(TENANT, &of(None, Some(second.id), 2)).await.unwrap();
    assert_eq!((page.items.len(), page.items[0].id, page.more), (1, first.id, false));
    assert_eq!(store.schedules(TENANT, &of(Some(owner), None, 9)).await.unwrap().items.len(), 2);

    let mut changed = first.clone();
    "other".clone_into(&mut changed.body.name);
    changed.deleted_at = Some(at(1));
    changed.wake_at = None;
    assert!(store.change_schedule(TENANT, &changed, Vec::new()).await.unwrap());
    assert!(!store.change_schedule(TENANT, &changed, Vec::new()).await.unwrap(), "another revision");
    let kept = store.schedule(TENANT, first.id).await.unwrap().unwrap();
    assert_eq!((kept.revision, kept.body.name.as_str()), (2, "other"));
    let deleted = ScheduleFilter { deleted: true, limit: 9, ..ScheduleFilter::default() };
    assert_eq!(store.schedules(TENANT, &deleted).await.unwrap().items.len(), 1);
    assert_eq!(store.due_schedules(TENANT, NOW, 9).await.unwrap().len(), 2);
    assert_eq!(store.next_schedule_wake(TENANT).await.unwrap(), Some(NOW));
    assert_eq!(store.delete_schedules_of(TENANT, owner).await.unwrap(), 2);
    assert_eq!(store.schedules(TENANT, &of(None, None, 9)).await.unwrap().items.len(), 1);
}

pub async fn an_occurrence_has_one_fate_and_one_run(bed: Bed) {
    let (store, made) = (bed.store(), schedule(UserId(id())));
    store.create_schedule(TENANT, &made).await.unwrap();
    assert!(store.settle_occurrences(TENANT, made.id, 1, NOW, two_rows()).await.unwrap());
    assert!(!store.settle_occurrences(TENANT, made.id, 1, NOW, two_rows()).await.unwrap(), "decided by another");
    let open = store.open_occurrences(TENANT, made.id).await.unwrap();
    assert_eq!(open.iter().map(|one| (one.nominal, one.due)).collect::<Vec<_>>(), two_rows().make);

    // Of two nodes that start it at once, one does.
    let key = OccurrenceKey { schedule: made.id, nominal: at(60), by_hand: false };
    let (one, other) = tokio::join!(start(&bed, key), start(&bed, key));
    let (run, refused) = match (one, other) {
        (Ok(run), Err(refused)) | (Err(refused), Ok(run)) => (run, refused),
        both => panic!("{both:?}"),
    };
    assert!(matches!(refused, StoreError::Conflict(_)), "{refused:?}");
    let started = store.started_occurrences(TENANT, made.id).await.unwrap();
    assert_eq!(started.iter().map(|one| (one.nominal, one.run)).collect::<Vec<_>>(), [(at(60), run)]);
    assert_eq!(started[0].ended_as, None);
    // The run that was refused isn't there.
    assert_eq!(
        store
            .runs(TENANT, steward_core::ports::RunFilter { limit: 9, ..Default::default() })
            .await
            .unwrap()
            .items
            .len(),
        1
    );

    let by_hand = OccurrenceKey { schedule: made.id, nominal: at(7), by_hand: true };
    start(&bed, by_hand).await.unwrap();
    assert!(matches!(start(&bed, by_hand).await, Err(StoreError::Conflict(_))));
    let never_planned = OccurrenceKey { schedule: made.id, nominal: at(8), by_hand: false };
    assert!(matches!(start(&bed, never_planned).await, Err(StoreError::Conflict(_))));

    let fate = SettledFate { word: "skipped".to_owned(), reason: Some("paused".to_owned()), into: None };
    let settlement = Settlement {
        // The first has its fate already, which stays.
        settle: vec![(at(60), fate.clone()), (at(120), fate.clone())],
        ended: vec![(at(60), "completed".to_owned())],
        planned_until: at(120),
        ..Settlement::default()
    };
    assert!(store.settle_occurrences(TENANT, made.id, 2, at(130), settlement).await.unwrap());
    let all = store.occurrences(TENANT, made.id, None, 2).await.unwrap();
    assert!(all.more);
    assert_eq!(all.items[0].settled, Some(fate));
    let first = &all.items[1];
    assert_eq!(first.settled.as_ref().unwrap().word, "ran");
    assert_eq!((first.run, first.outcome.as_deref()), (Some(run), Some("completed")));
    let rest = store.occurrences(TENANT, made.id, Some(at(60)), 2).await.unwrap();
    assert!(rest.items[0].by_hand && !rest.more);
    assert_eq!(store.last_occurrence(TENANT, made.id).await.unwrap().unwrap().nominal, at(120));
    assert_eq!(store.occurrence_outcomes(TENANT, made.id, NOW, 5).await.unwrap(), ["completed"]);
    assert_eq!(store.open_occurrences(TENANT, made.id).await.unwrap(), []);
}

pub async fn the_end_of_a_run_is_seen_and_old_occurrences_go(bed: Bed) {
    let (store, made) = (bed.store(), schedule(UserId(id())));
    store.create_schedule(TENANT, &made).await.unwrap();
    store.settle_occurrences(TENANT, made.id, 1, NOW, two_rows()).await.unwrap();
    let run = row();
    let (id, key) = (run.id, OccurrenceKey { schedule: made.id, nominal: at(60), by_hand: false });
    let side = vec![SideWrite::StartedBy(StartedBy::Occurrence(key))];
    let lease = store.create_run(run, vec![text("x")], side, "node", LATER).await.unwrap();
    let ended = SideWrite::Status {
        status: RunStatus::Finished,
        outcome: Some(Outcome::Completed),
        answer: None,
        tokens: 0,
        cost_micros: 0,
        verdict: None,
    };
    store.commit(super::fixtures::append(&lease, 1, Vec::new(), vec![ended])).await.unwrap();
    let started = store.started_occurrences(TENANT, made.id).await.unwrap();
    assert_eq!((started[0].run, started[0].ended_as.as_deref()), (id, Some("completed")));
    let settlement = Settlement {
        ended: vec![(at(60), "completed".to_owned())],
        make: (3..10).map(|n| (at(n * 60), at(n * 60))).collect(),
        settle: vec![(at(120), SettledFate { word: "missed".to_owned(), reason: None, into: None })],
        planned_until: at(600),
        keep: Some(7),
        ..Settlement::default()
    };
    assert!(store.settle_occurrences(TENANT, made.id, 2, NOW, settlement).await.unwrap());
    let left = store.occurrences(TENANT, made.id, None, 50).await.unwrap().items;
    assert_eq!(left.len(), 8, "those without a fate, and the latest with one: {left:#?}");
    assert_eq!(left.last().unwrap().nominal, at(120));
}
