//! Skills, credentials and packages through the API and the real executors.

use crate::api_routes::house::{House, key, text};
use reqwest::Method;
use serde_json::{Value, json};
use steward_testkit::model_server::{Behaviour, Script};

const CANARY: &str = "canary-7f3a91c2e5-do-not-tell";

fn house() -> House {
    House::with_people(
        Script::of([Behaviour::text("A heron.")]),
        &[("ann", "developer"), ("vic", "viewer"), ("root", "admin")],
    )
}

fn averages() -> Value {
    json!({
        "name": "averages",
        "description": "Mean of numbers.",
        "type": "python_inline",
        "config": {"code": "import statistics\n\ndef run(payload):\n    return {'mean': statistics.mean(payload['values'])}\n"},
        "parameters": {"type": "object", "required": ["values"], "additionalProperties": false,
            "properties": {"values": {"type": "array", "items": {"type": "number"}}}},
    })
}

#[test]
fn a_skill_is_made_attached_tried_changed_and_taken_back() {
    let house = house();
    let agent = house.agent();
    let path = format!("/api/universal-agents/{agent}/skills:create_and_attach");
    let made = house.post(&path, averages(), 201);
    assert_eq!(made["created"], true);
    assert_eq!(made["skill"]["type"], "python", "aliases are taken");
    assert_eq!(made["skill"]["risk"], "read");
    let again = house.post(&path, averages(), 200);
    assert_eq!(again["created"], false);
    assert_eq!(again["skill"]["version"], 1, "the same makes no version");
    let id = text(&made["skill"]["id"]);
    let agent_now = house.get(&format!("/api/agents/{agent}"));
    assert_eq!(agent_now["skills"], json!([id]));

    let skill = format!("/api/skills/{id}");
    let test = format!("{skill}/test");
    let call = json!({"arguments": {"values": [1, 2, 6]}, "dry_run": false});
    let tried = house.post(&test, call, 200);
    assert_eq!(tried["ok"], true, "{tried}");
    assert_eq!(tried["data"], json!({"mean": 3}));
    let wrong = house.post(&test, json!({"arguments": {"values": "many"}}), 422);
    assert_eq!(wrong["field"], "arguments");

    let mut changed = averages();
    changed["description"] = json!("Arithmetic mean of numbers.");
    let second = house.send(Method::PUT, &skill, Some(changed), 200);
    assert_eq!(second["version"], 2);
    let back = house.post(&format!("{skill}/rollback"), json!({"version": 1}), 200);
    assert_eq!((&back["version"], &back["description"]), (&json!(3), &json!("Mean of numbers.")));
    assert_eq!(house.items(&format!("{skill}/versions")).len(), 3);
    assert_eq!(house.items("/api/skills?text=MEAN").len(), 1);
    assert_eq!(house.items("/api/skills?kind=ssh").len(), 0);

    house.send(Method::DELETE, &skill, None, 204);
    let agent_now = house.get(&format!("/api/agents/{agent}"));
    assert_eq!(agent_now["skills"], json!([]));
}

#[test]
fn what_cannot_be_a_skill_is_refused_by_its_field() {
    let house = house();
    let with = |key: &str, value: Value| {
        let mut skill = averages();
        skill[key] = value;
        skill
    };
    for (bad, field) in [
        (with("name", json!("No Name")), "name"),
        (with("name", json!("read")), "name"),
        (with("type", json!("telepathy")), "type"),
        (with("config", json!({"cod": "x"})), "config.cod"),
        (with("config", json!({"code": "print(1)"})), "config"),
        (with("parameters", json!({"type": "array"})), "parameters"),
        (with("description", json!("  ")), "description"),
    ] {
        let problem = house.post("/api/skills", bad.clone(), 422);
        assert_eq!(problem["field"], field, "{bad}: {problem}");
        assert!(problem["hint"].is_string());
    }
    let shell = json!({"name": "count", "description": "Counts.", "type": "shell", "config": {"command": ["wc"]}});
    let as_ann = house.call_as(&key("ann"), Method::POST, "/api/skills", Some(shell.clone()));
    assert_eq!(as_ann.0, 403, "programs are an operator's to offer");
    assert_eq!(house.call_as(&key("root"), Method::POST, "/api/skills", Some(shell)).0, 201);
    let as_vic = house.call_as(&key("vic"), Method::POST, "/api/skills", Some(averages()));
    assert_eq!(as_vic.0, 403);
}

#[test]
fn an_agent_is_patched_and_keeps_the_rest() {
    let house = house();
    let agent = house.agent();
    let path = format!("/api/universal-agents/{agent}");
    let patch = json!({"metadata": {"academy_status": "graduated", "team": "blue"}});
    let changed = house.send(Method::PATCH, &path, Some(patch), 200);
    assert_eq!(changed["metadata"]["academy_status"], "graduated");
    assert_eq!(changed["name"], "steward");
    let patch = json!({"metadata": {"team": null}});
    let changed = house.send(Method::PATCH, &path, Some(patch), 200);
    assert_eq!(changed["metadata"], json!({"academy_status": "graduated"}));
    let bad = house.send(Method::PATCH, &path, Some(json!({"colour": "red"})), 422);
    assert!(text(&bad["title"]).contains("colour"));
    assert_eq!(bad["field"], "colour", "{bad}");
}

#[test]
fn a_secret_goes_in_and_never_comes_back() {
    let house = house();
    let input = json!({"name": "shop", "kind": "token", "fields": {"token": CANARY}});
    let as_ann = house.call_as(&key("ann"), Method::POST, "/api/credentials", Some(input.clone()));
    assert_eq!(as_ann.0, 403);
    let made = house.post("/api/credentials", input.clone(), 201);
    assert_eq!(made["secret"], json!(["token"]));
    let clash = house.post("/api/credentials", input, 409);
    assert_eq!(clash["code"], "conflict");
    let missing = json!({"name": "other", "kind": "token", "fields": {}});
    assert_eq!(house.post("/api/credentials", missing, 422)["field"], "fields");
    let path = format!("/api/credentials/{}", text(&made["id"]));
    let rotate = "/api/credentials/rotate";
    assert_eq!(house.call(Method::POST, rotate, None).0, 403);
    let (status, rotated) = house.call_as(&key("root"), Method::POST, rotate, None);
    assert_eq!((status, &rotated["resealed"]), (200, &json!(1)));
    for shown in [house.get("/api/credentials"), house.get(&path), house.get(&format!("{path}/uses")), made, clash] {
        assert!(!shown.to_string().contains(CANARY), "{shown}");
    }
    assert!(!house.server.said().contains(CANARY));
    let data = house.bench.data();
    let holds = |file: &std::path::Path| {
        let bytes = std::fs::read(file).unwrap_or_default();
        bytes.windows(CANARY.len()).any(|part| part == CANARY.as_bytes())
    };
    for entry in std::fs::read_dir(&data).unwrap() {
        let file = entry.unwrap().path();
        assert!(!file.is_file() || !holds(&file), "{}", file.display());
    }
    house.send(Method::DELETE, &path, None, 204);
    assert!(house.items("/api/credentials").is_empty());
}

#[test]
fn a_ready_package_becomes_prompt_and_references() {
    let house = house();
    let agent = house.agent();
    let ready = house.get("/api/skills/ready-packages");
    assert_eq!(ready.as_array().unwrap().len(), 4, "{ready}");
    let taken = house.send(Method::POST, "/api/skills/import-package?ready=infra-agent", None, 201);
    assert_eq!(taken["state"], "quarantined");
    assert!(house.items("/api/skills?package=infra-agent").is_empty(), "nothing is used unseen");
    let accept = json!({"hash": "0".repeat(64)});
    assert_eq!(house.post("/api/skills/packages/infra-agent/accept", accept, 409)["code"], "package");
    let path = format!("/api/universal-agents/{agent}/import-skill-pack?ready=infra-agent");
    let active = house.send(Method::POST, &path, None, 201);
    assert_eq!(active["packages"][0]["state"], "active");
    let skills = house.items("/api/skills?package=infra-agent");
    assert!(!skills.is_empty());
    assert_eq!(skills[0]["type"], "internal");
    assert_eq!(house.items(&format!("/api/skills?agent={agent}")).len(), skills.len());
    house.send(Method::DELETE, "/api/skills/packages/infra-agent", None, 204);
    assert!(house.items(&format!("/api/skills?agent={agent}")).is_empty());
    let unknown = house.send(Method::POST, "/api/skills/import-package?ready=nothing", None, 422);
    assert_eq!(unknown["field"], "ready");
}
