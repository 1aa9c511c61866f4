use crate::conformance::bed::Bed;
use crate::conformance::fixtures::{LATER, NOW, TENANT, id};
use crate::conformance::rows::agent;
use serde_json::json;
use std::collections::BTreeMap;
use steward_core::mcp::{McpServer, McpTransport};
use steward_core::package::{PackageState, Permissions, SkillPackage};
use steward_core::policy::RiskClass;
use steward_core::ports::{Agents, McpServers, SkillFilter, SkillPackages, Skills, StoreError, StoreResult};
use steward_core::skill::{InternalSpec, Skill, SkillKind, SkillLimits, SkillSpec, SqlSpec};
use steward_core::tool::EffectClass;
use steward_core::{AgentId, McpServerId, SkillId, TenantId};
use steward_store::Store;
use uuid::Uuid;

const OTHER: TenantId = TenantId(Uuid::from_u128(2));

pub fn skill(name: &str) -> Skill {
    let spec: SqlSpec = serde_json::from_value(json!({"database": "shop.db", "statement": "select 1"})).unwrap();
    Skill {
        id: SkillId(id()),
        name: name.to_owned(),
        version: 0,
        description: format!("Does {name}"),
        utterances: Vec::new(),
        parameters: json!({"type": "object"}),
        spec: SkillSpec::Sql(spec),
        risk: RiskClass::Read,
        effect: EffectClass::Read,
        credential: None,
        compensation: None,
        limits: SkillLimits::default(),
        enabled: true,
        package: None,
        untrusted: false,
        category: String::new(),
        at: NOW,
        by: "ann".to_owned(),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "for what a call returns")]
fn conflict<T: std::fmt::Debug>(result: StoreResult<T>, word: &str) {
    assert!(matches!(&result, Err(StoreError::Conflict(text)) if text.contains(word)), "{result:?}");
}

#[expect(clippy::needless_pass_by_value, reason = "for what a call returns")]
fn missing<T: std::fmt::Debug>(result: StoreResult<T>, word: &str) {
    assert!(matches!(&result, Err(StoreError::NotFound(text)) if text.contains(word)), "{result:?}");
}

pub async fn a_change_makes_a_version(bed: Bed) {
    let store = bed.store();
    let first = store.save_skill(TENANT, &skill("total")).await.unwrap();
    assert_eq!(first.version, 1);
    let again = Skill { version: 7, at: LATER, by: "bob".to_owned(), ..first.clone() };
    let kept = store.save_skill(TENANT, &again).await.unwrap();
    assert_eq!(kept, first, "number, time and author are no change");
    let second = Skill { description: "Sums up".to_owned(), ..again.clone() };
    let second = store.save_skill(TENANT, &second).await.unwrap();
    assert_eq!((second.version, second.at), (2, LATER));
    assert_eq!(store.skill(TENANT, first.id).await.unwrap(), second);
    let third = store.save_skill(TENANT, &first).await.unwrap();
    assert_eq!(third.version, 3, "going back is going on");
    let versions = store.skill_versions(TENANT, first.id).await.unwrap();
    assert_eq!(versions, [third.clone(), second.clone(), first.clone()]);
    let one = store.skill_version(TENANT, first.id, 2).await.unwrap();
    assert_eq!(one, second);
    missing(store.skill_version(TENANT, first.id, 4).await, "version 4");
    missing(store.skill_versions(TENANT, SkillId(id())).await, "skill");

    store.remove_skill(TENANT, first.id).await.unwrap();
    missing(store.skill(TENANT, first.id).await, "skill");
    missing(store.remove_skill(TENANT, first.id).await, "skill");
    assert_eq!(store.skill_by_name(TENANT, "total").await.unwrap(), None);
    let one = store.skill_version(TENANT, first.id, 1).await.unwrap();
    assert_eq!(one, first, "versions outlive their skill");
    let back = store.save_skill(TENANT, &first).await.unwrap();
    assert_eq!(back.version, 4, "one that comes back goes on counting");
}

pub async fn names_are_unique_in_a_tenant(bed: Bed) {
    let store = bed.store();
    let one = store.save_skill(TENANT, &skill("one")).await.unwrap();
    let two = store.save_skill(TENANT, &skill("two")).await.unwrap();
    conflict(store.save_skill(TENANT, &skill("one")).await, "\"one\"");
    let renamed = Skill { name: "one".to_owned(), ..two.clone() };
    conflict(store.save_skill(TENANT, &renamed).await, "\"one\"");
    let versions = store.skill_versions(TENANT, two.id).await.unwrap();
    assert_eq!(versions, [two], "nothing was written");
    let theirs = store.save_skill(OTHER, &one).await.unwrap();
    assert_eq!(theirs.version, 1, "tenants are apart");
    store.remove_skill(TENANT, one.id).await.unwrap();
    assert_eq!(store.skill(OTHER, one.id).await.unwrap(), theirs);
    let found = store.skill_by_name(OTHER, "one").await.unwrap();
    assert_eq!(found, Some(theirs));
}

async fn names(store: &Store, filter: SkillFilter) -> Vec<String> {
    let page = store.skills(TENANT, &filter, None, 0).await.unwrap();
    page.items.into_iter().map(|skill| skill.name).collect()
}

pub async fn skills_are_found_and_paged(bed: Bed) {
    let store = bed.store();
    let zoe = agent("zoe");
    store.save_agent(TENANT, &zoe).await.unwrap();
    for name in ["b_2", "b", "a10", "a_1", "b1"] {
        let made = store.save_skill(TENANT, &skill(name)).await.unwrap();
        if name.starts_with('b') {
            store.attach_skill(TENANT, zoe.id, made.id, true).await.unwrap();
        }
    }
    let facts = Skill {
        description: "Kennt 50 % der ÄPFEL".to_owned(),
        spec: SkillSpec::Internal(InternalSpec { prompt: "p".to_owned(), tools: Vec::new() }),
        package: Some("fruit".to_owned()),
        category: "Wissen".to_owned(),
        ..skill("facts")
    };
    store.save_skill(TENANT, &facts).await.unwrap();
    // In the order of bytes on every engine, whatever its locale.
    let any = SkillFilter::default;
    let order = ["a10", "a_1", "b", "b1", "b_2", "facts"];
    assert_eq!(names(&store, any()).await, order);
    let filter = any();
    let mut seen = Vec::new();
    let mut after = None;
    loop {
        let page = store.skills(TENANT, &filter, after.as_deref(), 4).await.unwrap();
        seen.extend(page.items.into_iter().map(|skill| skill.name));
        after = seen.last().cloned();
        if !page.more {
            break;
        }
    }
    assert_eq!(seen, order);
    let found = async |filter| names(&store, filter).await;
    let text = |text: &str| SkillFilter { text: Some(text.to_owned()), ..SkillFilter::default() };
    assert_eq!(found(text("äpfel")).await, ["facts"]);
    assert_eq!(found(text("50 %")).await, ["facts"]);
    assert_eq!(found(text("B_")).await, ["b_2"], "a wildcard is a letter");
    let kind = SkillFilter { kind: Some(SkillKind::Internal), ..any() };
    assert_eq!(found(kind).await, ["facts"]);
    let package = SkillFilter { package: Some("fruit".to_owned()), category: Some("Wissen".to_owned()), ..any() };
    assert_eq!(found(package).await, ["facts"]);
    let nothing = SkillFilter { package: Some("fruit".to_owned()), kind: Some(SkillKind::Sql), ..any() };
    assert!(found(nothing).await.is_empty());
    let theirs = SkillFilter { agent: Some(zoe.id), ..any() };
    assert_eq!(found(theirs.clone()).await, ["b", "b1", "b_2"]);
    let page = store.skills(TENANT, &theirs, Some("b"), 1).await.unwrap();
    assert_eq!((page.items[0].name.as_str(), page.more), ("b1", true));
    let both = SkillFilter { text: Some("does b1".to_owned()), ..theirs };
    assert_eq!(found(both).await, ["b1"]);
    let nobody = SkillFilter { agent: Some(AgentId(id())), ..any() };
    missing(store.skills(TENANT, &nobody, None, 0).await, "agent");
    let page = store.skills(OTHER, &any(), None, 0).await.unwrap();
    assert!(page.items.is_empty());
}

pub async fn agents_have_skills_in_order(bed: Bed) {
    let store = bed.store();
    let (zoe, adam) = (agent("zoe"), agent("adam"));
    for one in [&zoe, &adam] {
        store.save_agent(TENANT, one).await.unwrap();
    }
    let mut skills = Vec::new();
    // More than fit into one statement, and against the order of ids and of names.
    for name in ["k", "j", "i", "h", "g", "f", "e", "d", "c", "b", "a"] {
        skills.insert(0, store.save_skill(TENANT, &skill(name)).await.unwrap());
    }
    for skill in skills.iter().chain(&skills[..2]) {
        store.attach_skill(TENANT, zoe.id, skill.id, true).await.unwrap();
    }
    assert_eq!(store.skills_of(TENANT, zoe.id).await.unwrap(), skills);
    assert!(store.skills_of(TENANT, adam.id).await.unwrap().is_empty());
    let ids: Vec<_> = skills.iter().map(|skill| skill.id).collect();
    let kept = store.agent(TENANT, zoe.id).await.unwrap();
    assert_eq!(kept, { steward_core::agent::Agent { skills: ids, ..zoe.clone() } });
    store.attach_skill(TENANT, adam.id, skills[0].id, true).await.unwrap();
    let with = store.agents_with(TENANT, skills[0].id).await.unwrap();
    assert_eq!(with, [zoe.id, adam.id]);
    for _ in 0..2 {
        store.attach_skill(TENANT, zoe.id, skills[0].id, false).await.unwrap();
    }
    assert_eq!(store.skills_of(TENANT, zoe.id).await.unwrap(), skills[1..]);
    let with = store.agents_with(TENANT, skills[0].id).await.unwrap();
    assert_eq!(with, [adam.id]);
    let (nobody, nothing) = (AgentId(id()), SkillId(id()));
    let tried = store.attach_skill(TENANT, nobody, skills[0].id, true);
    missing(tried.await, "agent");
    let tried = store.attach_skill(TENANT, zoe.id, nothing, true);
    missing(tried.await, "skill");
    let tried = store.attach_skill(OTHER, zoe.id, skills[0].id, true);
    missing(tried.await, "skill");
    missing(store.skills_of(OTHER, zoe.id).await, "agent");
    store.delete_agent(TENANT, adam.id, NOW).await.unwrap();
    missing(store.skills_of(TENANT, adam.id).await, "agent");
    let with = store.agents_with(TENANT, skills[0].id).await.unwrap();
    assert!(with.is_empty(), "a deleted agent has none");
}

pub async fn create_and_attach_is_all_or_nothing(bed: Bed) {
    let store = bed.store();
    let zoe = agent("zoe");
    store.save_agent(TENANT, &zoe).await.unwrap();
    let nobody = AgentId(id());
    let tried = store.create_and_attach(TENANT, nobody, &skill("one")).await;
    missing(tried, "agent");
    assert_eq!(store.skill_by_name(TENANT, "one").await.unwrap(), None);

    let (one, made) = store.create_and_attach(TENANT, zoe.id, &skill("one")).await.unwrap();
    assert!(made && one.version == 1);
    let (again, made) = store.create_and_attach(TENANT, zoe.id, &skill("one")).await.unwrap();
    assert!(!made, "idempotent by name");
    assert_eq!(again, one);
    let changed = Skill { description: "Otherwise".to_owned(), ..skill("one") };
    let (second, made) = store.create_and_attach(TENANT, zoe.id, &changed).await.unwrap();
    assert!(!made);
    assert_eq!((second.id, second.version), (one.id, 2));
    assert_eq!(second.description, "Otherwise");
    let has = store.skills_of(TENANT, zoe.id).await.unwrap();
    assert_eq!(has, std::slice::from_ref(&second));
    let borrowed = Skill { name: "two".to_owned(), ..one.clone() };
    let tried = store.create_and_attach(TENANT, zoe.id, &borrowed).await;
    conflict(tried, "another name");
    // A change is taken back too where the agent is not there.
    let tried = store.create_and_attach(TENANT, nobody, &skill("one")).await;
    missing(tried, "agent");
    assert_eq!(store.skill(TENANT, one.id).await.unwrap(), second);
    let versions = store.skill_versions(TENANT, one.id).await.unwrap();
    assert_eq!(versions.len(), 2);
}

pub async fn a_removed_skill_leaves_its_agents(bed: Bed) {
    let store = bed.store();
    let (zoe, adam) = (agent("zoe"), agent("adam"));
    let one = store.save_skill(TENANT, &skill("one")).await.unwrap();
    let two = store.save_skill(TENANT, &skill("two")).await.unwrap();
    for agent in [&zoe, &adam] {
        store.save_agent(TENANT, agent).await.unwrap();
        for skill in [&one, &two] {
            store.attach_skill(TENANT, agent.id, skill.id, true).await.unwrap();
        }
    }
    store.delete_agent(TENANT, adam.id, NOW).await.unwrap();
    store.remove_skill(TENANT, one.id).await.unwrap();
    assert_eq!(store.agent(TENANT, zoe.id).await.unwrap().skills, [two.id]);
    let adam = store.restore_agent(TENANT, adam.id).await.unwrap();
    assert_eq!(adam.skills, [two.id], "deleted agents lose it too");
    assert!(store.agents_with(TENANT, one.id).await.unwrap().is_empty());
}

fn package(name: &str, revision: u32) -> SkillPackage {
    SkillPackage {
        name: name.to_owned(),
        revision,
        version: None,
        description: "For sales".to_owned(),
        hash: "00".to_owned(),
        state: PackageState::Quarantined,
        permissions: Permissions::default(),
        findings: Vec::new(),
        files: BTreeMap::new(),
        skills: Vec::new(),
        at: NOW,
        by: "ann".to_owned(),
    }
}

pub async fn packages_are_kept_by_revision(bed: Bed) {
    let store = bed.store();
    let (first, second) = (package("b-1", 1), package("b-1", 2));
    let other = package("a", 1);
    for one in [&second, &first, &other] {
        store.save_package(TENANT, one).await.unwrap();
    }
    let get = async |name: &str, revision| store.package(TENANT, name, revision).await.unwrap();
    assert_eq!(get("b-1", None).await, Some(second.clone()));
    assert_eq!(get("b-1", Some(1)).await, Some(first));
    assert_eq!(get("b-1", Some(3)).await, None);
    assert_eq!(get("c", None).await, None);
    assert_eq!(store.package(OTHER, "a", None).await.unwrap(), None);
    let active = SkillPackage { state: PackageState::Active, ..second };
    store.save_package(TENANT, &active).await.unwrap();
    let page = store.packages(TENANT, None, 0).await.unwrap();
    assert_eq!((page.items, page.more), (vec![other.clone(), active.clone()], false));
    let page = store.packages(TENANT, None, 1).await.unwrap();
    assert_eq!((page.items, page.more), (vec![other], true));
    let page = store.packages(TENANT, Some("a"), 1).await.unwrap();
    assert_eq!((page.items, page.more), (vec![active], false));
    assert!(store.packages(OTHER, None, 0).await.unwrap().items.is_empty());
}

pub async fn mcp_servers_have_unique_names(bed: Bed) {
    let store = bed.store();
    let server = |name: &str| McpServer {
        id: McpServerId(id()),
        name: name.to_owned(),
        transport: McpTransport::Http { url: "http://127.0.0.1:9/mcp".to_owned(), allow: Vec::new() },
        credential: None,
        per_user: false,
        enabled: true,
        tools: Vec::new(),
        checked_at: None,
        error: None,
    };
    let (git, disk) = (server("git"), server("disk"));
    for one in [&git, &disk] {
        store.save_mcp_server(TENANT, one).await.unwrap();
    }
    conflict(store.save_mcp_server(TENANT, &server("git")).await, "\"git\"");
    store.save_mcp_server(OTHER, &server("git")).await.unwrap();
    let all = store.mcp_servers(TENANT).await.unwrap();
    assert_eq!(all, [disk, git.clone()]);
    let checked = McpServer { checked_at: Some(LATER), ..git };
    store.save_mcp_server(TENANT, &checked).await.unwrap();
    assert_eq!(store.mcp_server(TENANT, checked.id).await.unwrap(), checked);
    let named = store.mcp_server_by_name(TENANT, "git").await.unwrap();
    assert_eq!(named.as_ref(), Some(&checked));
    store.remove_mcp_server(TENANT, checked.id).await.unwrap();
    missing(store.mcp_server(TENANT, checked.id).await, "MCP server");
    missing(store.remove_mcp_server(TENANT, checked.id).await, "MCP server");
    assert_eq!(store.mcp_server_by_name(TENANT, "git").await.unwrap(), None);
    assert_eq!(store.mcp_servers(OTHER).await.unwrap().len(), 1);
}
