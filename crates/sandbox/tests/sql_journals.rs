//! Journals that somebody else put beside a database: nothing of them is obeyed.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use steward_sandbox::sql::{Guard, Policy, SqlError};

const MAGIC: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];

/// A rollback journal without pages that names `victim` as its super-journal.
fn journal(victim: &Path) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    for number in [0u32, 7, 2, 512, 4096] {
        bytes.extend(number.to_be_bytes());
    }
    bytes.resize(512, 0);
    let name = victim.to_str().unwrap().as_bytes();
    let pending = 0x4000_0000u32 / 4096 + 1;
    bytes.extend(pending.to_be_bytes());
    bytes.extend(name);
    bytes.extend(u32::try_from(name.len()).unwrap().to_be_bytes());
    bytes.extend(name.iter().map(|b| u32::from(*b)).sum::<u32>().to_be_bytes());
    bytes.extend(MAGIC);
    bytes
}

struct Setting {
    dir: tempfile::TempDir,
    database: PathBuf,
    victim: PathBuf,
}

fn setting() -> Setting {
    let dir = tempfile::tempdir().unwrap();
    let (database, victim) = (dir.path().join("shop.db"), dir.path().join("authorized_keys"));
    let conn = Connection::open(&database).unwrap();
    conn.execute_batch("CREATE TABLE t (x); INSERT INTO t VALUES (1);").unwrap();
    drop(conn);
    fs::write(&victim, "ssh-ed25519 AAAA").unwrap();
    fs::write(dir.path().join("shop.db-journal"), journal(&victim)).unwrap();
    Setting { dir, database, victim }
}

/// So that the tests below can't pass by a journal that SQLite would not obey either.
#[test]
fn sqlite_by_itself_deletes_the_file() {
    let s = setting();
    let conn = Connection::open(&s.database).unwrap();
    conn.execute_batch("BEGIN IMMEDIATE; COMMIT").unwrap();
    assert!(!s.victim.exists());
}

#[test]
fn a_database_with_a_journal_is_not_opened_for_writing() {
    let s = setting();
    let refused = Guard::open_for_writing(&s.database, Policy::default()).unwrap_err();
    assert!(matches!(&refused, SqlError::Open { reason, .. } if reason.contains("shop.db-journal")), "{refused}");
    assert!(s.victim.exists() && s.dir.path().join("shop.db-journal").exists());
    // Reading plays nothing back.
    let _ = Guard::open(&s.database, Policy::default()).map(|guard| guard.query("SELECT x FROM t"));
    assert!(s.victim.exists());
}

/// What a process leaves that dies while its pages are written: a database, and a journal to take them back.
fn cut_off() -> (tempfile::TempDir, PathBuf) {
    let (before, dir) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let database = before.path().join("shop.db");
    let conn = Connection::open(&database).unwrap();
    conn.execute_batch(
        "CREATE TABLE t (x INTEGER PRIMARY KEY, y);
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
         INSERT INTO t SELECT i, hex(zeroblob(50)) FROM n;
         PRAGMA cache_size = 10; BEGIN; UPDATE t SET y = 'changed' || y;",
    )
    .unwrap();
    for name in ["shop.db", "shop.db-journal"] {
        fs::copy(before.path().join(name), dir.path().join(name)).unwrap();
    }
    let database = dir.path().join("shop.db");
    (dir, database)
}

#[test]
fn what_our_own_write_left_half_done_is_taken_back() {
    let (dir, database) = cut_off();
    assert!(Guard::open_for_writing(&database, Policy::default()).is_err());
    Guard::roll_back(&database, Policy::default()).unwrap();
    assert!(!dir.path().join("shop.db-journal").exists());
    let guard = Guard::open_for_writing(&database, Policy::default()).unwrap();
    drop(guard.change("UPDATE t SET y = 'z' WHERE x = 1", &[], true).unwrap());
    let conn = Connection::open(&database).unwrap();
    let count = "SELECT count(*) FROM t WHERE y LIKE 'changed%'";
    assert_eq!(conn.query_row(count, [], |row| row.get::<_, i64>(0)).unwrap(), 0);
    // Not where the journal names another file.
    let s = setting();
    assert!(Guard::roll_back(&s.database, Policy::default()).is_err());
    assert!(s.victim.exists());
}

#[test]
fn a_journal_that_appears_once_it_is_open_deletes_nothing() {
    let s = setting();
    let planted = fs::read(s.dir.path().join("shop.db-journal")).unwrap();
    fs::remove_file(s.dir.path().join("shop.db-journal")).unwrap();
    let guard = Guard::open_for_writing(&s.database, Policy::default()).unwrap();
    fs::write(s.dir.path().join("shop.db-journal"), planted).unwrap();
    let done = guard.change("INSERT INTO t VALUES (2)", &[], true);
    println!("{:?}", done.map(drop));
    assert!(s.victim.exists());
}

#[test]
fn links_and_foreign_logs_are_refused_and_leftovers_are_not() {
    let s = setting();
    let journal = s.dir.path().join("shop.db-journal");
    fs::remove_file(&journal).unwrap();
    std::os::unix::fs::symlink(&s.victim, &journal).unwrap();
    assert!(Guard::open_for_writing(&s.database, Policy::default()).is_err());
    fs::remove_file(&journal).unwrap();
    let wal = s.dir.path().join("shop.db-wal");
    fs::write(&wal, [0x37, 0x7f, 0x06, 0x82]).unwrap();
    let refused = Guard::open_for_writing(&s.database, Policy::default()).unwrap_err();
    assert!(refused.to_string().contains("shop.db-wal"), "{refused}");
    fs::remove_file(&wal).unwrap();
    // What `journal_mode=PERSIST` and `TRUNCATE` leave behind.
    fs::write(&journal, [0; 512]).unwrap();
    let guard = Guard::open_for_writing(&s.database, Policy::default()).unwrap();
    guard.change("INSERT INTO t VALUES (3)", &[], true).unwrap();
}
