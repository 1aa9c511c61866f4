//! Streams of events end with what let their listener in.

use super::{Bed, EMAIL, bearer, bed};
use axum::body::{Body, BodyDataStream};
use axum::http::{Request, header};
use futures::StreamExt as _;
use serde_json::json;
use std::time::Duration;
use steward_core::ports::{Role, User, Users as _};
use steward_core::{TenantId, UserId};
use tower::ServiceExt as _;
use uuid::Uuid;

/// Longer than it may take to be noticed.
const SOON: Duration = Duration::from_secs(8);

impl Bed {
    async fn stream(&self, header: &str) -> BodyDataStream {
        let value = header.strip_prefix("authorization: ").unwrap();
        let request = Request::builder()
            .uri("/api/events")
            .header(header::HOST, "localhost:8800")
            .header(header::AUTHORIZATION, value)
            .body(Body::empty())
            .unwrap();
        let response = self.router.clone().oneshot(request).await.unwrap();
        assert_eq!(response.status(), 200);
        response.into_body().into_data_stream()
    }
}

async fn ends(mut stream: BodyDataStream) -> bool {
    let end = async { while stream.next().await.is_some() {} };
    tokio::time::timeout(SOON, end).await.is_ok()
}

#[tokio::test]
async fn streams_end_soon_after_a_logout_a_disabling_and_the_end_of_a_key() {
    let bed = bed().await;
    let open = bed.admin().await;
    let session = bearer(&open);
    let key = format!("authorization: Bearer {}", bed.state.installation().access.new_api_key(EMAIL).await.unwrap());
    let ann = UserId(Uuid::from_u128(7));
    let user = User::new(ann, "ann@example.org", "Ann", Role::Developer, bed.clock_now());
    bed.store.create_user(TenantId::DEFAULT, &user).await.unwrap();
    let anns = format!("authorization: Bearer {}", bed.state.installation().access.make_api_key(ann).await.unwrap());
    let stays = bed.stream(&key).await;
    let (logged_out, disabled) = (bed.stream(&session).await, bed.stream(&anns).await);

    let disable = bed.json(&format!("PATCH /api/users/{}", ann.0), &[&key], &json!({"disabled": true})).await;
    assert_eq!(disable.status, 200, "{}", disable.text);
    let sessions = bed.send("GET /api/auth/sessions", &[&session], "").await.json();
    let id = sessions["items"][0]["id"].as_str().unwrap();
    assert_eq!(bed.send(&format!("DELETE /api/auth/sessions/{id}"), &[&key], "").await.status, 204);
    let (logged_out, disabled, stays) = tokio::join!(ends(logged_out), ends(disabled), async {
        let still_there = !ends(stays).await;
        let stream = bed.stream(&key).await;
        assert_eq!(bed.send("DELETE /api/auth/api-key", &[&key], "").await.status, 204);
        (still_there, ends(stream).await)
    });
    assert_eq!((logged_out, disabled, stays), (true, true, (true, true)));
}
