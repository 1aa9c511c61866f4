//! Requests as entries of the audit trail, and the trail over HTTP.

use super::{Answer, Bed, EMAIL, PASSWORD, bearer, bed, bed_around};
use crate::ApiState;
use axum::Router;
use axum::body::Body;
use axum::http::Request;
use axum::routing::post;
use serde_json::{Value, json};
use std::time::Duration;
use steward_testkit::database;
use tower::ServiceExt as _;

const NOBODY: &str = "019c0e3a-7b1d-7c44-9d43-3f6f1f6a2b11";

/// All entries, oldest first, as an administrator sees them.
async fn entries(bed: &Bed, admin: &str) -> Vec<Value> {
    let page = bed.send("GET /api/audit?limit=100", &[admin], "").await;
    assert_eq!(page.status, 200, "{}", page.text);
    let mut all = page.json()["items"].as_array().unwrap().clone();
    all.reverse();
    all
}

/// `who action target result` of an entry; an id that was made is `*`.
fn line(entry: &Value) -> String {
    let text = |name: &str| entry[name].as_str().unwrap().to_owned();
    let target = text("target");
    let made = entry["detail"]["status"] == 201 && target.len() == 36;
    let target = if made { "*" } else { &target };
    format!("{} {} {target} {}", text("actor"), text("action"), text("result"))
}

/// Method and path, headers, body, status, and the entry that it leaves.
type Case<'a> = (&'a str, Vec<&'a str>, Value, u16, Option<String>);

#[tokio::test]
async fn each_write_and_each_refusal_is_an_entry() {
    let bed = bed().await;
    let admin = bearer(&bed.admin().await);
    let agent = |name: &str| json!({"name": name});
    let login = |email: &str, password: &str| json!({"email": email, "password": password});
    let path = format!("POST /api/agents/{NOBODY}/restore");
    let stop = format!("POST /api/runs/{NOBODY}/stop");
    let delete = format!("DELETE /api/keys/{NOBODY}");
    let foreign = "origin: https://evil.example.org";
    let by_admin = |rest: &str| Some(format!("{EMAIL} {rest}"));
    let cases: Vec<Case> = vec![
        ("POST /api/auth/login", vec![], login(EMAIL, "wrong"), 401, by_admin("auth.login  refused")),
        ("POST /api/auth/login", vec![], login("my secret password", "x"), 401, Some(" auth.login  refused".into())),
        ("POST /api/auth/login", vec![], login(" Ada@Example.org ", PASSWORD), 200, by_admin("auth.login  ok")),
        ("POST /api/agents", vec![], agent("a"), 401, Some(" agents.create  refused".into())),
        ("POST /api/agents", vec![&admin], agent("a"), 201, by_admin("agents.create * ok")),
        ("POST /api/agents", vec![&admin], agent(""), 422, by_admin("agents.create  failed")),
        ("POST /api/agents", vec![&admin, foreign], agent("b"), 403, by_admin("agents.create  refused")),
        (&path, vec![&admin], agent("b"), 404, by_admin(&format!("agents.restore {NOBODY} failed"))),
        (&delete, vec![&admin], json!({}), 404, by_admin(&format!("keys.delete {NOBODY} failed"))),
        (&stop, vec![], json!({}), 401, Some(format!(" runs.stop {NOBODY} refused"))),
        (&stop, vec![&admin], json!({}), 404, None),
        ("POST /api/nothing/here", vec![&admin], json!({}), 404, None),
        ("GET /api/agents", vec![], json!({}), 401, None),
        ("GET /api/agents", vec![&admin], json!({}), 200, None),
        ("POST /api/auth/refresh", vec!["x-steward: 1"], json!({}), 401, None),
        ("POST /v1/chat/completions", vec![], json!({}), 401, None),
        ("POST /api/auth/logout", vec![], json!({}), 403, Some(" auth.logout  refused".into())),
    ];
    let mut known = entries(&bed, &admin).await.len();
    for (request, headers, body, status, expect) in cases {
        let answer = bed.json(request, &headers, &body).await;
        assert_eq!(answer.status, status, "{request} {body}: {}", answer.text);
        let all = entries(&bed, &admin).await;
        let new: Vec<String> = all[known..].iter().map(line).collect();
        assert_eq!(new, expect.into_iter().collect::<Vec<_>>(), "{request} {body}");
        known = all.len();
    }
    bed.set_role("viewer").await;
    assert_eq!(bed.json("POST /api/agents", &[&admin], &agent("c")).await.status, 403);
    assert_eq!(bed.send("GET /api/audit", &[&admin], "").await.status, 403);
    bed.set_role("admin").await;
    let all = entries(&bed, &admin).await;
    assert_eq!(line(&all[known]), format!("{EMAIL} agents.create  refused"));
    let made = all.iter().find(|entry| entry["detail"]["status"] == 201).unwrap();
    assert_eq!(made["detail"]["name"], "a");
    assert_eq!((made["origin"].as_str(), made["actor_id"].is_string()), (Some("chat"), true));
    let refused = all.iter().find(|entry| entry["detail"]["code"] == "origin").unwrap();
    assert_eq!(refused["result"], "refused");
    let text = json!(all).to_string();
    assert!(!text.contains("secret password") && !text.contains(PASSWORD), "{text}");
}

#[tokio::test]
async fn a_write_that_is_repeated_for_its_key_is_one_entry() {
    let bed = bed().await;
    let admin = bearer(&bed.admin().await);
    for replayed in ["", "true"] {
        let made = bed.json("POST /api/agents", &[&admin, "idempotency-key: k1"], &json!({"name": "a"})).await;
        assert_eq!((made.status, made.header("idempotency-replayed")), (201, replayed));
    }
    assert_eq!(entries(&bed, &admin).await.len(), 1);
}

#[tokio::test]
async fn log_outs_and_thefts_name_whose_session_it_was() {
    let bed = bed().await;
    let open = bed.admin().await;
    let admin = bearer(&bed.admin().await);
    let cookie = |token: &str| format!("cookie: steward_refresh={token}");
    let first = open.refresh_token.unwrap();
    let turned = bed.send("POST /api/auth/refresh", &[&cookie(&first), "x-steward: 1"], "").await;
    assert_eq!(turned.status, 200);
    bed.clock.advance(Duration::from_secs(11));
    let stolen = bed.send("POST /api/auth/refresh", &[&cookie(&first), "x-steward: 1"], "").await;
    assert_eq!((stolen.status, &stolen.json()["code"]), (401, &json!("session_ended")));
    let again = bed.admin().await.refresh_token.unwrap();
    let out = bed.send("POST /api/auth/logout", &[&cookie(&again), "x-steward: 1"], "").await;
    assert_eq!(out.status, 204);
    let all = entries(&bed, &admin).await;
    let lines: Vec<String> = all.iter().map(line).collect();
    assert_eq!(lines, [format!("{EMAIL} auth.refresh  refused"), format!("{EMAIL} auth.logout  ok")]);
    assert!(all[0]["detail"]["reason"].as_str().unwrap().contains("used again"));
}

#[tokio::test]
async fn what_a_client_does_not_wait_for_is_an_entry_too() {
    async fn slow() {
        tokio::time::sleep(Duration::from_mins(1)).await;
    }
    let bed = bed_around(Router::<ApiState>::new().route("/api/slow/{id}/begin", post(slow))).await;
    let request = Request::post("/api/slow/7/begin").header("host", "localhost:8800").body(Body::empty()).unwrap();
    let gone = tokio::time::timeout(Duration::from_millis(50), bed.router.clone().oneshot(request)).await;
    assert!(gone.is_err(), "the client went away");
    let admin = bearer(&bed.admin().await);
    let whole = crate::router::router(bed.state.clone());
    let bed = Bed { router: whole, ..bed };
    let begun = std::time::Instant::now();
    loop {
        let all = entries(&bed, &admin).await;
        if let Some(entry) = all.first() {
            assert_eq!(line(entry), " slow.begin 7 uncertain");
            return;
        }
        assert!(begun.elapsed() < Duration::from_mins(5), "no entry");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn nothing_is_acknowledged_that_is_not_in_the_trail() {
    let bed = bed().await;
    let admin = bearer(&bed.admin().await);
    database::hide_table(bed.dir.path(), "audit_pending");
    let made = bed.json("POST /api/agents", &[&admin], &json!({"name": "a"})).await;
    assert_eq!(made.status, 503, "{}", made.text);
    assert!(made.json()["title"].as_str().unwrap().contains("audit trail"));
    let refused = bed.json("POST /api/agents", &[], &json!({"name": "a"})).await;
    assert_eq!(refused.status, 401, "a refusal stays one");
}

#[tokio::test]
async fn the_trail_is_paged_and_searched() {
    let bed = bed().await;
    let admin = bearer(&bed.admin().await);
    for name in ["one", "two", "three"] {
        assert_eq!(bed.json("POST /api/agents", &[&admin], &json!({"name": name})).await.status, 201);
    }
    bed.json("POST /api/agents", &[], &json!({"name": "four"})).await;
    let first = bed.send("GET /api/audit?limit=3", &[&admin], "").await.json();
    assert_eq!(first["items"][0]["result"], "refused", "newest first");
    let cursor = first["next_cursor"].as_str().unwrap();
    let rest = bed.send(&format!("GET /api/audit?limit=3&cursor={cursor}"), &[&admin], "").await.json();
    assert_eq!((rest["items"].as_array().unwrap().len(), &rest["items"][0]["seq"]), (1, &json!(1)));
    for (query, expect) in [
        ("result=refused", 1),
        ("action=agents", 4),
        ("action=agents.create&actor=ada%40example.org", 3),
        ("action=agent", 0),
        ("text=THREE", 1),
        ("from=1&to=2", 0),
    ] {
        let found = bed.send(&format!("GET /api/audit?{query}"), &[&admin], "").await.json();
        assert_eq!(found["items"].as_array().unwrap().len(), expect, "{query}");
    }
    for (query, status) in [("from=2&to=1", 422), ("result=fine", 422), ("run=x", 422), ("cursor=x", 422)] {
        assert_eq!(bed.send(&format!("GET /api/audit?{query}"), &[&admin], "").await.status, status, "{query}");
    }
    let one = bed.send("GET /api/audit/2", &[&admin], "").await.json();
    assert_eq!(one["detail"]["name"], "two");
    assert_eq!(bed.send("GET /api/audit/99", &[&admin], "").await.status, 404);
}

fn lines(answer: &Answer) -> Vec<Value> {
    answer.text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test]
async fn an_export_is_the_chain_as_a_file_and_an_entry() {
    let bed = bed().await;
    let admin = bearer(&bed.admin().await);
    bed.json("POST /api/agents", &[&admin], &json!({"name": "=1+1"})).await;
    let file = bed.send("GET /api/audit/export", &[&admin], "").await;
    assert_eq!((file.status, file.header("content-type")), (200, "application/jsonl"));
    let all = lines(&file);
    assert_eq!((all.len(), &all[1]["action"]), (2, &json!("audit.export")));
    // As the documentation says: the hash before it, and the line with sorted keys and without its own.
    let mut last = String::new();
    for mut entry in all {
        let hash = entry.as_object_mut().unwrap().remove("hash").unwrap();
        let sorted: std::collections::BTreeMap<_, _> = entry.as_object().unwrap().iter().collect();
        let text = format!("{last}{}", json!(sorted));
        last = steward_core::hash::sha256(text.as_bytes());
        assert_eq!(hash, last.as_str(), "{entry}");
    }
    let csv = bed.send("GET /api/audit/export?format=csv&action=audit", &[&admin], "").await;
    assert!(csv.header("content-disposition").contains("audit.csv"));
    let rows: Vec<&str> = csv.text.lines().collect();
    assert!(rows.len() == 3 && rows[0].starts_with("seq,time,actor") && rows[1].contains("audit.export"), "{rows:?}");
    bed.set_role("operator").await;
    for request in ["GET /api/audit/export", "POST /api/audit/verify", "GET /api/audit/retention", "GET /api/audit/1"] {
        assert_eq!(bed.json(request, &[&admin], &json!({})).await.status, 403, "{request}");
    }
}

#[tokio::test]
async fn a_check_names_the_first_entry_that_is_wrong() {
    for (sql, seq, kind) in [
        ("", 0, ""),
        ("update audit_entries set actor = 'eve' where seq = 3", 3, "changed"),
        ("delete from audit_entries where seq = 3", 3, "missing"),
        ("delete from audit_entries where seq > 5", 6, "missing"),
        (
            "update audit_entries set seq = -seq where seq in (3, 5); update audit_entries set seq = 8 + seq where seq < 0",
            3,
            "reordered",
        ),
        ("update audit_ends set hash = 'x'", 6, "head_differs"),
    ] {
        let bed = bed().await;
        let admin = bearer(&bed.admin().await);
        for name in 1..=6 {
            bed.json("POST /api/agents", &[&admin], &json!({"name": format!("a{name}")})).await;
        }
        let noted = bed.json("POST /api/audit/verify", &[&admin], &json!({})).await;
        let head = lines(&noted).last().unwrap()["report"]["head"].clone();
        assert_eq!(head["seq"], 6);
        if !sql.is_empty() {
            // The check itself is an entry that waits for its place; without it the tail can be cut.
            database::change(bed.dir.path(), &format!("delete from audit_pending; {sql}"));
        }
        let steps = lines(&bed.json("POST /api/audit/verify", &[&admin], &json!({})).await);
        let report = &steps.last().unwrap()["report"];
        if sql.is_empty() {
            assert_eq!((&report["ok"], &report["checked"], &report["broken"]), (&json!(true), &json!(7), &Value::Null));
            for (seq, hash, ok) in [(6, head["hash"].clone(), true), (6, json!("x"), false), (99, json!("x"), false)] {
                let known = json!({"known": {"seq": seq, "hash": hash}});
                let steps = lines(&bed.json("POST /api/audit/verify", &[&admin], &known).await);
                assert_eq!(steps.last().unwrap()["report"]["ok"], ok, "{known}");
            }
        } else {
            assert_eq!(
                (&report["ok"], &report["broken"]["seq"], &report["broken"]["kind"]),
                (&json!(false), &json!(seq), &json!(kind)),
                "{sql}"
            );
        }
        let found = bed.send("GET /api/audit?action=audit.verify&limit=1", &[&admin], "").await;
        assert_eq!(found.json()["items"][0]["result"], "failed", "{sql}");
    }
}

#[tokio::test]
async fn what_is_older_than_the_retention_goes() {
    let bed = bed().await;
    let admin = bearer(&bed.admin().await);
    for name in ["a", "b"] {
        bed.json("POST /api/agents", &[&admin], &json!({"name": name})).await;
    }
    assert_eq!(bed.send("GET /api/audit/retention", &[&admin], "").await.json(), json!({"days": null}));
    for days in [0, 40_000] {
        let refused = bed.json("PUT /api/audit/retention", &[&admin], &json!({"days": days})).await;
        assert_eq!((refused.status, &refused.json()["field"]), (422, &json!("days")));
    }
    let set = bed.json("PUT /api/audit/retention", &[&admin], &json!({"days": 20})).await;
    assert_eq!((set.status, set.json()), (200, json!({"days": 20})));
    bed.send("GET /api/audit", &[&admin], "").await;
    assert_eq!(bed.app().prune_audit().await.unwrap(), 0, "they are young");
    // A jump of the clock would not be believed.
    for expect in [0, 0, 3] {
        bed.clock.advance(Duration::from_hours(7 * 24));
        assert_eq!(bed.app().prune_audit().await.unwrap(), expect);
    }
    let admin = bearer(&bed.admin().await);
    let all = entries(&bed, &admin).await;
    assert_eq!(all.iter().map(line).collect::<Vec<_>>(), ["steward audit.pruned  ok"]);
    assert_eq!(all[0]["detail"], json!({"entries": 3, "first": 1, "last": 3}));
    let steps = lines(&bed.json("POST /api/audit/verify", &[&admin], &json!({})).await);
    let report = &steps.last().unwrap()["report"];
    assert_eq!((&report["ok"], &report["anchor"]["seq"]), (&json!(true), &json!(3)), "{report}");
    let gone = bed.json("POST /api/audit/verify", &[&admin], &json!({"known": {"seq": 2, "hash": "x"}})).await;
    assert_eq!((gone.status, &gone.json()["field"]), (422, &json!("known")));
}
