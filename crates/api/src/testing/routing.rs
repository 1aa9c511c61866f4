//! `POST /api/routing/preview`.

use super::{Answer, Bed, bearer, bed, with_parts};
use crate::router::router;
use async_trait::async_trait;
use serde_json::{Value, json};
use std::sync::Arc;
use steward_core::ConnectionId;
use steward_core::model::{Connection, ModelError, ModelErrorClass, ModelRequest};
use steward_core::ports::{
    Breaker, ChunkStream, ConnectionHealth, ModelCall, Models, NoAnswer, Opened, Route, RouteRequest, Scored,
};
use steward_core::routing::classify;
use steward_engine::{Deps, RunService};
use uuid::Uuid;

/// Knows one connection, whose breaker is open.
struct One;

fn one() -> Connection {
    serde_json::from_value(json!({
        "id": Uuid::from_u128(1), "name": "office", "provider": "compatible",
        "base_url": "http://127.0.0.1:9/v1", "model": "m",
    }))
    .unwrap()
}

fn refused() -> ModelError {
    ModelError {
        class: ModelErrorClass::Connect,
        message: "nothing is asked here".to_owned(),
        hint: "test it elsewhere".to_owned(),
        detail: None,
        retry_after_ms: None,
        status: None,
    }
}

#[async_trait]
impl Models for One {
    async fn select(&self, _: Option<ConnectionId>) -> Result<Connection, ModelError> {
        Ok(one())
    }
    async fn route(&self, request: RouteRequest<'_>) -> Result<Route, ModelError> {
        Ok(Route {
            task: classify(request.message),
            targets: vec![one()],
            reason: format!("at most {}", request.routing.max_fallback_attempts),
        })
    }
    async fn open(&self, _: ModelCall<'_>) -> Result<Opened, NoAnswer> {
        Err(NoAnswer { error: refused(), attempts: Vec::new() })
    }
    async fn stream(&self, _: ConnectionId, _: ModelRequest) -> Result<ChunkStream, ModelError> {
        Err(refused())
    }
    async fn score(&self, _: ConnectionId, _: ModelRequest, _: &[String]) -> Result<Vec<Scored>, ModelError> {
        Err(refused())
    }
    async fn health(&self) -> Vec<ConnectionHealth> {
        vec![ConnectionHealth {
            connection: one().id,
            breaker: Breaker::Open,
            retry_in_ms: Some(5),
            requests: 1,
            failures: 1,
            first_ms: None,
            last_error: None,
            last_ok_at: None,
            last_failed_at: None,
        }]
    }
}

async fn bed_with_one() -> Bed {
    let bed = bed().await;
    let deps = Deps { models: Arc::new(One), ..bed.app().runs.deps().clone() };
    let state = with_parts(&bed, |parts| parts.runs = RunService::new(deps));
    Bed { router: router(state.clone()), state, ..bed }
}

async fn preview(bed: &Bed, body: Value) -> Answer {
    let open = bed.admin().await;
    let line = "POST /api/routing/preview";
    bed.json(line, &[&bearer(&open)], &body).await
}

#[tokio::test]
async fn a_route_is_shown_without_asking_anybody() {
    let body = json!({"message": "Debug this chart", "routing": {"max_fallback_attempts": 2}});
    let answer = preview(&bed_with_one().await, body).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let target = json!({
        "id": Uuid::from_u128(1), "name": "office", "model": "m",
        "grade": null, "price": null, "breaker": "open",
    });
    let mut shown = answer.json();
    let price = shown["targets"][0]["price"].take();
    assert!(price.is_null() || price["input"].is_u64(), "{price}");
    assert_eq!(
        shown,
        json!({
            "task": "code_gen", "targets": [target], "reason": "at most 2",
            "hint": "analytics", "hint_words": ["chart"], "planner": null, "redirected": null,
        })
    );
}

#[tokio::test]
async fn what_cannot_be_previewed_is_refused_by_name() {
    let id = Uuid::from_u128(9);
    for (body, words) in [
        (json!({"message": "x", "agent_id": id, "connection": id}), "agent_id"),
        (json!({"message": "x", "connection": id}), "no connection"),
        (json!({"message": "x", "routing": {"fallback_chain": [id]}}), "no connection"),
        (json!({"message": "x", "routing": {"max_fallback_attempts": 0}}), "max_fallback_attempts"),
        (json!({"message": "x", "routing": {"task_routing": {"cooking": id}}}), "cooking"),
        (json!({"routing": {}}), "message"),
    ] {
        let answer = preview(&bed_with_one().await, body).await;
        assert_eq!(answer.status, 422, "{}", answer.text);
        assert!(answer.text.contains(words), "{words}: {}", answer.text);
    }
}
