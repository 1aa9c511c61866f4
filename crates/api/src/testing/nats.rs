//! The door of NATS, without NATS.

use super::{Bed, EMAIL, bearer, bed};
use crate::{NatsDoor, NatsMessage};
use serde_json::{Value, json};

const GOOD: (&str, &str) = ("oos.cmd.global", "");

async fn ask(door: &NatsDoor, (subject, payload): (&str, &str), authorization: Option<&str>) -> Value {
    let message = NatsMessage { subject, authorization, payload: payload.as_bytes(), longest_answer: 1 << 20 };
    serde_json::from_slice(&door.answer(message).await).unwrap()
}

/// The error of an answer that is none.
fn error(answer: &Value) -> &str {
    assert_eq!(answer["ok"], false, "{answer}");
    answer["error"].as_str().unwrap()
}

/// The results of writes, oldest first.
async fn results(bed: &Bed, admin: &str) -> Vec<(String, Value)> {
    let page = bed.send("GET /api/audit?action=domains.texts&limit=100", &[admin], "").await.json();
    let mut all: Vec<(String, Value)> = page["items"].as_array().unwrap().iter().map(line).collect();
    all.reverse();
    all
}

fn line(entry: &Value) -> (String, Value) {
    let text = |name: &str| entry[name].as_str().unwrap();
    (format!("{} {} {}", text("actor"), text("target"), text("result")), entry["detail"]["subject"].clone())
}

#[tokio::test]
async fn a_key_decides_else_the_user_whom_the_operator_chose() {
    let bed = bed().await;
    let session = bed.admin().await;
    let header = format!("Bearer {}", session.access_token);
    let in_payload = json!({"token": session.access_token}).to_string();
    let (closed, open) =
        (NatsDoor::new(bed.state.clone(), None), NatsDoor::new(bed.state.clone(), Some(" ADA@Example.org")));
    assert!(error(&ask(&closed, GOOD, None).await).contains("NATS_ACT_AS"));
    assert_eq!(ask(&open, GOOD, None).await, json!({"ok": true, "prompts": []}));
    for door in [&closed, &open] {
        assert_eq!(ask(door, GOOD, Some(&header)).await["ok"], true);
        assert_eq!(ask(door, (GOOD.0, &in_payload), None).await["ok"], true);
        for bad in ["Bearer x", "Bearer", "", "Basic eA=="] {
            assert!(error(&ask(door, GOOD, Some(bad)).await).contains("the token is not valid"), "{bad}");
        }
        for bad in [r#"{"token": "x"}"#, r#"{"token": ""}"#, r#"{"token": 5}"#, r#"{"token": null}"#] {
            assert!(error(&ask(door, (GOOD.0, bad), None).await).contains("the token is not valid"), "{bad}");
        }
    }
    let gone = NatsDoor::new(bed.state.clone(), Some("nobody@example.org"));
    assert!(error(&ask(&gone, GOOD, None).await).contains("`nobody@example.org` is not there"));
    bed.set_role("viewer").await;
    assert_eq!(ask(&open, GOOD, None).await["ok"], true);
    assert!(error(&ask(&open, ("oos.cmd.domain.list", "{}"), None).await).contains("operator"));
}

#[tokio::test]
async fn what_is_wrong_with_a_request_is_said() {
    let bed = bed().await;
    bed.admin().await;
    let door = NatsDoor::new(bed.state.clone(), Some(EMAIL));
    let long = format!("{{\"query\": \"{}\"}}", "x".repeat(5 << 20));
    for (subject, payload, part) in [
        ("oos.cmd.search", "{", "send JSON such as {\"query\""),
        ("oos.cmd.search", "7", "send JSON such as"),
        ("oos.cmd.search", "{}", "missing field `query`"),
        ("oos.cmd.search", &long, "longer than 4194304 bytes"),
        ("oos.cmd.else", "{}", "there is no subject `oos.cmd.else`"),
        ("oos.cmd.view.load", r#"{"id": "nobody"}"#, "view `nobody` was not found"),
        ("oos.cmd.gql.query", r#"{"query": "{ nobody }"}"#, "nobody"),
    ] {
        let answer = ask(&door, (subject, payload), None).await;
        assert!(error(&answer).contains(part), "{subject}: {answer}");
    }
    let (subject, payload) = GOOD;
    let message = NatsMessage { subject, authorization: None, payload: payload.as_bytes(), longest_answer: 20 };
    let answer: Value = serde_json::from_slice(&door.answer(message).await).unwrap();
    assert!(error(&answer).contains("NATS carries 20; ask for fewer rows"), "{answer}");
    bed.break_database();
    assert!(error(&ask(&door, GOOD, None).await).contains("try again"));
}

#[tokio::test]
async fn writes_are_entries_however_they_end() {
    let bed = bed().await;
    let admin = bearer(&bed.admin().await);
    let door = NatsDoor::new(bed.state.clone(), Some(EMAIL));
    let save = ("oos.cmd.domain.save", r#"{"id": "customer", "source": "domain customer from nowhere"}"#);
    let delete = ("oos.cmd.view.delete", r#"{"id": "customer"}"#);
    error(&ask(&door, save, None).await);
    error(&ask(&door, delete, None).await);
    error(&ask(&door, save, Some("Bearer x")).await);
    error(&ask(&door, ("oos.cmd.domain.load", r#"{"id": "customer"}"#), Some("Bearer x")).await);
    let line =
        |actor: &str, target: &str, result: &str, subject: &str| (format!("{actor} {target} {result}"), json!(subject));
    assert_eq!(
        results(&bed, &admin).await,
        [
            line(EMAIL, "domain/customer", "failed", save.0),
            line(EMAIL, "view/customer", "failed", delete.0),
            line("", "domain/customer", "refused", save.0),
        ]
    );
}

#[tokio::test]
async fn a_flood_is_refused_beyond_a_bound_and_the_rest_is_answered() {
    let bed = bed().await;
    bed.admin().await;
    let door = NatsDoor::new(bed.state.clone(), Some(EMAIL));
    let answers = futures::future::join_all((0..1000).map(|_| ask(&door, GOOD, None))).await;
    let refused = answers.iter().filter(|answer| answer["ok"] == false).count();
    // Some are answered before the last ones come.
    assert!((1..=1000 - 256).contains(&refused), "{refused} were refused");
    assert!(answers.iter().filter(|answer| answer["ok"] == false).all(|answer| error(answer).contains("in a moment")));
    assert_eq!(ask(&door, GOOD, None).await["ok"], true);
}
