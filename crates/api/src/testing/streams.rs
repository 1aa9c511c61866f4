//! Streams of events end with what let their listener in.

use super::{Bed, EMAIL, bearer, bed};
use axum::body::{Body, BodyDataStream};
use axum::http::{Request, header};
use futures::StreamExt as _;
use serde_json::json;
use std::time::Duration;
use steward_core::permission::{AccessLevel, Grantee, ResourceGrant};
use steward_core::ports::{Role, User, Users as _};
use steward_core::{AgentId, TenantId, Timestamp, UserId};
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

#[tokio::test]
async fn streams_end_soon_after_a_role_or_a_grant_was_taken_and_not_after_one_was_given() {
    let bed = bed().await;
    let open = bed.admin().await;
    let admin = bearer(&open);
    let mut keys = Vec::new();
    for (number, role) in [(7, Role::Operator), (8, Role::Developer), (9, Role::Developer)] {
        let id = UserId(Uuid::from_u128(number));
        let user = User::new(id, format!("user{number}@example.org"), "Ann", role, bed.clock_now());
        bed.store.create_user(TenantId::DEFAULT, &user).await.unwrap();
        keys.push((
            id,
            format!("authorization: Bearer {}", bed.state.installation().access.make_api_key(id).await.unwrap()),
        ));
    }
    let agent = AgentId(Uuid::from_u128(5));
    let grant = |user, level| ResourceGrant {
        grantee: Grantee::User(user),
        level,
        given_by: "ada".to_owned(),
        given_at: Timestamp(0),
    };
    let (losing, given) = (keys[1].0, keys[2].0);
    bed.store.give_grant(TenantId::DEFAULT, agent.into(), &grant(losing, AccessLevel::Edit)).await.unwrap();
    let (demoted, lost, kept) =
        (bed.stream(&keys[0].1).await, bed.stream(&keys[1].1).await, bed.stream(&keys[2].1).await);

    let demote = bed.json(&format!("PATCH /api/users/{}", keys[0].0.0), &[&admin], &json!({"role": "viewer"})).await;
    assert_eq!(demote.status, 200, "{}", demote.text);
    bed.store.give_grant(TenantId::DEFAULT, agent.into(), &grant(losing, AccessLevel::Use)).await.unwrap();
    bed.store.give_grant(TenantId::DEFAULT, agent.into(), &grant(given, AccessLevel::Edit)).await.unwrap();
    assert_eq!(tokio::join!(ends(demoted), ends(lost), ends(kept)), (true, true, false));
}
