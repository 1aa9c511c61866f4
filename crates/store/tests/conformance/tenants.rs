use crate::conformance::bed::Bed;
use crate::conformance::fixtures::{LATER, NOW, TENANT, id, row, started, user_count};
use std::time::Duration;
use steward_core::event::EventBody;
use steward_core::model::Purpose;
use steward_core::ports::{
    Claim, LoginSession, LoginSessions, Role, RunStore, Settings, StoreError, Tenant, TenantChange, User, Users,
};
use steward_core::{TenantId, Timestamp, UserId};
use steward_store::Store;

fn tenant(slug: &str) -> Tenant {
    Tenant { id: TenantId(id()), slug: slug.to_owned(), name: "Acme".to_owned(), created_at: NOW, disabled_at: None }
}

fn disable(at: Option<Timestamp>) -> TenantChange {
    TenantChange { disabled_at: Some(at), ..TenantChange::default() }
}

fn event() -> EventBody {
    let text = "secret".to_owned();
    EventBody::ModelDelta {
        step: 1,
        purpose: Purpose::Reply,
        text: text.clone(),
        reasoning: text,
        provisional: false,
        retracts: false,
    }
}

async fn filled(store: &Store, tenant: TenantId) {
    let user = User::new(UserId(id()), "ann@example.org", "Ann", Role::Admin, NOW);
    store.create_user(tenant, &user).await.unwrap();
    let session = LoginSession {
        id: id(),
        user: user.id,
        token_hash: format!("hash of {tenant}"),
        previous_hash: None,
        rotated_at: NOW,
        created_at: NOW,
        expires_at: LATER,
        label: "Firefox".to_owned(),
    };
    store.create_session(tenant, &session).await.unwrap();
    store.set_setting(tenant, "a", &serde_json::json!(1)).await.unwrap();
    let run = steward_core::ports::RunRow { tenant, ..row() };
    store.create_run(run, vec![event()], Vec::new(), "a", LATER).await.unwrap();
}

pub async fn tenants_have_unique_slugs_and_are_disabled(bed: Bed) {
    let store = bed.store();
    let store = &*store;
    let acme = tenant("acme");
    store.create_tenant(&acme).await.unwrap();
    let taken = store.create_tenant(&tenant("acme")).await.unwrap_err();
    assert!(matches!(taken, StoreError::Conflict(_)), "{taken}");
    let other = tenant("Acme");
    store.create_tenant(&other).await.unwrap();
    assert_eq!(store.tenants().await.unwrap().len(), 2);
    filled(store, acme.id).await;
    filled(store, other.id).await;

    let named = TenantChange { name: Some("Acme Ltd".to_owned()), ..TenantChange::default() };
    assert_eq!(store.change_tenant(acme.id, &named).await.unwrap().name, "Acme Ltd");
    let user = store.user_by_email(acme.id, "ann@example.org").await.unwrap().unwrap();
    assert_eq!(store.sessions(acme.id, user.id, NOW).await.unwrap().len(), 1);
    assert_eq!(store.change_tenant(acme.id, &disable(Some(NOW))).await.unwrap().disabled_at, Some(NOW));
    assert!(store.sessions(acme.id, user.id, NOW).await.unwrap().is_empty(), "its logins have ended");
    let user = store.user_by_email(other.id, "ann@example.org").await.unwrap().unwrap();
    assert_eq!(store.sessions(other.id, user.id, NOW).await.unwrap().len(), 1);
    assert_eq!(store.change_tenant(acme.id, &disable(Some(LATER))).await.unwrap().disabled_at, Some(NOW));
    assert_eq!(store.change_tenant(acme.id, &disable(None)).await.unwrap().disabled_at, None);
    let missing = store.change_tenant(TenantId(id()), &named).await.unwrap_err();
    assert!(matches!(missing, StoreError::NotFound(_)), "{missing}");
}

pub async fn a_deleted_tenant_leaves_no_row(bed: Bed) {
    let store = bed.store();
    let store = &*store;
    let (acme, other) = (tenant("acme"), tenant("other"));
    for one in [&acme, &other] {
        store.create_tenant(one).await.unwrap();
        filled(store, one.id).await;
    }
    let enabled = store.delete_tenant(acme.id).await.unwrap_err();
    assert!(matches!(enabled, StoreError::Conflict(_)), "{enabled}");
    store.change_tenant(acme.id, &disable(Some(NOW))).await.unwrap();
    let deleted = store.delete_tenant(acme.id).await.unwrap();
    let rows = |table: &str| deleted.iter().find(|one| one.table == table).unwrap().rows;
    assert_eq!((rows("users"), rows("runs"), rows("events"), rows("settings")), (1, 1, 1, 1));
    assert_eq!(rows("login_sessions"), 0, "they ended when it was disabled");
    assert_eq!(store.setting(acme.id, "a").await.unwrap(), None);
    assert_eq!(user_count(store, acme.id).await, 0);
    assert!(store.runs(acme.id, steward_core::ports::RunFilter::default()).await.unwrap().items.is_empty());
    assert!(matches!(store.delete_tenant(acme.id).await.unwrap_err(), StoreError::NotFound(_)));
    // That of the other stays.
    assert_eq!(user_count(store, other.id).await, 1);
    assert!(store.setting(other.id, "a").await.unwrap().is_some());
    assert_eq!(store.tenants().await.unwrap(), [other]);
}

pub async fn runs_are_claimed_within_their_tenant(bed: Bed) {
    let store = bed.store();
    let store = &*store;
    let other = TenantId(id());
    let lease = started(store).await;
    let free = LATER.plus(Duration::from_hours(24 * 365));
    for what in [Claim::Any, Claim::Run(lease.run), Claim::Ended(lease.run)] {
        assert_eq!(store.claim(other, what, "b", free, free).await.unwrap(), None);
    }
    let taken = store.claim(TENANT, Claim::Any, "b", free, free.plus(Duration::from_mins(1))).await.unwrap();
    assert_eq!(taken.unwrap().run, lease.run);
    assert!(store.due_timers(other, free, 10).await.unwrap().is_empty());
}
