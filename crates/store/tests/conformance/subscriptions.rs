use super::bed::Bed;
use super::fixtures::{NOW, TENANT, id, row, text};
use serde_json::json;
use std::time::Duration;
use steward_core::ports::{
    DispatchOutcome, DispatchRow, DispatchTry, HookSecret, NewDispatch, RunRow, RunStore as _, StoreError,
    SubscriptionBody, SubscriptionFilter, SubscriptionRow,
};
use steward_core::{DispatchId, RunId, SubscriptionId, TenantId, Timestamp, UserId};
use steward_store::Store;

/// When what was taken is due again.
const AGAIN: u64 = 120;

fn subscription(owner: UserId) -> SubscriptionRow {
    SubscriptionRow {
        id: SubscriptionId(id()),
        owner,
        body: SubscriptionBody {
            name: "on call".to_owned(),
            form: json!("slack"),
            place: "https://hooks.example.org".to_owned(),
            kinds: vec!["run.failed".to_owned()],
            all: true,
            language: "de".to_owned(),
            pause: None,
            link_base: Some("https://steward.example.org".to_owned()),
            secrets: vec![HookSecret { id: id(), hint: "abcd".to_owned(), created_at: NOW }],
        },
        revision: 1,
        created_at: NOW,
        updated_at: NOW,
        deleted_at: None,
    }
}

fn at(seconds: u64) -> Timestamp {
    NOW.plus(Duration::from_secs(seconds))
}

fn message(subscription: SubscriptionId, seq: u64, subject: &str) -> NewDispatch {
    NewDispatch {
        id: DispatchId(id()),
        subscription,
        seq,
        kind: "run.failed".to_owned(),
        subject: subject.to_owned(),
        body: json!({"seq": seq, "name": "reporter"}),
    }
}

/// A new subscription with messages of these subjects, in this order.
async fn told(store: &Store, subjects: &[&str]) -> (SubscriptionId, Vec<DispatchId>) {
    let made = subscription(UserId(id()));
    store.create_subscription(TENANT, &made).await.unwrap();
    let mut ids = Vec::new();
    for (seq, subject) in subjects.iter().enumerate() {
        let new = message(made.id, seq as u64 + 1, subject);
        ids.push(new.id);
        store.make_dispatch(TENANT, NOW, new).await.unwrap();
    }
    (made.id, ids)
}

async fn take(store: &Store, seconds: u64, limit: u32) -> Vec<DispatchId> {
    let mut all = Vec::new();
    for subscription in store.subscriptions_due(TENANT, at(seconds), 50).await.unwrap() {
        let taken = store.take_dispatches(TENANT, subscription, at(seconds), at(seconds + AGAIN), limit).await;
        all.extend(taken.unwrap().into_iter().map(|one| one.id));
    }
    all
}

async fn tried(store: &Store, id: DispatchId, seconds: u64, outcome: DispatchOutcome) {
    let tried = DispatchTry { told: format!("{outcome:?}"), outcome };
    store.tried_dispatch(TENANT, id, at(seconds), &tried).await.unwrap();
}

async fn kept(store: &Store, subscription: SubscriptionId, id: DispatchId) -> DispatchRow {
    store.dispatch(TENANT, subscription, id).await.unwrap().unwrap()
}

async fn listed(store: &Store, subscription: SubscriptionId, failed: bool) -> Vec<DispatchId> {
    let page = store.dispatches(TENANT, subscription, failed, None, 50).await.unwrap();
    page.items.into_iter().map(|one| one.id).collect()
}

pub async fn subscriptions_are_kept_changed_and_listed(bed: Bed) {
    let (store, owner, other) = (bed.store(), UserId(id()), UserId(id()));
    let (first, second, third) = (subscription(owner), subscription(other), subscription(owner));
    for row in [&first, &second, &third] {
        store.create_subscription(TENANT, row).await.unwrap();
    }
    assert!(matches!(store.create_subscription(TENANT, &first).await, Err(StoreError::Conflict(_))));
    assert_eq!(store.subscription(TENANT, first.id).await.unwrap().unwrap(), first);
    assert_eq!(store.subscription(TenantId(id()), first.id).await.unwrap(), None, "of another tenant");
    assert_eq!(store.count_subscriptions(TENANT, owner).await.unwrap(), 2);
    let of = |owner, before, limit| SubscriptionFilter { owner, before, limit, ..SubscriptionFilter::default() };
    let page = store.subscriptions(TENANT, &of(None, None, 2)).await.unwrap();
    assert!(page.more);
    assert_eq!(page.items.iter().map(|one| one.id).collect::<Vec<_>>(), [third.id, second.id]);
    let page = store.subscriptions(TENANT, &of(None, Some(second.id), 2)).await.unwrap();
    assert_eq!((page.items.len(), page.items[0].id, page.more), (1, first.id, false));
    assert_eq!(store.subscriptions(TENANT, &of(Some(owner), None, 9)).await.unwrap().items.len(), 2);

    let mut changed = first.clone();
    "other".clone_into(&mut changed.body.name);
    changed.body.pause = Some(json!({"any": 1}));
    changed.body.link_base = None;
    changed.updated_at = at(1);
    changed.deleted_at = Some(at(1));
    assert!(store.change_subscription(TENANT, &changed).await.unwrap());
    assert!(!store.change_subscription(TENANT, &changed).await.unwrap(), "another revision");
    let kept = store.subscription(TENANT, first.id).await.unwrap().unwrap();
    assert_eq!(kept, SubscriptionRow { revision: 2, ..changed });
    let deleted = SubscriptionFilter { deleted: true, limit: 9, ..SubscriptionFilter::default() };
    assert_eq!(store.subscriptions(TENANT, &deleted).await.unwrap().items.len(), 1);
    assert_eq!(store.count_subscriptions(TENANT, owner).await.unwrap(), 1);

    for row in [&first, &second] {
        store.make_dispatch(TENANT, NOW, message(row.id, 1, "a")).await.unwrap();
    }
    assert_eq!(store.delete_subscriptions_of(TENANT, owner).await.unwrap(), 2, "a deleted one, too");
    let left = store.subscriptions(TENANT, &of(None, None, 9)).await.unwrap();
    assert_eq!(left.items.iter().map(|one| one.id).collect::<Vec<_>>(), [second.id]);
    assert!(listed(&store, first.id, false).await.is_empty());
    assert_eq!(listed(&store, second.id, false).await.len(), 1);

    let (of_user, of_nobody) = (row(), row());
    for run in [RunRow { user: Some(owner), ..of_user.clone() }, of_nobody.clone()] {
        store.create_run(run, vec![text("x")], Vec::new(), "node", at(60)).await.unwrap();
    }
    assert_eq!(store.run_owner(TENANT, of_user.id).await.unwrap(), Some(owner));
    assert_eq!(store.run_owner(TENANT, of_nobody.id).await.unwrap(), None);
    assert_eq!(store.run_owner(TENANT, RunId(id())).await.unwrap(), None);
}

pub async fn a_stretch_of_the_trail_is_told_once(bed: Bed) {
    let (store, made) = (bed.store(), subscription(UserId(id())));
    store.create_subscription(TENANT, &made).await.unwrap();
    assert_eq!(store.dispatched_until(TENANT).await.unwrap(), None);
    assert!(!store.make_dispatches(TENANT, (Some(3), 5), NOW, Vec::new()).await.unwrap(), "nothing was told yet");
    assert!(store.make_dispatches(TENANT, (None, 3), NOW, Vec::new()).await.unwrap());
    assert!(!store.make_dispatches(TENANT, (None, 4), NOW, vec![message(made.id, 4, "a")]).await.unwrap());
    assert_eq!(store.dispatched_until(TENANT).await.unwrap(), Some(3));
    assert_eq!(store.dispatched_until(TenantId(id())).await.unwrap(), None, "of another tenant");

    let new = message(made.id, 4, "a");
    assert!(store.make_dispatches(TENANT, (Some(3), 5), NOW, vec![new.clone()]).await.unwrap());
    assert!(!store.make_dispatches(TENANT, (Some(3), 5), NOW, vec![message(made.id, 4, "a")]).await.unwrap());
    assert!(!store.make_dispatches(TENANT, (Some(3), 9), NOW, vec![message(made.id, 4, "a")]).await.unwrap());
    assert_eq!(
        (listed(&store, made.id, false).await, store.dispatched_until(TENANT).await.unwrap()),
        (vec![new.id], Some(5))
    );
    let expect = DispatchRow {
        id: new.id,
        subscription: made.id,
        seq: 4,
        kind: new.kind.clone(),
        subject: new.subject.clone(),
        body: new.body.clone(),
        made_at: NOW,
        next_at: Some(NOW),
        tries: 0,
        sent_at: None,
        last: None,
    };
    assert_eq!(kept(&store, made.id, new.id).await, expect);
    assert_eq!(store.dispatch(TENANT, SubscriptionId(id()), new.id).await.unwrap(), None, "of another subscription");

    // All or nothing: one that can't be written leaves the place as it was.
    let twice = vec![message(made.id, 6, "b"), new.clone()];
    assert!(store.make_dispatches(TENANT, (Some(5), 7), NOW, twice).await.is_err());
    assert_eq!(
        (listed(&store, made.id, false).await.len(), store.dispatched_until(TENANT).await.unwrap()),
        (1, Some(5))
    );

    // Of two nodes that read the same stretch at once, one tells it.
    let node = if bed.is_shared() { bed.second_node().await } else { bed.store() };
    let [one, two] = [vec![message(made.id, 6, "b")], vec![message(made.id, 6, "b")]];
    let both = tokio::join!(
        store.make_dispatches(TENANT, (Some(5), 7), NOW, one),
        node.make_dispatches(TENANT, (Some(5), 7), NOW, two)
    );
    let wrote = [both.0, both.1].into_iter().filter(|wrote| matches!(wrote, Ok(true))).count();
    assert_eq!((wrote, listed(&store, made.id, false).await.len()), (1, 2));
}

pub async fn messages_are_taken_in_the_order_of_what_they_are_about(bed: Bed) {
    let store = bed.store();
    let (made, ids) = told(&store, &["a", "a", "b"]).await;
    let stranger = TenantId(id());
    assert!(store.subscriptions_due(stranger, at(1), 9).await.unwrap().is_empty(), "of another tenant");
    assert!(store.take_dispatches(stranger, made, at(1), at(9), 9).await.unwrap().is_empty(), "of another tenant");
    assert_eq!(take(&store, 0, 1).await, [ids[0]]);
    assert_eq!(take(&store, 0, 9).await, [ids[2]], "the second of `a` waits for the first");
    let (_, others) = told(&store, &["a"]).await;
    assert_eq!(take(&store, 0, 9).await, others, "another subscription's goes on");
    assert!(take(&store, AGAIN - 1, 9).await.is_empty(), "what is taken is put off");
    assert_eq!(kept(&store, made, ids[0]).await.next_at, Some(at(AGAIN)));
    // This node ended; another one takes them later.
    let taken: std::collections::BTreeSet<DispatchId> = take(&store, AGAIN, 9).await.into_iter().collect();
    assert_eq!(taken, [ids[0], ids[2], others[0]].into_iter().collect());

    tried(&store, ids[0], 130, DispatchOutcome::TryAgain(at(135))).await;
    tried(&store, ids[2], 130, DispatchOutcome::Sent).await;
    tried(&store, others[0], 130, DispatchOutcome::GivenUp).await;
    let (again, sent) = (kept(&store, made, ids[0]).await, kept(&store, made, ids[2]).await);
    assert_eq!((again.next_at, again.sent_at, again.tries), (Some(at(135)), None, 1));
    assert!(again.last.unwrap().starts_with("TryAgain"));
    assert_eq!((sent.next_at, sent.sent_at, sent.tries), (None, Some(at(130)), 1));
    assert!(take(&store, 134, 9).await.is_empty(), "the first of `a` is still to come");
    assert_eq!(take(&store, 135, 9).await, [ids[0]]);
    tried(&store, ids[0], 136, DispatchOutcome::GivenUp).await;
    let given_up = kept(&store, made, ids[0]).await;
    assert_eq!((given_up.next_at, given_up.sent_at, given_up.tries), (None, None, 2));
    assert_eq!(take(&store, 136, 9).await, [ids[1]], "what is given up holds nothing back");
    assert_eq!(listed(&store, made, true).await, [ids[0]]);
    assert_eq!(listed(&store, made, false).await, [ids[2], ids[1], ids[0]]);
    let page = store.dispatches(TENANT, made, false, Some(ids[2]), 1).await.unwrap();
    assert_eq!((page.items[0].id, page.more), (ids[1], true));

    // Of two nodes that look at once, one takes it.
    let (_, ids) = told(&store, &["c"]).await;
    let node = if bed.is_shared() { bed.second_node().await } else { bed.store() };
    let [one, two] = tokio::join!(take(&store, 140, 9), take(&node, 140, 9)).into();
    assert_eq!([one, two].concat(), ids);
}

pub async fn a_message_is_sent_again_by_hand(bed: Bed) {
    let store = bed.store();
    let (made, ids) = told(&store, &["a", "b"]).await;
    assert_eq!(take(&store, 0, 9).await, ids);
    tried(&store, ids[0], 1, DispatchOutcome::Sent).await;
    tried(&store, ids[1], 1, DispatchOutcome::GivenUp).await;
    tried(&store, ids[0], 2, DispatchOutcome::TryAgain(at(9))).await;
    assert_eq!(kept(&store, made, ids[0]).await.sent_at, Some(at(1)), "what arrived stays so");
    for id in &ids {
        assert!(store.send_dispatch_again(TENANT, made, *id, at(5)).await.unwrap());
    }
    assert!(!store.send_dispatch_again(TENANT, made, DispatchId(id()), at(5)).await.unwrap());
    let elsewhere = SubscriptionId(id());
    assert!(!store.send_dispatch_again(TENANT, elsewhere, ids[0], at(5)).await.unwrap(), "of another subscription");
    let again = kept(&store, made, ids[0]).await;
    assert_eq!((again.next_at, again.sent_at, again.tries), (Some(at(5)), None, 0));
    assert_eq!(take(&store, 5, 9).await, ids);

    // What is given up while it is on its way isn't tried again, but may have arrived.
    store.give_up_dispatches(TENANT, made, "the subscription was paused").await.unwrap();
    tried(&store, ids[0], 6, DispatchOutcome::TryAgain(at(9))).await;
    tried(&store, ids[1], 6, DispatchOutcome::Sent).await;
    let (first, second) = (kept(&store, made, ids[0]).await, kept(&store, made, ids[1]).await);
    assert_eq!((first.next_at, first.last.as_deref()), (None, Some("the subscription was paused")));
    assert_eq!(second.sent_at, Some(at(6)));
}

pub async fn what_is_given_up_is_counted_and_old_messages_go(bed: Bed) {
    let store = bed.store();
    let (made, ids) = told(&store, &["a", "b", "c", "d", "e", "f"]).await;
    let (other, _) = told(&store, &["a", "b"]).await;
    let count = |since: u64| store.count_given_up(TENANT, made, at(since));
    assert_eq!(count(0).await.unwrap(), 0, "all wait");
    for one in &ids[..3] {
        tried(&store, *one, 1, DispatchOutcome::GivenUp).await;
    }
    assert_eq!(count(0).await.unwrap(), 3, "none ever arrived");
    assert_eq!(count(1).await.unwrap(), 0, "they were made before");
    tried(&store, ids[3], 1, DispatchOutcome::Sent).await;
    assert_eq!(count(0).await.unwrap(), 0, "one arrived after them");
    tried(&store, ids[4], 1, DispatchOutcome::GivenUp).await;
    assert_eq!(count(0).await.unwrap(), 1);

    store.send_dispatch_again(TENANT, made, ids[1], at(2)).await.unwrap();
    store.trim_dispatches(TENANT, made, 9).await.unwrap();
    assert_eq!(listed(&store, made, false).await.len(), 6);
    store.trim_dispatches(TENANT, made, 2).await.unwrap();
    assert_eq!(listed(&store, made, false).await, [ids[5], ids[4], ids[1]], "the latest two, and what waits");
    assert_eq!(listed(&store, other, false).await.len(), 2, "another subscription's stay");
    store.give_up_dispatches(TENANT, other, "the subscription was deleted").await.unwrap();
    assert_eq!(listed(&store, other, true).await.len(), 2);
    assert_eq!(listed(&store, made, true).await, [ids[4]]);
}
