//! What providers keep by SCIM: records of users, groups with their members, tokens.

use crate::conformance::bed::Bed;
use crate::conformance::fixtures::{LATER, NOW, TENANT, id};
use serde_json::{Map, json};
use steward_core::ports::{
    Group, GroupChange, Groups as _, MemberChange, Role, ScimDirectory as _, ScimGroupFilter, ScimRecord, ScimToken,
    ScimUserFilter, StoreError, User, UserChange, UserChangeError, Users as _,
};
use steward_core::scim::SCIM_SOURCE;
use steward_core::{GroupId, TenantId, UserId};
use uuid::Uuid;

const OTHER: TenantId = TenantId(Uuid::from_u128(2));

fn user(email: &str) -> User {
    User::new(UserId(id()), email, "Ann Ä", Role::Viewer, NOW)
}

fn record(user_name: &str) -> ScimRecord {
    ScimRecord {
        user_name: user_name.to_owned(),
        external_id: Some(format!("ext-{user_name}")),
        attributes: Map::from_iter([("title".to_owned(), json!("Dr"))]),
        made: true,
        updated_at: NOW,
        removed_at: None,
    }
}

pub async fn a_provider_keeps_users(bed: Bed) {
    let store = bed.store();
    let (ann, ben) = (user("ann@x.org"), user("ben@x.org"));
    store.create_scim_user(TENANT, &ann, &record("Ann")).await.unwrap();
    store.create_user(TENANT, &ben).await.unwrap();
    for (email, user_name) in [("ann@x.org", "other"), ("other@x.org", "aNN")] {
        let taken = store.create_scim_user(TENANT, &user(email), &record(user_name)).await;
        assert!(matches!(taken, Err(StoreError::Conflict(_))), "{taken:?}");
        assert!(store.user_by_email(TENANT, "other@x.org").await.unwrap().is_none(), "all or nothing");
    }
    let found = store.scim_user(TENANT, ann.id).await.unwrap().unwrap();
    assert_eq!((&found.user, &found.record), (&ann, &Some(record("Ann"))));
    assert_eq!(store.scim_user(TENANT, ben.id).await.unwrap().unwrap().record, None);
    assert_eq!(store.scim_user(OTHER, ann.id).await.unwrap(), None);
    let by_name = store.scim_user_by_name(TENANT, "nobody@x.org", "ANN").await.unwrap().unwrap();
    assert_eq!(by_name.user.id, ann.id);

    let filter = ScimUserFilter::default;
    let text = |text: &str| Some(text.to_owned());
    for (filter, expect) in [
        (filter(), 2),
        (ScimUserFilter { user_name: text("ann"), ..filter() }, 1),
        (ScimUserFilter { user_name: text("BEN@x.org"), ..filter() }, 1),
        (ScimUserFilter { user_name: text("ann@x.org"), ..filter() }, 0),
        (ScimUserFilter { external_id: text("ext-Ann"), ..filter() }, 1),
        (ScimUserFilter { email: text("Ann@X.org"), ..filter() }, 1),
        (ScimUserFilter { name: text("ann ä"), ..filter() }, 2),
        (ScimUserFilter { name: text("ann"), ..filter() }, 0),
        (ScimUserFilter { active: Some(true), ..filter() }, 2),
        (ScimUserFilter { active: Some(false), ..filter() }, 0),
        (ScimUserFilter { id: Some(ben.id), ..filter() }, 1),
        (ScimUserFilter { written: true, ..filter() }, 1),
        (ScimUserFilter { but: "ben@x.org".to_owned(), ..filter() }, 1),
    ] {
        let found = store.scim_users(TENANT, &filter, 0, 10).await.unwrap();
        assert_eq!((found.total, found.items.len()), (expect, usize::try_from(expect).unwrap()), "{filter:?}");
    }
    let second = store.scim_users(TENANT, &filter(), 1, 1).await.unwrap();
    assert_eq!((second.total, second.items.len()), (2, 1));
    let none = store.scim_users(TENANT, &filter(), 0, 0).await.unwrap();
    assert_eq!((none.total, none.items.len()), (2, 0));

    // Another email, then removed: disabled, in no group, and not there.
    let change = UserChange { email: text("Ann.New@x.org"), ..UserChange::default() };
    let changed = store.change_scim_user(TENANT, ann.id, &change, &record("ann2")).await.unwrap();
    assert_eq!(changed.email, "ann.new@x.org");
    let clash = UserChange { email: text("ben@x.org"), ..UserChange::default() };
    let clash = store.change_scim_user(TENANT, ann.id, &clash, &record("ann3")).await;
    assert!(matches!(clash, Err(UserChangeError::Store(StoreError::Conflict(_)))), "{clash:?}");
    assert_eq!(store.scim_user(TENANT, ann.id).await.unwrap().unwrap().record, Some(record("ann2")));
    let group = group("Staff");
    store.create_group(TENANT, &group).await.unwrap();
    store.set_member(TENANT, group.id, ann.id, true).await.unwrap();
    let gone = ScimRecord { removed_at: Some(NOW), ..record("ann2") };
    let disable = UserChange { disabled_at: Some(Some(NOW)), ..UserChange::default() };
    store.change_scim_user(TENANT, ann.id, &disable, &gone).await.unwrap();
    assert!(store.groups_of(TENANT, ann.id).await.unwrap().is_empty());
    assert_eq!(store.scim_users(TENANT, &filter(), 0, 10).await.unwrap().total, 1);
    let enable = UserChange { disabled_at: Some(None), ..UserChange::default() };
    store.change_user(TENANT, ann.id, &enable).await.unwrap();
    assert_eq!(store.scim_users(TENANT, &filter(), 0, 10).await.unwrap().total, 2, "somebody enabled them again");
    store.change_user(TENANT, ann.id, &disable).await.unwrap();
    store.remove_user(TENANT, ann.id).await.unwrap();
    assert_eq!(store.scim_user(TENANT, ann.id).await.unwrap(), None);
}

fn group(name: &str) -> Group {
    Group {
        id: GroupId(id()),
        name: name.to_owned(),
        description: String::new(),
        source: SCIM_SOURCE.to_owned(),
        external_id: Some(format!("ext-{name}")),
        created_at: NOW,
        members: 0,
    }
}

pub async fn a_provider_keeps_groups(bed: Bed) {
    let store = bed.store();
    let (ann, ben) = (user("ann@x.org"), user("ben@x.org"));
    for one in [&ann, &ben] {
        store.create_user(TENANT, one).await.unwrap();
    }
    let (staff, own) = (group("Staff"), Group { source: String::new(), ..group("Own") });
    for one in [&staff, &own] {
        store.create_group(TENANT, one).await.unwrap();
    }
    let members = async || {
        let page = store.group_members(TENANT, staff.id, None, 10).await.unwrap();
        page.items.into_iter().map(|user| user.email).collect::<Vec<_>>().join(" ")
    };
    let same = GroupChange::default();
    for (change, expect) in [
        (MemberChange::Some { add: vec![ann.id, ann.id, ben.id], remove: vec![] }, "ann@x.org ben@x.org"),
        (MemberChange::Some { add: vec![], remove: vec![ann.id, UserId(id())] }, "ben@x.org"),
        (MemberChange::Some { add: vec![ann.id], remove: vec![ann.id] }, "ann@x.org ben@x.org"),
        (MemberChange::default(), "ann@x.org ben@x.org"),
        (MemberChange::Only(vec![ann.id]), "ann@x.org"),
    ] {
        store.change_scim_group(TENANT, staff.id, &same, &change).await.unwrap();
        assert_eq!(members().await, expect, "{change:?}");
    }
    let rename = GroupChange { name: Some("Crew".to_owned()), ..GroupChange::default() };
    let nobody = MemberChange::Some { add: vec![UserId(id())], remove: vec![] };
    let refused = store.change_scim_group(TENANT, staff.id, &rename, &nobody).await;
    assert!(matches!(refused, Err(StoreError::NotFound(_))), "{refused:?}");
    assert_eq!(store.group(TENANT, staff.id).await.unwrap().unwrap().name, "Staff", "all or nothing");

    let filter = ScimGroupFilter::default;
    for (filter, expect) in [
        (filter(), 1),
        (ScimGroupFilter { name: Some("STAFF".to_owned()), ..filter() }, 1),
        (ScimGroupFilter { name: Some("Own".to_owned()), ..filter() }, 0),
        (ScimGroupFilter { external_id: Some("ext-Staff".to_owned()), ..filter() }, 1),
        (ScimGroupFilter { member: Some(ann.id), ..filter() }, 1),
        (ScimGroupFilter { member: Some(ben.id), ..filter() }, 0),
        (ScimGroupFilter { id: Some(own.id), ..filter() }, 0),
    ] {
        let found = store.scim_groups(TENANT, SCIM_SOURCE, &filter, 0, 10).await.unwrap();
        assert_eq!((found.total, found.items.len()), (expect, usize::try_from(expect).unwrap()), "{filter:?}");
    }
}

pub async fn tokens_of_providers_are_found_by_their_hash(bed: Bed) {
    let store = bed.store();
    let token = ScimToken {
        id: id(),
        name: "Okta".to_owned(),
        prefix: "sk-steward-scim-abc".to_owned(),
        created_by: "ada@x.org".to_owned(),
        created_at: NOW,
        last_used_at: None,
    };
    store.save_scim_token(TENANT, &token, "hash").await.unwrap();
    let second = ScimToken { id: id(), name: "oKTA".to_owned(), ..token.clone() };
    let refused = store.save_scim_token(TENANT, &second, "other").await;
    assert!(matches!(refused, Err(StoreError::Conflict(_))), "{refused:?}");
    assert_eq!(store.scim_token_by_hash(TENANT, "hash").await.unwrap(), Some(token.clone()));
    assert_eq!(store.scim_token_by_hash(OTHER, "hash").await.unwrap(), None);
    let used = async || store.scim_tokens(TENANT).await.unwrap()[0].last_used_at;
    for at in [NOW, LATER] {
        store.note_scim_use(TENANT, token.id, at).await.unwrap();
        assert_eq!(used().await, Some(at));
    }
    store.remove_scim_token(TENANT, token.id).await.unwrap();
    assert_eq!(store.scim_token_by_hash(TENANT, "hash").await.unwrap(), None);
    let gone = store.remove_scim_token(TENANT, token.id).await;
    assert!(matches!(gone, Err(StoreError::NotFound(_))), "{gone:?}");
}
