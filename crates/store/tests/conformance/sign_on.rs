use crate::conformance::bed::Bed;
use crate::conformance::fixtures::{NOW, TENANT, id};
use steward_core::ports::{ExternalAccount, ExternalAccounts, SecondFactors, StoreError};
use steward_core::{TenantId, UserId};
use uuid::Uuid;

const OTHER: TenantId = TenantId(Uuid::from_u128(2));

pub async fn an_external_account_is_linked_once(bed: Bed) {
    let store = bed.store();
    let account = |issuer: &str, subject: &str| ExternalAccount {
        issuer: issuer.to_owned(),
        subject: subject.to_owned(),
        user: UserId(id()),
        linked_at: NOW,
    };
    let ann = account("https://a.example", "1");
    store.link_external(TENANT, &ann).await.unwrap();
    let again = store.link_external(TENANT, &account("https://a.example", "1")).await;
    assert!(matches!(again, Err(StoreError::Conflict(_))), "{again:?}");
    store.link_external(TENANT, &account("https://b.example", "1")).await.unwrap();
    assert_eq!(store.external_user(TENANT, "https://a.example", "1").await.unwrap(), Some(ann.user));
    assert_eq!(store.external_user(TENANT, "https://a.example", "2").await.unwrap(), None);
    assert_eq!(store.external_user(OTHER, "https://a.example", "1").await.unwrap(), None);
}

pub async fn codes_and_steps_count_once(bed: Bed) {
    let store = bed.store();
    let (ann, bob) = (UserId(id()), UserId(id()));
    let codes = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    assert_eq!(store.second_factor(TENANT, ann).await.unwrap(), None);
    store.begin_second_factor(TENANT, ann, "one").await.unwrap();
    store.begin_second_factor(TENANT, ann, "two").await.unwrap();
    let begun = store.second_factor(TENANT, ann).await.unwrap().unwrap();
    assert_eq!((begun.sealed.as_str(), begun.confirmed_at, begun.last_step), ("two", None, 0));
    assert!(!store.use_step(TENANT, ann, 5).await.unwrap(), "not confirmed");
    assert!(store.confirm_second_factor(TENANT, ann, 7, &codes(&["a", "b"]), NOW).await.unwrap());
    assert!(!store.confirm_second_factor(TENANT, ann, 8, &codes(&["c"]), NOW).await.unwrap());
    assert!(!store.confirm_second_factor(TENANT, bob, 8, &codes(&["c"]), NOW).await.unwrap());
    let again = store.begin_second_factor(TENANT, ann, "three").await;
    assert!(matches!(again, Err(StoreError::Conflict(_))), "{again:?}");
    let confirmed = store.second_factor(TENANT, ann).await.unwrap().unwrap();
    assert_eq!((confirmed.sealed.as_str(), confirmed.confirmed_at, confirmed.last_step), ("two", Some(NOW), 7));
    let mut used = Vec::new();
    for step in [7, 8, 8, 6, 10, 9] {
        used.push(store.use_step(TENANT, ann, step).await.unwrap());
    }
    assert_eq!(used, [false, true, false, false, true, false]);
    assert_eq!(store.recovery_codes_left(TENANT, ann).await.unwrap(), 2);
    assert!(!store.use_recovery_code(TENANT, bob, "a").await.unwrap());
    assert!(!store.use_recovery_code(OTHER, ann, "a").await.unwrap());
    assert!(store.use_recovery_code(TENANT, ann, "a").await.unwrap());
    assert!(!store.use_recovery_code(TENANT, ann, "a").await.unwrap());
    store.set_recovery_codes(TENANT, ann, &codes(&["d", "e", "f"])).await.unwrap();
    assert!(!store.use_recovery_code(TENANT, ann, "b").await.unwrap());
    assert_eq!(store.recovery_codes_left(TENANT, ann).await.unwrap(), 3);
    assert!(store.remove_second_factor(TENANT, ann).await.unwrap());
    assert!(!store.remove_second_factor(TENANT, ann).await.unwrap());
    assert_eq!(store.recovery_codes_left(TENANT, ann).await.unwrap(), 0);
}
