use super::bed::Bed;
use super::fixtures::{LATER, NOW, TENANT, append, id, row, started, status, text};
use steward_core::audit::{AuditEntry, AuditResult, BreakKind, ChainRow, Fault, Verifier};
use steward_core::event::Origin;
use steward_core::ports::{
    AuditFilter, AuditOrder, ChainEnds, Role, RunStatus, RunStore, SideWrite, StoreError, User, Users as _,
};
use steward_core::{RunId, TenantId, Timestamp, UserId};
use steward_store::Store;

const NEWEST: AuditOrder = AuditOrder::NewestBefore(None);
const ALL: AuditOrder = AuditOrder::OldestAfter(0);

fn entry(action: &str, at: i64) -> AuditEntry {
    AuditEntry::new(id(), Timestamp(NOW.0 + at), action)
}

async fn seal(store: &Store) -> u64 {
    let mut sealed = 0;
    loop {
        match store.seal_audit(TENANT, 7).await.unwrap() {
            0 => return sealed,
            more => sealed += more,
        }
    }
}

/// The actions of a list.
async fn actions(store: &Store, filter: AuditFilter) -> Vec<String> {
    let page = store.audit_entries(TENANT, &filter, ALL, 0).await.unwrap();
    page.items.into_iter().map(|one| one.entry.action).collect()
}

/// Where the chain breaks first, without a look behind.
async fn broken(store: &Store) -> Option<(u64, BreakKind)> {
    let ChainEnds { anchor, head } = store.audit_ends(TENANT).await.unwrap();
    let mut verifier = Verifier::new(anchor, None);
    loop {
        let rows: Vec<ChainRow> = store.audit_chain(TENANT, verifier.last().seq, 3).await.unwrap();
        if rows.is_empty() {
            return verifier.end(&head).err().map(|broken| (broken.seq, broken.kind));
        }
        for row in &rows {
            match verifier.check(row) {
                Ok(()) => {}
                Err(Fault::Break(broken)) => return Some((broken.seq, broken.kind)),
                Err(Fault::Suspect(_)) => return Some((row.seq, BreakKind::Changed)),
            }
        }
    }
}

pub async fn entries_get_their_places_in_order(bed: Bed) {
    let store = bed.store();
    assert_eq!(store.audit_ends(TENANT).await.unwrap(), ChainEnds::default());
    assert_eq!(seal(&store).await, 0);
    let full = AuditEntry::new(id(), Timestamp(NOW.0 + 3), "auth.login")
        .by("ada@example.org", Some(UserId(id())))
        .via(Some(Origin::Chat), Some("203.0.113.9".to_owned()))
        .on("Größe\0 \"1\"")
        .ended(AuditResult::Refused)
        .in_run(RunId(id()))
        .with("status", 401)
        .with("text", "a\0b");
    store.record_audit(TENANT, &full).await.unwrap();
    for at in [2, 1, 4] {
        store.record_audit(TENANT, &entry(&format!("a{at}"), at)).await.unwrap();
    }
    let refused = store.record_audit(TENANT, &full).await;
    assert!(matches!(refused, Err(StoreError::Conflict(_))), "twice: {refused:?}");
    assert!(store.audit_entries(TENANT, &AuditFilter::default(), NEWEST, 0).await.unwrap().items.is_empty());
    assert_eq!(store.seal_audit(TENANT, 100).await.unwrap(), 4);
    assert_eq!(actions(&store, AuditFilter::default()).await, ["a1", "a2", "auth.login", "a4"]);
    let page =
        store.audit_entries(TENANT, &AuditFilter::default(), AuditOrder::NewestBefore(Some(4)), 1).await.unwrap();
    assert!(page.more && page.items[0].seq == 3);
    assert_eq!(page.items[0].entry, full.storable(), "all fields come back");
    for more in 5..20 {
        store.record_audit(TENANT, &entry("more", more)).await.unwrap();
    }
    assert_eq!(seal(&store).await, 15);
    assert_eq!(broken(&store).await, None);
    assert_eq!(store.audit_ends(TENANT).await.unwrap().head.seq, 19);
    let other = TenantId(id());
    store.record_audit(other, &entry("theirs", 1)).await.unwrap();
    assert_eq!(seal(&store).await, 0, "another tenant's wait for themselves");
    assert_eq!(store.seal_audit(other, 9).await.unwrap(), 1);
    assert_eq!(store.audit_ends(other).await.unwrap().head.seq, 1);
}

pub async fn entries_of_a_run_stand_or_fall_with_its_events(bed: Bed) {
    let store = bed.store();
    let audit = |action: &str| SideWrite::Audit(entry(action, 1).in_run(RunId(id())));
    let lease = started(&store).await;
    // With events alone, with rows beside them, and in the first transaction of a run.
    store.commit(append(&lease, 1, vec![text("x")], vec![audit("one")])).await.unwrap();
    let side = vec![status(RunStatus::Running), audit("two"), audit("three")];
    store.commit(append(&lease, 2, vec![text("y")], side)).await.unwrap();
    store.create_run(row(), vec![text("first")], vec![audit("four")], "a", LATER).await.unwrap();
    let twin = row();
    store.create_run(twin.clone(), vec![text("first")], vec![audit("five")], "a", LATER).await.unwrap();
    assert!(store.create_run(twin, vec![text("first")], vec![audit("never")], "a", LATER).await.is_err());
    for side in [vec![audit("never")], vec![status(RunStatus::Running), audit("never")]] {
        let late = store.commit(append(&lease, 1, vec![text("late")], side)).await;
        assert!(matches!(late, Err(StoreError::Fenced { .. })), "{late:?}");
    }
    seal(&store).await;
    let mut found = actions(&store, AuditFilter::default()).await;
    found.sort();
    assert_eq!(found, ["five", "four", "one", "three", "two"]);
}

pub async fn several_nodes_write_one_chain(bed: Bed) {
    let one = bed.store();
    let two = if bed.is_shared() { Some(bed.second_node().await) } else { None };
    let writes = async |node: usize| {
        for at in 0..40 {
            let fact = entry(&format!("node{node}"), at);
            match &two {
                Some(two) if node == 2 => two.record_audit(TENANT, &fact).await.unwrap(),
                _ => one.record_audit(TENANT, &fact).await.unwrap(),
            }
        }
    };
    let seals = async |node: usize| {
        let mut sealed = 0;
        for _ in 0..30 {
            sealed += match &two {
                Some(two) if node == 2 => two.seal_audit(TENANT, 5).await.unwrap(),
                _ => one.seal_audit(TENANT, 5).await.unwrap(),
            };
        }
        sealed
    };
    let (.., first, second) = futures::join!(writes(1), writes(2), seals(1), seals(2));
    assert_eq!(first + second + seal(&one).await, 80);
    assert_eq!(broken(&one).await, None);
    assert_eq!(one.audit_ends(TENANT).await.unwrap().head.seq, 80);
}

pub async fn the_audit_trail_is_searched(bed: Bed) {
    let store = bed.store();
    let run = RunId(id());
    let entries = [
        entry("auth.login", 0).by("ada@example.org", None).ended(AuditResult::Refused),
        entry("auth.login", 1).by("bob@example.org", None).with("name", "ÄRGER 100%"),
        entry("authority", 2).by("ada@example.org", None).on("t1"),
        entry("run.started", 3).by("ada@example.org", None).in_run(run).via(None, Some("203.0.113.9".to_owned())),
        entry("run.finished", 7_200_000).in_run(run).on("t1"),
    ];
    for one in &entries {
        store.record_audit(TENANT, one).await.unwrap();
    }
    seal(&store).await;
    let text = |text: &str| Some(text.to_owned());
    let at = |at: i64| Some(Timestamp(NOW.0 + at));
    let filter = AuditFilter::default;
    for (wanted, expect) in [
        (AuditFilter { actor: text("ada@example.org"), ..filter() }, &[1, 3, 4][..]),
        (AuditFilter { action: text("auth"), ..filter() }, &[1, 2]),
        (AuditFilter { action: text("auth.login"), ..filter() }, &[1, 2]),
        (AuditFilter { action: text("run"), actor: text("steward"), ..filter() }, &[5]),
        (AuditFilter { action: text("%"), ..filter() }, &[]),
        (AuditFilter { target: text("t1"), ..filter() }, &[3, 5]),
        (AuditFilter { result: Some(AuditResult::Refused), ..filter() }, &[1]),
        (AuditFilter { run: Some(run), ..filter() }, &[4, 5]),
        (AuditFilter { run: Some(run), target: text("t1"), ..filter() }, &[5]),
        (AuditFilter { from: at(1), to: at(3), ..filter() }, &[2, 3]),
        (AuditFilter { from: at(4), ..filter() }, &[5]),
        (AuditFilter { to: at(1), ..filter() }, &[1]),
        (AuditFilter { from: at(9_000_000), ..filter() }, &[]),
        (AuditFilter { text: text("ärger 100%"), ..filter() }, &[2]),
        (AuditFilter { text: text("203.0"), ..filter() }, &[4]),
        (AuditFilter { text: text("nothing"), ..filter() }, &[]),
    ] {
        let oldest = store.audit_entries(TENANT, &wanted, ALL, 0).await.unwrap();
        let found: Vec<u64> = oldest.items.iter().map(|one| one.seq).collect();
        assert_eq!(found, expect, "{wanted:?}");
        let mut newest = store.audit_entries(TENANT, &wanted, NEWEST, 0).await.unwrap().items;
        newest.reverse();
        assert_eq!(newest, oldest.items, "{wanted:?}");
    }
}

pub async fn old_entries_go_and_the_chain_holds(bed: Bed) {
    let store = bed.store();
    for at in 0..10 {
        store.record_audit(TENANT, &entry("old", at)).await.unwrap();
    }
    seal(&store).await;
    let prune = async |before: i64, most| {
        let before = Timestamp(NOW.0 + before);
        let done = store.prune_audit(TENANT, before, most, id(), Timestamp(NOW.0 + 50)).await.unwrap();
        done.map(|pruned| (pruned.first, pruned.last))
    };
    assert_eq!(prune(0, 100).await, None);
    assert_eq!(prune(6, 4).await, Some((1, 4)));
    assert_eq!(prune(6, 4).await, Some((5, 6)));
    assert_eq!(prune(6, 4).await, None);
    seal(&store).await;
    let ends = store.audit_ends(TENANT).await.unwrap();
    assert_eq!((ends.anchor.seq, ends.head.seq), (6, 12));
    assert_eq!(broken(&store).await, None);
    let kept = store.audit_entries(TENANT, &AuditFilter::default(), ALL, 0).await.unwrap().items;
    assert_eq!((kept[0].seq, kept.len()), (7, 6));
    let last = kept.last().unwrap();
    assert_eq!((last.entry.action.as_str(), last.entry.actor.as_str()), ("audit.pruned", "steward"));
    let facts = serde_json::to_value(&last.entry.detail).unwrap();
    assert_eq!(facts, serde_json::json!({"first": 5, "last": 6, "entries": 2}));
    // All of them, and what comes after goes on from there.
    assert_eq!(prune(1000, 100).await, Some((7, 12)));
    seal(&store).await;
    assert_eq!(broken(&store).await, None);
    assert_eq!(store.audit_ends(TENANT).await.unwrap().head.seq, 13);
}

pub async fn what_is_changed_behind_its_back_is_named(bed: Bed) {
    let store = bed.store();
    let mut next = 1;
    for (sql, place, kind) in [
        ("update audit_entries set actor = 'eve' where seq = 3", 3, BreakKind::Changed),
        ("update audit_entries set detail = 'no JSON' where seq = 3", 3, BreakKind::Changed),
        ("update audit_entries set result = 'fine' where seq = 3", 3, BreakKind::Changed),
        ("update audit_entries set hash = 'x' where seq = 3", 3, BreakKind::Changed),
        ("delete from audit_entries where seq = 2", 2, BreakKind::Missing),
        ("delete from audit_entries where seq > 4", 5, BreakKind::Missing),
        ("update audit_entries set seq = 100 where seq = 5", 5, BreakKind::Missing),
        ("update audit_ends set hash = 'x'", 5, BreakKind::HeadDiffers),
    ] {
        for _ in 0..5 {
            store.record_audit(TENANT, &entry("a", next)).await.unwrap();
            next += 1;
        }
        seal(&store).await;
        assert_eq!(broken(&store).await, None);
        bed.tamper(sql).await;
        assert_eq!(broken(&store).await, Some((place, kind)), "{sql}");
        bed.tamper("delete from audit_ends").await;
        bed.tamper("delete from audit_entries").await;
    }
    // A damaged one that waits does not hold up the others.
    for at in 0..2 {
        store.record_audit(TENANT, &entry("waits", at)).await.unwrap();
    }
    let first = "update audit_pending set body = 'no JSON'
                 where id = (select id from audit_pending order by id limit 1)";
    bed.tamper(first).await;
    seal(&store).await;
    assert_eq!(actions(&store, AuditFilter::default()).await, ["audit.unreadable", "waits"]);
    assert_eq!(broken(&store).await, None);
}

pub async fn a_use_of_a_credential_is_an_entry(bed: Bed) {
    use super::credentials;
    let store = bed.store();
    let user = User::new(UserId(id()), "ada@example.org", "Ada", Role::Operator, NOW);
    store.create_user(TENANT, &user).await.unwrap();
    let run = steward_core::ports::RunRow { user: Some(user.id), ..row() };
    let of = run.id;
    store.create_run(run, vec![text("first")], vec![], "a", LATER).await.unwrap();
    let credential = credentials::used_in(&store, Some(of)).await;
    credentials::used_in(&store, None).await;
    seal(&store).await;
    let entries = store.audit_entries(TENANT, &AuditFilter::default(), ALL, 0).await.unwrap().items;
    let who: Vec<_> = entries.iter().map(|one| (one.entry.actor.as_str(), one.entry.run_id)).collect();
    assert_eq!(who, [("ada@example.org", Some(of)), ("steward", None)]);
    assert_eq!((entries[0].entry.action.as_str(), &entries[0].entry.target), ("credential.used", &credential));
}
