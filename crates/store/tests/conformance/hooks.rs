use super::bed::Bed;
use super::fixtures::{LATER, NOW, TENANT, append, id, row, text};
use serde_json::json;
use std::time::Duration;
use steward_core::event::Outcome;
use steward_core::ports::{
    Accepted, DeliveryContent, DeliveryFate, DeliveryKey, FATE_STARTED, HookBody, HookFilter, HookRow, HookSecret,
    NewDelivery, RunFilter, RunStatus, RunStore as _, SideWrite, StartedBy, StoreError,
};
use steward_core::{AgentId, DeliveryId, HookId, RunId, TenantId, Timestamp, UserId};
use steward_store::Store;

fn hook(owner: UserId) -> HookRow {
    HookRow {
        id: HookId(id()),
        owner,
        agent: AgentId(id()),
        body: HookBody {
            name: "issues".to_owned(),
            request: "Look at {{payload}}".to_owned(),
            signing: json!({"kind": "github"}),
            window_seconds: 300,
            event_id: Some(json!({"pointer": "/id"})),
            filters: vec![json!({"pointer": "/action", "equals": "opened"})],
            pause_after_failures: Some(3),
            pause: None,
            secrets: vec![HookSecret { id: id(), hint: "abcd".to_owned(), created_at: NOW }],
        },
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

fn content(body: &str) -> DeliveryContent {
    DeliveryContent { headers: vec![("x-github-event".to_owned(), "issues".to_owned())], body: body.to_owned() }
}

fn call(hook: HookId, event: &str) -> NewDelivery {
    NewDelivery {
        id: DeliveryId(id()),
        hook,
        event: event.to_owned(),
        received_at: NOW,
        bytes: 10,
        content: content(event),
        fate: None,
        most_waiting: 100,
    }
}

fn skipped() -> DeliveryFate {
    DeliveryFate { word: "skipped".to_owned(), reason: Some("the webhook is paused".to_owned()) }
}

async fn start(store: &Store, key: DeliveryKey) -> Result<RunId, StoreError> {
    let run = row();
    let id = run.id;
    let side = vec![SideWrite::StartedBy(StartedBy::Delivery(key))];
    store.create_run(run, vec![text("x")], side, "node", LATER).await.map(|_| id)
}

/// Starts a run for a delivery, which ends at once.
async fn start_and_end(store: &Store, key: DeliveryKey, outcome: Outcome) -> RunId {
    let run = row();
    let id = run.id;
    let side = vec![SideWrite::StartedBy(StartedBy::Delivery(key))];
    let lease = store.create_run(run, vec![text("x")], side, "node", LATER).await.unwrap();
    let ended = SideWrite::Status {
        status: RunStatus::Finished,
        outcome: Some(outcome),
        answer: None,
        tokens: 0,
        cost_micros: 0,
        verdict: None,
    };
    store.commit(append(&lease, 1, Vec::new(), vec![ended])).await.unwrap();
    id
}

async fn events(store: &Store, hook: HookId) -> Vec<String> {
    let page = store.deliveries(TENANT, hook, None, 50).await.unwrap();
    page.items.into_iter().map(|one| one.event).collect()
}

pub async fn webhooks_are_kept_changed_and_listed(bed: Bed) {
    let (store, owner, other) = (bed.store(), UserId(id()), UserId(id()));
    let (first, second, third) = (hook(owner), hook(other), hook(owner));
    for row in [&first, &second, &third] {
        store.create_hook(TENANT, row).await.unwrap();
    }
    assert!(matches!(store.create_hook(TENANT, &first).await, Err(StoreError::Conflict(_))));
    assert_eq!(store.hook(TENANT, first.id).await.unwrap().unwrap(), first);
    assert_eq!(store.tenant_of_hook(first.id).await.unwrap(), Some(TENANT));
    assert_eq!(store.tenant_of_hook(HookId(id())).await.unwrap(), None);
    assert_eq!(store.hook(TenantId(id()), first.id).await.unwrap(), None, "of another tenant");
    assert_eq!(store.count_hooks(TENANT, owner).await.unwrap(), 2);
    let of = |owner, before, limit| HookFilter { owner, before, limit, ..HookFilter::default() };
    let page = store.hooks(TENANT, &of(None, None, 2)).await.unwrap();
    assert!(page.more);
    assert_eq!(page.items.iter().map(|one| one.id).collect::<Vec<_>>(), [third.id, second.id]);
    let page = store.hooks(TENANT, &of(None, Some(second.id), 2)).await.unwrap();
    assert_eq!((page.items.len(), page.items[0].id, page.more), (1, first.id, false));
    assert_eq!(store.hooks(TENANT, &of(Some(owner), None, 9)).await.unwrap().items.len(), 2);
    let of_agent = HookFilter { agent: Some(second.agent), limit: 9, ..HookFilter::default() };
    assert_eq!(store.hooks(TENANT, &of_agent).await.unwrap().items[0].id, second.id);

    let mut changed = first.clone();
    "other".clone_into(&mut changed.body.name);
    changed.body.pause = Some(json!({"any": 1}));
    changed.deleted_at = Some(at(1));
    assert!(store.change_hook(TENANT, &changed).await.unwrap());
    assert!(!store.change_hook(TENANT, &changed).await.unwrap(), "another revision");
    let kept = store.hook(TENANT, first.id).await.unwrap().unwrap();
    assert_eq!(kept, HookRow { revision: 2, ..changed });
    let deleted = HookFilter { deleted: true, limit: 9, ..HookFilter::default() };
    assert_eq!(store.hooks(TENANT, &deleted).await.unwrap().items.len(), 1);
    assert_eq!(store.count_hooks(TENANT, owner).await.unwrap(), 1);

    store.accept_delivery(TENANT, call(first.id, "a")).await.unwrap();
    store.accept_delivery(TENANT, call(second.id, "a")).await.unwrap();
    assert_eq!(store.delete_hooks_of(TENANT, owner).await.unwrap(), 2, "a deleted one, too");
    assert_eq!(store.hooks(TENANT, &of(None, None, 9)).await.unwrap().items.len(), 1);
    assert_eq!((events(&store, first.id).await, events(&store, second.id).await), (vec![], vec!["a".to_owned()]));
}

pub async fn an_event_is_one_delivery_and_one_run(bed: Bed) {
    let (store, made, other) = (bed.store(), hook(UserId(id())), hook(UserId(id())));
    store.create_hook(TENANT, &made).await.unwrap();
    store.create_hook(TENANT, &other).await.unwrap();
    let first = call(made.id, "a");
    let key = DeliveryKey { hook: made.id, delivery: first.id };
    assert_eq!(store.accept_delivery(TENANT, first.clone()).await.unwrap(), Accepted::Kept);
    for _ in 0..2 {
        let again = store.accept_delivery(TENANT, call(made.id, "a")).await.unwrap();
        assert_eq!(again, Accepted::Repeated(first.id));
    }
    assert_eq!(store.accept_delivery(TENANT, call(other.id, "a")).await.unwrap(), Accepted::Kept, "another webhook's");
    let kept = store.delivery(TENANT, key).await.unwrap().unwrap();
    assert_eq!((kept.repeats, kept.bytes, kept.received_at), (2, 10, NOW));
    assert_eq!((kept.fate, kept.settled_at, kept.content), (None, None, Some(content("a"))));
    let elsewhere = DeliveryKey { hook: other.id, ..key };
    assert_eq!(store.delivery(TENANT, elsewhere).await.unwrap(), None, "of another webhook");

    // Of two nodes that start it at once, one does.
    let (one, two) = tokio::join!(start(&store, key), start(&store, key));
    let (run, refused) = match (one, two) {
        (Ok(run), Err(refused)) | (Err(refused), Ok(run)) => (run, refused),
        both => panic!("{both:?}"),
    };
    assert!(matches!(refused, StoreError::Conflict(_)), "{refused:?}");
    let runs = store.runs(TENANT, RunFilter { limit: 9, ..RunFilter::default() }).await.unwrap();
    assert_eq!(runs.items.len(), 1, "the run that was refused isn't there");
    assert!(!store.settle_delivery(TENANT, key, at(9), &skipped()).await.unwrap(), "it has its fate");
    let kept = store.delivery(TENANT, key).await.unwrap().unwrap();
    assert_eq!((kept.fate.unwrap().word.as_str(), kept.run, kept.outcome), (FATE_STARTED, Some(run), None));
    let unknown = DeliveryKey { delivery: DeliveryId(id()), ..key };
    assert!(matches!(start(&store, unknown).await, Err(StoreError::Conflict(_))));

    let next = call(made.id, "b");
    let key = DeliveryKey { hook: made.id, delivery: next.id };
    store.accept_delivery(TENANT, next).await.unwrap();
    let run = start_and_end(&store, key, Outcome::Completed).await;
    let page = store.deliveries(TENANT, made.id, None, 1).await.unwrap();
    let last = &page.items[0];
    assert_eq!((page.more, last.run, last.outcome.as_deref()), (true, Some(run), Some("completed")));
    assert_eq!(last.content, None, "lists are without what was sent");
    let rest = store.deliveries(TENANT, made.id, Some(last.id), 9).await.unwrap();
    assert_eq!((rest.items.len(), rest.items[0].event.as_str(), rest.more), (1, "a", false));
    assert_eq!(store.delivery_outcomes(TENANT, made.id, NOW, 5).await.unwrap(), ["completed"], "one works still");
    let since = store.delivery_outcomes(TENANT, made.id, LATER.plus(Duration::from_secs(1)), 5).await.unwrap();
    assert!(since.is_empty(), "runs that were started before it was resumed don't count");

    // The same event on two nodes at once.
    let node = if bed.is_shared() { bed.second_node().await } else { bed.store() };
    let [one, two] = [call(made.id, "c"), call(made.id, "c")];
    let (ids, both) =
        ([one.id, two.id], tokio::join!(store.accept_delivery(TENANT, one), node.accept_delivery(TENANT, two)));
    match both {
        (Ok(Accepted::Kept), Ok(Accepted::Repeated(known))) => assert_eq!(known, ids[0]),
        (Ok(Accepted::Repeated(known)), Ok(Accepted::Kept)) => assert_eq!(known, ids[1]),
        (Ok(Accepted::Kept), Err(StoreError::Conflict(_))) | (Err(StoreError::Conflict(_)), Ok(Accepted::Kept)) => {}
        other => panic!("{other:?}"),
    }
    assert_eq!(events(&store, made.id).await, ["c", "b", "a"]);
}

pub async fn deliveries_that_wait_are_limited_and_taken_in_order(bed: Bed) {
    let (store, made, other) = (bed.store(), hook(UserId(id())), hook(UserId(id())));
    store.create_hook(TENANT, &made).await.unwrap();
    store.create_hook(TENANT, &other).await.unwrap();
    let few = |event: &str| NewDelivery { most_waiting: 2, ..call(made.id, event) };
    for (event, expect) in [("a", Accepted::Kept), ("b", Accepted::Kept), ("c", Accepted::Full)] {
        assert_eq!(store.accept_delivery(TENANT, few(event)).await.unwrap(), expect, "{event}");
    }
    assert!(
        matches!(store.accept_delivery(TENANT, few("a")).await.unwrap(), Accepted::Repeated(_)),
        "it waits already"
    );
    let left_out = NewDelivery { fate: Some(skipped()), ..few("d") };
    let skipped_key = DeliveryKey { hook: made.id, delivery: left_out.id };
    assert_eq!(store.accept_delivery(TENANT, left_out).await.unwrap(), Accepted::Kept, "it doesn't wait");
    let kept = store.delivery(TENANT, skipped_key).await.unwrap().unwrap();
    assert_eq!((kept.fate, kept.settled_at), (Some(skipped()), Some(NOW)));
    assert!(matches!(start(&store, skipped_key).await, Err(StoreError::Conflict(_))));

    assert_eq!(store.hooks_with_waiting(TENANT).await.unwrap(), [made.id]);
    let waiting = store.waiting_deliveries(TENANT, made.id, 9).await.unwrap();
    assert_eq!(waiting.iter().map(|one| one.event.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(waiting[1].content, Some(content("b")));
    assert_eq!(store.waiting_deliveries(TENANT, made.id, 1).await.unwrap().len(), 1);
    assert!(store.waiting_deliveries(TENANT, other.id, 9).await.unwrap().is_empty());
    assert!(store.hooks_with_waiting(TenantId(id())).await.unwrap().is_empty());

    let key = DeliveryKey { hook: made.id, delivery: waiting[0].id };
    assert!(store.settle_delivery(TENANT, key, at(5), &skipped()).await.unwrap());
    assert!(!store.settle_delivery(TENANT, key, at(6), &skipped()).await.unwrap(), "once");
    assert_eq!(store.delivery(TENANT, key).await.unwrap().unwrap().settled_at, Some(at(5)));
    assert_eq!(store.accept_delivery(TENANT, few("c")).await.unwrap(), Accepted::Kept, "there is room again");
    store.accept_delivery(TENANT, call(other.id, "a")).await.unwrap();
    assert_eq!(store.hooks_with_waiting(TENANT).await.unwrap().len(), 2);
}

pub async fn old_deliveries_and_their_contents_go(bed: Bed) {
    let (store, made, other) = (bed.store(), hook(UserId(id())), hook(UserId(id())));
    store.create_hook(TENANT, &made).await.unwrap();
    store.create_hook(TENANT, &other).await.unwrap();
    let mut keys = Vec::new();
    for number in 0..8 {
        let new = call(made.id, &number.to_string());
        keys.push(DeliveryKey { hook: made.id, delivery: new.id });
        store.accept_delivery(TENANT, new).await.unwrap();
        store.accept_delivery(TENANT, call(other.id, &number.to_string())).await.unwrap();
    }
    let ran = start_and_end(&store, keys[5], Outcome::Completed).await;
    // The oldest waits still.
    for key in [1, 2, 3, 4, 6, 7] {
        store.settle_delivery(TENANT, keys[key], at(1), &skipped()).await.unwrap();
    }
    store.trim_deliveries(TENANT, made.id, 4, 25).await.unwrap();
    assert_eq!(events(&store, made.id).await, ["7", "6", "5", "4", "0"], "the latest four, and what waits");
    let mut with_content = Vec::new();
    for key in &keys {
        let found = store.delivery(TENANT, *key).await.unwrap();
        with_content.extend(found.filter(|one| one.content.is_some()).map(|one| one.event));
    }
    assert_eq!(with_content, ["0", "6", "7"], "20 of 25 bytes, and what waits");
    let kept = store.delivery(TENANT, keys[5]).await.unwrap().unwrap();
    assert_eq!((kept.run, kept.outcome.as_deref(), kept.bytes), (Some(ran), Some("completed"), 10));
    assert_eq!(events(&store, other.id).await.len(), 8, "another webhook's stay");
    assert_eq!(store.accept_delivery(TENANT, call(made.id, "3")).await.unwrap(), Accepted::Kept, "known no longer");

    // What the run's end was is known when the run itself is gone.
    bed.tamper("delete from runs").await;
    assert_eq!(store.delivery(TENANT, keys[5]).await.unwrap().unwrap().outcome.as_deref(), Some("completed"));
}
