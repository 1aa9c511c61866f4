use crate::conformance::bed::Bed;
use crate::conformance::fixtures::{NOW, TENANT, id};
use std::time::{Duration, Instant};
use steward_core::permission::{AccessLevel, Grantee, Permissions, ResourceGrant, ResourceRef};
use steward_core::ports::{
    ExternalGroups, Group, GroupChange, Groups, ResourceGrants, Role, StoreError, User, UserChange, UserFilter, Users,
};
use steward_core::{AgentId, CredentialId, GroupId, TenantId, UserId};
use uuid::Uuid;

const OTHER: TenantId = TenantId(Uuid::from_u128(2));

fn group(name: &str) -> Group {
    Group {
        id: GroupId(id()),
        name: name.to_owned(),
        description: format!("About {name}"),
        source: String::new(),
        external_id: None,
        created_at: NOW,
        members: 0,
    }
}

fn user(email: &str) -> User {
    User::new(UserId(id()), email, "Ann", Role::Developer, NOW)
}

fn grant(grantee: Grantee, level: AccessLevel) -> ResourceGrant {
    ResourceGrant { grantee, level, given_by: "zoe@x".to_owned(), given_at: NOW }
}

pub async fn groups_have_unique_names_and_members(bed: Bed) {
    let store = bed.store();
    let (staff, ops) = (group("Staff"), group("Élan"));
    for one in [&staff, &ops] {
        store.create_group(TENANT, one).await.unwrap();
    }
    let taken = store.create_group(TENANT, &group("sTAFF")).await;
    assert!(matches!(taken, Err(StoreError::Conflict(_))), "{taken:?}");
    assert_eq!(store.group_by_name(TENANT, "STAFF").await.unwrap(), Some(staff.clone()));
    assert_eq!(store.group(OTHER, staff.id).await.unwrap(), None);

    let (ann, bob) = (user("ann@x"), user("bob@x"));
    for one in [&ann, &bob] {
        store.create_user(TENANT, one).await.unwrap();
        store.set_member(TENANT, staff.id, one.id, true).await.unwrap();
        store.set_member(TENANT, staff.id, one.id, true).await.unwrap();
    }
    assert_eq!(store.group(TENANT, staff.id).await.unwrap().unwrap().members, 2);
    let page = store.group_members(TENANT, staff.id, None, 1).await.unwrap();
    assert_eq!((page.items.as_slice(), page.more), (&[ann.clone()][..], true));
    let page = store.group_members(TENANT, staff.id, Some("ann@x"), 1).await.unwrap();
    assert_eq!((page.items.as_slice(), page.more), (&[bob.clone()][..], false));
    store.set_member(TENANT, staff.id, ann.id, false).await.unwrap();
    store.set_member(TENANT, ops.id, ann.id, true).await.unwrap();
    let names = async |user: UserId| -> Vec<String> {
        store.groups_of(TENANT, user).await.unwrap().into_iter().map(|group| group.name).collect()
    };
    assert_eq!((names(ann.id).await, names(bob.id).await), (vec!["Élan".to_owned()], vec!["Staff".to_owned()]));
    for nobody in [(staff.id, UserId(id())), (GroupId(id()), ann.id)] {
        let refused = store.set_member(TENANT, nobody.0, nobody.1, true).await;
        assert!(matches!(refused, Err(StoreError::NotFound(_))), "{refused:?}");
    }

    let change = GroupChange { name: Some("Everybody".to_owned()), ..GroupChange::default() };
    assert_eq!(store.change_group(TENANT, staff.id, &change).await.unwrap().name, "Everybody");
    let clash = store.change_group(TENANT, ops.id, &change).await;
    assert!(matches!(clash, Err(StoreError::Conflict(_))), "{clash:?}");
    let found = store.groups(TENANT, Some("ABOUT é"), None, 10).await.unwrap();
    assert_eq!(found.items.iter().map(|group| group.name.as_str()).collect::<Vec<_>>(), ["Élan"]);
    store.remove_group(TENANT, staff.id).await.unwrap();
    assert_eq!(names(bob.id).await, Vec::<String>::new());
    let gone = store.remove_group(TENANT, staff.id).await;
    assert!(matches!(gone, Err(StoreError::NotFound(_))), "{gone:?}");
}

pub async fn a_directory_says_who_is_in_its_groups(bed: Bed) {
    let store = bed.store();
    let (ann, local) = (user("ann@x"), group("local"));
    store.create_user(TENANT, &ann).await.unwrap();
    store.create_group(TENANT, &local).await.unwrap();
    store.set_member(TENANT, local.id, ann.id, true).await.unwrap();
    let told = |names: &[&str]| ExternalGroups {
        source: "ldap".to_owned(),
        names: names.iter().map(|name| (*name).to_owned()).collect(),
    };
    let new = |name: &str| Group { source: "ldap".to_owned(), ..group(name) };
    let sync = async |groups: &ExternalGroups, new: &[Group]| {
        store.sync_memberships(TENANT, ann.id, groups, new).await.unwrap();
        let groups = store.groups_of(TENANT, ann.id).await.unwrap();
        groups.into_iter().map(|group| group.name).collect::<Vec<_>>()
    };
    assert_eq!(sync(&told(&["a", "b"]), &[new("a"), new("b")]).await, ["a", "b", "local"]);
    assert_eq!(sync(&told(&["b", "nowhere"]), &[]).await, ["b", "local"]);
    // What an administrator said stays, though the directory names it and then doesn't.
    assert_eq!(sync(&told(&["local"]), &[]).await, ["local"]);
    assert_eq!(sync(&told(&[]), &[]).await, ["local"]);

    // One of the same name is another group; a name alone means the one that is kept here, or the only one.
    let theirs = new("Local");
    assert_eq!(sync(&told(&["local"]), std::slice::from_ref(&theirs)).await, ["local", "Local"]);
    let named = async |name: &str| store.group_by_name(TENANT, name).await.unwrap().map(|group| group.id);
    assert_eq!((named("LOCAL").await, named("ldap/local").await), (Some(local.id), Some(theirs.id)));
    assert_eq!(named("sso/local").await, None);
    let mut pages = Vec::new();
    while let Some(group) = {
        let after = pages.last().map(Group::cursor);
        store.groups(TENANT, Some("local"), after.as_deref(), 1).await.unwrap().items.pop()
    } {
        pages.push(group);
    }
    assert_eq!(pages.iter().map(|group| group.id).collect::<Vec<_>>(), [local.id, theirs.id]);
    store.remove_group(TENANT, local.id).await.unwrap();
    assert_eq!(named("local").await, Some(theirs.id));
    store.create_group(TENANT, &Group { source: "sso".to_owned(), ..group("local") }).await.unwrap();
    assert_eq!(named("local").await, None, "nobody can tell which");
}

pub async fn grants_are_held_by_users_and_groups(bed: Bed) {
    let store = bed.store();
    let (ann, bob, staff) = (user("ann@x"), user("bob@x"), group("staff"));
    for one in [&ann, &bob] {
        store.create_user(TENANT, one).await.unwrap();
    }
    store.create_group(TENANT, &staff).await.unwrap();
    store.set_member(TENANT, staff.id, ann.id, true).await.unwrap();
    let (agent, key) = (ResourceRef::from(AgentId(id())), ResourceRef::from(CredentialId(id())));
    let permissions = async |user: UserId| store.permissions(TENANT, user).await.unwrap();
    assert_eq!(permissions(ann.id).await, Permissions::default());
    let before = store.identities();
    store.set_restricted(TENANT, agent, true).await.unwrap();
    store.set_restricted(TENANT, agent, true).await.unwrap();
    assert!(before.is_none() || before < store.identities());
    let own = grant(Grantee::User(ann.id), AccessLevel::Use);
    let shared = grant(Grantee::Group(staff.id), AccessLevel::Edit);
    store.give_grant(TENANT, agent, &own).await.unwrap();
    store.give_grant(TENANT, agent, &shared).await.unwrap();
    store.give_grant(TENANT, key, &grant(Grantee::User(bob.id), AccessLevel::Use)).await.unwrap();
    let levels = async |user: UserId| {
        let held = permissions(user).await;
        (held.level(agent), held.level(key))
    };
    assert_eq!(levels(ann.id).await, (Some(AccessLevel::Edit), None));
    assert_eq!(levels(bob.id).await, (None, Some(AccessLevel::Use)));
    assert_eq!(store.permissions(OTHER, ann.id).await.unwrap(), Permissions::default());
    let list = store.access_list(TENANT, agent).await.unwrap();
    assert!(list.restricted && list.grants.len() == 2, "{list:?}");
    assert_eq!(store.grants_of(TENANT, ann.id).await.unwrap().len(), 2);

    let identities = store.identities();
    store.set_member(TENANT, staff.id, ann.id, false).await.unwrap();
    assert!(identities.is_none() || identities < store.identities());
    assert_eq!(levels(ann.id).await, (Some(AccessLevel::Use), None));
    store.take_grant(TENANT, agent, ann.id.0).await.unwrap();
    assert_eq!(levels(ann.id).await, (None, None));
    let none = store.take_grant(TENANT, agent, ann.id.0).await;
    assert!(matches!(none, Err(StoreError::NotFound(_))), "{none:?}");
    store.remove_group(TENANT, staff.id).await.unwrap();
    let off = UserChange { disabled_at: Some(Some(NOW)), ..UserChange::default() };
    store.change_user(TENANT, bob.id, &off).await.unwrap();
    store.remove_user(TENANT, bob.id).await.unwrap();
    assert_eq!(store.access_list(TENANT, agent).await.unwrap().grants, []);
    assert_eq!(store.access_list(TENANT, key).await.unwrap().grants, []);
    store.set_restricted(TENANT, agent, false).await.unwrap();
    assert_eq!(levels(ann.id).await, (Some(AccessLevel::Use), None));
}

/// 10,000 users in 1,000 groups: what a login and the lists read. Printed, not judged: machines are noisy.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "it measures: run it alone, in release"]
async fn group_speed() {
    let bed = Bed::sqlite().await;
    let store = bed.store();
    let named = |n: u32| Group { source: "ldap".to_owned(), ..group(&format!("group {n:04}")) };
    let groups: Vec<Group> = (0..1_000).map(named).collect();
    for one in &groups {
        store.create_group(TENANT, one).await.unwrap();
    }
    let users: Vec<User> = (0..10_000).map(|n| user(&format!("user{n:05}@x"))).collect();
    for (n, one) in users.iter().enumerate() {
        store.create_user(TENANT, one).await.unwrap();
        let told = ExternalGroups {
            source: "ldap".to_owned(),
            names: (0..10).map(|k| groups[(n * 7 + k * 101) % 1_000].name.clone()).collect(),
        };
        store.sync_memberships(TENANT, one.id, &told, &[]).await.unwrap();
    }
    for (n, one) in groups.iter().enumerate() {
        let agent = ResourceRef::from(AgentId(Uuid::from_u128(n as u128)));
        store.set_restricted(TENANT, agent, true).await.unwrap();
        store.give_grant(TENANT, agent, &grant(Grantee::Group(one.id), AccessLevel::Use)).await.unwrap();
    }
    let tell = |what: &str, mut took: Vec<Duration>| {
        took.sort();
        eprintln!("{what}: p50 {:?}, p99 {:?}", took[took.len() / 2], took[took.len() * 99 / 100]);
    };
    let mut took = [const { Vec::new() }; 4];
    for one in users.iter().step_by(33) {
        let begun = Instant::now();
        store.user_by_email(TENANT, &one.email).await.unwrap();
        took[0].push(begun.elapsed());
        let begun = Instant::now();
        assert_eq!(store.permissions(TENANT, one.id).await.unwrap().granted.len(), 10);
        took[1].push(begun.elapsed());
        let begun = Instant::now();
        store.users(TENANT, &UserFilter::default(), Some(&one.email), 100).await.unwrap();
        took[2].push(begun.elapsed());
        let begun = Instant::now();
        store.groups(TENANT, None, Some("group 0500"), 100).await.unwrap();
        took[3].push(begun.elapsed());
    }
    let [login, permissions, list, group_list] = took;
    tell("user by email", login);
    tell("permissions of a user", permissions);
    tell("a page of users", list);
    tell("a page of groups with their numbers of members", group_list);
}
