//! `/api/auth` over HTTP.

use super::{EMAIL, PASSWORD, bearer, bed};
use serde_json::json;
use std::time::Duration;

const OURS: &str = "x-steward: 1";

#[tokio::test]
async fn log_in_look_and_log_out() {
    let bed = bed().await;
    bed.admin().await;
    let body = json!({"email": " ADA@example.org ", "password": PASSWORD});
    let login = bed.json("POST /api/auth/login", &["user-agent: curl/8.9"], &body).await;
    assert_eq!(login.status, 200, "{}", login.text);
    let session = login.json();
    assert_eq!(session["token_type"], "bearer");
    assert_eq!(session["expires_in"], 900);
    assert_eq!(session["user"]["email"], EMAIL);
    assert_eq!(session["user"]["role"], "admin");
    let cookie = login.header("set-cookie");
    for part in ["HttpOnly", "SameSite=Strict", "Path=/api/auth", "Max-Age=2592000"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    assert!(!cookie.contains("Secure"), "no https here: {cookie}");

    let token = format!("authorization: Bearer {}", session["access_token"].as_str().unwrap());
    let me = bed.send("GET /api/auth/me", &[&token], "").await;
    assert_eq!(me.json(), session["user"]);
    let list = bed.send("GET /api/auth/sessions", &[&token], "").await.json();
    assert_eq!(list["items"].as_array().unwrap().len(), 2);
    assert_eq!(list["items"][0]["label"], "curl/8.9");
    assert_eq!(list["items"][0]["current"], true);
    assert_eq!(list["items"][1]["current"], false);

    let cookie = format!("cookie: other=1; steward_refresh={}", login.cookie().unwrap());
    let forged = bed.send("POST /api/auth/logout", &[&cookie], "").await;
    assert_eq!(forged.status, 403, "without X-Steward");
    let out = bed.send("POST /api/auth/logout", &[&cookie, OURS], "").await;
    assert_eq!(out.status, 204);
    assert!(out.header("set-cookie").contains("Max-Age=0"));
    let me = bed.send("GET /api/auth/me", &[&token], "").await;
    assert_eq!(me.status, 401, "the token died with its session");
    assert_eq!(me.header("www-authenticate"), "Bearer");
}

#[tokio::test]
async fn a_refresh_turns_the_cookie_over_and_theft_ends_the_session() {
    let bed = bed().await;
    let first = bed.admin().await.refresh_token.unwrap();
    let cookie = |token: &str| format!("cookie: steward_refresh={token}");
    let bare = bed.send("POST /api/auth/refresh", &[&cookie(&first)], "").await;
    assert_eq!(bare.status, 403);
    let turned = bed.send("POST /api/auth/refresh", &[&cookie(&first), OURS], "").await;
    assert_eq!(turned.status, 200, "{}", turned.text);
    let second = turned.cookie().unwrap().to_owned();
    assert_ne!(first, second);

    let tab = bed.send("POST /api/auth/refresh", &[&cookie(&first), OURS], "").await;
    assert_eq!((tab.status, tab.cookie()), (200, None), "another tab");

    bed.clock.advance(Duration::from_secs(11));
    for token in [&first, &second] {
        let ended = bed.send("POST /api/auth/refresh", &[&cookie(token), OURS], "").await;
        assert_eq!(ended.status, 401);
        assert_eq!(ended.json()["code"], "session_ended");
        assert!(ended.header("set-cookie").contains("Max-Age=0"));
    }
    let none = bed.send("POST /api/auth/refresh", &[OURS], "").await;
    assert_eq!(none.status, 401);
}

#[tokio::test]
async fn wrong_passwords_are_refused_alike_and_then_closed() {
    let bed = bed().await;
    bed.admin().await;
    let attempt = async |email: &str, password: &str| {
        let body = json!({"email": email, "password": password});
        bed.json("POST /api/auth/login", &[], &body).await
    };
    let wrong = attempt(EMAIL, "wrong password").await;
    let unknown = attempt("eve@example.org", "wrong password").await;
    assert_eq!((wrong.status, &wrong.text), (401, &unknown.text));
    for _ in 0..4 {
        assert_eq!(attempt(EMAIL, "wrong password").await.status, 401);
    }
    let closed = attempt(EMAIL, PASSWORD).await;
    assert_eq!(closed.status, 429);
    assert_eq!(closed.header("retry-after"), "900");
    assert_eq!(closed.json()["retry_after"], 900);
}

#[tokio::test]
async fn the_first_administrator_is_made_once() {
    let bed = bed().await;
    let status = bed.send("GET /api/auth/status", &[], "").await;
    assert_eq!(status.json(), json!({"needs_setup": true, "version": "9.9.9", "several_tenants": false}));
    let made = bed.app().access.first_start(None).await.unwrap();
    let steward_access::FirstStart::Token(token) = made else {
        panic!("{made:?}");
    };
    let body = |token: &str, email: &str, password: &str| json!({"token": token, "email": email, "password": password, "name": "Ada"});
    let cases = [
        (body("wrong", EMAIL, PASSWORD), 403),
        (body(&token, "no address", PASSWORD), 422),
        (body(&token, EMAIL, "short"), 422),
        (body(&token, EMAIL, PASSWORD), 201),
        (body(&token, "eve@example.org", PASSWORD), 403),
    ];
    for (body, expected) in cases {
        let answer = bed.json("POST /api/auth/setup", &[], &body).await;
        assert_eq!(answer.status, expected, "{body}: {}", answer.text);
        if expected == 201 {
            assert!(answer.cookie().is_some());
            assert_eq!(answer.json()["user"]["name"], "Ada");
        } else {
            assert!(answer.json()["hint"].is_string());
        }
    }
    let status = bed.send("GET /api/auth/status", &[], "").await;
    assert_eq!(status.json()["needs_setup"], false);
}

#[tokio::test]
async fn bad_bodies_are_refused_by_field() {
    let bed = bed().await;
    let good = json!({"email": EMAIL, "password": PASSWORD}).to_string();
    let cases = [
        ("application/json", "{", 400, ""),
        ("application/json", "{}", 422, "email"),
        ("application/json", r#"{"email": 1, "password": "x"}"#, 422, "email"),
        ("application/json", r#"{"email": "a", "password": "b", "remember": true}"#, 422, "remember"),
        ("application/json", r#"{"email": "a\u0000", "password": "b"}"#, 422, "email"),
        ("text/plain", &good, 415, ""),
        ("application/x-www-form-urlencoded", "email=a", 415, ""),
    ];
    for (kind, body, status, field) in cases {
        let kind = format!("content-type: {kind}");
        let answer = bed.send("POST /api/auth/login", &[&kind], body).await;
        assert_eq!(answer.status, status, "{body}: {}", answer.text);
        assert_eq!(answer.header("content-type"), "application/problem+json");
        let problem = answer.json();
        assert_eq!(problem["field"].as_str().unwrap_or_default(), field, "{body}");
        assert_eq!(problem["status"], status);
        assert!(!problem["hint"].as_str().unwrap().is_empty());
    }
    let long = format!(r#"{{"email": "a", "password": "{}"}}"#, "x".repeat(4_200_000));
    let answer = bed.send("POST /api/auth/login", &["content-type: application/json"], &long).await;
    assert_eq!(answer.status, 413);
}

#[tokio::test]
async fn bad_pages_and_ids_are_refused() {
    let bed = bed().await;
    let token = bearer(&bed.admin().await);
    let cases = [
        ("GET /api/auth/sessions?limit=1", 200),
        ("GET /api/auth/sessions?limit=100&unknown=1", 200),
        ("GET /api/auth/sessions?limit=0", 422),
        ("GET /api/auth/sessions?limit=101", 422),
        ("GET /api/auth/sessions?limit=-1", 422),
        ("GET /api/auth/sessions?limit=many", 422),
        ("GET /api/auth/sessions?cursor=***", 422),
        ("GET /api/auth/sessions?cursor=AAAA", 422),
        ("GET /api/auth/sessions?cursor=%00", 422),
        ("DELETE /api/auth/sessions/7", 404),
        ("DELETE /api/auth/sessions/%FF", 404),
        ("DELETE /api/auth/sessions/019c0e3a-7b1d-7c44-9d43-3f6f1f6a2b11", 404),
    ];
    for (line, status) in cases {
        let answer = bed.send(line, &[&token], "").await;
        assert_eq!(answer.status, status, "{line}: {}", answer.text);
        assert!(status == 200 || answer.json()["hint"].is_string(), "{line}");
    }
}

#[tokio::test]
async fn another_password_and_keys() {
    let bed = bed().await;
    let open = bed.admin().await;
    let token = bearer(&open);
    let wrong = json!({"current": "wrong password", "new": "another long password"});
    let answer = bed.json("POST /api/auth/password", &[&token], &wrong).await;
    assert_eq!(answer.status, 422, "{}", answer.text);
    assert_eq!(answer.json()["field"], "current");
    let right = json!({"current": PASSWORD, "new": "another long password"});
    let answer = bed.json("POST /api/auth/password", &[&token], &right).await;
    assert_eq!(answer.status, 204, "{}", answer.text);

    let made = bed.send("POST /api/auth/api-key", &[&token], "").await;
    let key = format!("authorization: bearer {}", made.json()["api_key"].as_str().unwrap());
    assert_eq!(bed.send("GET /api/auth/me", &[&key], "").await.status, 200);
    let gone = bed.send("DELETE /api/auth/api-key", &[&token], "").await;
    assert_eq!(gone.status, 204);
    assert_eq!(bed.send("GET /api/auth/me", &[&key], "").await.status, 401);
}

#[tokio::test]
async fn tokens_that_are_none() {
    let bed = bed().await;
    bed.admin().await;
    let cases = [
        vec![],
        vec!["authorization: Bearer"],
        vec!["authorization: Bearer "],
        vec!["authorization: Bearer a.b.c"],
        vec!["authorization: Bearer sk-steward-0"],
        vec!["authorization: Basic YTpi"],
    ];
    for headers in cases {
        let answer = bed.send("GET /api/auth/me", &headers, "").await;
        assert_eq!(answer.status, 401, "{headers:?}");
        assert_eq!(answer.header("content-type"), "application/problem+json");
    }
    bed.break_database();
    let answer = bed.send("GET /api/auth/status", &[], "").await;
    assert_eq!(answer.status, 503);
}
