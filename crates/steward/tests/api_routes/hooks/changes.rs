//! What may be set, by whom, and what pauses and ends webhooks.

use super::bed::{Made, done, house, input, runs};
use crate::api_routes::governance::places;
use crate::api_routes::house::{key, text, wait};
use crate::common::webhooks::sign;
use reqwest::Method;
use serde_json::{Value, json};
use std::time::Duration;
use steward_testkit::model_server::{Behaviour, Script};

#[test]
fn a_call_is_tried_without_its_consequences() {
    let house = house(done());
    let more = json!({"signing": {"kind": "github"}, "filters": [{"pointer": "/action", "equals": "opened"}]});
    let made = Made::new(&house, more);
    let try_out = |headers: Value, body: &str, expect: u16| {
        house.post(&format!("{}/preview", made.path), json!({"headers": headers, "body": body}), expect)
    };
    let body = json!({"action": "opened", "issue": {"title": "It rains"}}).to_string();
    let seen = try_out(json!({"X-GitHub-Delivery": "d1"}), &body, 200);
    let request = "Look at It rains (d1) for issues";
    assert_eq!(seen, json!({"starts": true, "reason": null, "event": "d1", "request": request}));
    let seen = try_out(json!({}), "{}", 200);
    assert_eq!((&seen["starts"], &seen["event"]), (&json!(false), &Value::Null), "{seen}");
    assert!(text(&seen["reason"]).contains("`/action`"), "{seen}");
    house.post(&format!("{}/pause", made.path), json!({}), 200);
    assert_eq!(try_out(json!({}), &body, 200)["reason"], "the webhook is paused");
    assert_eq!(try_out(json!({"content-type": "application/json"}), "{", 422)["field"], "body");
    assert_eq!((made.deliveries(&house).len(), runs(&house).len()), (0, 0));
}

#[test]
fn a_secret_follows_another() {
    let house = house(done());
    let made = Made::new(&house, json!({}));
    let door = |secret: &str, event: &str| made.call(&house, &sign("standard", secret, event, "{}"), "{}").0;
    let add =
        |secret: Value, expect: u16| house.post(&format!("{}/secrets", made.path), json!({"secret": secret}), expect);
    let added = add(Value::Null, 201);
    let new = text(&added["secret"]);
    assert_eq!(added["hook"]["secrets"].as_array().unwrap().len(), 2);
    assert_eq!((door(&made.secret, "old"), door(&new, "new")), (202, 202), "both count");
    let old = format!("{}/secrets/{}", made.path, text(&made.row["secrets"][0]["id"]));
    let left = house.send(Method::DELETE, &old, None, 200);
    assert_eq!(left["secrets"].as_array().unwrap().len(), 1);
    assert_eq!((door(&made.secret, "old 2"), door(&new, "new-2")), (401, 202), "the old one counts no longer");
    house.send(Method::DELETE, &old, None, 404);
    let last = format!("{}/secrets/{}", made.path, text(&left["secrets"][0]["id"]));
    assert_eq!(house.send(Method::DELETE, &last, None, 409)["code"], "last_secret");

    // The sender's own.
    let own = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    assert_eq!(add(json!(format!(" {own}\n")), 201)["secret"], own);
    assert_eq!(door(own, "own"), 202);
    for bad in ["", "whsec_short", "not base64!", "whsk_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"] {
        let refused = add(json!(bad), 422);
        assert_eq!(refused["field"], "secret", "{refused}");
        assert!(bad.is_empty() || !refused.to_string().contains(bad), "{refused}");
    }
    for _ in 0..3 {
        add(Value::Null, 201);
    }
    assert_eq!(add(Value::Null, 409)["code"], "too_many_secrets");
    // Nobody is told them again, and they are no credentials of skills.
    for path in [made.path.as_str(), "/api/hooks", "/api/credentials"] {
        let shown = house.get(path).to_string();
        assert!(!shown.contains(&new) && !shown.contains(own), "{path}: {shown}");
    }
    // Another way of signing must suit the secrets that are there.
    let other = input(&house, json!({"signing": {"kind": "github"}}));
    house.send(Method::PUT, &made.path, Some(other), 200);
    let given = Made::new(&house, json!({"signing": {"kind": "token"}, "secret": "a heron stands"}));
    assert_eq!(given.secret, "a heron stands");
    let refused = house.send(Method::PUT, &given.path, Some(input(&house, json!({}))), 422);
    assert_eq!(refused["field"], "signing", "{refused}");
    let refused = house.send(Method::PUT, &given.path, Some(input(&house, json!({"secret": "another one"}))), 422);
    assert_eq!(refused["field"], "secret", "{refused}");
    // Calls open the vault once for each version of a webhook, whoever makes them.
    let uses = || {
        house
            .call_as(&key("root"), Method::GET, "/api/audit?limit=100", None)
            .1
            .to_string()
            .matches("\"webhook\"")
            .count()
    };
    assert_eq!(given.call(&house, &Vec::new(), "{}").0, 401);
    let before = uses();
    // After two seconds the webhook is read anew.
    std::thread::sleep(Duration::from_millis(2_100));
    assert_eq!(given.call(&house, &Vec::new(), "{}").0, 401);
    assert_eq!(uses(), before);
}

#[test]
fn only_its_owner_changes_it_and_reads_what_came() {
    let house = house(done());
    let as_who =
        |name: &str, method: Method, path: &str, body: Option<Value>| house.call_as(&key(name), method, path, body);
    let (status, made) = as_who("ann", Method::POST, "/api/hooks", Some(input(&house, json!({}))));
    assert_eq!(status, 201, "{made}");
    let made = Made::of(&made);
    assert_eq!(made.row["owner"], "ann@example.org");
    assert_eq!(as_who("vic", Method::POST, "/api/hooks", Some(input(&house, json!({})))).0, 403);
    let virtual_key = as_who("ann", Method::POST, "/api/keys", Some(json!({"name": "prog", "agents": ["steward"]})));
    let virtual_key = text(&virtual_key.1["secret"]);
    let (status, refused) = house.call_as(&virtual_key, Method::POST, "/api/hooks", Some(input(&house, json!({}))));
    assert_eq!((status, &refused["code"]), (403, &json!("virtual_key")), "{refused}");

    let (status, accepted) = made.send(&house, "a", &json!({"issue": {"title": "x"}}));
    assert_eq!(status, 202, "{accepted}");
    let (path, delivery) = (made.path.as_str(), format!("{}/deliveries/{}", made.path, text(&accepted["id"])));
    for (who, status) in [("bob", 404), ("vic", 404), ("oli", 200), ("ann", 200)] {
        assert_eq!(as_who(who, Method::GET, path, None).0, status, "{who}");
        assert_eq!(as_who(who, Method::GET, &format!("{path}/deliveries"), None).0, status, "{who}");
    }
    let seen = |who: &str, query: &str| {
        as_who(who, Method::GET, &format!("/api/hooks{query}"), None).1["items"].as_array().unwrap().len()
    };
    assert_eq!((seen("ann", ""), seen("bob", ""), seen("oli", ""), seen("oli", "?mine=true")), (1, 0, 1, 0));
    let secret = format!("{path}/secrets/{}", text(&made.row["secrets"][0]["id"]));
    for (method, path, body) in [
        (Method::PUT, path.to_owned(), Some(input(&house, json!({})))),
        (Method::GET, delivery.clone(), None),
        (Method::POST, format!("{delivery}/replay"), Some(json!({}))),
        (Method::POST, format!("{path}/secrets"), Some(json!({}))),
        (Method::DELETE, secret, None),
    ] {
        let (status, refused) = as_who("oli", method.clone(), &path, body.clone());
        assert_eq!(status, 403, "{path}: {refused}");
        assert!(text(&refused["title"]).contains("its owner"), "{refused}");
        assert_eq!(as_who("bob", method, &path, body).0, 404, "{path}");
    }
    let pause = format!("{path}/pause");
    assert_eq!(as_who("bob", Method::POST, &pause, Some(json!({}))).0, 404);
    assert_eq!(as_who("oli", Method::POST, &pause, Some(json!({"note": "too loud"}))).0, 200);
    assert_eq!(as_who("oli", Method::POST, &format!("{path}/resume"), Some(json!({}))).0, 403);
    assert_eq!(as_who("ann", Method::POST, &format!("{path}/resume"), Some(json!({}))).0, 200);
    let found = wait("a run", || {
        let found = as_who("ann", Method::GET, &delivery, None).1["delivery"].clone();
        found["outcome"].is_string().then_some(found)
    });
    let run = as_who("ann", Method::GET, &format!("/api/runs/{}", text(&found["run_id"])), None).1;
    assert_eq!((&run["origin"], &run["asked_by"]), (&json!("webhook"), &json!("ann@example.org")), "{run}");
    assert_eq!(as_who("oli", Method::DELETE, path, None).0, 204);
    assert_eq!(as_who("oli", Method::POST, &format!("{path}/restore"), Some(json!({}))).0, 403);
    assert_eq!(seen("ann", "?deleted=true"), 1);
    assert_eq!(as_who("ann", Method::POST, &pause, Some(json!({}))).1["code"], "deleted");
    assert_eq!(as_who("ann", Method::POST, &format!("{path}/restore"), Some(json!({}))).0, 200);
    assert_eq!(as_who("ann", Method::POST, &format!("{path}/restore"), Some(json!({}))).1["code"], "not_deleted");
}

#[test]
fn what_can_not_be_is_refused_by_its_field() {
    let house = house(done());
    let pointer = |test: Value| {
        let mut filter = json!({"pointer": "/a"});
        filter.as_object_mut().unwrap().extend(test.as_object().unwrap().clone());
        json!([filter])
    };
    for (field, value) in [
        ("name", json!("")),
        ("request", json!("  ")),
        ("request", json!("x".repeat(20_001))),
        ("request", json!("{{payload.a")),
        ("request", json!("{{secret}}")),
        ("request", json!("{{header.authorization}}")),
        ("agent_id", json!("019c0e3a-7b1d-7c44-9d43-3f6f1f6a2b11")),
        ("window_seconds", json!(9)),
        ("window_seconds", json!(86_401)),
        ("pause_after_failures", json!(0)),
        ("pause_after_failures", json!(1_001)),
        ("signing", json!({"kind": "pgp"})),
        ("signing", json!({"kind": "github", "header": "x-key"})),
        ("signing", json!({"kind": "token", "header": "x key"})),
        ("event_id", json!({"header": "authorization"})),
        ("event_id", json!({"pointer": "id"})),
        ("filters", pointer(json!({}))),
        ("filters", pointer(json!({"equals": 1, "exists": true}))),
        ("filters", pointer(json!({"one_of": []}))),
        ("filters", json!([{"equals": 1}])),
        ("filters", json!([{"pointer": "/a", "equals": "x".repeat(4_001)}])),
        ("filters", json!(vec![json!({"pointer": "/a", "equals": 1}); 21])),
        ("secret", json!("short")),
        ("more", json!(1)),
    ] {
        let refused = house.post("/api/hooks", input(&house, json!({field: value})), 422);
        assert!(text(&refused["field"]).starts_with(field), "{field}: {refused}");
    }
    // The sender's secret is read as a secret only.
    let signing = json!({"kind": "token", "header": "X-Key"});
    for (field, value) in
        [("event_id", json!({"header": "x-key"})), ("filters", json!([{"header": "x-key", "contains": "a"}]))]
    {
        let refused = house.post("/api/hooks", input(&house, json!({"signing": signing, field: value})), 422);
        assert_eq!(refused["field"], field, "{refused}");
    }
    assert!(house.items("/api/hooks").is_empty());
    house.post("/api/hooks", input(&house, json!({})), 201);
    steward_testkit::database::change(
        &house.bench.data(),
        "with recursive n (i) as (select 1 union all select i + 1 from n where i < 199)
         insert into hooks select tenant_id, randomblob(16), owner_id, agent_id, body, resumed_at, revision, created_at,
                                  updated_at, deleted_at from hooks join n",
    );
    assert_eq!(house.post("/api/hooks", input(&house, json!({})), 409)["code"], "too_many_hooks");
}

#[test]
fn failing_pauses_it_and_so_does_a_lost_right() {
    let house = house(Script::always(Behaviour::server_error(400)));
    let body = json!({"issue": {"title": "x"}});
    let made = Made::new(&house, json!({"pause_after_failures": 3}));
    for event in ["a", "b", "c"] {
        let failed = made.settled(&house, event, &body);
        assert_eq!((&failed["status"], &failed["outcome"]), (&json!("started"), &json!("failed")), "{failed}");
    }
    assert_eq!(made.now(&house)["failures"], 3);
    let skipped = made.settled(&house, "d", &body);
    assert_eq!((&skipped["status"], &skipped["reason"]), (&json!("skipped"), &json!("the webhook is paused")));
    let paused = made.now(&house);
    assert_eq!(paused["pause"]["reason"], "failures", "{paused}");
    assert!(text(&paused["pause"]["note"]).starts_with("3 runs failed"), "{paused}");
    let (_, noted) = house.call_as(&key("root"), Method::GET, "/api/audit?action=hooks.paused", None);
    assert_eq!(noted["items"].as_array().map(Vec::len), Some(1), "{noted:#?}");
    let resumed = house.post(&format!("{}/resume", made.path), json!({}), 200);
    assert_eq!((&resumed["pause"], &resumed["failures"]), (&Value::Null, &json!(0)), "they count anew");
    assert_eq!(made.settled(&house, "e", &body)["status"], "started");

    let (_, anns) = house.call_as(&key("ann"), Method::POST, "/api/hooks", Some(input(&house, json!({}))));
    let anns = Made::of(&anns);
    let ann = text(&anns.row["owner_id"]);
    let shut_out = Some(json!({"disabled": true}));
    assert_eq!(house.call_as(&key("root"), Method::PATCH, &format!("/api/users/{ann}"), shut_out).0, 200);
    assert_eq!(anns.send(&house, "a", &body).0, 202, "its sender can't help it");
    let paused = wait("a pause", || Some(anns.now(&house)).filter(|now| now["pause"].is_object()));
    assert_eq!(
        (&paused["pause"]["reason"], &paused["last"]["status"]),
        (&json!("owner"), &json!("failed")),
        "{paused}"
    );
    assert!(text(&paused["last"]["reason"]).contains("gone or disabled"), "{paused}");

    // An agent that is gone is nobody's lost right.
    let agent = text(&house.post("/api/agents", json!({"name": "brief"}), 201)["id"]);
    let made = Made::new(&house, json!({"agent_id": agent}));
    house.send(Method::DELETE, &format!("/api/agents/{agent}"), None, 204);
    assert_eq!(made.settled(&house, "a", &body)["status"], "failed");
    let paused = wait("a pause", || Some(made.now(&house)).filter(|now| now["pause"].is_object()));
    assert_eq!(paused["pause"]["reason"], "cannot_start", "{paused}");

    // What one call lacks says nothing about the webhook.
    let made = Made::new(&house, json!({"request": "{{payload.question}}"}));
    let failed = made.settled(&house, "a", &json!({"other": 1}));
    assert_eq!((&failed["status"], &made.now(&house)["pause"]), (&json!("failed"), &Value::Null), "{failed}");
}

#[test]
fn who_is_erased_takes_their_webhooks_along() {
    let house = house(done());
    let (_, anns) = house.call_as(&key("ann"), Method::POST, "/api/hooks", Some(input(&house, json!({}))));
    let anns = Made::of(&anns);
    assert_eq!(anns.send(&house, "a", &json!({"issue": {"title": "canary-wren"}})).0, 202);
    wait("a run", || runs(&house).first().filter(|run| run["status"] == "finished").cloned());
    let bobs = house.call_as(&key("bob"), Method::POST, "/api/hooks", Some(input(&house, json!({})))).1;
    let bobs = Made::of(&bobs);
    let as_root = |method: Method, path: &str, body: Option<Value>| house.call_as(&key("root"), method, path, body).1;
    let user = format!("/api/users/{}", text(&anns.row["owner_id"]));
    let exported = as_root(Method::GET, &format!("{user}/export"), None).to_string();
    assert!(exported.contains("webhook") && exported.contains("canary-wren"), "{exported}");
    let erasure = format!("{user}/erasure");
    let preview = as_root(Method::GET, &erasure, None)["preview"].clone();
    assert!(preview["goes"].as_array().unwrap().contains(&json!({"kind": "webhooks", "count": 1})), "{preview}");
    as_root(Method::POST, &erasure, Some(json!({"confirmation": preview["confirmation"]})));
    wait("the erasure", || as_root(Method::GET, &erasure, None)["erasure"]["done_at"].is_i64().then_some(()));
    assert_eq!(anns.send(&house, "b", &json!({})).0, 404);
    let left = as_root(Method::GET, "/api/hooks", None)["items"].clone();
    assert_eq!(
        left.as_array().unwrap().iter().map(|one| text(&one["id"])).collect::<Vec<_>>(),
        [text(&bobs.row["id"])]
    );
    assert_eq!(bobs.send(&house, "a", &json!({"issue": {"title": "x"}})).0, 202);
    assert_eq!(places(&house.bench.data(), "canary-wren"), [""; 0], "what came for them");
}
