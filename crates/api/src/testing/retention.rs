//! Deletions by age, and what stops them.

use super::{Bed, bearer, bed};
use serde_json::{Value, json};
use std::time::Duration;
use steward_core::ports::Conversation;
use steward_core::{AgentId, ConversationId, TenantId, Timestamp};
use uuid::Uuid;

const PATH: &str = "/api/data-governance/retention";
const DAY: Duration = Duration::from_hours(24);

async fn plant(bed: &Bed, count: u128, at: Timestamp) {
    for number in 0..count {
        let talk = Conversation {
            id: ConversationId(Uuid::from_u128(u128::from(at.0.unsigned_abs()) * 1_000 + number)),
            agent: AgentId(Uuid::from_u128(1)),
            user: None,
            title: "t".to_owned(),
            created_at: at,
            updated_at: at,
            deleted_at: None,
            forked_from: None,
        };
        bed.store.create_conversation(TenantId::DEFAULT, &talk).await.unwrap();
    }
}

async fn keep_for(bed: &Bed, admin: &str, version: u64, days: u32) {
    let policy = json!({"name": "old ones", "kind": "conversations", "days": days, "deleted_only": false});
    let rules = json!({"version": version, "policies": [policy], "holds": []});
    let preview = bed.json(&format!("POST {PATH}/preview"), &[admin], &rules).await.json();
    let body = json!({"rules": rules, "confirmation": preview["confirmation"]});
    assert_eq!(bed.json(&format!("PUT {PATH}"), &[admin], &body).await.status, 200);
}

async fn view(bed: &Bed, admin: &str) -> Value {
    bed.send(&format!("GET {PATH}"), &[admin], "").await.json()
}

async fn agree(bed: &Bed, admin: &str, confirmation: &Value) -> u16 {
    bed.json(&format!("POST {PATH}/agree"), &[admin], &json!({"confirmation": confirmation})).await.status
}

#[tokio::test]
async fn after_a_jump_of_the_clock_nothing_is_deleted_until_somebody_agrees() {
    let bed = bed().await;
    let admin = bearer(&bed.admin().await);
    plant(&bed, 3, bed.clock_now()).await;
    keep_for(&bed, &admin, 0, 3_650).await;
    assert!(bed.app().delete_expired().await.unwrap(), "nothing is old");
    let before = bed.clock_now();
    for (to, why) in
        [(before.plus(4_000 * DAY), "clock_ahead"), (Timestamp(before.0 - 86_400_000 * 400), "clock_behind")]
    {
        bed.clock.set(to);
        let admin = bearer(&bed.admin().await);
        assert!(!bed.app().delete_expired().await.unwrap(), "{why}");
        let shown = view(&bed, &admin).await;
        let held = &shown["held_back"][0];
        assert_eq!((&held["by"], &held["why"]), (&json!("retention"), &json!(why)), "{shown}");
        bed.clock.set(before);
        let admin = bearer(&bed.admin().await);
        assert!(bed.app().delete_expired().await.unwrap(), "the clock is right again");
        assert_eq!(view(&bed, &admin).await["held_back"], json!([]));
    }

    // It is right: ten years have passed.
    bed.clock.set(before.plus(4_000 * DAY));
    let admin = bearer(&bed.admin().await);
    bed.app().delete_expired().await.unwrap();
    assert_eq!(view(&bed, &admin).await["last"]["deleted"], 0);
    let confirmation = view(&bed, &admin).await["held_back"][0]["confirmation"].clone();
    assert_eq!(agree(&bed, &admin, &json!("another")).await, 409);
    assert_eq!(agree(&bed, &admin, &confirmation).await, 200);
    assert_eq!(agree(&bed, &admin, &confirmation).await, 409, "nothing is held back");
    assert!(bed.app().delete_expired().await.unwrap());
    assert_eq!(view(&bed, &admin).await["last"]["deleted"], 3);
}

#[tokio::test]
async fn what_was_written_by_a_clock_behind_is_kept_once_it_is_right() {
    let bed = bed().await;
    keep_for(&bed, &bearer(&bed.admin().await), 0, 3_650).await;
    assert!(bed.app().delete_expired().await.unwrap(), "nothing is old");
    let right = bed.clock_now();
    let behind = Timestamp(right.0 - 86_400_000 * 4_000);
    bed.clock.set(behind);
    assert!(!bed.app().delete_expired().await.unwrap());
    plant(&bed, 3, behind.plus(Duration::from_mins(5))).await;
    bed.clock.set(right);
    assert!(bed.app().delete_expired().await.unwrap());
    let deleted = async || view(&bed, &bearer(&bed.admin().await)).await["last"]["deleted"].clone();
    assert_eq!(deleted().await, 0, "they are minutes old");
    bed.clock.set(right.plus(3_660 * DAY));
    let admin = bearer(&bed.admin().await);
    bed.app().delete_expired().await.unwrap();
    let confirmation = view(&bed, &admin).await["held_back"][0]["confirmation"].clone();
    assert_eq!(agree(&bed, &admin, &confirmation).await, 200);
    assert!(bed.app().delete_expired().await.unwrap());
    assert_eq!(deleted().await, 3, "they are ten years old");
}

#[tokio::test]
async fn a_clock_that_is_right_again_holds_nothing_back() {
    let bed = bed().await;
    let admin = bearer(&bed.admin().await);
    keep_for(&bed, &admin, 0, 3_650).await;
    assert_eq!(bed.json("PUT /api/audit/retention", &[&admin], &json!({"days": 3_650})).await.status, 200);
    assert!(bed.app().delete_expired().await.unwrap(), "nothing is old");
    let right = bed.clock_now();
    bed.clock.set(right.plus(4_000 * DAY));
    assert_eq!(bed.app().prune_audit().await.unwrap(), 0);
    let held = async || view(&bed, &bearer(&bed.admin().await)).await["held_back"].clone();
    assert_eq!(held().await[0]["by"], "audit");
    bed.clock.set(right);
    assert!(bed.app().delete_expired().await.unwrap());
    assert_eq!(held().await, json!([]), "whoever held something back because of it");
}

#[tokio::test]
async fn more_than_a_share_at_once_waits_for_somebody() {
    let bed = bed().await;
    let admin = bearer(&bed.admin().await);
    let begun = bed.clock_now();
    keep_for(&bed, &admin, 0, 6).await;
    plant(&bed, 51, begun).await;
    bed.clock.advance(5 * DAY);
    plant(&bed, 60, bed.clock_now()).await;
    assert!(bed.app().delete_expired().await.unwrap());
    bed.clock.advance(2 * DAY);
    let admin = bearer(&bed.admin().await);
    for _ in 0..2 {
        assert!(!bed.app().delete_expired().await.unwrap());
    }
    let shown = view(&bed, &admin).await;
    assert_eq!((&shown["held_back"][0]["why"], &shown["last"]["deleted"]), (&json!("too_much"), &json!(0)), "{shown}");
    bed.set_role("operator").await;
    let operator = bearer(&bed.admin().await);
    assert_eq!(agree(&bed, &operator, &shown["held_back"][0]["confirmation"]).await, 403);
    bed.set_role("admin").await;
    let admin = bearer(&bed.admin().await);
    assert_eq!(agree(&bed, &admin, &shown["held_back"][0]["confirmation"]).await, 200);
    assert!(bed.app().delete_expired().await.unwrap());
    assert_eq!(view(&bed, &admin).await["last"]["deleted"], 51);

    // New rules were previewed: whoever saves them has seen how much goes.
    keep_for(&bed, &admin, 1, 1).await;
    assert!(bed.app().delete_expired().await.unwrap());
    assert_eq!(view(&bed, &admin).await["last"]["deleted"], 60);
}
