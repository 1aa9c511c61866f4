use crate::conformance::bed::Bed;
use crate::conformance::fixtures::{LATER, NOW, TENANT, append, id, row, started, status, text, texts};
use std::time::Duration;
use steward_core::event::{EventBody, Outcome};
use steward_core::ports::{Claim, Command, OpenRuns, RunRow, RunStatus, RunStore, SideWrite, StoreError};
use steward_core::tool::{Staged, ToolOutput};
use steward_core::{RunId, UserId};

const MINUTE: Duration = Duration::from_mins(1);

pub async fn a_claim_fences_the_one_before(bed: Bed) {
    let store = bed.store();
    let old = started(&store).await;
    store.commit(append(&old, 1, vec![text("old")], vec![])).await.unwrap();
    let after = LATER.plus(Duration::from_millis(1));
    let new = store.claim(TENANT, Claim::Run(old.run), "b", after, after.plus(MINUTE)).await.unwrap().unwrap();
    assert_eq!((new.epoch, new.last_seq, new.run), (2, 2, old.run));
    assert_eq!(new.tenant, old.tenant);
    for side in [vec![], vec![status(RunStatus::Running)]] {
        let stale = append(&old, 2, vec![text("stale")], side);
        let refused = store.commit(stale).await;
        assert!(matches!(refused, Err(StoreError::Fenced { epoch: 1, .. })), "{refused:?}");
    }
    let renewed = store.renew(&old, after.plus(MINUTE)).await;
    assert!(matches!(renewed, Err(StoreError::Fenced { epoch: 1, .. })));
    // Giving back what is lost takes nothing from the new holder.
    store.release(&old).await.unwrap();
    store.renew(&new, after.plus(MINUTE * 2)).await.unwrap();
    store.commit(append(&new, 2, vec![text("new")], vec![])).await.unwrap();
    assert_eq!(texts(&store, &old).await, ["first", "old", "new"]);
}

pub async fn what_others_were_about_to_do_is_told_in_order(bed: Bed) {
    let store = bed.store();
    let (ours, others) = (started(&store).await, started(&store).await);
    let staged = |text: &str| EventBody::ToolStaged {
        call_id: "c".to_owned(),
        tool: "t".to_owned(),
        staged: Box::new(Staged { output: ToolOutput::text(text), ..Staged::default() }),
    };
    let large = "x".repeat(100_000);
    for (lease, after, ms, what) in [
        (&ours, 1, 10, "ours"),
        (&others, 1, 20, large.as_str()),
        (&others, 2, 15, "small"),
        (&others, 3, 10, "before"),
        (&ours, 2, 30, "ours"),
    ] {
        let mut lot = append(lease, after, vec![staged(what)], vec![]);
        lot.at = NOW.plus(Duration::from_millis(ms));
        store.commit(lot).await.unwrap();
    }
    let since = NOW.plus(Duration::from_millis(10));
    let found = store.staged_since(TENANT, ours.run, since).await.unwrap();
    let texts: Vec<_> = found.iter().map(|one| one.output.content.as_str()).collect();
    assert_eq!(texts, ["small", large.as_str()]);
}

pub async fn only_free_runs_are_claimed(bed: Bed) {
    let store = bed.store();
    let lease = started(&store).await;
    let until = LATER.plus(MINUTE);
    let nothing = store.claim(TENANT, Claim::Run(RunId(id())), "b", NOW, until).await;
    assert_eq!(nothing.unwrap(), None);
    for what in [Claim::Any, Claim::Run(lease.run)] {
        assert_eq!(store.claim(TENANT, what, "b", NOW, until).await.unwrap(), None);
    }
    // A renewed lease holds longer.
    store.renew(&lease, LATER.plus(MINUTE)).await.unwrap();
    let after = LATER.plus(Duration::from_secs(1));
    assert_eq!(store.claim(TENANT, Claim::Any, "b", after, until).await.unwrap(), None);
    let free = LATER.plus(MINUTE * 2);
    let taken = store.claim(TENANT, Claim::Any, "b", free, free.plus(MINUTE)).await;
    assert_eq!(taken.unwrap().unwrap().epoch, 2);
    let again = store.claim(TENANT, Claim::Any, "c", free, free.plus(MINUTE)).await;
    assert_eq!(again.unwrap(), None);
    // What has ended is never taken.
    let taken = append(
        &steward_core::ports::Lease { epoch: 2, ..lease.clone() },
        1,
        vec![text("end")],
        vec![SideWrite::Status {
            status: RunStatus::Finished,
            outcome: Some(Outcome::Completed),
            answer: None,
            tokens: 0,
            cost_micros: 0,
            verdict: None,
        }],
    );
    store.commit(taken).await.unwrap();
    let much_later = free.plus(MINUTE * 60);
    for what in [Claim::Any, Claim::Run(lease.run)] {
        let claimed = store.claim(TENANT, what, "b", much_later, much_later.plus(MINUTE)).await;
        assert_eq!(claimed.unwrap(), None);
    }
}

pub async fn a_parked_run_is_claimed_for_its_commands(bed: Bed) {
    let store = bed.store();
    let lease = started(&store).await;
    store.commit(append(&lease, 1, vec![text("waits")], vec![status(RunStatus::Parked)])).await.unwrap();
    let far = LATER.plus(MINUTE * 60);
    assert_eq!(store.claim(TENANT, Claim::Any, "b", far, far.plus(MINUTE)).await.unwrap(), None);
    let stop = Command::Stop { by: "ann".to_owned(), source: None };
    store.push_command(TENANT, lease.run, stop).await.unwrap();
    // Parking gave the lease back: no wait until it would have ended.
    let claimed = store.claim(TENANT, Claim::Any, "b", NOW, LATER).await.unwrap().unwrap();
    assert_eq!((claimed.run, claimed.epoch, claimed.last_seq), (lease.run, 2, 2));
    assert_eq!(store.claim(TENANT, Claim::Any, "c", NOW, LATER).await.unwrap(), None);
    // A parked run can also be named.
    let named = started(&store).await;
    store.commit(append(&named, 1, vec![], vec![status(RunStatus::Parked)])).await.unwrap();
    let claimed = store.claim(TENANT, Claim::Run(named.run), "b", NOW, LATER).await;
    assert_eq!(claimed.unwrap().unwrap().run, named.run);
}

pub async fn runs_that_wait_begin_by_turns_of_their_users(bed: Bed) {
    let store = bed.store();
    let (ann, ben) = (Some(UserId(id())), Some(UserId(id())));
    let mut waiting = Vec::new();
    for user in [ann, ann, ann, None, None, ben] {
        let lease = store.create_run(RunRow { user, ..row() }, vec![text("first")], vec![], "a", LATER).await.unwrap();
        store.release(&lease).await.unwrap();
        waiting.push(lease.run);
    }
    let claim = |what| store.claim(TENANT, what, "b", NOW, LATER);
    assert_eq!(store.open_runs(TENANT, ann, NOW).await.unwrap(), OpenRuns { at_work: 0, waiting: 3 });
    let mut begun = Vec::new();
    for _ in 0..3 {
        begun.push(claim(Claim::OfIdleUser).await.unwrap().unwrap());
    }
    // All three have one at work.
    assert_eq!(claim(Claim::OfIdleUser).await.unwrap(), None);
    assert_eq!(store.open_runs(TENANT, ann, NOW).await.unwrap(), OpenRuns { at_work: 1, waiting: 2 });
    assert_eq!(store.open_runs(TENANT, None, NOW).await.unwrap(), OpenRuns { at_work: 1, waiting: 1 });
    // When all of them have ended, it is not Ann's turn again because she was first.
    for lease in &begun {
        store.commit(append(lease, 1, vec![text("end")], vec![status(RunStatus::Finished)])).await.unwrap();
    }
    let late = store.create_run(RunRow { user: ben, ..row() }, vec![text("first")], vec![], "a", LATER).await.unwrap();
    store.release(&late).await.unwrap();
    let mut order: Vec<RunId> = begun.iter().map(|lease| lease.run).collect();
    while let Some(lease) = claim(Claim::Any).await.unwrap() {
        store.commit(append(&lease, 1, vec![text("end")], vec![status(RunStatus::Finished)])).await.unwrap();
        order.push(lease.run);
    }
    let [ann_1, ann_2, ann_3, none_1, none_2, ben_1] = waiting[..] else { panic!("{waiting:?}") };
    assert_eq!(order, [ann_1, none_1, ben_1, ann_2, none_2, late.run, ann_3]);
}

pub async fn a_lease_given_back_is_free(bed: Bed) {
    let store = bed.store();
    let lease = started(&store).await;
    store.release(&lease).await.unwrap();
    let renewed = store.renew(&lease, LATER).await;
    assert!(matches!(renewed, Err(StoreError::Fenced { .. })), "{renewed:?}");
    let claimed = store.claim(TENANT, Claim::Any, "b", NOW, LATER).await.unwrap().unwrap();
    assert_eq!((claimed.run, claimed.epoch), (lease.run, 2));
}

pub async fn reopening_frees_leases_where_one_process_owns_the_data(mut bed: Bed) {
    let lease = started(&bed.store()).await;
    bed.reopen().await;
    let claimed = bed.store().claim(TENANT, Claim::Any, "b", NOW, LATER).await.unwrap();
    if bed.is_shared() {
        assert_eq!(claimed, None, "its holder may be another node, still alive");
    } else {
        let claimed = claimed.unwrap();
        assert_eq!((claimed.run, claimed.epoch), (lease.run, 2));
    }
}

pub async fn an_ended_run_is_claimed_to_take_it_back(bed: Bed) {
    let store = bed.store();
    let lease = started(&store).await;
    let ended = Claim::Ended(lease.run);
    let free = LATER.plus(MINUTE);
    // Not before it has ended, be its lease valid or not.
    for now in [NOW, free] {
        let claimed = store.claim(TENANT, ended.clone(), "b", now, now.plus(MINUTE)).await;
        assert_eq!(claimed.unwrap(), None);
    }
    let nobody = Claim::Ended(RunId(id()));
    assert_eq!(store.claim(TENANT, nobody, "b", NOW, LATER).await.unwrap(), None);
    store.commit(append(&lease, 1, vec![text("end")], vec![status(RunStatus::Finished)])).await.unwrap();
    // Ending gave the lease back: no wait.
    let taken = store.claim(TENANT, ended.clone(), "b", NOW, LATER).await.unwrap();
    let taken = taken.unwrap();
    assert_eq!((taken.run, taken.epoch, taken.last_seq), (lease.run, 2, 2));
    // One at a time, and no other way to it.
    for what in [ended.clone(), Claim::Run(lease.run), Claim::Any] {
        assert_eq!(store.claim(TENANT, what, "c", NOW, LATER).await.unwrap(), None);
    }
    let stale = store.commit(append(&lease, 2, vec![text("stale")], vec![])).await;
    assert!(matches!(stale, Err(StoreError::Fenced { .. })), "{stale:?}");
    store.commit(append(&taken, 2, vec![text("undone")], vec![])).await.unwrap();
    store.release(&taken).await.unwrap();
    let again = store.claim(TENANT, ended, "c", NOW, LATER).await.unwrap().unwrap();
    assert_eq!((again.epoch, again.last_seq), (3, 3));
    let read = store.run(TENANT, lease.run).await.unwrap();
    assert_eq!(read.status, RunStatus::Finished);
}
