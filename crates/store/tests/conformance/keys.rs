use crate::conformance::bed::Bed;
use crate::conformance::fixtures::{LATER, NOW, TENANT, id};
use std::collections::BTreeMap;
use steward_core::exam::{EXAM_VERSION, ExamReport, Grade};
use steward_core::model::Capabilities;
use steward_core::ports::{Role, StoreError, User, Users, VirtualKey, VirtualKeys};
use steward_core::routing::Task;
use steward_core::{ConnectionId, KeyId, TenantId, Timestamp, UserId};
use steward_store::Store;
use uuid::Uuid;

const OTHER: TenantId = TenantId(Uuid::from_u128(2));

fn key(user: UserId, name: &str) -> VirtualKey {
    VirtualKey {
        id: KeyId(id()),
        name: name.to_owned(),
        user,
        prefix: "sk-steward-v-abcd".to_owned(),
        connections: vec![ConnectionId(Uuid::from_u128(5))],
        agents: Some(Vec::new()),
        requests_per_minute: Some(5),
        tokens_per_minute: None,
        created_at: NOW,
        expires_at: None,
        revoked_at: None,
    }
}

async fn user(store: &Store, email: &str) -> UserId {
    let user = User::new(UserId(id()), email, "Ann", Role::Developer, NOW);
    store.create_user(TENANT, &user).await.unwrap();
    user.id
}

pub async fn keys_are_found_by_their_hash(bed: Bed) {
    let store = bed.store();
    let (ann, bob) = (user(&store, "ann@x").await, user(&store, "bob@x").await);
    let short = VirtualKey { expires_at: Some(LATER), ..key(ann, "short") };
    let long = key(ann, "long");
    let theirs = key(bob, "theirs");
    for (one, hash) in [(&short, "h1"), (&long, "h2"), (&theirs, "h3")] {
        store.save_key(TENANT, one, Some(hash)).await.unwrap();
    }
    let twice = store.save_key(TENANT, &key(bob, "b"), Some("h1")).await;
    assert!(matches!(twice, Err(StoreError::Conflict(_))), "{twice:?}");
    let nobody = store.save_key(TENANT, &key(UserId(id()), "n"), Some("h9")).await;
    assert!(matches!(&nobody, Err(StoreError::NotFound(text)) if text.starts_with("user ")), "{nobody:?}");
    let find = async |hash: &str, now| store.key_by_hash(TENANT, hash, now).await.unwrap();
    assert_eq!(find("h1", Timestamp(LATER.0 - 1)).await, Some(short.clone()));
    assert_eq!(find("h1", LATER).await, None, "it has ended");
    assert_eq!(find("h2", LATER).await, Some(long.clone()));
    assert_eq!(find("h4", NOW).await, None);
    assert_eq!(store.key_by_hash(OTHER, "h2", NOW).await.unwrap(), None);

    // Name and limits change; whose it is does not, nor its secret.
    let wanted = VirtualKey {
        name: "renamed".to_owned(),
        user: bob,
        prefix: "other".to_owned(),
        connections: Vec::new(),
        agents: None,
        requests_per_minute: None,
        tokens_per_minute: Some(1000),
        created_at: LATER,
        expires_at: Some(LATER),
        revoked_at: Some(NOW),
        ..long.clone()
    };
    store.save_key(TENANT, &wanted, None).await.unwrap();
    let changed = VirtualKey { user: ann, prefix: long.prefix.clone(), created_at: NOW, revoked_at: None, ..wanted };
    assert_eq!(find("h2", NOW).await, Some(changed.clone()));
    assert_eq!(find("h2", LATER).await, None, "it ends sooner now");

    let before = store.identities();
    for at in [NOW, LATER] {
        store.revoke_key(TENANT, theirs.id, at).await.unwrap();
    }
    assert!(before.is_none() || before < store.identities());
    assert_eq!(find("h3", NOW).await, None);
    let revoked = VirtualKey { revoked_at: Some(NOW), ..theirs };
    assert_eq!(store.key(TENANT, revoked.id).await.unwrap(), revoked);
    store.save_key(TENANT, &VirtualKey { revoked_at: None, ..revoked.clone() }, None).await.unwrap();
    assert_eq!(find("h3", NOW).await, None, "for good");

    let list = async |user, after, limit| {
        let page = store.keys(TENANT, user, after, limit).await.unwrap();
        (page.items, page.more)
    };
    let all = vec![revoked.clone(), changed.clone(), short.clone()];
    assert_eq!(list(None, None, 0).await, (all, false));
    assert_eq!(list(Some(ann), None, 1).await, (vec![changed.clone()], true));
    assert_eq!(list(Some(ann), Some(changed.id), 1).await, (vec![short], false));
    assert!(store.keys(OTHER, None, None, 9).await.unwrap().items.is_empty());
    for (tenant, id) in [(TENANT, KeyId(id())), (OTHER, changed.id)] {
        let missing = [
            store.key(tenant, id).await.err(),
            store.revoke_key(tenant, id, NOW).await.err(),
            store.save_key(tenant, &VirtualKey { id, ..changed.clone() }, None).await.err(),
        ];
        for error in missing {
            assert!(matches!(error, Some(StoreError::NotFound(_))), "{error:?}");
        }
    }
}

pub async fn one_report_per_endpoint_and_model(bed: Bed) {
    let store = bed.store();
    let report = |endpoint: &str, model: &str, ms| ExamReport {
        version: EXAM_VERSION,
        endpoint: endpoint.to_owned(),
        model: model.to_owned(),
        server: "ollama 0.13.1".to_owned(),
        at: NOW,
        ms,
        tokens: 9,
        checks: Vec::new(),
        constrained: Vec::new(),
        grades: BTreeMap::from([(Task::Chat, Grade::B)]),
        tokens_per_second: 12.5,
        first_token_ms: 3,
        prompt_tokens_per_second: 0.0,
        reuses_cache: true,
        capabilities: Capabilities::default(),
        notes: vec!["Größe".to_owned()],
    };
    let (old, new) = (report("http://b/v1", "m", 1), report("http://b/v1", "m", 2));
    let (other, local) = (report("http://b/v1", "n", 1), report("a", "m", 1));
    for one in [&old, &other, &new, &local] {
        store.save_report(TENANT, one).await.unwrap();
    }
    assert_eq!(store.reports(TENANT).await.unwrap(), [local, new, other]);
    assert!(store.reports(OTHER).await.unwrap().is_empty());
}
