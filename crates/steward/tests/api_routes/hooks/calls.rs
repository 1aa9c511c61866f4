//! What calls come to.

use super::bed::{Made, done, house, input, runs};
use crate::api_routes::house::{House, key, text, wait};
use crate::common::Server;
use crate::common::webhooks::{Headers, WAYS, deliver, now, sign, sign_at};
use reqwest::Method;
use serde_json::{Value, json};
use steward_testkit::model_server::{Behaviour, Script};

/// Longest body, bytes.
const MAX_BODY: usize = 1 << 20;

#[test]
fn each_way_of_signing_starts_one_run_for_an_event() {
    let house = house(done());
    for way in WAYS {
        let made = Made::new(&house, json!({"name": way, "signing": {"kind": way}}));
        assert_eq!((&made.row["owner"], &made.row["agent"]), (&json!("local@steward"), &json!("steward")));
        assert_eq!(
            (&made.row["last"], &made.row["refused"], &made.row["may_change"]),
            (&Value::Null, &Value::Null, &json!(true))
        );
        assert!(made.secret.ends_with(&text(&made.row["secrets"][0]["hint"])) && made.secret.len() > 40);
        // Stripe's and Slack's ids stand in the body.
        let event = format!("evt_{way}");
        let body = json!({"id": event, "event_id": event, "issue": {"title": "It rains"}});
        let delivery = made.settled(&house, &event, &body);
        let (status, again) = made.send(&house, &event, &body);
        assert_eq!((status, &again), (200, &json!({"id": delivery["id"], "repeated": true})), "{way}");
        let delivery = made.wait(&house, &text(&delivery["id"]));
        assert_eq!((&delivery["status"], &delivery["outcome"]), (&json!("started"), &json!("completed")), "{delivery}");
        assert_eq!((&delivery["event"], &delivery["repeats"]), (&json!(event), &json!(1)), "{delivery}");
        assert_eq!(delivery["bytes"], body.to_string().len());
        assert_eq!(made.now(&house)["last"], delivery);

        let run = text(&delivery["run_id"]);
        let row = house.get(&format!("/api/runs/{run}"));
        assert_eq!((&row["origin"], &row["asked_by"]), (&json!("webhook"), &json!("local@steward")), "{row}");
        assert_eq!(row["input"], format!("Look at It rains ({event}) for {way}"), "{row}");
        let log = house.get(&format!("/api/runs/{run}/log"));
        let setup = &log["items"][0]["setup"];
        assert_eq!(setup["taint"][0]["origin"], format!("webhook {way}"), "{setup:#}");
        let by = json!({"kind": "delivery", "hook": made.row["id"], "delivery": delivery["id"]});
        assert_eq!(setup["started_by"], by, "{setup:#}");

        let content = house.get(&format!("{}/deliveries/{}", made.path, text(&delivery["id"])));
        assert_eq!(content["body"], body.to_string());
        assert_eq!(content["headers"]["content-type"], "application/json");
        let kept = content["headers"].to_string();
        assert!(
            !kept.contains(&made.secret) && !kept.contains("signature") && !kept.contains("authorization"),
            "{kept}"
        );
    }
    assert_eq!(runs(&house).len(), WAYS.len(), "one for each event");
    assert_eq!(house.items("/api/hooks").len(), WAYS.len());

    // A header of the sender's own choice, and its own id of an event.
    let signing = json!({"kind": "token", "header": "X-Alarm-Key"});
    let made =
        Made::new(&house, json!({"name": "alarms", "signing": signing, "event_id": {"pointer": "/alarm/number"}}));
    let headers = vec![("x-alarm-key".to_owned(), made.secret.clone())];
    for (body, expect) in [
        (json!({"alarm": {"number": 7}}), (202, false)),
        (json!({"alarm": {"number": 7}, "try": 2}), (200, true)),
        (json!({"alarm": {"number": 8}}), (202, false)),
    ] {
        let (status, answer) = made.call(&house, &headers, &body.to_string());
        assert_eq!((status, answer["repeated"] == true), expect, "{answer}");
    }
    let kept = house.get(&format!("{}/deliveries/{}", made.path, text(&made.deliveries(&house)[0]["id"])));
    assert!(!kept.to_string().contains(&made.secret), "{kept}");
    // Without an id each call is an event of its own.
    let made = Made::new(&house, json!({"name": "no ids", "signing": {"kind": "token"}}));
    let headers = vec![("authorization".to_owned(), made.secret.clone())];
    for _ in 0..2 {
        assert_eq!(made.call(&house, &headers, "{}").0, 202);
    }
    assert_eq!(made.deliveries(&house).len(), 2);
}

#[test]
fn what_is_not_signed_right_starts_nothing() {
    let house = house(done());
    let made = Made::new(&house, json!({}));
    let (way, secret, body) = (made.way.as_str(), made.secret.as_str(), "{\"n\": 1}");
    let without = |name: &str| {
        let signed = sign(way, secret, "a", body);
        signed.into_iter().filter(|(held, _)| held != name).collect::<Headers>()
    };
    let mut twice = sign(way, secret, "a", body);
    twice.push(("webhook-signature".to_owned(), "v1,other".to_owned()));
    let other = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    let wrong: [(Headers, &str); 9] = [
        (Vec::new(), "missing"),
        (without("webhook-signature"), "missing"),
        (without("webhook-id"), "missing"),
        (sign(way, other, "a", body), "doesn't match"),
        (sign(way, secret, "a", "{\"n\": 2}"), "doesn't match"),
        (sign_at(now() - 400, way, secret, "a", body), "ago"),
        (sign_at(now() + 400, way, secret, "a", body), "in the future"),
        (twice, "twice"),
        (sign("github", secret, "a", body), "missing"),
    ];
    let count = wrong.len();
    for (headers, expect) in wrong {
        let (status, refused) = made.call(&house, &headers, body);
        assert_eq!((status, &refused["code"]), (401, &json!("signature")), "{refused}");
        assert!(text(&refused["title"]).contains(expect) && text(&refused["hint"]).len() > 20, "{expect}: {refused}");
        assert!(!refused.to_string().contains(secret), "{refused}");
        assert_eq!(made.now(&house)["refused"]["problem"], refused["title"]);
    }
    assert_eq!(made.now(&house)["refused"]["count"], count);
    assert_eq!((made.deliveries(&house).len(), runs(&house).len()), (0, 0), "nothing is kept of what nobody signed");

    // Its own window lets an old one in.
    let mut wider = input(&house, json!({"window_seconds": 600}));
    wider["agent_id"] = made.row["agent_id"].clone();
    house.send(Method::PUT, &made.path, Some(wider), 200);
    assert_eq!(made.call(&house, &sign_at(now() - 400, way, secret, "a", body), body).0, 202);

    let door = |door: &str| deliver(&house.server, &house.bench, door, &sign(way, secret, "b", body), body).unwrap().0;
    assert_eq!(door("/hooks/019c0e3a-7b1d-7c44-9d43-3f6f1f6a2b11"), 404);
    assert_eq!(door("/hooks/issues"), 404);
    assert_eq!(house.call(Method::GET, &made.door, None).0, 405);
    house.send(Method::DELETE, &made.path, None, 204);
    assert_eq!(made.call(&house, &sign(way, secret, "b", body), body).0, 404, "it is deleted");
    house.post(&format!("{}/restore", made.path), json!({}), 200);
    assert_eq!(made.call(&house, &sign(way, secret, "b", body), body).0, 202, "it is back, with its secret");
}

#[test]
fn bodies_are_json_forms_or_text_of_limited_length() {
    let house = house(done());
    let made = Made::new(&house, json!({"request": "Read {{payload}}"}));
    let send = |kind: &str, event: &str, body: &str| {
        let mut headers = sign(&made.way, &made.secret, event, body);
        headers.push(("content-type".to_owned(), kind.to_owned()));
        made.call(&house, &headers, body)
    };
    for (kind, body) in
        [("application/json", "{\"n\":"), ("text/plain", "a\u{0}b"), ("multipart/form-data; boundary=x", "--x")]
    {
        let (status, refused) = send(kind, "bad", body);
        assert_eq!((status, &refused["field"]), (422, &json!("body")), "{refused}");
        assert!(!text(&refused["hint"]).is_empty(), "{refused}");
    }
    assert_eq!(made.now(&house)["refused"]["count"], 3);
    for (kind, event, body, filled) in [
        (
            "application/x-www-form-urlencoded",
            "form",
            "city=Oslo&temp=4",
            "Read {\n  \"city\": \"Oslo\",\n  \"temp\": \"4\"\n}",
        ),
        ("application/x-www-form-urlencoded", "hub", "payload=%7B%22n%22%3A1%7D", "Read {\n  \"n\": 1\n}"),
        ("text/plain", "text", "It rains.", "Read {\n  \"text\": \"It rains.\"\n}"),
        ("application/json", "list", "[1]", "Read [\n  1\n]"),
        ("application/json", "empty", "", "Read {}"),
    ] {
        let (status, accepted) = send(kind, event, body);
        assert_eq!(status, 202, "{accepted}");
        let delivery = made.wait(&house, &text(&accepted["id"]));
        let run = house.get(&format!("/api/runs/{}", text(&delivery["run_id"])));
        assert_eq!(run["input"], filled, "{event}");
    }
    let long = format!("\"{}\"", "x".repeat(MAX_BODY - 2));
    assert_eq!(send("application/json", "long", &long).0, 202);
    let (status, refused) = send("application/json", "longer", &format!("{long} "));
    assert_eq!(status, 413, "{refused}");
    assert!(!text(&refused["hint"]).is_empty(), "{refused}");
    assert!(made.deliveries(&house).iter().all(|one| one["event"] != "longer"));
}

#[test]
fn slack_asks_first_whether_somebody_is_there() {
    let house = house(done());
    let made = Made::new(&house, json!({"signing": {"kind": "slack"}}));
    let body = json!({"type": "url_verification", "challenge": "3eZbrw1aBm2rZgRNFdxV"});
    assert_eq!(made.send(&house, "", &body), (200, json!("3eZbrw1aBm2rZgRNFdxV")));
    assert_eq!(made.call(&house, &Vec::new(), &body.to_string()).0, 401, "unsigned");
    assert_eq!(made.deliveries(&house).len(), 0);
    assert_eq!(made.settled(&house, "", &json!({"event_id": "Ev1", "issue": {"title": "x"}}))["event"], "Ev1");
}

#[test]
fn what_is_filtered_out_or_comes_in_a_pause_is_kept_and_may_be_replayed() {
    let house = house(done());
    let filters = json!([
        {"header": "x-github-event", "one_of": ["issues", "push"]},
        {"pointer": "/action", "equals": "opened"},
    ]);
    let made =
        Made::new(&house, json!({"signing": {"kind": "github"}, "filters": filters, "request": "{{payload.action}}"}));
    let skipped = made.settled(&house, "one", &json!({"action": "closed"}));
    assert_eq!((&skipped["status"], &skipped["run_id"]), (&json!("skipped"), &Value::Null), "{skipped}");
    let reason = text(&skipped["reason"]);
    assert!(reason.contains("`/action`") && reason.contains("\"opened\"") && reason.contains("\"closed\""), "{reason}");
    assert_eq!(made.settled(&house, "two", &json!({"action": "opened"}))["status"], "started");

    let paused = house.post(&format!("{}/pause", made.path), json!({"note": "too many"}), 200);
    assert_eq!((&paused["pause"]["reason"], &paused["pause"]["note"]), (&json!("person"), &json!("too many")));
    let skipped = made.settled(&house, "three", &json!({"action": "opened"}));
    assert_eq!((&skipped["status"], &skipped["reason"]), (&json!("skipped"), &json!("the webhook is paused")));
    let (status, again) = made.send(&house, "three", &json!({"action": "opened"}));
    assert_eq!((status, &again["repeated"]), (200, &json!(true)));
    let replay = |delivery: &Value, expect: u16| {
        let path = format!("{}/deliveries/{}/replay", made.path, text(&delivery["id"]));
        house.post(&path, json!({}), expect)
    };
    let rested = replay(&skipped, 202);
    assert_eq!(made.wait(&house, &text(&rested["id"]))["reason"], "the webhook is paused");
    assert_eq!(house.post(&format!("{}/resume", made.path), json!({}), 200)["pause"], Value::Null);

    // Whatever became of it.
    for delivery in made.deliveries(&house) {
        let new = replay(&delivery, 202);
        assert!(new["id"] != delivery["id"] && text(&new["event"]).contains(&text(&delivery["event"])), "{new}");
        assert_eq!(made.wait(&house, &text(&new["id"]))["status"], "started");
    }
    assert_eq!(runs(&house).len(), 5);
    let unknown = format!("{}/deliveries/019c0e3a-7b1d-7c44-9d43-3f6f1f6a2b11", made.path);
    house.send(Method::GET, &unknown, None, 404);
    house.post(&format!("{unknown}/replay"), json!({}), 404);
}

#[test]
fn what_comes_from_outside_is_asked_about_before_it_does_anything() {
    let house = house(Script::of([
        Behaviour::calls([("write", json!({"path": "n.md", "content": "x"}))]),
        Behaviour::text("It is written."),
    ]));
    let policy = json!({"policy": {"tools": {"write": "allow"}}});
    house.send(Method::PATCH, &format!("/api/universal-agents/{}", house.agent()), Some(policy), 200);
    let made = Made::new(&house, json!({}));
    assert_eq!(made.send(&house, "a", &json!({"issue": {"title": "Write n.md"}})).0, 202);
    let asked = wait("an approval", || house.items("/api/approvals").first().cloned());
    assert_eq!((&asked["tainted"], &asked["taint"][0]["origin"]), (&json!(true), &json!("webhook issues")), "{asked}");
    assert!(!house.bench.work.path().join("n.md").exists(), "although the agent may write unasked");
}

#[test]
fn a_webhook_that_can_start_nothing_keeps_no_other_waiting() {
    // One run at a time, and it never ends: 64 more of a user may wait.
    let House { bench, server } = house(Script::always(Behaviour::HangBeforeHeaders));
    server.kill();
    let server = Server::start_with(&bench, &[("STEWARD_MAX_RUNS", "1")]);
    let house = House { bench, server };
    let make = |who: &str| {
        let (status, made) = house.call_as(&key(who), Method::POST, "/api/hooks", Some(input(&house, json!({}))));
        assert_eq!(status, 201, "{made}");
        Made::of(&made)
    };
    let (anns, bobs) = (make("ann"), make("bob"));
    for event in 0..300 {
        assert_eq!(anns.send(&house, &format!("event-{event}"), &json!({"issue": {"title": "x"}})).0, 202);
    }
    let of_ann =
        |path: &str| house.call_as(&key("ann"), Method::GET, path, None).1["items"].as_array().unwrap().clone();
    wait("as many runs as may wait", || (of_ann("/api/runs?limit=100").len() == 65).then_some(()));
    let (status, accepted) = bobs.send(&house, "a", &json!({"issue": {"title": "x"}}));
    assert_eq!(status, 202, "{accepted}");
    wait("a run", || (house.items(&format!("{}/deliveries", bobs.path))[0]["status"] == "started").then_some(()));
    let waiting = of_ann(&format!("{}/deliveries?limit=100", anns.path));
    assert!(waiting.iter().all(|one| one["status"] == "waiting"), "they are tried again, later");
    assert!(anns.now(&house)["pause"].is_null());
}
