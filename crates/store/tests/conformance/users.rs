use crate::conformance::bed::Bed;
use crate::conformance::fixtures::{LATER, NOW, TENANT, id, user_count};
use std::time::{Duration, Instant};
use steward_core::ports::{
    BudgetScope, Invitation, LoginSession, LoginSessions, Period, Role, SpendLimit, StoreError, User, UserChange,
    UserChangeError, UserFilter, UserState, Users, VirtualKey, VirtualKeys,
};
use steward_core::{BudgetId, KeyId, TenantId, Timestamp, UserId};
use tokio::task::JoinSet;
use uuid::Uuid;

const OTHER: TenantId = TenantId(Uuid::from_u128(2));

fn bare(email: &str, role: Role) -> User {
    User::new(UserId(id()), email, "Ann", role, NOW)
}

/// Somebody who can log in.
fn active(email: &str, role: Role) -> User {
    User { password_hash: Some("$argon2id$x".to_owned()), ..bare(email, role) }
}

fn invited(email: &str, token_hash: &str) -> User {
    let invitation = Invitation { token_hash: token_hash.to_owned(), expires_at: LATER };
    User { invitation: Some(invitation), ..bare(email, Role::Developer) }
}

fn login(user: UserId, token: &str) -> LoginSession {
    LoginSession {
        id: id(),
        user,
        token_hash: token.to_owned(),
        previous_hash: None,
        rotated_at: NOW,
        created_at: NOW,
        expires_at: LATER,
        label: "Firefox".to_owned(),
    }
}

fn disable(at: Timestamp) -> UserChange {
    UserChange { disabled_at: Some(Some(at)), ..UserChange::default() }
}

pub async fn users_have_unique_emails(bed: Bed) {
    let store = bed.store();
    let user =
        |email: &str, key: Option<&str>| User { api_key_hash: key.map(str::to_owned), ..active(email, Role::Admin) };
    assert_eq!(user_count(&store, TENANT).await, 0);
    let ann = user("ann@example.org", Some("k1"));
    let before = store.identities();
    store.create_user(TENANT, &ann).await.unwrap();
    let after = store.identities();
    assert_eq!(before.is_some(), after.is_some());
    assert!(before.is_none() || before < after, "{before:?} {after:?}");
    store.create_user(TENANT, &user("bob@example.org", None)).await.unwrap();
    store.create_user(TENANT, &user("cy@example.org", None)).await.unwrap();
    assert_eq!(user_count(&store, TENANT).await, 3);
    assert_eq!(store.user(TENANT, ann.id).await.unwrap(), Some(ann.clone()));
    let found = store.user_by_email(TENANT, "Ann@Example.org").await.unwrap();
    assert_eq!(found, Some(ann.clone()));
    assert_eq!(store.user_by_api_key(TENANT, "k1").await.unwrap(), Some(ann.clone()));
    assert_eq!(store.user_by_api_key(TENANT, "k2").await.unwrap(), None);
    assert_eq!(store.user_by_email(OTHER, &ann.email).await.unwrap(), None);
    for taken in [user("ann@example.org", None), user("dan@example.org", Some("k1"))] {
        let refused = store.create_user(TENANT, &taken).await;
        assert!(matches!(refused, Err(StoreError::Conflict(_))), "{refused:?}");
    }
    let change = UserChange { api_key_hash: Some(None), role: Some(Role::Viewer), ..UserChange::default() };
    let changed = store.change_user(TENANT, ann.id, &change).await.unwrap();
    assert_eq!(changed, User { api_key_hash: None, role: Role::Viewer, ..ann.clone() });
    assert_eq!(store.user(TENANT, ann.id).await.unwrap(), Some(changed));
}

pub async fn users_are_changed_and_disabled(bed: Bed) {
    let store = bed.store();
    let (ann, bob) = (active("ann@x", Role::Admin), active("bob@x", Role::Developer));
    for user in [&ann, &bob] {
        store.create_user(TENANT, user).await.unwrap();
        store.create_session(TENANT, &login(user.id, &user.email)).await.unwrap();
    }
    let sessions = async |user: UserId| store.sessions(TENANT, user, NOW).await.unwrap().len();
    let change = async |user: UserId, change: &UserChange| store.change_user(TENANT, user, change).await;

    let named = UserChange { name: Some("Bobby".to_owned()), ..UserChange::default() };
    let expect = User { name: "Bobby".to_owned(), ..bob.clone() };
    assert_eq!(change(bob.id, &named).await.unwrap(), expect);
    assert_eq!(sessions(bob.id).await, 1);
    let identities = store.identities();
    let disabled = change(bob.id, &disable(NOW)).await.unwrap();
    assert_eq!((disabled.state(), disabled.disabled_at), (UserState::Disabled, Some(NOW)));
    assert!(identities.is_none() || identities < store.identities());
    assert_eq!((sessions(bob.id).await, sessions(ann.id).await), (0, 1));
    let again = change(bob.id, &disable(LATER)).await.unwrap();
    assert_eq!(again.disabled_at, Some(NOW), "the first time counts");
    // A login that was under way at that time does not outlive it either.
    store.create_session(TENANT, &login(bob.id, "late")).await.unwrap();
    let enable = UserChange { disabled_at: Some(None), ..UserChange::default() };
    assert_eq!(change(bob.id, &enable).await.unwrap(), expect);
    assert_eq!(sessions(bob.id).await, 0);

    store.note_login(TENANT, bob.id, LATER).await.unwrap();
    assert_eq!(store.user(TENANT, bob.id).await.unwrap().unwrap().last_login_at, Some(LATER));
    for (tenant, user) in [(TENANT, UserId(id())), (OTHER, bob.id)] {
        let nobody = store.change_user(tenant, user, &named).await;
        assert!(matches!(nobody, Err(UserChangeError::Store(StoreError::NotFound(_)))), "{nobody:?}");
    }
}

pub async fn an_administrator_remains(bed: Bed) {
    let store = bed.store();
    let (ann, bob) = (active("ann@x", Role::Admin), active("bob@x", Role::Admin));
    // None of these can log in and administer.
    let off = User { disabled_at: Some(NOW), ..active("off@x", Role::Admin) };
    let new = User { role: Role::Admin, ..invited("new@x", "t") };
    for user in [&ann, &bob, &off, &new, &active("dev@x", Role::Developer)] {
        store.create_user(TENANT, user).await.unwrap();
    }
    let demote = UserChange { role: Some(Role::Operator), ..UserChange::default() };
    assert!(!store.is_last_administrator(TENANT, ann.id).await.unwrap());
    store.change_user(TENANT, bob.id, &demote).await.unwrap();
    for (user, last) in [(ann.id, true), (bob.id, false), (new.id, false)] {
        assert_eq!(store.is_last_administrator(TENANT, user).await.unwrap(), last);
    }
    for change in [&demote, &disable(NOW)] {
        let refused = store.change_user(TENANT, ann.id, change).await;
        assert!(matches!(refused, Err(UserChangeError::LastAdministrator)), "{refused:?}");
    }
    assert_eq!(store.user(TENANT, ann.id).await.unwrap(), Some(ann.clone()));
    // What takes nothing from an administrator is no matter.
    for (user, change) in [(new.id, &demote), (off.id, &demote), (bob.id, &disable(NOW))] {
        store.change_user(TENANT, user, change).await.unwrap();
    }
    let same = UserChange { role: Some(Role::Admin), ..UserChange::default() };
    store.change_user(TENANT, ann.id, &same).await.unwrap();
}

pub async fn administrators_who_end_each_other_leave_one(bed: Bed) {
    let store = bed.store();
    for round in 0..5 {
        let tenant = TenantId(Uuid::from_u128(100 + round));
        let mut tasks = JoinSet::new();
        let all: Vec<User> = (0..4).map(|n| active(&format!("{n}@x"), Role::Admin)).collect();
        for user in &all {
            store.create_user(tenant, user).await.unwrap();
        }
        for user in &all {
            let (store, user) = (store.clone(), user.id);
            tasks.spawn(async move { store.change_user(tenant, user, &disable(NOW)).await });
        }
        let done = tasks.join_all().await;
        let refused = done.iter().filter(|one| matches!(one, Err(UserChangeError::LastAdministrator))).count();
        assert_eq!(refused, 1, "{done:?}");
        assert_eq!(done.iter().filter(|one| one.is_ok()).count(), 3);
    }
}

pub async fn an_invitation_is_accepted_once(bed: Bed) {
    let store = bed.store();
    let new = invited("new@x", "t1");
    store.create_user(TENANT, &new).await.unwrap();
    assert_eq!(new.state(), UserState::Invited);
    let twin = store.create_user(TENANT, &invited("twin@x", "t1")).await;
    assert!(matches!(twin, Err(StoreError::Conflict(_))), "{twin:?}");
    let accept = async |tenant: TenantId, hash: &str, now: Timestamp| {
        store.accept_invitation(tenant, hash, "$argon2id$y", Some("Nell"), now).await.unwrap()
    };
    assert_eq!(accept(TENANT, "t2", NOW).await, None);
    assert_eq!(accept(OTHER, "t1", NOW).await, None);
    assert_eq!(accept(TENANT, "t1", LATER).await, None, "it has expired");
    store.change_user(TENANT, new.id, &disable(NOW)).await.unwrap();
    assert_eq!(accept(TENANT, "t1", NOW).await, None, "they are disabled");
    let enable = UserChange { disabled_at: Some(None), ..UserChange::default() };
    store.change_user(TENANT, new.id, &enable).await.unwrap();

    let later = Timestamp(LATER.0 + 1_000);
    let newer = Invitation { token_hash: "t3".to_owned(), expires_at: later };
    let renew = UserChange { invitation: Some(newer), ..UserChange::default() };
    store.change_user(TENANT, new.id, &renew).await.unwrap();
    assert_eq!(accept(TENANT, "t1", NOW).await, None, "it was replaced");
    assert_eq!(store.user_by_invitation(TENANT, "t1").await.unwrap(), None);
    assert_eq!(store.user_by_invitation(TENANT, "t3").await.unwrap().unwrap().id, new.id);
    store.create_session(TENANT, &login(new.id, "old")).await.unwrap();

    let mut tasks = JoinSet::new();
    for number in 0..8 {
        let store = store.clone();
        tasks.spawn(async move {
            store.accept_invitation(TENANT, "t3", &format!("hash {number}"), Some("Nell"), LATER).await.unwrap()
        });
    }
    let accepted: Vec<User> = tasks.join_all().await.into_iter().flatten().collect();
    let [user] = &accepted[..] else { panic!("{accepted:?}") };
    assert_eq!((user.state(), user.name.as_str(), user.invitation.as_ref()), (UserState::Active, "Nell", None));
    assert_eq!(store.user(TENANT, new.id).await.unwrap().as_ref(), Some(user));
    assert!(store.sessions(TENANT, new.id, NOW).await.unwrap().is_empty());
}

pub async fn users_are_removed_with_what_is_theirs(bed: Bed) {
    let store = bed.store();
    let (ann, bob) = (active("ann@x", Role::Developer), active("bob@x", Role::Developer));
    let mut keys = Vec::new();
    for user in [&ann, &bob] {
        store.create_user(TENANT, user).await.unwrap();
        store.create_session(TENANT, &login(user.id, &user.email)).await.unwrap();
        let key = VirtualKey {
            id: KeyId(id()),
            name: "k".to_owned(),
            user: user.id,
            prefix: String::new(),
            connections: Vec::new(),
            agents: None,
            requests_per_minute: None,
            tokens_per_minute: None,
            created_at: NOW,
            expires_at: None,
            revoked_at: None,
        };
        store.save_key(TENANT, &key, Some(&user.email)).await.unwrap();
        for scope in [BudgetScope::User(user.id), BudgetScope::Key(key.id)] {
            let limit =
                SpendLimit { id: BudgetId(id()), scope, period: Period::Day, tokens: Some(1), cost_micros: None };
            store.save_spend_limit(TENANT, &limit).await.unwrap();
        }
        keys.push(key.id);
    }
    let refused = store.remove_user(TENANT, ann.id).await;
    assert!(matches!(refused, Err(StoreError::Conflict(_))), "{refused:?}");
    store.change_user(TENANT, ann.id, &disable(NOW)).await.unwrap();
    let identities = store.identities();
    store.remove_user(TENANT, ann.id).await.unwrap();
    assert!(identities.is_none() || identities < store.identities());
    assert_eq!(store.user(TENANT, ann.id).await.unwrap(), None);
    assert_eq!(store.key_by_hash(TENANT, "ann@x", NOW).await.unwrap(), None);
    assert!(store.key_by_hash(TENANT, "bob@x", NOW).await.unwrap().is_some());
    let scopes: Vec<BudgetScope> =
        store.spend_limits(TENANT, NOW).await.unwrap().into_iter().map(|state| state.limit.scope).collect();
    assert_eq!(scopes, [BudgetScope::User(bob.id), BudgetScope::Key(keys[1])]);
    assert_eq!(store.sessions(TENANT, bob.id, NOW).await.unwrap().len(), 1);
    let gone = store.remove_user(TENANT, ann.id).await;
    assert!(matches!(gone, Err(StoreError::NotFound(_))), "{gone:?}");

    let new = invited("ann@x", "t");
    store.create_user(TENANT, &new).await.unwrap();
    store.remove_user(TENANT, new.id).await.unwrap();
}

pub async fn users_are_found_and_paged(bed: Bed) {
    let store = bed.store();
    // `É` comes after all ASCII, and `_` before letters, whatever the locale.
    let zoe = User { name: "Zoë Ärmel".to_owned(), ..active("b_1@x", Role::Admin) };
    let off = User { disabled_at: Some(NOW), ..invited("ba@x", "t1") };
    let new = invited("Cy@x", "t2");
    let reset = User { password_hash: Some("p".to_owned()), ..invited("dan@x", "t3") };
    let key_only = bare("local@x", Role::Operator);
    let eve = active("éve@x", Role::Developer);
    let all = [&zoe, &off, &new, &reset, &key_only, &eve];
    for user in all.into_iter().rev() {
        store.create_user(TENANT, user).await.unwrap();
    }
    store.create_user(OTHER, &active("a@x", Role::Admin)).await.unwrap();
    let page = async |filter: &UserFilter, after: Option<&str>, limit: u32| {
        let page = store.users(TENANT, filter, after, limit).await.unwrap();
        let emails: Vec<String> = page.items.into_iter().map(|user| user.email).collect();
        (emails.join(" "), page.more)
    };
    let found = async |filter: UserFilter| page(&filter, None, 0).await.0;
    let every = UserFilter::default();
    assert_eq!(found(every.clone()).await, "b_1@x ba@x cy@x dan@x local@x éve@x");
    assert_eq!(page(&every, None, 2).await, ("b_1@x ba@x".to_owned(), true));
    assert_eq!(page(&every, Some("ba@x"), 2).await, ("cy@x dan@x".to_owned(), true));
    assert_eq!(page(&every, Some("dan@x"), 2).await, ("local@x éve@x".to_owned(), false));
    assert_eq!(page(&every, Some("c"), 1).await, ("cy@x".to_owned(), true), "after somebody who was removed");
    let state = |state| UserFilter { state: Some(state), ..UserFilter::default() };
    assert_eq!(found(state(UserState::Active)).await, "b_1@x dan@x local@x éve@x");
    assert_eq!(found(state(UserState::Invited)).await, "cy@x");
    assert_eq!(found(state(UserState::Disabled)).await, "ba@x");
    for user in all {
        let theirs = found(state(user.state())).await;
        assert!(theirs.split(' ').any(|one| one == user.email.to_lowercase()), "{} in {theirs}", user.email);
    }
    let role = UserFilter { role: Some(Role::Developer), ..state(UserState::Active) };
    assert_eq!(found(role).await, "dan@x éve@x");
    let text = |text: &str| UserFilter { text: Some(text.to_owned()), ..UserFilter::default() };
    for (search, expect) in [("ärmel", "b_1@x"), ("B_", "b_1@x"), ("ÉVE", "éve@x"), ("%", "")] {
        assert_eq!(found(text(search)).await, expect, "{search}");
    }
    let change = UserChange { name: Some("Renamed".to_owned()), ..UserChange::default() };
    store.change_user(TENANT, eve.id, &change).await.unwrap();
    assert_eq!(found(text("renamed")).await, "éve@x");
}

pub async fn ten_thousand_users_are_listed_quickly(bed: Bed) {
    let store = bed.store();
    // One statement: as many transactions would take longer than all other cases.
    bed.tamper(if bed.is_shared() {
        "insert into users (tenant_id, id, email, sort_key, name, folded, role, password_hash, created_at)
         select '00000000-0000-0000-0000-000000000001', gen_random_uuid(), email, encode(email::bytea, 'hex'),
                'N', email, 'viewer', 'p', 0
         from (select 'u' || lpad(n::text, 5, '0') || '@x' as email from generate_series(0, 9999) n) named"
    } else {
        "with recursive numbers(n) as (select 0 union all select n + 1 from numbers where n < 9999),
              named(email) as (select printf('u%05d@x', n) from numbers)
         insert into users (tenant_id, id, email, sort_key, name, folded, role, password_hash, created_at)
         select x'00000000000000000000000000000001', randomblob(16), email, lower(hex(email)),
                'N', email, 'viewer', 'p', 0
         from named"
    })
    .await;
    let rare = UserFilter { text: Some("u09999".to_owned()), ..UserFilter::default() };
    for (filter, after, expect) in
        [(UserFilter::default(), None, 100), (UserFilter::default(), Some("u09949@x"), 50), (rare, None, 1)]
    {
        let begun = Instant::now();
        let page = store.users(TENANT, &filter, after, 100).await.unwrap();
        assert_eq!(page.items.len(), expect, "{filter:?}");
        // Some 10 ms on a slow machine; a bound that a busy one keeps as well.
        assert!(begun.elapsed() < Duration::from_millis(500), "{filter:?}: {:?}", begun.elapsed());
    }
}
