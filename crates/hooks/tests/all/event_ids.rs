use serde_json::{Value, json};
use steward_hooks::{Headers, Place, answer_challenge, find_event_id};

use super::support::signing;

fn find(kind: &str, custom: Value, headers: &[(&str, &str)], payload: &Value) -> Option<String> {
    let custom: Option<Place> = serde_json::from_value(custom).unwrap();
    find_event_id(&signing(kind), custom.as_ref(), &Headers::new(headers.iter().copied()), payload)
}

#[test]
fn each_sender_has_its_own_place() {
    let none = json!({});
    let headers: &[(&str, &str)] = &[
        ("Webhook-Id", "msg_1"),
        ("Idempotency-Key", "key_1"),
        ("X-GitHub-Delivery", "72d3162e"),
        ("X-Gitlab-Event-UUID", "shared"),
        ("X-Gitlab-Webhook-UUID", "new each time"),
        ("X-Request-Id", "req_1"),
    ];
    let body = json!({"id": "evt_1", "event_id": "Ev1", "trigger_id": "t1"});
    for (kind, headers, payload, expected) in [
        ("standard", headers, &body, Some("msg_1")),
        ("standard", &headers[1..], &body, None),
        ("standard", &[("svix-id", "s1"), ("svix-signature", "v1,x"), ("webhook-id", "other")], &none, Some("s1")),
        ("standard", &[("svix-id", "s1")], &none, Some("s1")),
        ("standard", &[("svix-id", "s1"), ("webhook-id", "w1")], &none, Some("w1")),
        ("github", headers, &body, Some("72d3162e")),
        ("github", &[], &body, None),
        ("stripe", headers, &body, Some("evt_1")),
        ("stripe", headers, &none, None),
        ("slack", headers, &body, Some("Ev1")),
        ("slack", headers, &json!({"trigger_id": "t1"}), Some("t1")),
        ("gitlab", headers, &body, Some("msg_1")),
        ("gitlab", &headers[1..], &body, Some("key_1")),
        ("gitlab", &headers[2..], &body, None),
        ("token", headers, &body, Some("msg_1")),
        ("token", &headers[1..], &body, Some("key_1")),
        ("token", &headers[2..], &body, Some("req_1")),
        ("token", &[], &body, None),
    ] {
        assert_eq!(find(kind, Value::Null, headers, payload).as_deref(), expected, "{kind}, {headers:?}, {payload}");
    }
}

#[test]
fn a_place_of_ones_own_comes_first() {
    let headers = &[("x-github-delivery", "d1"), ("x-order", " o1 "), ("x-empty", "")];
    let payload = json!({"order": {"id": 17, "name": "o2", "big": u64::MAX}, "list": [1], "half": 1.5, "no": null, "is": true, "blank": " "});
    for (custom, expected) in [
        (json!({"header": "X-Order"}), "o1"),
        (json!({"pointer": "/order/id"}), "17"),
        (json!({"pointer": "/order/name"}), "o2"),
        (json!({"pointer": "/order/big"}), "18446744073709551615"),
        (json!({"pointer": "/list/0"}), "1"),
        (json!({"pointer": "/list"}), "d1"),
        (json!({"pointer": "/half"}), "d1"),
        (json!({"pointer": "/no"}), "d1"),
        (json!({"pointer": "/is"}), "d1"),
        (json!({"pointer": "/blank"}), "d1"),
        (json!({"pointer": "/missing"}), "d1"),
        (json!({"pointer": ""}), "d1"),
        (json!({"header": "x-empty"}), "d1"),
        (json!({"header": "x-missing"}), "d1"),
    ] {
        assert_eq!(find("github", custom.clone(), headers, &payload).as_deref(), Some(expected), "{custom}");
    }
}

#[test]
fn long_and_odd_ids_are_hashed() {
    let fits = "ü".repeat(256);
    for (id, is_hashed) in
        [(fits.clone(), false), (format!("{fits}x"), true), ("a\u{0}b".to_owned(), true), ("x".repeat(100_000), true)]
    {
        let found = find("stripe", Value::Null, &[], &json!({"id": id})).unwrap();
        assert_eq!(found != id, is_hashed);
        assert_eq!(found, if is_hashed { steward_core::hash::sha256(id.as_bytes()) } else { id });
    }
}

#[test]
fn only_slack_asks_whether_somebody_listens() {
    let payload = json!({"token": "t", "challenge": "3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P", "type": "url_verification"});
    let expected = payload["challenge"].as_str();
    for kind in ["standard", "github", "stripe", "gitlab", "token"] {
        assert_eq!(answer_challenge(&signing(kind), &payload), None, "{kind}");
    }
    for (payload, expected) in [
        (payload.clone(), expected),
        (json!({"type": "event_callback", "challenge": "x"}), None),
        (json!({"type": "url_verification"}), None),
        (json!({"type": "url_verification", "challenge": 5}), None),
        (json!({"type": "url_verification", "challenge": "x".repeat(1_001)}), None),
        (json!({"challenge": "x"}), None),
        (json!([]), None),
        (Value::Null, None),
    ] {
        assert_eq!(answer_challenge(&signing("slack"), &payload).as_deref(), expected, "{payload}");
    }
}
