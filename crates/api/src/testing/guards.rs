//! What every request passes.

use super::{Answer, Bed, bearer, bed, bed_around};
use crate::ApiState;
use crate::extract::Body;
use crate::problem::Problem;
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use steward_app::{Action, Caller, Resource, authorize};

#[tokio::test]
async fn every_kind_of_answer_has_the_security_headers() {
    let bed = bed().await;
    let token = bearer(&bed.admin().await);
    let cases: [(&str, &[&str], u16); 12] = [
        ("GET /healthz", &[], 200),
        ("GET /readyz", &[], 200),
        ("GET /docs", &[], 200),
        ("GET /docs/style.css", &[], 200),
        ("GET /api/openapi.json", &[], 200),
        ("GET /api/auth/me", &[&token], 200),
        ("GET /api/auth/me", &[], 401),
        ("GET /api/auth/nothing", &[], 404),
        ("DELETE /api/auth/login", &[], 405),
        ("GET /v1/models", &[], 401),
        ("GET /api/auth/status", &["host: evil.example.org"], 403),
        ("POST /api/auth/login", &["origin: https://evil.example.org"], 403),
    ];
    for (line, headers, status) in cases {
        let answer = bed.send(line, headers, "").await;
        assert_eq!(answer.status, status, "{line}: {}", answer.text);
        secured(line, &answer);
    }
}

fn secured(line: &str, answer: &Answer) {
    let policy = answer.header("content-security-policy");
    assert!(policy.starts_with("default-src 'none'; script-src 'self'"), "{line}");
    assert!(!policy.contains("unsafe"), "{line}");
    let pairs = [
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cross-origin-embedder-policy", "require-corp"),
        // Nothing of the program, and no other site may read it.
        ("server", ""),
        ("x-powered-by", ""),
        ("access-control-allow-origin", ""),
    ];
    for (name, value) in pairs {
        assert_eq!(answer.header(name), value, "{line}: {name}");
    }
    assert!(!answer.header("permissions-policy").is_empty(), "{line}");
    assert!(!answer.header("cache-control").is_empty(), "{line}");
}

#[tokio::test]
async fn what_is_not_there_is_said_as_a_problem() {
    let bed = bed().await;
    for line in ["GET /api", "GET /api/", "POST /api/nothing", "GET /docs/x"] {
        let answer = bed.send(line, &[], "").await;
        assert_eq!(answer.status, 404, "{line}: {}", answer.text);
        assert!(answer.json()["hint"].as_str().unwrap().contains("/docs"));
    }
    assert_eq!(bed.send("GET /metrics", &[], "").await.status, 401, "it is there, but not for everybody");
    let answer = bed.send("GET /v1/nothing", &[], "").await;
    assert_eq!((answer.status, &answer.json()["error"]["code"]), (404, &json!("unknown_url")));
    let answer = bed.send("PATCH /api/auth/me", &[], "").await;
    assert_eq!(answer.status, 405);
    assert!(answer.header("allow").contains("GET"), "{}", answer.header("allow"));
    assert!(answer.json()["hint"].is_string());
}

#[tokio::test]
async fn writes_of_other_sites_are_refused() {
    let bed = bed().await;
    let body = json!({"email": "a@b.c", "password": "x"});
    let cases: [(&[&str], u16); 6] = [
        (&[], 401),
        (&["origin: http://localhost:8800", "sec-fetch-site: same-origin"], 401),
        (&["origin: http://evil.example.org"], 403),
        (&["origin: null"], 403),
        (&["sec-fetch-site: cross-site"], 403),
        (&["sec-fetch-site: same-site"], 403),
    ];
    for (headers, status) in cases {
        let answer = bed.json("POST /api/auth/login", headers, &body).await;
        assert_eq!(answer.status, status, "{headers:?}");
        if status == 403 {
            assert_eq!(answer.json()["code"], "origin");
        }
    }
    let read = bed.send("GET /api/auth/status", &["sec-fetch-site: cross-site"], "").await;
    assert_eq!(read.status, 200, "reads are kept from other sites by the browser");
}

#[tokio::test]
async fn names_of_other_sites_are_refused() {
    let bed = bed().await;
    for (host, status) in
        [("host: 127.0.0.1:8800", 200), ("host: [::1]:8800", 200), ("host: rebound.example.org:8800", 403)]
    {
        let answer = bed.send("GET /api/auth/status", &[host], "").await;
        assert_eq!(answer.status, status, "{host}");
    }
    let probe = bed.send("GET /healthz", &["host: 10.0.0.7:8800"], "").await;
    assert_eq!(probe.status, 200);
}

#[tokio::test]
async fn a_panic_is_an_answer() {
    async fn mistake() -> StatusCode {
        let empty: Vec<u8> = Vec::new();
        StatusCode::from_u16(u16::from(empty[std::hint::black_box(0)])).unwrap()
    }
    let bed = bed_around(Router::new().route("/api/mistake", get(mistake).post(mistake))).await;
    let token = bearer(&bed.admin().await);
    for (line, headers) in
        [("GET /api/mistake", vec![]), ("POST /api/mistake", vec![token.as_str(), "idempotency-key: 1"])]
    {
        let answer = bed.send(line, &headers, "").await;
        assert_eq!(answer.status, 500);
        assert!(answer.json()["hint"].is_string());
        assert!(!answer.text.contains("index"), "{}", answer.text);
        secured(line, &answer);
    }
    let again = bed.send("POST /api/mistake", &[&token, "idempotency-key: 1"], "").await;
    assert_eq!(again.json()["code"], "idempotency_in_progress", "its end is not known");
}

#[derive(Default, serde::Deserialize, utoipa::ToSchema)]
#[serde(default)]
struct Thing {
    fail: bool,
    wait: bool,
}

/// A route that counts; `{"fail": true}` is refused, `{"wait": true}` takes a while.
async fn counting() -> (Bed, Arc<AtomicU32>) {
    let count = Arc::new(AtomicU32::new(0));
    let counter = count.clone();
    let make = async move |caller: Caller, Body(body): Body<Thing>| {
        authorize(&caller, Action::Write, Resource::Agents)?;
        if body.fail {
            return Err(Problem::invalid("fail", "asked to fail", "don't"));
        }
        if body.wait {
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        let number = counter.fetch_add(1, Ordering::SeqCst) + 1;
        Ok((StatusCode::CREATED, Json(json!({"number": number}))))
    };
    let nothing = async |_: Caller| StatusCode::NO_CONTENT;
    let routes: Router<ApiState> = Router::new().route("/api/things", post(make)).route("/api/nothing", post(nothing));
    (bed_around(routes).await, count)
}

#[tokio::test]
async fn a_key_makes_a_write_happen_once() {
    let (bed, count) = counting().await;
    let token = bearer(&bed.admin().await);
    let one = async |key: &str, body: Value| {
        let key = format!("idempotency-key: {key}");
        bed.json("POST /api/things", &[&token, &key], &body).await
    };
    let first = one("a", json!({})).await;
    assert_eq!((first.status, first.header("idempotency-replayed")), (201, ""));
    for _ in 0..3 {
        let again = one("a", json!({})).await;
        assert_eq!((again.status, again.text.as_str()), (201, first.text.as_str()));
        assert_eq!(again.header("idempotency-replayed"), "true");
        assert_eq!(again.header("content-type"), "application/json");
    }
    assert_eq!(count.load(Ordering::SeqCst), 1);

    let other = one("a", json!({"x": 1})).await;
    assert_eq!((other.status, &other.json()["code"]), (422, &json!("idempotency_mismatch")));
    assert_eq!(one("b", json!({})).await.json()["number"], 2);

    let refused = one("c", json!({"fail": true})).await;
    assert_eq!(refused.status, 422);
    let corrected = one("c", json!({})).await;
    assert_eq!(corrected.status, 201, "what was refused changed nothing");

    bed.clock.advance(Duration::from_hours(25));
    let token = bearer(&bed.admin().await);
    let later = bed.json("POST /api/things", &[&token, "idempotency-key: a"], &json!({})).await;
    assert_eq!(later.json()["number"], 4, "keys are known for a day");
}

#[tokio::test]
async fn bad_keys_and_strangers_are_refused() {
    let (bed, count) = counting().await;
    let token = bearer(&bed.admin().await);
    let long = format!("idempotency-key: {}", "x".repeat(129));
    let cases: [(&[&str], u16); 5] = [
        (&[&token, "idempotency-key:"], 422),
        (&[&token, &long], 422),
        (&[&token, "idempotency-key: é"], 422),
        (&[&token, "idempotency-key: a", "idempotency-key: b"], 422),
        (&["idempotency-key: a"], 401),
    ];
    for (headers, status) in cases {
        let answer = bed.json("POST /api/things", headers, &json!({})).await;
        assert_eq!(answer.status, status, "{headers:?}: {}", answer.text);
    }
    let long = "x".repeat(5_000_000);
    let headers: [&str; 2] = [&token, "idempotency-key: long"];
    let answer = bed.send("POST /api/things", &headers, &long).await;
    assert_eq!(answer.status, 413);
    assert_eq!(count.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn the_same_key_at_the_same_time_is_in_progress() {
    let (bed, count) = counting().await;
    let token = bearer(&bed.admin().await);
    let one = async || {
        let headers: [&str; 2] = [&token, "idempotency-key: a"];
        bed.json("POST /api/things", &headers, &json!({"wait": true})).await
    };
    let (one_of_both, other) = futures::future::join(one(), one()).await;
    let (first, second) = if one_of_both.status == 201 { (one_of_both, other) } else { (other, one_of_both) };
    assert_eq!(first.status, 201);
    assert_eq!(second.status, 409);
    assert_eq!(second.json()["code"], "idempotency_in_progress");
    assert_eq!(second.header("retry-after"), "1");
    assert_eq!(one().await.header("idempotency-replayed"), "true");
    assert_eq!(count.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_client_that_goes_away_does_not_leave_a_key_half_done() {
    let (bed, count) = counting().await;
    let token = bearer(&bed.admin().await);
    let headers: [&str; 2] = [&token, "idempotency-key: a"];
    let body = json!({"wait": true});
    let request = bed.json("POST /api/things", &headers, &body);
    let gone = tokio::time::timeout(Duration::from_millis(50), request).await;
    assert!(gone.is_err(), "the client hung up");
    let mut again = bed.json("POST /api/things", &headers, &body).await;
    for _ in 0..3_000 {
        if again.status != 409 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
        again = bed.json("POST /api/things", &headers, &body).await;
    }
    assert_eq!((again.status, again.header("idempotency-replayed")), (201, "true"));
    assert_eq!(count.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn an_empty_answer_is_replayed_empty() {
    let (bed, _) = counting().await;
    let token = bearer(&bed.admin().await);
    for replayed in ["", "true"] {
        let headers: [&str; 2] = [&token, "idempotency-key: n"];
        let answer = bed.send("POST /api/nothing", &headers, "").await;
        assert_eq!((answer.status, answer.text.as_str()), (204, ""));
        assert_eq!(answer.header("idempotency-replayed"), replayed);
        assert_eq!(answer.header("content-type"), "");
    }
}

#[tokio::test]
async fn a_role_that_is_too_low_is_refused() {
    let (bed, _) = counting().await;
    let token = bearer(&bed.admin().await);
    for (role, status) in [("admin", 201), ("operator", 201), ("developer", 403), ("viewer", 403)] {
        bed.set_role(role).await;
        let answer = bed.json("POST /api/things", &[&token], &json!({})).await;
        assert_eq!(answer.status, status, "{role}: {}", answer.text);
    }
}
