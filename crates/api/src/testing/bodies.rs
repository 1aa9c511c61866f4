//! Bodies: whose are read, how many at a time, and what becomes of a connection whose body was not.

use super::{Bed, bearer, bed, bed_within};
use crate::ApiState;
use crate::auth::Call;
use crate::guard::BodyBudget;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{Request, StatusCode, header};
use axum::routing::post;
use hyper::body::{Frame, SizeHint};
use serde_json::Value;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use steward_core::hash::sha256;
use steward_core::ports::{Role, User, Users as _};
use steward_core::{TenantId, Timestamp, UserId};
use tower::ServiceExt as _;
use uuid::Uuid;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/permissions.md");

/// A body of so many bytes that says whether anybody wanted to read it; none ever come.
struct Watched {
    read: Arc<AtomicBool>,
    length: u64,
}

impl hyper::body::Body for Watched {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, std::convert::Infallible>>> {
        self.read.store(true, Ordering::SeqCst);
        Poll::Pending
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.length)
    }
}

/// The status of a request with such a body, once it is answered, and whether anybody wanted to read it.
async fn watched(bed: &Bed, line: &str, headers: &[&str], length: u64) -> (StatusCode, bool) {
    let read = Arc::<AtomicBool>::default();
    let body = Watched { read: Arc::clone(&read), length };
    let answer = bed.router.clone().oneshot(request(line, headers, Body::new(body))).await.unwrap();
    if answer.status() == StatusCode::FORBIDDEN {
        assert_eq!(answer.headers()[header::CONNECTION], "close", "{line}: its body is left unread");
    }
    (answer.status(), read.load(Ordering::SeqCst))
}

fn request(line: &str, headers: &[&str], body: Body) -> Request<Body> {
    let (method, path) = line.split_once(' ').unwrap();
    let mut request = Request::builder().method(method).uri(path).header(header::HOST, "localhost:8800");
    request = request.header(header::CONTENT_TYPE, "application/json");
    for one in headers {
        let (name, value) = one.split_once(": ").unwrap();
        request = request.header(name, value);
    }
    request.body(body).unwrap()
}

/// The operations with a body that the page of permissions refuses to all up to a role, on whatever they are tried.
fn refused_by_role() -> Vec<(String, Vec<&'static str>)> {
    let page = std::fs::read_to_string(PAGE).unwrap();
    let document = serde_json::to_value(crate::document()).unwrap();
    let mut found = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, _) in item.as_object().unwrap().iter().filter(|(_, one)| one["requestBody"].is_object()) {
            let name = format!("{} {path}", method.to_uppercase());
            let rows: Vec<Vec<&str>> = page
                .lines()
                .filter(|row| row.starts_with(&format!("| {name} |")) || row.starts_with(&format!("| {name}, ")))
                .map(|row| row.trim_matches('|').split('|').map(str::trim).collect())
                .collect();
            let no = |role: usize| !rows.is_empty() && rows.iter().all(|row| row[role + 2] == "no");
            let roles = ["viewer", "developer", "operator"].into_iter().enumerate();
            let roles: Vec<_> = roles.filter(|(at, _)| no(*at)).map(|(_, role)| role).collect();
            found.push((name, roles));
        }
    }
    found
}

#[tokio::test]
async fn no_body_is_read_of_who_may_never_send_one() {
    let bed = bed().await;
    let token = bearer(&bed.admin().await);
    let all = refused_by_role();
    assert!(all.iter().filter(|(_, roles)| !roles.is_empty()).count() > 60, "the page can't be read");
    let mut others = Vec::new();
    for role in ["viewer", "developer", "operator"] {
        bed.set_role(role).await;
        for (line, _) in all.iter().filter(|(_, roles)| roles.contains(&role)) {
            let line = line.replace(['{', '}'], "");
            for headers in [&[token.as_str()][..], &[token.as_str(), "idempotency-key: k"]] {
                let answer =
                    tokio::time::timeout(Duration::from_secs(10), watched(&bed, &line, headers, 1 << 20)).await;
                if answer != Ok((StatusCode::FORBIDDEN, false)) {
                    others.push(format!("{role}: {line}: {answer:?}"));
                }
            }
        }
    }
    assert!(others.is_empty(), "the page of permissions says no, and the body was asked for:\n{}", others.join("\n"));
    bed.set_role("viewer").await;
    for (line, length, expect) in [
        ("POST /api/documents/upload?name=x&collection=c", 200 << 20, 403),
        ("POST /v1/chat/completions", 32 << 20, 403),
        ("POST /v1/responses", 32 << 20, 403),
        ("POST /v1/none", 32 << 20, 404),
        // Longer than they may be, whoever sends them.
        ("POST /api/domains/query", 5 << 20, 413),
        ("POST /api/auth/login", 1 << 20, 413),
        ("POST /mcp", 5 << 20, 413),
    ] {
        let (status, read) = watched(&bed, line, &[&token], length).await;
        assert_eq!((status.as_u16(), read), (expect, false), "{line}");
    }
    let strange = watched(&bed, "POST /api/auth/login", &[], 1 << 20).await;
    assert_eq!(strange, (StatusCode::PAYLOAD_TOO_LARGE, false));
    for line in ["POST /api/files?name=x", "POST /v1/chat/completions", "POST /mcp", "POST /scim/v2/Users"] {
        assert_eq!(watched(&bed, line, &[], 1 << 20).await, (StatusCode::UNAUTHORIZED, false), "{line}");
    }
}

/// Another user, with an API key.
async fn another(bed: &Bed) -> String {
    let id = UserId(Uuid::from_u128(7));
    let user = User {
        api_key_hash: Some(sha256(b"sk-steward-another-for-tests")),
        ..User::new(id, "bob@example.org", "Bob", Role::Developer, Timestamp(0))
    };
    bed.store.create_user(TenantId::DEFAULT, &user).await.unwrap();
    "authorization: Bearer sk-steward-another-for-tests".to_owned()
}

#[tokio::test]
async fn a_body_over_its_share_gives_way_to_another_sender() {
    let bodies = Arc::new(BodyBudget::new(1 << 20, 1 << 20, 1 << 20));
    let length = async |_: Call, body: Bytes| body.len().to_string();
    let routes: Router<ApiState> = Router::new().route("/api/length", post(length));
    let bed = bed_within(routes, Arc::clone(&bodies)).await;
    let (token, other) = (bearer(&bed.admin().await), another(&bed).await);
    let body = Watched { read: Arc::default(), length: 1 << 20 };
    let first = request("POST /api/length", &[&token], Body::new(body));
    let first = tokio::spawn(bed.router.clone().oneshot(first));
    while bodies.taken() < 1 << 20 {
        tokio::task::yield_now().await;
    }
    let second = bed.send("POST /api/length", &[&other], &"x".repeat(100_000)).await;
    assert_eq!((second.status, second.text.as_str()), (200, "100000"));
    let first = super::read(first.await.unwrap().unwrap()).await;
    assert_eq!((first.status, first.header("retry-after")), (429, "2"));
    assert_eq!(first.json()["code"], "bodies_at_once");
    assert_eq!(bodies.taken(), 0, "all is given back");
    let alone = bed.send("POST /api/length", &[&token], &"x".repeat(900_000)).await;
    assert_eq!(alone.text, "900000", "alone it may have nearly all");
}

#[tokio::test]
async fn a_refusal_is_told_in_the_dialect_of_the_path() {
    for (path, hint) in [("/api/x", "/hint"), ("/v1/x", "/error/code"), ("/scim/v2/x", "/detail")] {
        let answer = crate::guard::refuse_body(path, crate::guard::BodyRefusal::Full);
        let answer = super::read(answer).await;
        assert_eq!((answer.status, answer.header("retry-after")), (429, "2"), "{path}");
        assert!(answer.json().pointer(hint).is_some_and(Value::is_string), "{path}: {}", answer.text);
    }
}
