use crate::conformance::bed::Bed;
use crate::conformance::fixtures::{LATER, NOW, TENANT, append, id, row, started, status, text};
use std::time::Duration;
use steward_core::approval::{About, Answer, Approval, Subject};
use steward_core::ports::{
    ApprovalFilter, Approvals, Command, Lease, RunRow, RunStatus, RunStore, SideWrite, StoreError,
};
use steward_core::{AgentId, ApprovalId, RunId, TimerId, Timestamp, UserId};

fn steer(text: &str) -> Command {
    Command::Steer { text: text.to_owned(), by: "ann".to_owned(), source: None }
}

pub async fn commands_wait_in_order_until_consumed(bed: Bed) {
    let store = bed.store();
    let lease = started(&store).await;
    for word in ["one", "two", "three"] {
        store.push_command(TENANT, lease.run, steer(word)).await.unwrap();
    }
    let queued = store.commands(TENANT, lease.run).await.unwrap();
    let words: Vec<_> = queued.iter().map(|q| q.command.clone()).collect();
    assert_eq!(words, [steer("one"), steer("two"), steer("three")]);
    let all = queued.iter().map(|q| q.id).collect();
    let side = vec![SideWrite::Consumed(all)];
    store.commit(append(&lease, 1, vec![text("took them in")], side)).await.unwrap();
    assert!(store.commands(TENANT, lease.run).await.unwrap().is_empty());
    // A number is never given twice.
    store.push_command(TENANT, lease.run, steer("four")).await.unwrap();
    let fourth = store.commands(TENANT, lease.run).await.unwrap();
    assert!(queued.iter().all(|q| q.id < fourth[0].id));
}

pub async fn an_ended_run_takes_no_commands(bed: Bed) {
    let store = bed.store();
    let nobody = store.push_command(TENANT, RunId(id()), steer("hey")).await;
    assert!(matches!(nobody, Err(StoreError::NotFound(_))), "{nobody:?}");
    let lease = started(&store).await;
    store.commit(append(&lease, 1, vec![], vec![status(RunStatus::Finished)])).await.unwrap();
    let late = store.push_command(TENANT, lease.run, steer("late")).await;
    assert!(matches!(&late, Err(StoreError::Conflict(text)) if text.ends_with("has ended")), "{late:?}");
    assert!(store.commands(TENANT, lease.run).await.unwrap().is_empty());
}

pub async fn a_run_tells_another_with_its_own_end(bed: Bed) {
    let store = bed.store();
    let above = started(&store).await;
    let below = started(&store).await;
    let ended = Command::ChildEnded { run: below.run };
    let told = SideWrite::Enqueue(above.run, ended.clone());
    // An append that is refused tells nobody.
    let stale = Lease { epoch: 9, ..below.clone() };
    let side = vec![told.clone(), status(RunStatus::Finished)];
    let refused = store.commit(append(&stale, 1, vec![], side.clone())).await;
    assert!(refused.is_err());
    assert!(store.commands(TENANT, above.run).await.unwrap().is_empty());
    store.commit(append(&below, 1, vec![], side)).await.unwrap();
    let queued = store.commands(TENANT, above.run).await.unwrap();
    assert_eq!(queued.len(), 1);
    assert_eq!(queued[0].command, ended);
    // One that has ended, or never was, is not told; the end stands all the same.
    let late = started(&store).await;
    let nobody = SideWrite::Enqueue(RunId(id()), ended.clone());
    let gone = SideWrite::Enqueue(below.run, ended);
    let side = vec![nobody, gone, status(RunStatus::Finished)];
    store.commit(append(&late, 1, vec![], side)).await.unwrap();
    assert!(store.commands(TENANT, below.run).await.unwrap().is_empty());
}

pub async fn a_run_does_not_end_over_what_was_said(bed: Bed) {
    let store = bed.store();
    let lease = started(&store).await;
    store.push_command(TENANT, lease.run, steer("wait")).await.unwrap();
    let end = || vec![status(RunStatus::Finished)];
    let refused = store.commit(append(&lease, 1, vec![], end())).await;
    assert!(matches!(refused, Err(StoreError::CommandsWaiting { run }) if run == lease.run), "{refused:?}");
    let row = store.run(TENANT, lease.run).await.unwrap();
    assert_eq!(row.status, RunStatus::Running, "nothing was changed");
    let queued = store.commands(TENANT, lease.run).await.unwrap();
    let mut side = vec![SideWrite::Consumed(vec![queued[0].id])];
    side.extend(end());
    store.commit(append(&lease, 1, vec![], side)).await.unwrap();
}

pub async fn timers_ring_once(bed: Bed) {
    let store = bed.store();
    let lease = started(&store).await;
    let (early, late) = (TimerId(id()), TimerId(id()));
    let set = |id, at| SideWrite::Timer { id, at, purpose: "retry".to_owned() };
    let hour = NOW.plus(Duration::from_hours(1));
    store.commit(append(&lease, 1, vec![text("waits")], vec![set(early, NOW), set(late, hour)])).await.unwrap();
    let before = Timestamp(NOW.0 - 1);
    assert!(store.due_timers(TENANT, before, 10).await.unwrap().is_empty());
    let due = store.due_timers(TENANT, NOW, 10).await.unwrap();
    assert_eq!(due.len(), 1);
    assert_eq!((due[0].run, due[0].id), (lease.run, early));
    let ring = Command::Timer { id: early };
    store.push_command(TENANT, lease.run, ring.clone()).await.unwrap();
    assert!(store.due_timers(TENANT, NOW, 10).await.unwrap().is_empty());
    // Two nodes may see the same alarm: it is queued once.
    store.push_command(TENANT, lease.run, ring.clone()).await.unwrap();
    let queued = store.commands(TENANT, lease.run).await.unwrap();
    assert_eq!(queued.len(), 1);
    let side = vec![SideWrite::Consumed(vec![queued[0].id]), SideWrite::TimerDone(early)];
    store.commit(append(&lease, 2, vec![text("rang")], side)).await.unwrap();
    assert!(store.due_timers(TENANT, NOW, 10).await.unwrap().is_empty());
    store.push_command(TENANT, lease.run, ring).await.unwrap();
    assert!(store.commands(TENANT, lease.run).await.unwrap().is_empty());
    assert_eq!(store.due_timers(TENANT, hour, 10).await.unwrap()[0].id, late);
    // One that a clock ahead has set rings now.
    let ahead = TimerId(id());
    let at = NOW.plus(Duration::from_hours(4000 * 24));
    store.commit(append(&lease, 3, vec![text("waits on")], vec![set(ahead, at)])).await.unwrap();
    assert_eq!(store.due_timers(TENANT, NOW, 10).await.unwrap()[0].id, ahead);
    // A run that has ended has no alarms left.
    store.commit(append(&lease, 4, vec![], vec![status(RunStatus::Finished)])).await.unwrap();
    assert!(store.due_timers(TENANT, hour, 10).await.unwrap().is_empty());
}

fn question(lease: &Lease, at: Timestamp) -> Approval {
    Approval {
        id: ApprovalId(id()),
        run_id: lease.run,
        subject: Subject::Question { call_id: "c1".to_owned(), text: "Which file?".to_owned() },
        about: About {
            agent: AgentId(id()),
            workspace: "/w".to_owned(),
            asked_by: "ann".to_owned(),
            four_eyes: false,
            parent: None,
            reason: "The agent needs an answer to go on.".to_owned(),
            entered: Vec::new(),
            skills: Vec::new(),
            plan: Vec::new(),
        },
        asked_at: at,
        answer: None,
        decided_by: None,
        decided_at: None,
    }
}

fn decided(id: ApprovalId, answer: Answer) -> SideWrite {
    SideWrite::Decided { id, answer, by: "ann".to_owned() }
}

pub async fn the_first_answer_stays(bed: Bed) {
    let store = bed.store();
    let lease = started(&store).await;
    let (second, first) = (question(&lease, LATER), question(&lease, NOW));
    let side = vec![SideWrite::Approval(second.clone()), SideWrite::Approval(first.clone())];
    store.commit(append(&lease, 1, vec![], side)).await.unwrap();
    let open = ApprovalFilter { open: true, ..ApprovalFilter::default() };
    let list = store.approvals(TENANT, open.clone()).await.unwrap().items;
    assert_eq!(list, [first.clone(), second.clone()], "oldest first");
    let limited = ApprovalFilter { limit: 1, ..open.clone() };
    let oldest = store.approvals(TENANT, limited).await.unwrap();
    assert_eq!((oldest.items, oldest.more), (vec![first.clone()], true));
    let other = ApprovalFilter { run: Some(RunId(id())), ..open.clone() };
    assert!(store.approvals(TENANT, other).await.unwrap().items.is_empty());

    let yes = Answer::Feedback { text: "a.txt".to_owned() };
    let no = Answer::Deny { reason: None };
    for answer in [yes.clone(), no] {
        let side = vec![decided(first.id, answer)];
        store.commit(append(&lease, 1, vec![], side)).await.unwrap();
    }
    let read = store.approval(TENANT, first.id).await.unwrap();
    assert_eq!(read.answer, Some(yes));
    assert_eq!(read.decided_by.as_deref(), Some("ann"));
    assert_eq!(read.decided_at, Some(LATER));
    assert_eq!(store.approvals(TENANT, open).await.unwrap().items, [second]);
    let all = ApprovalFilter::default();
    assert_eq!(store.approvals(TENANT, all).await.unwrap().items.len(), 2);
    let unknown = store.approval(TENANT, ApprovalId(id())).await;
    assert!(matches!(unknown, Err(StoreError::NotFound(_))));
    let side = vec![decided(ApprovalId(id()), Answer::Skip)];
    let unknown = store.commit(append(&lease, 1, vec![], side)).await;
    assert!(matches!(unknown, Err(StoreError::NotFound(_))));
}

pub async fn withdrawn_approvals_are_not_open(bed: Bed) {
    let store = bed.store();
    let lease = started(&store).await;
    let other = started(&store).await;
    let (mine, theirs) = (question(&lease, NOW), question(&other, NOW));
    let side = vec![SideWrite::Approval(mine.clone())];
    store.commit(append(&lease, 1, vec![], side)).await.unwrap();
    let side = vec![SideWrite::Approval(theirs.clone())];
    store.commit(append(&other, 1, vec![], side)).await.unwrap();
    let side = vec![SideWrite::WithdrawApprovals];
    store.commit(append(&lease, 1, vec![], side)).await.unwrap();
    let open = ApprovalFilter { open: true, ..ApprovalFilter::default() };
    assert_eq!(store.approvals(TENANT, open).await.unwrap().items, [theirs]);
    // It can't be answered any more, and shows that nobody did.
    let side = vec![decided(mine.id, Answer::Skip)];
    store.commit(append(&lease, 1, vec![], side)).await.unwrap();
    let read = store.approval(TENANT, mine.id).await.unwrap();
    assert_eq!((read.answer, read.decided_by), (None, None));
    assert_eq!(read.decided_at, Some(LATER));
}

pub async fn open_approvals_are_counted(bed: Bed) {
    let store = bed.store();
    let user = UserId(id());
    let mine = RunRow { user: Some(user), ..row() };
    let lease = store.create_run(mine, vec![text("first")], vec![], "a", LATER).await.unwrap();
    let other = started(&store).await;
    for lease in [&lease, &other] {
        let side = vec![SideWrite::Approval(question(lease, NOW)), SideWrite::Approval(question(lease, NOW))];
        store.commit(append(lease, 1, vec![], side)).await.unwrap();
    }
    store.commit(append(&other, 1, vec![], vec![SideWrite::WithdrawApprovals])).await.unwrap();
    assert_eq!(store.open_approvals(TENANT, None).await.unwrap(), 2);
    assert_eq!(store.open_approvals(TENANT, Some(user)).await.unwrap(), 2);
    assert_eq!(store.open_approvals(TENANT, Some(UserId(id()))).await.unwrap(), 0);
}

pub async fn approvals_are_paged(bed: Bed) {
    let store = bed.store();
    let lease = started(&store).await;
    let other = started(&store).await;
    // Some are asked at the same time.
    let times = [NOW, NOW, LATER, LATER, LATER];
    let asked: Vec<_> = times.iter().map(|at| question(&lease, *at)).collect();
    let side = asked.iter().cloned().map(SideWrite::Approval).collect();
    store.commit(append(&lease, 1, vec![], side)).await.unwrap();
    let ids: Vec<_> = asked.iter().map(|approval| approval.id).collect();
    let all = async |filter: ApprovalFilter| {
        let mut found = Vec::new();
        let mut after = None;
        for _ in 0..10 {
            let filter = ApprovalFilter { after, limit: 2, ..filter.clone() };
            let page = store.approvals(TENANT, filter).await.unwrap();
            assert!(page.items.len() == 2 || !page.more);
            found.extend(page.items.iter().map(|approval| approval.id));
            if !page.more {
                break;
            }
            after = found.last().copied();
        }
        found
    };
    let newest: Vec<_> = ids.iter().rev().copied().collect();
    let every = ApprovalFilter::default();
    let open = ApprovalFilter { open: true, ..every.clone() };
    let closed = ApprovalFilter { closed: true, ..every.clone() };
    assert_eq!(all(every.clone()).await, newest);
    assert_eq!(all(open.clone()).await, ids);
    assert!(all(closed.clone()).await.is_empty());

    let side = vec![decided(ids[1], Answer::Skip), decided(ids[3], Answer::Skip)];
    store.commit(append(&lease, 1, vec![], side)).await.unwrap();
    assert_eq!(all(open.clone()).await, [ids[0], ids[2], ids[4]]);
    assert_eq!(all(closed.clone()).await, [ids[3], ids[1]]);
    // A cursor that was answered meanwhile still marks its place.
    let after = ApprovalFilter { after: Some(ids[1]), ..open.clone() };
    assert_eq!(store.approvals(TENANT, after).await.unwrap().items[0], asked[2]);
    let side = vec![SideWrite::WithdrawApprovals];
    store.commit(append(&lease, 1, vec![], side)).await.unwrap();
    assert_eq!(all(closed.clone()).await, newest);
    assert_eq!(all(every).await, newest);
    let both = ApprovalFilter { open: true, ..closed.clone() };
    assert!(all(both).await.is_empty());
    let theirs = ApprovalFilter { run: Some(other.run), ..closed };
    assert!(all(theirs).await.is_empty());
    let lost = ApprovalFilter { after: Some(ApprovalId(id())), ..open };
    let lost = store.approvals(TENANT, lost).await;
    assert!(matches!(lost, Err(StoreError::NotFound(_))), "{lost:?}");
}
