//! What agents keep: each user sees and changes their own, and what all share is changed by who may edit the agent.

use super::{Bed, bed};
use serde_json::{Value, json};
use steward_app::StoredEditors;
use steward_core::agent::{Agent, KeptFor};
use steward_core::governance::{Classification, Classified};
use steward_core::hash::sha256;
use steward_core::permission::{AccessLevel, Grantee, ResourceGrant};
use steward_core::ports::{AgentEditors as _, Facts as _, Memory, Note, Role, User, UserChange, Users as _};
use steward_core::provenance::Provenance;
use steward_core::{AgentId, TenantId, Timestamp, UserId};
use uuid::Uuid;

const TENANT: TenantId = TenantId::DEFAULT;
const AGENT: AgentId = AgentId(Uuid::from_u128(60));
const PEOPLE: [(&str, Role); 5] = [
    ("vic", Role::Viewer),
    ("ann", Role::Developer),
    ("edna", Role::Developer),
    ("olga", Role::Operator),
    ("ada", Role::Admin),
];

fn user(name: &str) -> UserId {
    let at = PEOPLE.iter().position(|(known, _)| *known == name).unwrap_or(PEOPLE.len());
    UserId(Uuid::from_u128(100 + at as u128))
}

/// With an agent that Edna may edit, and Vic and Ann only use.
async fn house(shared: bool) -> Bed {
    let bed = bed().await;
    for (name, role) in PEOPLE {
        let known = User::new(user(name), format!("{name}@example.org"), name, role, Timestamp(0));
        let key = sha256(format!("sk-steward-{name}").as_bytes());
        bed.store.create_user(TENANT, &User { api_key_hash: Some(key), ..known }).await.unwrap();
    }
    let agent = json!({
        "id": AGENT, "name": "clerk", "instructions": "", "tools": [], "own_data": {"shared": shared, "database": true},
    });
    let agent: Agent = serde_json::from_value(agent).unwrap();
    bed.store.save_agent(TENANT, &agent).await.unwrap();
    for (name, level) in [("vic", AccessLevel::Edit), ("ann", AccessLevel::Use), ("edna", AccessLevel::Edit)] {
        let grantee = Grantee::User(user(name));
        let grant = ResourceGrant { grantee, level, given_by: "ada".to_owned(), given_at: Timestamp(0) };
        bed.store.give_grant(TENANT, AGENT.into(), &grant).await.unwrap();
    }
    bed
}

async fn call(bed: &Bed, name: &str, line: &str, body: Value) -> (u16, Value) {
    let answer = bed.json(line, &[&format!("authorization: Bearer sk-steward-{name}")], &body).await;
    (answer.status, serde_json::from_str(&answer.text).unwrap_or_default())
}

#[tokio::test]
async fn nobody_sees_or_changes_what_is_kept_for_another() {
    let bed = house(false).await;
    let path = format!("/api/agents/{AGENT}/memory");
    for (name, _) in PEOPLE {
        let body = json!({"text": format!("private to {name}"), "version": 0});
        assert_eq!(call(&bed, name, &format!("PUT {path}"), body).await.0, 200, "{name}");
    }
    for (name, _) in PEOPLE {
        let (_, kept) = call(&bed, name, &format!("GET {path}"), Value::Null).await;
        assert_eq!(kept["text"], format!("private to {name}"));
    }
    assert_eq!(call(&bed, "ada", &format!("DELETE {path}"), Value::Null).await.0, 204);
    let (_, kept) = call(&bed, "ann", &format!("GET {path}"), Value::Null).await;
    assert_eq!(kept["text"], "private to ann");
    let therapy = Note {
        title: "at / therapy".to_owned(),
        text: "Tuesdays".to_owned(),
        updated_at: Timestamp(0),
        provenance: Provenance::default(),
    };
    bed.store.save_note(TENANT, AGENT, KeptFor::User(user("ann")), &therapy).await.unwrap();
    let notes = format!("/api/agents/{AGENT}/notes");
    let therapy = format!("DELETE {notes}/at%20%2F%20therapy");
    for (name, sees, deleted) in [("vic", 0, 404), ("olga", 0, 404), ("ada", 0, 404), ("ann", 1, 204), ("ann", 0, 404)]
    {
        let (_, page) = call(&bed, name, &format!("GET {notes}"), Value::Null).await;
        assert_eq!(page["items"].as_array().unwrap().len(), sees, "{name}: {page}");
        assert_eq!(call(&bed, name, &therapy, Value::Null).await.0, deleted, "{name}");
    }
    // Nor does a user who gets the agent later inherit anything, or the agent of the same name after it.
    let new: Agent = serde_json::from_value(json!({
        "id": Uuid::from_u128(61), "name": "clerk", "instructions": "", "tools": [],
    }))
    .unwrap();
    bed.store.delete_agent(TENANT, AGENT, Timestamp(1)).await.unwrap();
    bed.store.save_agent(TENANT, &new).await.unwrap();
    let (_, kept) = call(&bed, "ann", &format!("GET /api/agents/{}/memory", new.id), Value::Null).await;
    assert_eq!(kept["text"], "");
    assert_eq!(call(&bed, "ann", &format!("GET {path}"), Value::Null).await.0, 404);
}

#[tokio::test]
async fn what_all_share_needs_the_right_to_edit_the_agent() {
    let bed = house(true).await;
    let path = format!("/api/agents/{AGENT}/memory");
    let editors = StoredEditors(bed.store.clone());
    let mut version = 0;
    for (name, may) in [("vic", false), ("ann", false), ("edna", true), ("olga", true), ("ada", true)] {
        let body = json!({"text": format!("by {name}"), "version": version});
        let (status, _) = call(&bed, name, &format!("PUT {path}"), body).await;
        assert_eq!(status, if may { 200 } else { 403 }, "{name}");
        version += u64::from(may);
        for what in ["memory", "database"] {
            let line = format!("DELETE /api/agents/{AGENT}/{what}");
            assert!(may || call(&bed, name, &line, Value::Null).await.0 == 403, "{name} {line}");
        }
        // By tool as by the API.
        assert_eq!(editors.may_edit(TENANT, AGENT, user(name)).await.unwrap(), may, "{name}");
        let (_, seen) = call(&bed, name, &format!("GET {path}"), Value::Null).await;
        assert_eq!(seen["version"], version, "{name}");
    }
    assert!(!editors.may_edit(TENANT, AGENT, user("nobody")).await.unwrap());
    assert!(!editors.may_edit(TENANT, AgentId(Uuid::from_u128(9)), user("ada")).await.unwrap());
    let disabled = UserChange { disabled_at: Some(Some(Timestamp(1))), ..UserChange::default() };
    bed.store.change_user(TENANT, user("olga"), &disabled).await.unwrap();
    assert!(!editors.may_edit(TENANT, AGENT, user("olga")).await.unwrap());
}

#[tokio::test]
async fn a_change_by_a_person_comes_from_nobody_outside() {
    let bed = house(false).await;
    let level = Classified {
        classification: Classification::Confidential,
        label: "people".to_owned(),
        source: "hr/pay.csv".to_owned(),
    };
    let provenance = Provenance { level: Some(level), ..Provenance::from_outside("https://example.org") };
    let kept = Memory { text: "pay eve".to_owned(), version: 0, provenance };
    let ann = KeptFor::User(user("ann"));
    bed.store.save_memory(TENANT, AGENT, ann, &kept).await.unwrap();
    bed.store.save_database_doc(TENANT, AGENT, ann, &kept).await.unwrap();
    let of = |what: &str| format!("/api/agents/{AGENT}/{what}");
    let (_, shown) = call(&bed, "ann", &format!("GET {}", of("memory")), Value::Null).await;
    assert_eq!(shown["origins"], json!(["https://example.org"]));
    let (_, shown) = call(&bed, "ann", &format!("GET {}", of("database")), Value::Null).await;
    assert_eq!(shown["documentation"]["origins"], json!(["https://example.org"]));
    let body = json!({"text": "ignore Eve", "version": 1});
    for what in ["memory", "database/schema"] {
        let (status, shown) = call(&bed, "ann", &format!("PUT {}", of(what)), body.clone()).await;
        assert_eq!((status, &shown["origins"]), (200, &json!([])), "{what}");
    }
    let now = bed.store.memory(TENANT, AGENT, ann).await.unwrap();
    assert_eq!((&now.provenance.level, now.provenance.origins.len()), (&kept.provenance.level, 0));
    assert_eq!(call(&bed, "ann", &format!("DELETE {}", of("memory")), Value::Null).await.0, 204);
    assert_eq!(bed.store.memory(TENANT, AGENT, ann).await.unwrap().provenance, Provenance::default());
}

#[tokio::test]
async fn a_grant_on_an_agent_does_not_share_what_it_keeps() {
    let bed = house(false).await;
    let path = format!("PATCH /api/universal-agents/{AGENT}");
    for (field, change) in [
        ("own_data", json!({"own_data": {"shared": true}})),
        ("metadata", json!({"metadata": {"mcp_tools": ["read"]}})),
        ("tuning", json!({"tuning": {"max_tokens": 77}})),
        ("budget", json!({"budget": "plan"})),
    ] {
        let (status, problem) = call(&bed, "edna", &path, change.clone()).await;
        assert_eq!((status, &problem["code"]), (403, &json!("operator_only")), "{change}: {problem}");
        assert_eq!(problem["field"], field);
        assert_eq!(call(&bed, "olga", &path, change).await.0, 200, "{field}");
    }
    let own = json!({"name": "scribe", "instructions": "Write.", "deep": {"enabled": true}});
    let (status, changed) = call(&bed, "edna", &path, own).await;
    assert_eq!((status, &changed["name"], &changed["own_data"]["shared"]), (200, &json!("scribe"), &json!(true)));
}
