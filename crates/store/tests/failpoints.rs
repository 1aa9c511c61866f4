//! Sudden death around the commit, and a disk that is full for a while. Needs `--features failpoints`.

use async_trait::async_trait;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use steward_core::TenantId;
use steward_core::ports::{BlobError, Blobs, Settings, StoreError};
use steward_store::{Store, StoreConfig};
use steward_testkit::postgres::TestPostgres;
use tempfile::TempDir;

const TENANT: TenantId = TenantId::DEFAULT;
/// Tells the second process what to do: `engine place`.
const ROLE: &str = "STEWARD_TEST_DIES";

struct NoBlobs;

#[async_trait]
impl Blobs for NoBlobs {
    async fn put(&self, _: Vec<u8>) -> Result<String, BlobError> {
        Err(BlobError::Missing("none are kept".to_owned()))
    }

    async fn get(&self, hash: &str) -> Result<Vec<u8>, BlobError> {
        Err(BlobError::Missing(hash.to_owned()))
    }
}

async fn open(config: StoreConfig) -> Store {
    Store::open(config, Arc::new(NoBlobs)).await.unwrap()
}

fn config(place: &str) -> StoreConfig {
    if place.starts_with("postgres:") { StoreConfig::postgres(place) } else { StoreConfig::sqlite(Path::new(place)) }
}

/// Not a test of its own: the process that dies.
#[tokio::test]
async fn dies() {
    let Some(place) = std::env::var_os(ROLE) else {
        return;
    };
    let scenario = fail::FailScenario::setup();
    let store = open(config(place.to_str().unwrap())).await;
    let value = serde_json::json!("new");
    store.set_setting(TENANT, "s", &value).await.unwrap();
    scenario.teardown();
    panic!("the fail point did not work");
}

fn die_at(point: &str, place: &str) {
    let this: PathBuf = std::env::current_exe().unwrap();
    let output = Command::new(this)
        .args(["--exact", "failpoints::dies", "--nocapture"])
        .env(ROLE, place)
        .env("FAILPOINTS", format!("{point}=return"))
        .output()
        .unwrap();
    assert!(output.status.signal().is_some(), "{output:?}");
}

async fn check(place: &str) {
    let old = serde_json::json!("old");
    let new = serde_json::json!("new");
    for (point, expected) in [("before", &old), ("after", &new)] {
        let store = open(config(place)).await;
        store.set_setting(TENANT, "s", &old).await.unwrap();
        drop(store);
        die_at(&format!("store.commit.{point}"), place);
        let store = open(config(place)).await;
        let kept = store.setting(TENANT, "s").await.unwrap();
        assert_eq!(kept.as_ref(), Some(expected), "{point} the commit");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_is_there_or_not() {
    let dir = TempDir::new().unwrap();
    // Holds off the other test, whose fail point is of the whole process.
    let scenario = fail::FailScenario::setup();
    check(dir.path().to_str().unwrap()).await;
    let server = TestPostgres::shared().await.unwrap();
    check(&server.fresh_database().await.unwrap()).await;
    scenario.teardown();
}

#[tokio::test]
async fn the_writer_goes_on_after_a_full_disk() {
    let scenario = fail::FailScenario::setup();
    let dir = TempDir::new().unwrap();
    let store = open(StoreConfig::sqlite(dir.path())).await;
    let value = serde_json::json!(1);
    fail::cfg("store.disk_full", "return").unwrap();
    let refused = store.set_setting(TENANT, "s", &value).await;
    assert!(matches!(refused, Err(StoreError::Full(_))), "{refused:?}");
    // What the log holds is brought into the database, and the write tried once more.
    fail::cfg("store.disk_full", "1*return").unwrap();
    store.set_setting(TENANT, "s", &value).await.unwrap();
    fail::remove("store.disk_full");
    assert_eq!(store.setting(TENANT, "s").await.unwrap(), Some(value));
    scenario.teardown();
}
