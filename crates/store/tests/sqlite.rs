//! What can happen to a data directory.

use async_trait::async_trait;
use std::path::Path;
use std::sync::Arc;
use steward_core::event::{EventBody, Origin};
use steward_core::model::Purpose;
use steward_core::ports::{
    BlobError, Blobs, Commit, Lease, LoginSession, LoginSessions as _, Role, RunRow, RunStatus, RunStore, Settings,
    StoreError, User, UserChange, Users as _,
};
use steward_core::{AgentId, RunId, TenantId, Timestamp, UserId};
use steward_store::{Store, StoreConfig};
use tempfile::TempDir;
use uuid::Uuid;

const TENANT: TenantId = TenantId::DEFAULT;

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

async fn open(dir: &Path) -> Result<Store, StoreError> {
    Store::open(StoreConfig::sqlite(dir), Arc::new(NoBlobs)).await
}

fn refusal(opened: Result<Store, StoreError>) -> StoreError {
    match opened {
        Ok(_) => panic!("the database was opened"),
        Err(error) => error,
    }
}

fn text(length: usize) -> EventBody {
    EventBody::ModelDelta {
        step: 1,
        purpose: Purpose::Reply,
        text: "x".repeat(length),
        reasoning: String::new(),
        provisional: false,
        retracts: false,
    }
}

async fn started(store: &Store, number: u128) -> Lease {
    let row = RunRow {
        id: RunId(Uuid::from_u128(number)),
        tenant: TENANT,
        agent: AgentId(Uuid::from_u128(1)),
        conversation: None,
        title: "t".to_owned(),
        status: RunStatus::Running,
        outcome: None,
        answer: None,
        origin: Origin::Cli,
        user: None,
        model: String::new(),
        verdict: None,
        forked_from: None,
        created_at: Timestamp(1),
        updated_at: Timestamp(1),
        last_seq: 1,
        tokens: 0,
        cost_micros: 0,
    };
    let until = Timestamp(i64::MAX);
    let first = vec![text(1)];
    store.create_run(row, first, vec![], "a", until).await.unwrap()
}

fn append(lease: &Lease, after: u64, length: usize) -> Commit {
    Commit {
        tenant: TENANT,
        run: lease.run,
        epoch: lease.epoch,
        after,
        at: Timestamp(2),
        events: vec![text(length)],
        side: vec![],
    }
}

#[tokio::test]
async fn a_directory_has_one_steward() {
    let dir = TempDir::new().unwrap();
    let data = dir.path().join("new/data");
    let first = open(&data).await.unwrap();
    for name in ["steward.db", "steward.db-wal", "steward.db-shm"] {
        let mode = std::os::unix::fs::PermissionsExt::mode(&data.join(name).metadata().unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    let second = refusal(open(&data).await);
    let ours = std::process::id();
    let StoreError::InUse { path, pid } = &second else { panic!("{second:?}") };
    assert_eq!((path.as_str(), *pid), (data.to_str().unwrap(), ours));
    // The refused attempt did not break the first one's lock.
    started(&first, 7).await;
    assert!(matches!(refusal(open(&data).await), StoreError::InUse { .. }));
    drop(first);
    let again = open(&data).await.unwrap();
    assert_eq!(again.run(TENANT, RunId(Uuid::from_u128(7))).await.unwrap().last_seq, 1);
}

#[tokio::test]
async fn a_newer_database_is_left_as_it_is() {
    let dir = TempDir::new().unwrap();
    drop(open(dir.path()).await.unwrap());
    let file = dir.path().join("steward.db");
    let other = rusqlite::Connection::open(&file).unwrap();
    other.execute("insert into steward_schema values (9000, 'future', '', '9.0')", []).unwrap();
    drop(other);
    let before = std::fs::read(&file).unwrap();
    let refused = refusal(open(dir.path()).await);
    assert!(matches!(refused, StoreError::Newer { found: 9000, known: 1 }), "{refused:?}");
    assert_eq!(std::fs::read(&file).unwrap(), before);
}

/// A folder as programs before 0.1.0-dev left it: without hashes of its steps. `checkpointed`: whether what was written is
/// in the database's file, or still in its log, as after a kill.
fn old_folder(dir: &Path, checkpointed: bool) {
    let made = dir.join("made.db");
    let old = rusqlite::Connection::open(&made).unwrap();
    old.execute_batch(
        "pragma journal_mode = wal;
         create table steward_schema (version bigint primary key, name text not null);
         insert into steward_schema values (1, 'first');
         create table runs (id blob not null primary key, title text not null);
         insert into runs values (x'01', 'dear');",
    )
    .unwrap();
    if checkpointed {
        old.execute_batch("pragma wal_checkpoint(truncate)").unwrap();
    }
    for ending in ["", "-wal"] {
        std::fs::copy(format!("{}{ending}", made.display()), dir.join(format!("steward.db{ending}"))).unwrap();
    }
    drop(old);
    std::fs::remove_file(made).unwrap();
    std::fs::write(dir.join("steward.lock"), "1").unwrap();
    std::fs::create_dir(dir.join("documents")).unwrap();
}

fn contents(dir: &Path) -> Vec<(std::path::PathBuf, Option<Vec<u8>>, std::time::SystemTime)> {
    let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<_> = entries
        .map(|path| {
            let changed = path.metadata().unwrap().modified().unwrap();
            let bytes = path.is_file().then(|| std::fs::read(&path).unwrap());
            (path, bytes, changed)
        })
        .collect();
    found.sort();
    found
}

#[tokio::test]
async fn a_folder_without_hashes_of_its_steps_is_refused_untouched() {
    for checkpointed in [true, false] {
        let dir = TempDir::new().unwrap();
        // Signs that an address has to escape.
        let data = dir.path().join("a b?c#d%20");
        std::fs::create_dir(&data).unwrap();
        old_folder(&data, checkpointed);
        let before = contents(&data);
        let refused = refusal(open(&data).await);
        assert!(matches!(refused, StoreError::OtherSchema { .. }), "{checkpointed}: {refused:?}");
        for part in ["STEWARD_DATA", "nothing was changed", "the program that wrote it", "0.1.0"] {
            assert!(refused.to_string().contains(part), "{refused}");
        }
        assert_eq!(contents(&data), before, "checkpointed: {checkpointed}");
    }
}

#[tokio::test]
async fn a_damaged_or_foreign_file_is_left_as_it_is() {
    let dir = TempDir::new().unwrap();
    let store = open(dir.path()).await.unwrap();
    for number in 0..20 {
        let lease = started(&store, number).await;
        store.commit(append(&lease, 1, 5000)).await.unwrap();
    }
    drop(store);
    let file = dir.path().join("steward.db");
    let whole = std::fs::read(&file).unwrap();
    let mut overwritten = whole.clone();
    overwritten[..8192].fill(0xA5);
    let mut scratched = whole.clone();
    scratched[100..4096].fill(0xA5);
    let half = whole[..whole.len() / 2].to_vec();
    let garbage = b"this is not a database, it is a letter to my aunt. ".repeat(100);
    for damaged in [garbage, half, overwritten, scratched, whole[..100].to_vec()] {
        std::fs::write(&file, &damaged).unwrap();
        let refused = refusal(open(dir.path()).await);
        assert!(matches!(refused, StoreError::Corrupt(_)), "{refused:?}");
        assert!(std::fs::read(&file).unwrap() == damaged, "the file was changed");
    }
    std::fs::remove_file(&file).unwrap();
    let foreign = rusqlite::Connection::open(&file).unwrap();
    foreign.execute_batch("create table songs (name text)").unwrap();
    drop(foreign);
    let refused = refusal(open(dir.path()).await);
    assert!(matches!(&refused, StoreError::Corrupt(text) if text.contains("another program")));
    // With the right file back, all is there.
    std::fs::write(&file, whole).unwrap();
    let store = open(dir.path()).await.unwrap();
    store.check().await.unwrap();
    assert_eq!(store.run(TENANT, RunId(Uuid::from_u128(19))).await.unwrap().last_seq, 2);
}

#[tokio::test]
async fn damage_inside_is_found_by_the_check() {
    let dir = TempDir::new().unwrap();
    let store = open(dir.path()).await.unwrap();
    let lease = started(&store, 1).await;
    for after in 1..40 {
        store.commit(append(&lease, after, 3000)).await.unwrap();
    }
    drop(store);
    let file = dir.path().join("steward.db");
    let mut bytes = std::fs::read(&file).unwrap();
    let middle = bytes.len() - 20_000;
    bytes[middle..middle + 8192].fill(0);
    std::fs::write(&file, bytes).unwrap();
    let store = open(dir.path()).await.unwrap();
    let checked = store.check().await;
    assert!(matches!(checked, Err(StoreError::Corrupt(_))), "{checked:?}");
}

#[tokio::test]
async fn a_place_that_cannot_be_used_is_told() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("file");
    std::fs::write(&file, "x").unwrap();
    for place in [file.clone(), file.join("below")] {
        let refused = refusal(open(&place).await);
        assert!(matches!(&refused, StoreError::Backend(text) if text.contains("file")), "{refused:?}");
    }
    std::fs::create_dir_all(dir.path().join("data/steward.db")).unwrap();
    let refused = refusal(open(&dir.path().join("data")).await);
    assert!(matches!(&refused, StoreError::Backend(_)), "{refused:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_loses_nothing_and_is_survived() {
    let dir = TempDir::new().unwrap();
    let config = StoreConfig { max_pages: Some(300), ..StoreConfig::sqlite(dir.path()) };
    let store = Arc::new(Store::open(config, Arc::new(NoBlobs)).await.unwrap());
    let (greedy, modest) = (started(&store, 1).await, started(&store, 2).await);
    let mut kept = 1;
    let full = loop {
        match store.commit(append(&greedy, kept, 60_000)).await {
            Ok(_) => kept += 1,
            Err(error) => break error,
        }
        assert!(kept < 100, "the disk never got full");
    };
    assert!(matches!(full, StoreError::Full(_)), "{full:?}");
    // What is small still fits, also in one batch with what does not; rows of other tables too.
    let mut refused = 0;
    for after in 1..6 {
        let number = serde_json::json!(after);
        let (large, small, setting) = tokio::join!(
            store.commit(append(&greedy, kept, 60_000)),
            store.commit(append(&modest, after, 10)),
            store.set_setting(TENANT, "n", &number),
        );
        refused += u32::from(matches!(large, Err(StoreError::Full(_))));
        small.unwrap();
        setting.unwrap();
    }
    assert_eq!(refused, 5);
    store.check().await.unwrap();
    drop(store);
    // Space again.
    let store = open(dir.path()).await.unwrap();
    assert_eq!(store.run(TENANT, greedy.run).await.unwrap().last_seq, kept);
    assert_eq!(store.run(TENANT, modest.run).await.unwrap().last_seq, 6);
    assert_eq!(store.setting(TENANT, "n").await.unwrap(), Some(serde_json::json!(5)));
    let lease = store
        .claim(TENANT, steward_core::ports::Claim::Run(greedy.run), "a", Timestamp(3), Timestamp(i64::MAX))
        .await
        .unwrap()
        .unwrap();
    store.commit(append(&lease, kept, 60_000)).await.unwrap();
}

/// Tells the second process where its small disk is.
const SMALL_DISK: &str = "STEWARD_TEST_SMALL_DISK";

/// The folder of a file system of this size, in the second process; in the first one `None`, once that has run the test.
fn small_disk(test: &str, size: &str) -> Option<std::path::PathBuf> {
    if let Some(dir) = std::env::var_os(SMALL_DISK) {
        return Some(dir.into());
    }
    let dir = TempDir::new().unwrap();
    let mounted = "mount -t tmpfs -o size=\"$2\" none \"$1\" || exit 77; shift 2; exec \"$@\"";
    let output = std::process::Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", mounted, "sh"])
        .arg(dir.path())
        .arg(size)
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test])
        .env(SMALL_DISK, dir.path())
        .output()
        .unwrap();
    if output.status.code() == Some(77) || output.stderr.starts_with(b"unshare:") {
        eprintln!("left out: this machine lets nobody mount a file system");
        return None;
    }
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
    None
}

/// Takes every byte that is left of the disk, as another program may.
fn fill_disk(dir: &Path) {
    use std::io::Write as _;
    let mut other = std::fs::OpenOptions::new().create(true).append(true).open(dir.join("other")).unwrap();
    let piece = [7; 4096];
    while other.write_all(&piece).is_ok() {}
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_a_disk_that_is_full_to_its_end_people_log_in_delete_and_disable() {
    let name = "sqlite::on_a_disk_that_is_full_to_its_end_people_log_in_delete_and_disable";
    let Some(dir) = small_disk(name, "64m") else { return };
    let store = open(&dir).await.unwrap();
    let lease = started(&store, 1).await;
    store.commit(append(&lease, 1, 60_000)).await.unwrap();
    let user = |number: u128| UserId(Uuid::from_u128(number));
    for number in 1..30 {
        let name = format!("u{number}");
        let user = User::new(user(number), format!("{name}@example.org"), name, Role::Developer, Timestamp(0));
        store.create_user(TENANT, &user).await.unwrap();
    }
    fill_disk(&dir);
    let log_in = async |number: u128| {
        let session = LoginSession {
            id: Uuid::from_u128(10_000 + number),
            user: user(1 + number % 29),
            token_hash: format!("{number:064}"),
            previous_hash: None,
            rotated_at: Timestamp(1),
            created_at: Timestamp(1),
            expires_at: Timestamp(i64::MAX),
            label: "a browser".to_owned(),
        };
        store.create_session(TENANT, &session).await
    };
    let mut kept = 2;
    for round in 0..300_u128 {
        log_in(round).await.unwrap_or_else(|error| panic!("login {round}: {error}"));
        if store.commit(append(&lease, kept, 60_000)).await.is_ok() {
            kept += 1;
        }
        fill_disk(&dir);
    }
    let full = store.commit(append(&lease, kept, 60_000)).await;
    assert!(matches!(full, Err(StoreError::Full(_))), "{full:?}");
    for number in 1..30 {
        let change = UserChange { disabled_at: Some(Some(Timestamp(9))), ..UserChange::default() };
        store.change_user(TENANT, user(number), &change).await.unwrap();
        store.end_sessions(TENANT, user(number), None).await.unwrap();
    }
    log_in(1000).await.unwrap();
    // Room again: runs go on, and the reserve is there for the next time.
    std::fs::remove_file(dir.join("other")).unwrap();
    store.commit(append(&lease, kept, 60_000)).await.unwrap();
    fill_disk(&dir);
    for round in 2000..2100_u128 {
        log_in(round).await.unwrap_or_else(|error| panic!("login {round}: {error}"));
    }
    store.check().await.unwrap();
    drop(store);
    std::fs::remove_file(dir.join("other")).unwrap();
    let store = open(&dir).await.unwrap();
    assert_eq!(store.run(TENANT, lease.run).await.unwrap().last_seq, kept + 1);
    store.check().await.unwrap();
}

/// The same with a disk that really is full: a file system of 3 MB, in a process of its own.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_system_that_is_full_loses_nothing() {
    let Some(dir) = small_disk("sqlite::a_file_system_that_is_full_loses_nothing", "3m") else { return };
    let store = open(&dir).await.unwrap();
    let lease = started(&store, 1).await;
    let mut kept = 1;
    let full = loop {
        match store.commit(append(&lease, kept, 60_000)).await {
            Ok(_) => kept += 1,
            Err(error) => break error,
        }
        assert!(kept < 100, "the disk never got full");
    };
    assert!(matches!(full, StoreError::Full(_)), "{full:?}");
    assert_eq!(store.run(TENANT, lease.run).await.unwrap().last_seq, kept);
    let again = store.commit(append(&lease, kept, 60_000)).await;
    assert!(matches!(again, Err(StoreError::Full(_))), "{again:?}");
    // Somebody makes room: the same store goes on.
    let bigger = std::process::Command::new("mount").args(["-o", "remount,size=30m"]).arg(&dir).status();
    assert!(bigger.unwrap().success());
    store.commit(append(&lease, kept, 60_000)).await.unwrap();
    store.check().await.unwrap();
    drop(store);
    let store = open(&dir).await.unwrap();
    assert_eq!(store.run(TENANT, lease.run).await.unwrap().last_seq, kept + 1);
    store.check().await.unwrap();
}
