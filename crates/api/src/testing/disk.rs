//! A full disk, and quotas: what is refused, and what goes on.

use super::{Answer, Bed, EMAIL, PASSWORD, bearer, bed, configuration, disk_with, with_parts};
use crate::router::router;
use serde_json::json;
use std::sync::Arc;
use steward_app::config::{Layers, Source};
use steward_app::{DiskSpace, Health, checks};
use steward_core::hash::sha256;
use steward_core::ports::{Role, User, Users as _};
use steward_core::{TenantId, Timestamp, UserId};
use uuid::Uuid;

const MB: u64 = 1_000_000;

/// With a workspace, `free` MB of a disk, and a quota of 1 MB for each user.
async fn on_disk(free: u64) -> (Bed, tempfile::TempDir) {
    let bed = bed().await;
    let workspace = tempfile::tempdir().unwrap();
    let disk = disk_with(vec![DiskSpace { free: free * MB, total: 100_000 * MB }]);
    let mut layers = Layers::default();
    layers.give("STORAGE_PER_USER_MB", Source::Environment, "a test", "1");
    let state = with_parts(&bed, |parts| {
        parts.workspace = workspace.path().display().to_string().into();
        parts.health = Arc::new(Health::new(vec![checks::disk_room(disk.clone())]));
        parts.disk = disk;
        parts.config = configuration(layers);
    });
    (Bed { router: router(state.clone()), state, ..bed }, workspace)
}

async fn upload(bed: &Bed, token: &str, name: &str, bytes: usize) -> Answer {
    bed.send(&format!("POST /api/files?name={name}"), &[token], &"x".repeat(bytes)).await
}

#[tokio::test]
async fn on_a_full_disk_logins_and_deletions_go_on() {
    let (bed, workspace) = on_disk(900).await;
    let token = bearer(&bed.admin().await);
    std::fs::write(workspace.path().join("large.bin"), "x").unwrap();
    let refused = upload(&bed, &token, "x.csv", 10).await;
    assert_eq!((refused.status, &refused.json()["code"]), (507, &json!("disk_full")), "{}", refused.text);
    assert!(refused.json()["hint"].is_string());
    let collection = bed.json("POST /api/collections", &[&token], &json!({"name": "c"})).await;
    assert_eq!(collection.status, 201, "{}", collection.text);
    for (line, body) in [
        ("POST /api/documents/upload?name=x&collection=c", json!("x")),
        ("POST /api/skills/import-package?ready=none", json!("x")),
        (&format!("POST /api/chat/{}", Uuid::nil()), json!({"message": "hi"})),
    ] {
        let refused = bed.json(line, &[&token], &body).await;
        assert_eq!(refused.status, 507, "{line}: {}", refused.text);
    }
    let ready = bed.send("GET /readyz", &[], "").await;
    assert_eq!((ready.status, &ready.json()["ready"]), (503, &json!(false)));
    assert!(ready.json()["parts"]["disk"]["detail"].as_str().unwrap().contains("900 MB are free"), "{}", ready.text);
    assert_eq!(bed.send("GET /healthz", &[], "").await.status, 200);
    let login = bed.json("POST /api/auth/login", &[], &json!({"email": EMAIL, "password": PASSWORD})).await;
    assert_eq!(login.status, 200, "{}", login.text);
    assert_eq!(bed.send("DELETE /api/files?path=large.bin", &[&token], "").await.status, 204);
    assert!(!workspace.path().join("large.bin").exists());
    let (bed, _workspace) = on_disk(1100).await;
    let token = bearer(&bed.admin().await);
    assert_eq!(bed.send("GET /readyz", &[], "").await.status, 200);
    assert_eq!(upload(&bed, &token, "x.csv", 10).await.status, 201);
}

#[tokio::test]
async fn a_user_keeps_no_more_than_their_quota() {
    let (bed, workspace) = on_disk(50_000).await;
    let token = bearer(&bed.admin().await);
    assert_eq!(upload(&bed, &token, "a.csv", 600_000).await.status, 201);
    let refused = upload(&bed, &token, "b.csv", 600_000).await;
    assert_eq!((refused.status, &refused.json()["code"]), (507, &json!("quota_exceeded")), "{}", refused.text);
    assert_eq!(std::fs::read_dir(workspace.path().join("uploads")).unwrap().count(), 1, "no half stays");
    let listed = bed.send("GET /api/files/uploads", &[&token], "").await.json();
    assert_eq!((&listed["items"][0]["path"], &listed["items"][0]["bytes"]), (&json!("uploads/a.csv"), &json!(600_000)));
    assert_eq!(bed.send("DELETE /api/files?path=uploads/../uploads/a.csv", &[&token], "").await.status, 204);
    assert_eq!(upload(&bed, &token, "b.csv", 600_000).await.status, 201);
    // An agent, or somebody on the server, removes it.
    std::fs::remove_file(workspace.path().join("uploads/b.csv")).unwrap();
    assert_eq!(upload(&bed, &token, "c.csv", 600_000).await.status, 201);
    let gone = bed.send("DELETE /api/files?path=uploads/b.csv", &[&token], "").await;
    assert_eq!((gone.status, &gone.json()["code"]), (404, &json!("no_such_file")));
    let out = bed.send("DELETE /api/files?path=../x", &[&token], "").await;
    assert_eq!(out.status, 404, "{}", out.text);
}

#[tokio::test]
async fn a_developer_removes_only_what_they_sent() {
    let (bed, workspace) = on_disk(50_000).await;
    let admin = bearer(&bed.admin().await);
    let id = UserId(Uuid::from_u128(7));
    let user = User {
        api_key_hash: Some(sha256(b"sk-steward-bob-for-tests")),
        ..User::new(id, "bob@example.org", "Bob", Role::Developer, Timestamp(0))
    };
    bed.store.create_user(TenantId::DEFAULT, &user).await.unwrap();
    let bob = "authorization: Bearer sk-steward-bob-for-tests";
    assert_eq!(upload(&bed, &admin, "hers.csv", 10).await.status, 201);
    assert_eq!(upload(&bed, bob, "his.csv", 10).await.status, 201);
    std::fs::write(workspace.path().join("made.txt"), "by an agent").unwrap();
    for (path, status) in [("uploads/hers.csv", 403), ("made.txt", 403), ("uploads/his.csv", 204)] {
        let answer = bed.send(&format!("DELETE /api/files?path={path}"), &[bob], "").await;
        assert_eq!(answer.status, status, "{path}: {}", answer.text);
    }
    let listed = bed.send("GET /api/files/uploads", &[bob], "").await.json();
    assert_eq!(listed["items"], json!([]), "another's is not listed");
    // Somebody puts another file in the place of what he sent.
    assert_eq!(upload(&bed, bob, "his.csv", 10).await.status, 201);
    std::fs::write(workspace.path().join("uploads/his.csv"), "by hand, and longer").unwrap();
    let replaced = bed.send("DELETE /api/files?path=uploads/his.csv", &[bob], "").await;
    assert_eq!(replaced.status, 403, "{}", replaced.text);
    assert!(replaced.text.contains("another length"), "{}", replaced.text);
    assert_eq!(bed.send("DELETE /api/files?path=uploads/his.csv", &[&admin], "").await.status, 204);
    assert_eq!(upload(&bed, bob, "his.csv", 10).await.status, 201);
    let line = format!("GET /api/files/uploads?user={id}");
    let his = bed.send(&line, &[&admin], "").await.json();
    assert_eq!(
        (his["items"].as_array().unwrap().len(), &his["items"][0]["by"]),
        (1, &json!("bob@example.org")),
        "{his}"
    );
    let hers = bed.send("GET /api/files/uploads", &[&admin], "").await.json();
    let line = format!("GET /api/files/uploads?user={}", hers["items"][0]["user_id"].as_str().unwrap());
    assert_eq!(bed.send(&line, &[bob], "").await.status, 403);
}
