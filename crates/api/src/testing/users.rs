//! `/api/users` and the acceptance of invitations over HTTP.

use super::{Answer, Bed, EMAIL, PASSWORD, bearer, bed};
use serde_json::{Value, json};
use std::time::Duration;
use steward_access::LOCAL_USER;
use steward_app::{AcceptInvitation, AccessError};
use steward_core::hash::sha256;
use steward_core::ports::{LoginError, Role, User, Users as _};
use steward_core::{TenantId, UserId};
use uuid::Uuid;

const ANN: &str = "ann@example.org";
const ANNS: &str = "a long password of Ann";

impl Bed {
    /// `Authorization` of the administrator's API key, which outlives any clock.
    async fn admin_key(&self) -> String {
        self.admin().await;
        format!("authorization: Bearer {}", self.app().access.new_api_key(EMAIL).await.unwrap())
    }

    async fn invite(&self, admin: &str, email: &str, role: &str) -> (String, String) {
        let answer = self.json("POST /api/users", &[admin], &json!({"email": email, "role": role})).await;
        assert_eq!(answer.status, 201, "{}", answer.text);
        let invited = answer.json();
        assert_eq!(invited["user"]["state"], "invited");
        (text(&invited["user"]["id"]), text(&invited["invitation"]["token"]))
    }

    async fn accept(&self, token: &str, password: &str) -> Answer {
        let body = json!({"token": token, "password": password});
        self.json("POST /api/auth/invitation", &[], &body).await
    }

    async fn log_in(&self, email: &str, password: &str) -> Answer {
        self.json("POST /api/auth/login", &[], &json!({"email": email, "password": password})).await
    }

    /// Invites Ann and accepts; her id and `Authorization` of her session.
    async fn ann(&self, admin: &str, role: &str) -> (String, String) {
        let (id, token) = self.invite(admin, ANN, role).await;
        let accepted = self.accept(&token, ANNS).await;
        assert_eq!(accepted.status, 200, "{}", accepted.text);
        (id, bearer_of(&accepted))
    }

    async fn patch(&self, admin: &str, id: &str, body: Value) -> Answer {
        self.json(&format!("PATCH /api/users/{id}"), &[admin], &body).await
    }

    async fn status(&self, line: &str, header: &str) -> u16 {
        self.send(line, &[header], "").await.status
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text")).to_owned()
}

fn bearer_of(session: &Answer) -> String {
    format!("authorization: Bearer {}", text(&session.json()["access_token"]))
}

/// That it was refused so, and says what to do.
fn refused(answer: &Answer, status: u16, code: &str) {
    assert_eq!(answer.status, status, "{}", answer.text);
    let problem = answer.json();
    assert_eq!(problem["code"].as_str().unwrap_or_default(), code, "{problem}");
    assert!(!problem["hint"].as_str().unwrap().is_empty(), "{problem}");
}

#[tokio::test]
async fn somebody_invited_chooses_a_password_and_works() {
    let bed = bed().await;
    let admin = bearer(&bed.admin().await);
    let body = json!({"email": " Ann@Example.ORG ", "name": "Ann", "role": "developer"});
    let answer = bed.json("POST /api/users", &[&admin], &body).await;
    assert_eq!(answer.status, 201, "{}", answer.text);
    let invited = answer.json();
    let (user, token) = (&invited["user"], text(&invited["invitation"]["token"]));
    assert_eq!((&user["email"], &user["name"], &user["role"]), (&json!(ANN), &json!("Ann"), &json!("developer")));
    assert_eq!(user["invitation_expires_at"], invited["invitation"]["expires_at"]);
    let week = Duration::from_hours(7 * 24);
    assert_eq!(user["invitation_expires_at"], bed.clock_now().plus(week).0);
    refused(&bed.log_in(ANN, PASSWORD).await, 401, "wrong_password");

    let body = json!({"token": token, "password": ANNS, "name": "Ann B."});
    let accepted = bed.json("POST /api/auth/invitation", &["user-agent: curl/8.9"], &body).await;
    assert_eq!(accepted.status, 200, "{}", accepted.text);
    assert!(accepted.cookie().is_some());
    let ann = bearer_of(&accepted);
    let me = bed.send("GET /api/auth/me", &[&ann], "").await.json();
    assert_eq!((&me["email"], &me["name"], &me["role"]), (&json!(ANN), &json!("Ann B."), &json!("developer")));
    assert_eq!(bed.status("GET /api/agents", &ann).await, 200);
    assert_eq!(bed.log_in(ANN, ANNS).await.status, 200);
    let path = format!("GET /api/users/{}", text(&user["id"]));
    let seen = bed.send(&path, &[&admin], "").await.json();
    assert_eq!((&seen["state"], &seen["sessions"]), (&json!("active"), &json!(2)));
    assert_eq!(seen["last_login_at"], bed.clock_now().0);
    assert_eq!(seen["invitation_expires_at"], Value::Null);
}

#[tokio::test]
async fn an_invitation_is_good_once_and_for_a_week() {
    let bed = bed().await;
    let admin = bed.admin_key().await;
    let (id, token) = bed.invite(&admin, ANN, "viewer").await;
    refused(&bed.accept("wrong", ANNS).await, 403, "invitation");
    let short = bed.accept(&token, "short").await;
    refused(&short, 422, "");
    assert_eq!(short.json()["field"], "password", "it is not used up");
    let renewed = bed.send(&format!("POST /api/users/{id}/invitation"), &[&admin], "").await;
    assert_eq!(renewed.status, 200, "{}", renewed.text);
    refused(&bed.accept(&token, ANNS).await, 403, "invitation");
    let token = text(&renewed.json()["invitation"]["token"]);
    assert_eq!(bed.accept(&token, ANNS).await.status, 200);
    refused(&bed.accept(&token, ANNS).await, 403, "invitation");
    assert_eq!(bed.log_in(ANN, ANNS).await.status, 200);

    let (_, late) = bed.invite(&admin, "bob@example.org", "viewer").await;
    bed.clock.advance(Duration::from_hours(7 * 24));
    refused(&bed.accept(&late, ANNS).await, 403, "invitation");
    let listed = bed.send("GET /api/users?state=invited", &[&admin], "").await.json();
    assert_eq!(listed["items"].as_array().unwrap().len(), 1, "an expired one can be renewed");
}

#[tokio::test]
async fn a_new_link_is_for_a_forgotten_password_too() {
    let bed = bed().await;
    let admin = bed.admin_key().await;
    let (id, ann) = bed.ann(&admin, "developer").await;
    let renewed = bed.send(&format!("POST /api/users/{id}/invitation"), &[&admin], "").await;
    assert_eq!(renewed.json()["user"]["state"], "active");
    assert_eq!(bed.log_in(ANN, ANNS).await.status, 200, "the password stays until then");
    let token = text(&renewed.json()["invitation"]["token"]);
    assert_eq!(bed.accept(&token, "another long password").await.status, 200);
    assert_eq!(bed.status("GET /api/auth/me", &ann).await, 401, "logins of before have ended");
    refused(&bed.log_in(ANN, ANNS).await, 401, "wrong_password");
}

#[tokio::test]
async fn guesses_of_invitations_are_limited() {
    let bed = bed().await;
    let admin = bed.admin_key().await;
    let (_, token) = bed.invite(&admin, ANN, "viewer").await;
    let accept = async |token: &str, client: &str| {
        let accept = AcceptInvitation {
            token,
            password: ANNS,
            name: None,
            client: Some(client.parse().unwrap()),
            label: "a program",
        };
        bed.app().access.accept_invitation(accept).await
    };
    for _ in 0..30 {
        assert!(matches!(accept("guess", "203.0.113.9").await, Err(AccessError::Invitation)));
    }
    let closed = accept(&token, "203.0.113.9").await;
    assert!(matches!(closed, Err(AccessError::Login(LoginError::TooMany { seconds: 900 }))), "{closed:?}");
    assert!(accept(&token, "203.0.113.10").await.is_ok());
}

#[tokio::test]
async fn nothing_of_somebody_disabled_opens_anything() {
    let bed = bed().await;
    let admin = bed.admin_key().await;
    let (id, ann) = bed.ann(&admin, "developer").await;
    let login = bed.log_in(ANN, ANNS).await;
    let cookie = format!("cookie: steward_refresh={}", login.cookie().unwrap());
    let made = bed.send("POST /api/auth/api-key", &[&ann], "").await.json();
    let api_key = format!("authorization: Bearer {}", text(&made["api_key"]));
    let made = bed.json("POST /api/keys", &[&ann], &json!({"name": "k"})).await;
    let virtual_key = format!("authorization: Bearer {}", text(&made.json()["secret"]));
    let opens = async || {
        [
            bed.status("GET /api/auth/me", &ann).await,
            bed.status("GET /api/auth/me", &api_key).await,
            bed.status("GET /v1/models", &virtual_key).await,
        ]
    };
    // Twice, so that the keys come from the cache.
    assert_eq!(opens().await, [200; 3]);
    assert_eq!(opens().await, [200; 3]);

    let disabled = bed.patch(&admin, &id, json!({"disabled": true})).await;
    assert_eq!((disabled.status, &disabled.json()["state"]), (200, &json!("disabled")), "{}", disabled.text);
    assert_eq!(opens().await, [401; 3]);
    let refresh = bed.send("POST /api/auth/refresh", &[&cookie, "x-steward: 1"], "").await;
    refused(&refresh, 401, "session_ended");
    let renewed = bed.send(&format!("POST /api/users/{id}/invitation"), &[&admin], "").await;
    refused(&renewed, 409, "user_disabled");

    let enabled = bed.patch(&admin, &id, json!({"disabled": false})).await;
    assert_eq!(enabled.json()["state"], "active", "{}", enabled.text);
    assert_eq!(opens().await, [401, 200, 200], "logins have ended, keys are good again");
    assert_eq!(bed.log_in(ANN, ANNS).await.status, 200);
}

#[tokio::test]
async fn a_disabled_user_looks_like_a_wrong_password() {
    let bed = bed().await;
    let admin = bed.admin_key().await;
    let (id, _) = bed.ann(&admin, "developer").await;
    bed.invite(&admin, "new@example.org", "developer").await;
    bed.patch(&admin, &id, json!({"disabled": true})).await;
    let wrong = bed.log_in(EMAIL, "a wrong password").await;
    refused(&wrong, 401, "wrong_password");
    for (email, password) in [(ANN, ANNS), (ANN, "a wrong password"), ("new@example.org", ANNS), ("eve@x.org", ANNS)] {
        let answer = bed.log_in(email, password).await;
        assert_eq!((answer.status, &answer.text), (wrong.status, &wrong.text), "{email}");
    }
    // And counts like one, whatever the password.
    for _ in 0..3 {
        bed.log_in(ANN, ANNS).await;
    }
    assert_eq!(bed.log_in(ANN, ANNS).await.status, 429);
}

#[tokio::test]
async fn an_administrator_remains() {
    let bed = bed().await;
    let admin = bed.admin_key().await;
    let me = text(&bed.send("GET /api/auth/me", &[&admin], "").await.json()["id"]);
    for body in [json!({"role": "viewer"}), json!({"disabled": true})] {
        refused(&bed.patch(&admin, &me, body).await, 409, "own_account");
    }
    refused(&bed.send(&format!("DELETE /api/users/{me}"), &[&admin], "").await, 409, "own_account");
    let renamed = bed.patch(&admin, &me, json!({"name": " Ada L. ", "role": "admin", "disabled": false})).await;
    assert_eq!((renamed.status, &renamed.json()["name"]), (200, &json!("Ada L.")), "{}", renamed.text);

    // An administrator who can't log in does not count, and may not take away the one who can.
    let key = "sk-steward-of-a-program";
    let program = User {
        api_key_hash: Some(sha256(key.as_bytes())),
        ..User::new(UserId(Uuid::from_u128(8)), "program@example.org", "Program", Role::Admin, bed.clock_now())
    };
    bed.store.create_user(TenantId::DEFAULT, &program).await.unwrap();
    let program = format!("authorization: Bearer {key}");
    for body in [json!({"role": "operator"}), json!({"disabled": true})] {
        refused(&bed.patch(&program, &me, body).await, 409, "last_administrator");
    }
    let (ann, anns) = bed.ann(&admin, "developer").await;
    assert_eq!(bed.status("GET /api/users", &anns).await, 403);
    assert_eq!(bed.patch(&admin, &ann, json!({"role": "admin"})).await.status, 200);
    assert_eq!(bed.status("GET /api/users", &anns).await, 200, "at the next request");
    assert_eq!(bed.patch(&anns, &me, json!({"role": "viewer"})).await.status, 200);
    assert_eq!(bed.status("GET /api/users", &admin).await, 403);
    refused(&bed.patch(&program, &ann, json!({"disabled": true})).await, 409, "last_administrator");
}

#[tokio::test]
async fn only_administrators_manage_users() {
    let bed = bed().await;
    let admin = bed.admin_key().await;
    let (id, ann) = bed.ann(&admin, "viewer").await;
    for role in ["viewer", "developer", "operator"] {
        bed.patch(&admin, &id, json!({"role": role})).await;
        for (line, body) in [
            ("GET /api/users".to_owned(), Value::Null),
            ("POST /api/users".to_owned(), json!({"email": "eve@example.org", "role": "admin"})),
            (format!("GET /api/users/{id}"), Value::Null),
            (format!("PATCH /api/users/{id}"), json!({"role": "admin"})),
            (format!("DELETE /api/users/{id}"), Value::Null),
            (format!("POST /api/users/{id}/invitation"), Value::Null),
            (format!("POST /api/users/{id}/sessions/end"), Value::Null),
        ] {
            let answer = bed.json(&line, &[&ann], &body).await;
            refused(&answer, 403, "");
            assert!(answer.json()["title"].as_str().unwrap().contains("needs the role admin"), "{line}");
            assert_eq!(bed.json(&line, &[], &body).await.status, 401, "{line}");
        }
    }
}

#[tokio::test]
async fn users_are_removed_when_they_are_shut_out() {
    let bed = bed().await;
    let admin = bed.admin_key().await;
    let (id, ann) = bed.ann(&admin, "developer").await;
    bed.json("POST /api/keys", &[&ann], &json!({"name": "k"})).await;
    let path = format!("DELETE /api/users/{id}");
    refused(&bed.send(&path, &[&admin], "").await, 409, "user_active");
    // Their logins at MCP servers, and somebody else's.
    let others = Uuid::from_u128(6).to_string();
    for owner in [&id, &others] {
        let fields = json!({"token_url": "https://wiki.example.org/token", "client_id": "c", "refresh_token": "r"});
        let login = json!({"name": format!("mcp_wiki_{owner}"), "kind": "oauth2", "fields": fields});
        let kept = bed.json("POST /api/credentials", &[&admin], &login).await;
        assert_eq!(kept.status, 201, "{}", kept.text);
    }
    bed.patch(&admin, &id, json!({"disabled": true})).await;
    assert_eq!(bed.status(&path, &admin).await, 204);
    let kept = bed.send("GET /api/credentials", &[&admin], "").await.json();
    let names: Vec<&str> = kept["items"].as_array().unwrap().iter().filter_map(|one| one["name"].as_str()).collect();
    assert_eq!(names, [format!("mcp_wiki_{others}")]);
    refused(&bed.send(&path, &[&admin], "").await, 404, "");
    assert_eq!(bed.status("GET /api/auth/me", &ann).await, 401);
    let (again, token) = bed.invite(&admin, ANN, "viewer").await;
    assert_ne!(id, again, "the email is free");
    assert_eq!(bed.status(&format!("DELETE /api/users/{again}"), &admin).await, 204, "never accepted");
    refused(&bed.accept(&token, ANNS).await, 403, "invitation");
}

#[tokio::test]
async fn sessions_of_others_are_ended() {
    let bed = bed().await;
    let admin = bed.admin_key().await;
    let (id, ann) = bed.ann(&admin, "developer").await;
    bed.log_in(ANN, ANNS).await;
    let ended = bed.send(&format!("POST /api/users/{id}/sessions/end"), &[&admin], "").await;
    assert_eq!((ended.status, ended.json()), (200, json!({"ended": 2})));
    assert_eq!(bed.status("GET /api/auth/me", &ann).await, 401);
    assert_eq!(bed.log_in(ANN, ANNS).await.status, 200);
}

#[tokio::test]
async fn users_are_listed_by_what_they_are() {
    let bed = bed().await;
    let admin = bed.admin_key().await;
    let (id, _) = bed.ann(&admin, "developer").await;
    for number in 0..4 {
        bed.invite(&admin, &format!("new{number}@example.org"), "viewer").await;
    }
    bed.patch(&admin, &id, json!({"disabled": true})).await;
    let emails = async |query: &str| {
        let answer = bed.send(&format!("GET /api/users?{query}"), &[&admin], "").await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        let page = answer.json();
        let emails: Vec<String> = page["items"].as_array().unwrap().iter().map(|user| text(&user["email"])).collect();
        (emails.join(" "), page["next_cursor"].as_str().unwrap_or_default().to_owned())
    };
    let new = "new0@example.org new1@example.org new2@example.org new3@example.org";
    for (query, expect) in [
        ("state=invited", new),
        ("role=viewer&state=active", ""),
        ("state=disabled", ANN),
        ("role=admin", EMAIL),
        ("search=NEW2", "new2@example.org"),
        ("search=%20ada%20", EMAIL),
        ("search=%25", ""),
    ] {
        assert_eq!(emails(query).await, (expect.to_owned(), String::new()), "{query}");
    }
    let (first, next) = emails("limit=3").await;
    assert_eq!(first, "ada@example.org ann@example.org new0@example.org");
    let (second, end) = emails(&format!("limit=3&cursor={next}")).await;
    assert_eq!((second.as_str(), end.as_str()), (&new[17..], ""));
    for query in ["state=gone", "role=root", "limit=0", "cursor=***"] {
        refused(&bed.send(&format!("GET /api/users?{query}"), &[&admin], "").await, 422, "");
    }
    let long = bed.send(&format!("GET /api/users?search={}", "x".repeat(201)), &[&admin], "").await;
    assert_eq!((long.status, &long.json()["field"]), (422, &json!("search")));
}

#[tokio::test]
async fn bad_invitations_and_changes_are_refused_by_field() {
    let bed = bed().await;
    let admin = bed.admin_key().await;
    let (id, _) = bed.invite(&admin, ANN, "viewer").await;
    let long = "x".repeat(101);
    for (body, field) in [
        (json!({"email": "no address", "role": "viewer"}), "email"),
        (json!({"email": "eve@example.org", "role": "root"}), "role"),
        (json!({"email": "eve@example.org"}), "role"),
        (json!({"email": "eve@example.org", "role": "viewer", "name": long}), "name"),
        (json!({"email": "eve@example.org", "role": "viewer", "name": "a\nb"}), "name"),
        (json!({"email": "eve@example.org", "role": "viewer", "password": "x"}), "password"),
    ] {
        let answer = bed.json("POST /api/users", &[&admin], &body).await;
        assert_eq!((answer.status, &answer.json()["field"]), (422, &json!(field)), "{body}: {}", answer.text);
    }
    for (body, field) in [(json!({"name": " "}), "name"), (json!({"email": "eve@example.org"}), "email")] {
        let answer = bed.patch(&admin, &id, body).await;
        assert_eq!((answer.status, &answer.json()["field"]), (422, &json!(field)), "{}", answer.text);
    }
    let taken = bed.json("POST /api/users", &[&admin], &json!({"email": "ANN@example.org", "role": "viewer"})).await;
    refused(&taken, 409, "email_taken");
    let nobody = Uuid::from_u128(5);
    for line in [format!("GET /api/users/{nobody}"), format!("POST /api/users/{nobody}/sessions/end")] {
        refused(&bed.send(&line, &[&admin], "").await, 404, "");
    }
}

#[tokio::test]
async fn the_user_of_this_machine_can_not_be_changed() {
    let bed = bed().await;
    let admin = bed.admin_key().await;
    bed.app().access.service_user(LOCAL_USER, "local").await.unwrap();
    let listed = bed.send("GET /api/users?search=local", &[&admin], "").await.json();
    let local = &listed["items"][0];
    assert_eq!((&local["built_in"], &local["state"]), (&json!(true), &json!("active")));
    let id = text(&local["id"]);
    for body in [json!({"role": "admin"}), json!({"disabled": true}), json!({"name": "me"})] {
        refused(&bed.patch(&admin, &id, body).await, 409, "built_in");
    }
    for line in [format!("DELETE /api/users/{id}"), format!("POST /api/users/{id}/invitation")] {
        refused(&bed.send(&line, &[&admin], "").await, 409, "built_in");
    }
}

#[tokio::test]
async fn a_token_is_not_kept_with_an_idempotency_key() {
    let bed = bed().await;
    let admin = bed.admin_key().await;
    let body = json!({"email": ANN, "role": "viewer"});
    let headers = [admin.as_str(), "idempotency-key: one"];
    let first = bed.json("POST /api/users", &headers, &body).await.json();
    let again = bed.json("POST /api/users", &headers, &body).await;
    assert_eq!((again.status, again.header("idempotency-replayed")), (201, "true"));
    let again = again.json();
    assert_eq!(again["user"], first["user"]);
    assert!(first["invitation"]["token"].is_string());
    assert_eq!(again["invitation"]["token"], Value::Null);
}
