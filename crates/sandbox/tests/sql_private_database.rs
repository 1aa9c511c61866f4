//! An agent's own database: what its statements may do, what is told of them, and what is left after a crash.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::json;
use steward_sandbox::sql::SqlError;
use steward_sandbox::sql::private_database::{Mark, Outcome, PrivateDatabase, PrivateUndo};

struct Bed {
    folder: tempfile::TempDir,
    database: PrivateDatabase,
}

fn bed() -> Bed {
    let folder = tempfile::tempdir().unwrap();
    let database = PrivateDatabase::new(folder.path().join("agent").join("own.db"), 8 << 20);
    Bed { folder, database: database.within(Duration::from_secs(20)) }
}

impl Bed {
    fn filled() -> Self {
        let bed = bed();
        for sql in [
            "CREATE TABLE ai_notes(id INTEGER PRIMARY KEY, text TEXT, tag TEXT, id2 INT)",
            "CREATE TABLE ai_tags(tag TEXT)",
            "CREATE INDEX ai_notes_tag ON ai_notes(tag)",
            "CREATE VIEW ai_all AS SELECT id, tag FROM ai_notes",
            "INSERT INTO ai_notes(text, tag) VALUES ('one', 'a'), ('two', 'b')",
            "INSERT INTO ai_tags VALUES ('a')",
        ] {
            bed.run(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        }
        bed
    }

    fn run(&self, sql: &str) -> Result<Outcome, SqlError> {
        self.database.run(sql, Mark::default(), true, |_| Ok(()))
    }

    fn count(&self, table: &str) -> i64 {
        let rows = self.database.query(&format!("SELECT count(*) FROM {table}")).unwrap();
        rows.rows[0][0].as_i64().unwrap()
    }

    fn files(&self) -> BTreeSet<PathBuf> {
        let all = std::fs::read_dir(self.folder.path())
            .unwrap()
            .chain(std::fs::read_dir(self.database.path().parent().unwrap()).unwrap());
        all.map(|entry| entry.unwrap().path()).collect()
    }
}

fn word(outcome: &Result<Outcome, SqlError>) -> &'static str {
    match outcome {
        Ok(Outcome::Rows(_)) => "rows",
        Ok(Outcome::Changed(_)) => "changed",
        Ok(Outcome::Schema(_)) => "schema",
        Err(error) => error.code(),
    }
}

#[test]
fn every_attempt_ends_as_listed() {
    let bed = Bed::filled();
    let (bytes, files) = (std::fs::read(bed.database.path()).unwrap(), bed.files());
    let hasty = bed.database.clone().within(Duration::from_millis(700));
    let (mut wrong, mut count) = (Vec::new(), 0);
    let lines = include_str!("data/private-attempts.txt").lines();
    for line in lines.filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
        let mut parts = line.splitn(3, '|');
        let (id, expected, sql) = (parts.next().unwrap(), parts.next().unwrap(), parts.next().unwrap());
        // Only what is to run into it gets a short time: the machine may be busy.
        let database = if expected == "timeout" { &hasty } else { &bed.database };
        let got = database.run(sql, Mark::default(), false, |_| panic!("told of what is not kept"));
        if word(&got) != expected {
            wrong.push(format!("{id}: expected {expected}, got {}: {sql}\n    {got:?}", word(&got)));
        }
        assert_eq!(std::fs::read(bed.database.path()).unwrap(), bytes, "{id} left something");
        count += 1;
    }
    assert!(count >= 120, "only {count} attempts");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(bed.files(), files);
}

/// The attempts on guarded databases of others: their tables are not in an agent's own, and what reads nothing works.
#[test]
fn attempts_on_other_databases_reach_nothing() {
    let bed = Bed::filled();
    let bytes = std::fs::read(bed.database.path()).unwrap();
    let hasty = bed.database.clone().within(Duration::from_millis(700));
    let lists = [
        include_str!("data/sql-attempts.txt"),
        include_str!("data/sql-attempts-more.txt"),
        include_str!("data/sql-write-attempts.txt"),
    ];
    let mut wrong = Vec::new();
    for line in lists.iter().flat_map(|list| list.lines()).filter(|line| !line.starts_with('#')) {
        let Some((expected, sql)) = line.split_once('|').and_then(|(_, rest)| rest.split_once('|')) else { continue };
        let got = hasty.run(sql, Mark::default(), false, |_| panic!("told of what is not kept"));
        let harmless = match (expected, word(&got)) {
            // It reads no table, or the table is not there.
            ("ok" | "rowcap" | "bytecap", "rows" | "syntax" | "denied" | "limit" | "timeout") => true,
            (_, "rows" | "changed" | "schema") => false,
            _ => true,
        };
        if !harmless {
            wrong.push(format!("{line}\n    {got:?}"));
        }
        assert_eq!(std::fs::read(bed.database.path()).unwrap(), bytes, "{line} left something");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_done_can_be_taken_back() {
    let bed = Bed::filled();
    let undo = |outcome: Outcome| match outcome {
        Outcome::Changed(changes) => PrivateUndo::Rows { snapshot: changes.undo.unwrap() },
        Outcome::Schema(schema) => schema.undo,
        Outcome::Rows(rows) => panic!("{rows:?}"),
    };
    for sql in [
        "UPDATE ai_notes SET text = 'new'",
        "DELETE FROM ai_notes",
        "INSERT INTO ai_tags VALUES ('z')",
        "DROP TABLE ai_notes",
        "ALTER TABLE ai_notes RENAME TO ai_gone",
        "CREATE TABLE ai_more(a)",
        "DROP VIEW ai_all",
    ] {
        let before = (bed.database.rows("ai_notes", 0, 10).unwrap(), bed.database.schema().unwrap());
        let done = undo(bed.run(sql).unwrap());
        // As it comes back from a log.
        let done: PrivateUndo = serde_json::from_value(json!(done)).unwrap();
        bed.database.undo(&done).unwrap_or_else(|error| panic!("{sql}: {error}"));
        assert_eq!((bed.database.rows("ai_notes", 0, 10).unwrap(), bed.database.schema().unwrap()), before, "{sql}");
    }
    // Not over what was written since, and only the last one.
    let dropped = undo(bed.run("DROP TABLE ai_tags").unwrap());
    bed.run("INSERT INTO ai_notes(text) VALUES ('later')").unwrap();
    assert!(matches!(bed.database.undo(&dropped), Err(SqlError::NoUndo(_))));
    assert_eq!(bed.count("ai_notes"), 3);
    let first = undo(bed.run("CREATE TABLE ai_p(a)").unwrap());
    bed.run("CREATE TABLE ai_q(a)").unwrap();
    assert!(matches!(bed.database.undo(&first), Err(SqlError::NoUndo(_))));
}

#[test]
fn a_call_is_known_once_it_is_committed() {
    let bed = Bed::filled();
    for (number, sql) in ["INSERT INTO ai_tags VALUES ('k')", "CREATE TABLE ai_k(a)"].into_iter().enumerate() {
        let key = format!("run-{number}");
        let note = |before: Option<&str>| Some(format!("{}{number}", before.unwrap_or_default()));
        let mark = Mark { key: &key, note: Some(&note) };
        assert!(!bed.database.has_done(&key).unwrap());
        let refused = bed.database.run(sql, mark, true, |_| Err(SqlError::Refused("stopped".to_owned())));
        assert_eq!(word(&refused), "refused", "{sql}");
        assert!(!bed.database.has_done(&key).unwrap(), "{sql}");
        bed.database
            .run(sql, mark, true, |outcome| {
                assert!(!matches!(outcome, Outcome::Rows(_)));
                Ok(())
            })
            .unwrap();
        assert!(bed.database.has_done(&key).unwrap(), "{sql}");
        assert_eq!(bed.database.note().unwrap(), Some(["0", "01"][number].to_owned()));
    }
    assert_eq!(bed.count("ai_tags"), 2);
}

#[test]
fn a_full_database_says_so_and_stays_readable() {
    let folder = tempfile::tempdir().unwrap();
    let small = PrivateDatabase::new(folder.path().join("own.db"), 256 << 10).within(Duration::from_secs(20));
    let run = |sql: &str| small.run(sql, Mark::default(), true, |_| Ok(()));
    run("CREATE TABLE ai_big(v)").unwrap();
    let mut kept = 0;
    let error = loop {
        match run("INSERT INTO ai_big VALUES (randomblob(20000))") {
            Ok(_) => kept += 1,
            Err(error) => break error,
        }
        assert!(kept < 100, "never full");
    };
    assert!(matches!(&error, SqlError::Limit { what } if what.contains("full")), "{error}");
    assert!(kept > 3 && small.size() <= 256 << 10, "{kept} rows in {} bytes", small.size());
    assert_eq!(small.query("SELECT count(*) FROM ai_big").unwrap().rows, [[json!(kept)]]);
    run("DELETE FROM ai_big WHERE rowid < 4").unwrap();
    run("INSERT INTO ai_big VALUES (randomblob(20000))").unwrap();
}

#[test]
fn many_write_at_once_and_none_is_lost() {
    let bed = bed();
    bed.run("CREATE TABLE ai_n(n INT)").unwrap();
    std::thread::scope(|scope| {
        for thread in 0..10 {
            let bed = &bed;
            scope.spawn(move || {
                for n in 0..5 {
                    bed.run(&format!("INSERT INTO ai_n VALUES ({})", thread * 5 + n)).unwrap();
                    bed.database.query("SELECT count(*) FROM ai_n").unwrap();
                }
            });
        }
    });
    assert_eq!(bed.database.query("SELECT count(DISTINCT n) FROM ai_n").unwrap().rows, [[json!(50)]]);
}

#[test]
fn it_is_cleared_restored_and_removed() {
    let bed = bed();
    assert_eq!(bed.database.schema().unwrap().tables.len(), 0);
    assert_eq!(word(&bed.database.query("SELECT 1").map(Outcome::Rows)), "syntax");
    assert!(!bed.database.clear().unwrap() && !bed.database.exists());
    assert!(matches!(bed.database.restore_copy(), Err(SqlError::NoUndo(_))));
    let bed = Bed::filled();
    assert!(bed.database.clear().unwrap());
    assert!(!bed.database.exists() && bed.database.has_copy());
    bed.database.restore_copy().unwrap();
    assert_eq!(bed.count("ai_notes"), 2);
    let names: Vec<_> = bed.database.schema().unwrap().tables.into_iter().map(|table| table.name).collect();
    assert_eq!(names, ["ai_all", "ai_notes", "ai_tags"]);
    for (table, skip, expect) in [("ai_notes", 1, 1), ("AI_NOTES", 0, 2), ("ai_all", 0, 2), ("ai_notes", 9, 0)] {
        assert_eq!(bed.database.rows(table, skip, 10).unwrap().rows.len(), expect, "{table}");
    }
    for table in ["steward_calls", "sqlite_schema", "ai_none", "ai_notes\" --"] {
        assert!(bed.database.rows(table, 0, 10).is_err(), "{table}");
    }
    assert!(bed.database.remove().unwrap() && !bed.database.exists() && !bed.database.has_copy());
}

/// A process that dies in the middle leaves a journal; the next call plays it back.
#[test]
fn a_write_that_was_cut_off_is_rolled_back() {
    let bed = Bed::filled();
    let path = bed.database.path().to_owned();
    let (torn, journal) = (bed.folder.path().join("torn.db"), bed.folder.path().join("torn.db-journal"));
    // The file and its journal as they are while a large change is being written.
    let conn = rusqlite::Connection::open(&path).unwrap();
    conn.execute_batch("PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN IMMEDIATE").unwrap();
    for n in 0..200 {
        conn.execute("INSERT INTO ai_notes(text) VALUES (?1)", [format!("{n} {}", "x".repeat(3000))]).unwrap();
    }
    std::fs::copy(&path, &torn).unwrap();
    let mut name = path.as_os_str().to_owned();
    name.push("-journal");
    std::fs::copy(name, &journal).unwrap();
    conn.execute_batch("ROLLBACK").unwrap();
    drop(conn);
    assert!(torn.metadata().unwrap().len() > 100_000, "nothing was written before the end");
    let database = PrivateDatabase::new(&torn, 8 << 20).within(Duration::from_secs(20));
    assert!(!database.has_done("never").unwrap());
    assert_eq!(database.query("SELECT count(*) FROM ai_notes").unwrap().rows, [[json!(2)]]);
    database.run("INSERT INTO ai_notes(text) VALUES ('after')", Mark::default(), true, |_| Ok(())).unwrap();
}

#[test]
fn nothing_is_left_beside_a_database_that_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shared.db");
    for suffix in ["", "-journal", ".before", ".half", ".source", ".import", ".import-journal", ".import.before"] {
        std::fs::write(format!("{}{suffix}", path.display()), "rows").unwrap();
    }
    assert!(PrivateDatabase::new(&path, 1 << 20).remove().unwrap());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
