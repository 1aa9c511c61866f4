//! Addresses are told what happens, by the real server.

use crate::api_routes::house::{House, key, text, wait};
use crate::common::receiver::{Came, Receiver};
use crate::common::webhooks::sign_at;
use crate::common::{Bench, Server};
use reqwest::Method;
use serde_json::{Value, json};
use steward_testkit::model_server::{Behaviour, Rule, Script};

/// Allowed to send to `receiver`, which is on this machine.
fn house(receiver: &Receiver) -> House {
    let failure = Behaviour::Status { status: 400, body: json!({"error": {"message": "no"}}), retry_after: None };
    let write = Behaviour::calls([("write", json!({"path": "n.txt", "content": "n"}))]);
    let script = Script::always(Behaviour::text("Done.")).when("Write it", write);
    let fail = Rule { contains: "Fail".to_owned(), role: None, times: None, then: failure };
    let script = Script { rules: [vec![fail], script.rules.clone()].concat(), ..script };
    let bench = Bench::new(script);
    let server = Server::start_with(&bench, &[("STEWARD_ALLOW", &receiver.address.to_string())]);
    House { bench, server }
}

fn subscribe(house: &House, more: Value) -> (String, Value) {
    let mut input = json!({"name": "told"});
    input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let made = house.post("/api/subscriptions", input, 201);
    (format!("/api/subscriptions/{}", text(&made["subscription"]["id"])), made)
}

fn check_signature(came: &Came, secret: &str) {
    let (id, at) = (&came.headers["webhook-id"], came.headers["webhook-timestamp"].parse().unwrap());
    let expect = sign_at(at, "standard", secret, id, &came.body);
    let signature = &expect.iter().find(|(name, _)| name == "webhook-signature").unwrap().1;
    assert!(came.headers["webhook-signature"].split(' ').any(|one| one == signature), "{came:?}");
}

#[test]
fn what_happens_is_told_signed_and_once() {
    let receiver = Receiver::start(|_, _| 204);
    let house = house(&receiver);
    house.finished("Before anybody listens");
    let kinds = json!(["run.finished", "run.failed", "approval.requested"]);
    let (path, made) = subscribe(&house, json!({"address": receiver.url("/in?x=1"), "kinds": kinds}));
    let secret = text(&made["secret"]);
    assert!(!made["subscription"].to_string().contains("/in"), "the address is kept secret: {made}");
    assert_eq!(made["subscription"]["place"], format!("http://{}", receiver.address));
    let (run, _) = house.finished("Say it");
    let came = receiver.wait(1);
    let told = came[0].json();
    assert_eq!((came[0].method.as_str(), came[0].path.as_str()), ("POST", "/in?x=1"));
    check_signature(&came[0], &secret);
    assert_eq!((&told["type"], &told["data"]["run_id"]), (&json!("run.finished"), &run["id"]));
    assert_eq!(told["data"]["result"], "ok", "{told}");
    let (failed, _) = house.chat("Fail");
    house.wait(&failed, "finished");
    house.chat("Write it");
    let came = receiver.wait(3);
    // Only what is told of one thing arrives in its order.
    let mut told: Vec<(u64, String)> =
        came.iter().map(|one| (one.json()["data"]["seq"].as_u64().unwrap(), text(&one.json()["type"]))).collect();
    told.sort();
    let kinds: Vec<&str> = told.iter().map(|(_, kind)| kind.as_str()).collect();
    assert_eq!(kinds, ["run.finished", "run.failed", "approval.requested"]);
    wait("all noted as sent", || {
        let messages = house.items(&format!("{path}/messages"));
        (messages.len() == 3 && messages.iter().all(|one| one["status"] == "sent")).then_some(())
    });
    // A second secret signs, too, and the first one no longer once it is removed.
    let added = house.post(&format!("{path}/secrets"), json!({}), 201);
    let first = text(&added["subscription"]["secrets"][0]["id"]);
    house.post(&format!("{path}/test"), json!({}), 202);
    let came = receiver.wait(4);
    check_signature(&came[3], &secret);
    check_signature(&came[3], &text(&added["secret"]));
    assert_eq!(came[3].json()["type"], "test");
    house.send(Method::DELETE, &format!("{path}/secrets/{first}"), None, 200);
    house.post(&format!("{path}/test"), json!({}), 202);
    let came = receiver.wait(5);
    check_signature(&came[4], &text(&added["secret"]));
    assert!(!came[4].headers["webhook-signature"].contains(' '), "one signature is left");
    let last = text(&added["subscription"]["secrets"][1]["id"]);
    house.send(Method::DELETE, &format!("{path}/secrets/{last}"), None, 409);
}

#[test]
fn what_fails_is_tried_again_with_the_same_id_and_an_address_that_is_gone_rests() {
    let receiver = Receiver::start(|came, before| match came.path.as_str() {
        "/gone" => 410,
        _ if before == 0 => 503,
        _ => 200,
    });
    let house = house(&receiver);
    let (path, _) = subscribe(&house, json!({"address": receiver.url("/in"), "kinds": ["run.finished"]}));
    house.finished("Say it");
    let came = receiver.wait(2);
    assert_eq!(came[0].headers["webhook-id"], came[1].headers["webhook-id"]);
    assert_eq!(came[0].body, came[1].body);
    let message = wait("sent", || {
        let found = house.items(&format!("{path}/messages"))[0].clone();
        (found["status"] == "sent").then_some(found)
    });
    assert_eq!((&message["tries"], &message["last"]), (&json!(2), &json!("200 ok")), "{message}");
    let again = format!("{path}/messages/{}/send", text(&message["id"]));
    house.post(&again, json!({}), 202);
    let came = receiver.wait(3);
    assert_eq!(came[0].headers["webhook-id"], came[2].headers["webhook-id"]);

    let (gone, _) = subscribe(&house, json!({"address": receiver.url("/gone"), "kinds": ["run.failed"]}));
    house.post(&format!("{gone}/test"), json!({}), 202);
    let pause = wait("it rests", || {
        let found = house.get(&gone)["pause"].clone();
        found.is_object().then_some(found)
    });
    assert_eq!(pause["reason"], "cannot_start", "{pause}");
    assert!(text(&pause["note"]).contains("gone"), "{pause}");
    assert_eq!(house.items(&format!("{gone}/messages?failed=true")).len(), 1);
    house.post(&format!("{gone}/resume"), json!({}), 200);
    assert!(house.get(&gone)["pause"].is_null());
}

#[test]
fn services_get_messages_in_their_forms() {
    let receiver = Receiver::start(|_, _| 200);
    let house = house(&receiver);
    let room = "/!room:example.org";
    let forms = [
        ("slack", "/services/T0/B0/x", None),
        ("teams", "/workflows/1", None),
        ("mattermost", "/hooks/abc", None),
        ("matrix", room, Some("syt_token")),
        ("ntfy", "/alerts", None),
        ("gotify", "", Some("A.token")),
        ("apprise", "/notify/key", None),
    ];
    for (count, (form, path, token)) in forms.into_iter().enumerate() {
        let (made, answer) = subscribe(
            &house,
            json!({"form": form, "address": receiver.url(path), "token": token, "language": "de",
                   "link_base": "https://steward.example.org/"}),
        );
        assert!(answer["secret"].is_null() && answer["subscription"]["secrets"] == json!([]), "{answer}");
        house.post(&format!("{made}/test"), json!({}), 202);
        let came = receiver.wait(count + 1).pop().unwrap();
        let body = came.json();
        let said = body.to_string();
        assert!(said.contains("Testnachricht: told"), "{form}: {said}");
        match form {
            "slack" => assert_eq!(body["blocks"][0]["text"]["type"], "mrkdwn"),
            "teams" => assert_eq!(body["attachments"][0]["content"]["type"], "AdaptiveCard"),
            "mattermost" => assert!(text(&body["text"]).starts_with("**"), "{body}"),
            "matrix" => {
                assert_eq!((came.method.as_str(), &body["msgtype"]), ("PUT", &json!("m.text")));
                let begin = "/_matrix/client/v3/rooms/!room:example.org/send/m.room.message/msg_";
                assert!(came.path.starts_with(begin), "{}", came.path);
                assert_eq!(came.headers["authorization"], "Bearer syt_token");
            }
            "ntfy" => assert_eq!((came.path.as_str(), &body["topic"]), ("/", &json!("alerts"))),
            "gotify" => {
                assert_eq!(came.path, "/message");
                assert_eq!(came.headers["x-gotify-key"], "A.token");
            }
            _ => assert_eq!((&body["type"], &body["format"]), (&json!("info"), &json!("text"))),
        }
    }
    for (form, path, field) in [("matrix", "/room", "address"), ("gotify", "", "token"), ("ntfy", "", "address")] {
        let input = json!({"name": "wrong", "form": form, "address": receiver.url(path)});
        let refused = house.post("/api/subscriptions", input, 422);
        assert_eq!(refused["field"], field, "{form}: {refused}");
    }
    for address in ["ftp://example.org/x", "https://a:b@example.org/", "no address", ""] {
        let refused = house.post("/api/subscriptions", json!({"name": "wrong", "address": address}), 422);
        assert_eq!(refused["field"], "address", "{address}: {refused}");
    }
}

#[test]
fn addresses_inside_the_house_are_refused_unless_they_are_allowed() {
    let (allowed, other) = (Receiver::start(|_, _| 200), Receiver::start(|_, _| 200));
    let house = house(&allowed);
    let (path, _) = subscribe(&house, json!({"address": other.url("/in")}));
    house.post(&format!("{path}/test"), json!({}), 202);
    let message = wait("tried", || {
        let found = house.items(&format!("{path}/messages"))[0].clone();
        found["last"].is_string().then_some(found)
    });
    assert!(text(&message["last"]).contains("not on the public internet"), "{message}");
    assert_eq!((&message["status"], other.came().len()), (&json!("waiting"), 0));
    house.post(&format!("{path}/pause"), json!({"note": "wrong address"}), 200);
    assert_eq!(house.items(&format!("{path}/messages"))[0]["status"], "given_up");
}

#[test]
fn each_is_told_of_what_they_may_see() {
    let people = [("ann", "developer"), ("bob", "developer"), ("vic", "viewer"), ("oli", "operator")];
    let house = House::with_people(Script::always(Behaviour::text("Done.")), &people);
    let input = |name: &str, all: bool| json!({"name": name, "address": "https://example.org/x", "all": all});
    let make = |who: &str, all: bool| {
        let (status, made) = house.call_as(&key(who), Method::POST, "/api/subscriptions", Some(input(who, all)));
        assert_eq!(status, 201, "{made}");
        format!("/api/subscriptions/{}", text(&made["subscription"]["id"]))
    };
    let (ann, bob, oli, all) = (make("ann", true), make("bob", false), make("oli", false), make("oli", true));
    assert_eq!(house.call_as(&key("vic"), Method::POST, "/api/subscriptions", Some(input("vic", false))).0, 403);
    let chat = format!("/api/chat/{}", house.agent());
    let (status, said) = house.call_as(&key("ann"), Method::POST, &chat, Some(json!({"message": "Say it"})));
    assert!(status < 300, "{said}");
    house.wait(&text(&said["run_id"]), "finished");
    let count = |who: &str, path: &str| {
        let (_, page) = house.call_as(&key(who), Method::GET, &format!("{path}/messages"), None);
        page["items"].as_array().unwrap_or_else(|| panic!("{page}")).len()
    };
    wait("both are told", || (count("ann", &ann) == 2 && count("oli", &all) == 2).then_some(()));
    assert_eq!((count("bob", &bob), count("oli", &oli)), (0, 0), "it isn't theirs");
    for (who, path, expect) in [("bob", &ann, 404), ("oli", &ann, 200), ("ann", &ann, 200)] {
        assert_eq!(house.call_as(&key(who), Method::GET, path, None).0, expect, "{who}");
    }
    let messages = format!("{ann}/messages");
    assert_eq!(house.call_as(&key("oli"), Method::GET, &messages, None).0, 403, "what others are told isn't shown");
    assert_eq!(house.call_as(&key("oli"), Method::PUT, &ann, Some(input("mine", true))).0, 403);
    assert_eq!(house.call_as(&key("oli"), Method::DELETE, &ann, None).0, 204, "operators may end it");
    assert_eq!(house.call_as(&key("ann"), Method::POST, &format!("{ann}/restore"), None).0, 200);
}
