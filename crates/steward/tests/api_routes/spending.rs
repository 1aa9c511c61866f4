use crate::api_routes::house::{House, client, key, text};
use reqwest::Method;
use serde_json::{Value, json};
use steward_testkit::model_server::{Behaviour, Script};

const PEOPLE: [(&str, &str); 4] = [("ann", "developer"), ("bob", "developer"), ("vic", "viewer"), ("root", "admin")];

fn house(answers: usize) -> House {
    let replies = (0..answers).map(|_| Behaviour::text("A heron."));
    House::with_people(Script::of(replies), &PEOPLE)
}

fn as_who(house: &House, name: &str, method: Method, path: &str, body: Option<Value>) -> (u16, Value) {
    house.call_as(&key(name), method, path, body)
}

#[test]
fn budgets_are_set_changed_and_removed_by_operators() {
    let house = house(1);
    let input = json!({"scope": {"kind": "agent", "id": house.agent()}, "period": "day", "tokens": 1000});
    let made = house.post("/api/budgets", input.clone(), 201);
    assert_eq!(made["label"], "steward");
    assert_eq!(made["limit"]["tokens"], 1000);
    assert_eq!(house.post("/api/budgets", input.clone(), 409)["code"], "conflict");
    let path = format!("/api/budgets/{}", text(&made["limit"]["id"]));
    let changed = house.send(Method::PUT, &path, Some(json!({"cost_micros": 5})), 200);
    assert_eq!(changed["limit"]["tokens"], Value::Null);
    assert_eq!(changed["limit"]["cost_micros"], 5);
    for name in ["ann", "vic"] {
        let (status, page) = as_who(&house, name, Method::GET, "/api/budgets", None);
        assert_eq!((status, &page["items"]), (200, &json!([])), "it is not theirs");
        let (status, _) = as_who(&house, name, Method::POST, "/api/budgets", Some(input.clone()));
        assert_eq!(status, 403);
        assert_eq!(as_who(&house, name, Method::DELETE, &path, None).0, 403);
    }
    let nobody = "019c0e3a-7b1d-7c44-9d43-3f6f1f6a2b11";
    for (bad, field) in [
        (json!({"scope": {"kind": "installation"}, "period": "day"}), "tokens"),
        (json!({"scope": {"kind": "installation"}, "period": "week", "tokens": 1}), "period"),
        (json!({"scope": {"kind": "agent", "id": nobody}, "period": "day", "tokens": 1}), "scope"),
        (json!({"scope": {"kind": "user", "id": nobody}, "period": "day", "tokens": 1}), "scope"),
        (json!({"scope": {"kind": "installation"}, "period": "day", "tokens": u64::MAX}), "tokens"),
        (json!({"scope": {"kind": "installation"}, "period": "day", "tokens": 1, "more": 1}), "more"),
    ] {
        let refused = house.post("/api/budgets", bad.clone(), 422);
        assert_eq!(refused["field"], field, "{bad}");
    }
    house.send(Method::DELETE, &path, None, 204);
    house.send(Method::DELETE, &path, None, 404);
}

#[test]
fn a_full_budget_ends_runs_and_usage_is_ones_own() {
    let house = house(3);
    let ask = json!({"model": "steward", "messages": [{"role": "user", "content": "What is it?"}]});
    let (status, answer) = as_who(&house, "ann", Method::POST, "/v1/chat/completions", Some(ask.clone()));
    assert_eq!(status, 200, "{answer}");
    let used = |name: &str, by: &str| {
        let path = format!("/api/usage?by={by}");
        let (status, report) = as_who(&house, name, Method::GET, &path, None);
        assert_eq!(status, 200, "{report}");
        report
    };
    let report = used("ann", "user");
    assert_eq!(report["items"][0]["label"], "ann@example.org");
    assert_eq!(report["items"][0]["calls"], 1, "{report}");
    assert_eq!(report["total"]["calls"], 1);
    assert_eq!(used("bob", "day")["items"], json!([]), "not theirs");
    assert_eq!(used("root", "agent")["items"][0]["label"], "steward");
    let (status, refused) = as_who(&house, "ann", Method::GET, "/api/usage?from=9&to=3", None);
    assert_eq!((status, &refused["field"]), (422, &json!("from")));
    assert_eq!(as_who(&house, "ann", Method::GET, "/api/usage?by=moon", None).0, 422);

    let limit = json!({"scope": {"kind": "installation"}, "period": "month", "tokens": 1});
    house.post("/api/budgets", limit, 201);
    let (status, refused) = as_who(&house, "ann", Method::POST, "/v1/chat/completions", Some(ask));
    assert_eq!(status, 429, "{refused}");
    assert_eq!(refused["error"]["type"], "insufficient_quota");
    let message = text(&refused["error"]["message"]);
    assert!(message.contains("the monthly budget of the installation"), "{message}");
    assert_eq!(used("ann", "user")["total"]["calls"], 1, "nobody was asked");
}

#[test]
fn a_virtual_key_opens_v1_and_nothing_else() {
    let house = house(3);
    let create = |name: &str, body: Value| as_who(&house, name, Method::POST, "/api/keys", Some(body));
    let (status, made) = create(
        "ann",
        json!({"name": "prog", "agents": ["steward"], "requests_per_minute": 2, "budget": {"period": "day", "tokens": 900_000}}),
    );
    assert_eq!(status, 201, "{made}");
    let secret = text(&made["secret"]);
    assert!(secret.starts_with("sk-steward-v-") && secret.starts_with(&text(&made["prefix"])));
    let budgets = house.items("/api/budgets");
    assert_eq!(budgets[0]["label"], "prog");

    for (method, path) in [
        (Method::GET, "/api/auth/me"),
        (Method::GET, "/api/runs"),
        (Method::GET, "/api/keys"),
        (Method::POST, "/api/keys"),
        (Method::GET, "/api/usage"),
    ] {
        let body = (method == Method::POST).then(|| json!({"name": "another"}));
        let (status, refused) = house.call_as(&secret, method, path, body);
        assert_eq!((status, &refused["code"]), (403, &json!("virtual_key")), "{path}");
    }
    let ask = |model: &str| {
        let body = json!({"model": model, "messages": [{"role": "user", "content": "What?"}]});
        house.call_as(&secret, Method::POST, "/v1/chat/completions", Some(body))
    };
    let (status, answer) = ask("steward");
    assert_eq!(status, 200, "{answer}");
    let (_, report) = as_who(&house, "ann", Method::GET, "/api/usage?by=key", None);
    assert_eq!(report["items"][0]["label"], "prog");
    assert_eq!(ask("nobody").0, 404);
    let (status, refused) = ask("steward");
    assert_eq!((status, &refused["error"]["code"]), (429, &json!("rate_limit_exceeded")));

    // Nor does it reach runs of agents that it does not open.
    let (_, other) = create("ann", json!({"name": "other", "agents": ["steward"]}));
    let other_secret = text(&other["secret"]);
    let go_on = |secret: &str, model: &str, before: Value| {
        let body = json!({"model": model, "input": "Go on", "previous_response_id": before});
        house.call_as(secret, Method::POST, "/v1/responses", Some(body))
    };
    let (status, first) = go_on(&other_secret, "steward", Value::Null);
    assert_eq!(status, 200, "{first}");
    let path = format!("/api/keys/{}", text(&other["id"]));
    house.post("/api/agents", json!({"name": "poet"}), 201);
    assert_eq!(as_who(&house, "ann", Method::PATCH, &path, Some(json!({"agents": ["poet"]}))).0, 200);
    let (status, refused) = go_on(&other_secret, "poet", first["id"].clone());
    assert_eq!((status, &refused["error"]["code"]), (400, &json!("previous_response_not_found")), "{refused}");

    let path = format!("/api/keys/{}", text(&made["id"]));
    assert_eq!(as_who(&house, "bob", Method::DELETE, &path, None).0, 404);
    let rename = json!({"name": "renamed", "agents": null, "requests_per_minute": null});
    assert_eq!(as_who(&house, "bob", Method::PATCH, &path, Some(rename.clone())).0, 404);
    let (status, changed) = as_who(&house, "ann", Method::PATCH, &path, Some(rename));
    assert_eq!((status, &changed["name"], &changed["agents"]), (200, &json!("renamed"), &Value::Null));
    assert_eq!(ask("steward").0, 404, "it may use no agent any more");
    let items = |name: &str| as_who(&house, name, Method::GET, "/api/keys", None).1["items"].clone();
    assert_eq!(items("bob"), json!([]));
    let all = items("root");
    assert!(all.as_array().unwrap().iter().any(|one| one["name"] == "renamed"), "{all}");
    assert_eq!(as_who(&house, "root", Method::DELETE, &path, None).0, 204);
    assert_eq!(ask("steward").0, 401, "revoked");
    for (bad, field) in [
        (json!({"name": " "}), "name"),
        (json!({"name": "x", "connections": ["nowhere"]}), "connections"),
        (json!({"name": "x", "agents": ["nobody"]}), "agents"),
        (json!({"name": "x", "requests_per_minute": 0}), "requests_per_minute"),
        (json!({"name": "x", "expires_at": 5}), "expires_at"),
        (json!({"name": "x", "budget": {"period": "day"}}), "tokens"),
        (json!({}), "name"),
    ] {
        let (status, refused) = create("ann", bad.clone());
        assert_eq!((status, &refused["field"]), (422, &json!(field)), "{bad}");
    }
    assert_eq!(create("vic", json!({"name": "x"})).0, 403);
}

#[test]
fn a_repeated_answer_does_not_hold_the_secret() {
    let house = house(0);
    let ask = || {
        let request = client()
            .post(format!("{}/api/keys", house.server.url))
            .bearer_auth(key("ann"))
            .header("idempotency-key", "once")
            .json(&json!({"name": "prog"}));
        house.bench.runtime.block_on(async {
            let answer = request.send().await.unwrap();
            (answer.status().as_u16(), answer.json::<Value>().await.unwrap())
        })
    };
    let (first, second) = (ask(), ask());
    assert_eq!((first.0, second.0), (201, 201));
    assert!(first.1["secret"].is_string());
    assert_eq!(second.1["secret"], Value::Null);
    assert_eq!(first.1["id"], second.1["id"]);
}
