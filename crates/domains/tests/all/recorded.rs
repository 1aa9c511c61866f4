//! The recorded questions, read from their words without a model that knows what words mean: not fewer are answered right.

use crate::base::Base;
use rusqlite::{Connection, OpenFlags};
use serde_json::Value;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn examples(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../evals/data/domains").join(name)
}

fn cases(file: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(examples(file)).expect("questions");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn same(one: &Value, other: &Value) -> bool {
    match (one.as_f64(), other.as_f64()) {
        (Some(one), Some(other)) => (one - other).abs() <= 0.006 * one.abs().max(1.0),
        _ => one == other,
    }
}

/// Whether the expected columns are among those that were found.
fn is_right(found: &[Vec<Value>], expect: &[Value]) -> bool {
    let has = |row: &Vec<Value>, wanted: &Value| {
        wanted.as_array().is_some_and(|all| all.iter().all(|value| row.iter().any(|one| same(one, value))))
    };
    found.len() == expect.len() && expect.iter().all(|wanted| found.iter().any(|row| has(row, wanted)))
}

fn measured(base: &Base, cases: &[Value], report: &mut String) -> (usize, usize) {
    let (mut right, mut wrong) = (0, 0);
    for case in cases {
        let text = case["text"].as_str().expect("a text");
        let asked = base.ask(text);
        let fits = is_right(&asked.rows, case["rows"].as_array().map_or(&[] as &[Value], Vec::as_slice));
        right += usize::from(asked.sure && fits);
        wrong += usize::from(asked.sure && !fits);
        let (sure, fits) = (if asked.sure { "sure" } else { "-" }, if fits { "right" } else { "-" });
        let _ = writeln!(report, "{} {sure} {fits} {text}\n    {} {:?}", case["id"], asked.said, asked.unread);
    }
    (right, wrong)
}

#[test]
fn recorded_questions_are_answered_as_before() {
    let mut report = String::new();
    let music = Path::new(env!("CARGO_MANIFEST_DIR")).join("../steward/tests/data/workspace/chinook.db");
    let music = Connection::open_with_flags(music, OpenFlags::SQLITE_OPEN_READ_ONLY).expect("the music shop");
    let mut told = vec![("chinook", measured(&Base::described(music), &cases("chinook.jsonl"), &mut report))];
    let all = cases("public/questions.jsonl");
    for database in ["sakila", "northwind", "employees"] {
        let sql = std::fs::read_to_string(examples(&format!("public/{database}.sql"))).expect("a database");
        let of: Vec<Value> = all.iter().filter(|case| case["database"] == database).cloned().collect();
        told.push((database, measured(&Base::of(&sql), &of, &mut report)));
    }
    println!("{report}");
    let least = [("chinook", 55), ("sakila", 15), ("northwind", 12), ("employees", 10)];
    for ((database, (right, _)), (_, least)) in told.iter().zip(least) {
        assert!(*right >= least, "{database}: {told:?}");
    }
}
