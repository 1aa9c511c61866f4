use crate::conformance::bed::Bed;
use crate::conformance::fixtures::{LATER, NOW, TENANT, id, started};
use std::sync::Arc;
use std::time::Duration;
use steward_core::policy::{Grant, GrantScope, StandingGrant};
use steward_core::ports::{Grants, KeptRun, LoginSession, LoginSessions, Remembered, Role, StoreError, User, Users};
use steward_core::{AgentId, RunId, TenantId, Timestamp, UserId};
use steward_store::Store;
use tokio::task::JoinSet;
use uuid::Uuid;

const OTHER: TenantId = TenantId(Uuid::from_u128(2));

async fn user(store: &Store, email: &str) -> UserId {
    let user = User::new(UserId(id()), email, "Ann", Role::Admin, NOW);
    store.create_user(TENANT, &user).await.unwrap();
    user.id
}

fn login(user: UserId, token: &str, at: Timestamp) -> LoginSession {
    LoginSession {
        id: id(),
        user,
        token_hash: token.to_owned(),
        previous_hash: None,
        rotated_at: at,
        created_at: at,
        expires_at: LATER.plus(Duration::from_hours(1)),
        label: "Firefox".to_owned(),
    }
}

pub async fn logins_are_prolonged_and_ended(bed: Bed) {
    let store = bed.store();
    let (ann, bob) = (user(&store, "ann@x").await, user(&store, "bob@x").await);
    let (one, two) = (login(ann, "t1", NOW), login(ann, "t2", LATER));
    let theirs = login(bob, "t3", NOW);
    for session in [&one, &two, &theirs] {
        store.create_session(TENANT, session).await.unwrap();
    }
    let same_token = store.create_session(TENANT, &login(bob, "t1", NOW)).await;
    assert!(matches!(same_token, Err(StoreError::Conflict(_))));
    let nobody = login(UserId(id()), "t9", NOW);
    let nobody = store.create_session(TENANT, &nobody).await;
    assert!(matches!(nobody, Err(StoreError::NotFound(_))), "{nobody:?}");
    assert_eq!(store.sessions(TENANT, ann, LATER).await.unwrap(), [two.clone(), one.clone()]);
    assert_eq!(store.session_by_token(OTHER, "t1").await.unwrap(), None);

    let until = LATER.plus(Duration::from_hours(9));
    let rotate =
        async |old: &str, new: &str| store.rotate_session(TENANT, one.id, old, new, LATER, until).await.unwrap();
    assert!(rotate("t1", "t1b").await);
    assert!(!rotate("t1", "t1c").await, "it is not in force any more");
    assert!(!rotate("t2", "t1c").await, "it is another login's");
    let rotated = LoginSession {
        token_hash: "t1b".to_owned(),
        previous_hash: Some("t1".to_owned()),
        rotated_at: LATER,
        expires_at: until,
        ..one.clone()
    };
    for token in ["t1", "t1b"] {
        let found = store.session_by_token(TENANT, token).await.unwrap();
        assert_eq!(found, Some(rotated.clone()));
    }
    assert!(rotate("t1b", "t1d").await);
    assert_eq!(store.session_by_token(TENANT, "t1").await.unwrap(), None);

    let past = LATER.plus(Duration::from_hours(2));
    let left = store.sessions(TENANT, ann, past).await.unwrap();
    assert_eq!(left.len(), 1, "the other one has ended by itself");
    // The next login clears away what has ended.
    let three = LoginSession { expires_at: until, ..login(ann, "t4", past) };
    store.create_session(TENANT, &three).await.unwrap();
    assert_eq!(store.session_by_token(TENANT, "t2").await.unwrap(), None);
    assert!(store.session_by_token(TENANT, "t3").await.unwrap().is_some());
    let four = login(ann, "t5", LATER);
    store.create_session(TENANT, &four).await.unwrap();
    let ended = store.end_sessions(TENANT, ann, Some(three.id)).await;
    assert_eq!(ended.unwrap(), 2);
    assert_eq!(store.sessions(TENANT, ann, NOW).await.unwrap(), std::slice::from_ref(&three));
    for _ in 0..2 {
        store.end_session(TENANT, three.id).await.unwrap();
    }
    assert_eq!(store.end_sessions(TENANT, ann, None).await.unwrap(), 0);
    assert_eq!(store.sessions(TENANT, bob, NOW).await.unwrap(), [theirs]);
}

pub async fn a_token_is_rotated_once(bed: Bed) {
    let store = bed.store();
    let ann = user(&store, "ann@x").await;
    let session = login(ann, "old", NOW);
    store.create_session(TENANT, &session).await.unwrap();
    let mut tasks = JoinSet::new();
    for number in 0..12 {
        let store = Arc::clone(&store);
        tasks.spawn(async move {
            let new = format!("new-{number}");
            let won = store.rotate_session(TENANT, session.id, "old", &new, LATER, LATER).await;
            won.unwrap().then_some(new)
        });
    }
    let mut won = Vec::new();
    while let Some(done) = tasks.join_next().await {
        won.extend(done.unwrap());
    }
    let [token] = won.as_slice() else { panic!("{won:?}") };
    let found = store.session_by_token(TENANT, "old").await.unwrap();
    assert_eq!(found.unwrap().token_hash, *token);
}

pub async fn a_write_with_a_key_is_done_once(bed: Bed) {
    let store = bed.store();
    let begin = async |owner: &str, key: &str, hash: &str, at: Timestamp| {
        let forget = Timestamp(at.0 - 1000);
        store.begin_request(TENANT, owner, key, hash, at, forget).await.unwrap()
    };
    assert_eq!(begin("ann", "k", "h1", NOW).await, Remembered::New);
    assert_eq!(begin("ann", "k", "h1", NOW).await, Remembered::Begun);
    assert_eq!(begin("ann", "k", "h2", NOW).await, Remembered::Other);
    assert_eq!(begin("bob", "k", "h2", NOW).await, Remembered::New);
    store.remember_request(TENANT, "ann", "k", (201, "{\"id\":1}"), Some("hb")).await.unwrap();
    let done = Remembered::Done { status: 201, body: "{\"id\":1}".to_owned(), body_hash: Some("hb".to_owned()) };
    let soon = Timestamp(NOW.0 + 1000);
    assert_eq!(begin("ann", "k", "h1", soon).await, done, "still there");
    assert_eq!(begin("ann", "k", "h2", soon).await, Remembered::Other);
    assert_eq!(begin("bob", "k", "h2", soon).await, Remembered::Begun);
    store.forget_request(TENANT, "bob", "k").await.unwrap();
    store.forget_request(TENANT, "bob", "k").await.unwrap();
    assert_eq!(begin("bob", "k", "h3", soon).await, Remembered::New);
    let past = Timestamp(NOW.0 + 1001);
    assert_eq!(begin("ann", "k", "h9", past).await, Remembered::New);
    let unknown = store.remember_request(TENANT, "ann", "none", (200, ""), None).await;
    assert!(matches!(unknown, Err(StoreError::NotFound(_))), "{unknown:?}");
    store.remember_request(TENANT, "ann", "k", (204, ""), None).await.unwrap();
    let empty = Remembered::Done { status: 204, body: String::new(), body_hash: None };
    assert_eq!(begin("ann", "k", "h9", past).await, empty);

    let mut tasks = JoinSet::new();
    for _ in 0..12 {
        let store = Arc::clone(&store);
        tasks.spawn(async move { store.begin_request(TENANT, "cy", "race", "h", NOW, NOW).await.unwrap() });
    }
    let (mut new, mut others) = (0, 0);
    while let Some(done) = tasks.join_next().await {
        match done.unwrap() {
            Remembered::New => new += 1,
            Remembered::Begun => others += 1,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((new, others), (1, 11));
}

pub async fn grants_end_and_are_revoked(bed: Bed) {
    let store = bed.store();
    let (ours, theirs) = (AgentId(id()), AgentId(id()));
    let grant = |agent, until, created_at| StandingGrant {
        id: id(),
        agent,
        grant: Grant { scope: GrantScope::Tool { name: "write".to_owned() }, until },
        by: "ann".to_owned(),
        created_at,
    };
    let short = grant(ours, Some(LATER), NOW);
    let long = grant(ours, None, LATER);
    let other = grant(theirs, Some(LATER.plus(Duration::from_secs(1))), NOW);
    for it in [&short, &long, &other] {
        store.save_grant(TENANT, it).await.unwrap();
    }
    let again = store.save_grant(TENANT, &long).await;
    assert!(matches!(again, Err(StoreError::Conflict(_))));
    let list = async |agent, now| store.grants(TENANT, agent, now).await.unwrap();
    assert_eq!(list(Some(ours), NOW).await, [long.clone(), short.clone()]);
    let all = [long.clone(), other.clone(), short.clone()];
    assert_eq!(list(None, NOW).await, all);
    assert_eq!(list(Some(ours), LATER).await, std::slice::from_ref(&long));
    assert_eq!(list(None, LATER).await, [long.clone(), other.clone()]);
    assert!(store.grants(OTHER, None, NOW).await.unwrap().is_empty());
    store.revoke_grant(TENANT, long.id).await.unwrap();
    assert_eq!(list(None, LATER).await, [other]);
    for (tenant, id) in [(TENANT, long.id), (OTHER, short.id)] {
        let gone = store.revoke_grant(tenant, id).await;
        assert!(matches!(gone, Err(StoreError::NotFound(_))), "{gone:?}");
    }
}

pub async fn runs_are_kept_by_name(bed: Bed) {
    let store = bed.store();
    let run = started(&store).await.run;
    let kept = |name: &str| KeptRun { name: name.to_owned(), run, by: "ann".to_owned(), created_at: NOW };
    let (zoo, ape) = (kept("zoo"), kept("ape"));
    store.keep_run(TENANT, &zoo).await.unwrap();
    store.keep_run(TENANT, &ape).await.unwrap();
    assert_eq!(store.kept_runs(TENANT).await.unwrap(), [ape.clone(), zoo.clone()]);
    let taken = store.keep_run(TENANT, &zoo).await;
    assert!(matches!(&taken, Err(StoreError::Conflict(text)) if text.contains("zoo")), "{taken:?}");
    let nobody = KeptRun { run: RunId(id()), ..kept("new") };
    let nobody = store.keep_run(TENANT, &nobody).await;
    assert!(matches!(&nobody, Err(StoreError::NotFound(text)) if text.starts_with("run ")), "{nobody:?}");
    assert!(store.kept_runs(OTHER).await.unwrap().is_empty());
    store.drop_kept(TENANT, "zoo").await.unwrap();
    let gone = store.drop_kept(TENANT, "zoo").await;
    assert!(matches!(gone, Err(StoreError::NotFound(_))), "{gone:?}");
    assert_eq!(store.kept_runs(TENANT).await.unwrap(), [ape]);
}
