//! Attempts of a red team: every line ends as listed, nothing is changed and nothing closed is told.

use rusqlite::Connection;
use std::time::Duration;
use steward_sandbox::sql::{Guard, Policy, Rows, SqlError, Truncated};

const ATTEMPTS: &str = include_str!("data/sql-attempts-more.txt");

fn outcome(answer: &Result<Rows, SqlError>) -> &'static str {
    match answer {
        Ok(rows) if rows.truncated == Some(Truncated::Rows) => "rowcap",
        Ok(rows) if rows.truncated.is_some() => "bytecap",
        Ok(_) => "ok",
        Err(SqlError::Denied { .. }) => "deny",
        Err(other) => other.code(),
    }
}

#[test]
fn every_attempt_of_the_red_team_ends_as_listed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("shop.db");
    let shop = Connection::open(&path).unwrap();
    shop.execute_batch(include_str!("data/shop-more.sql")).unwrap();
    drop(shop);
    let before = std::fs::read(&path).unwrap();
    let mut policy = Policy::careful();
    // What ends in time may take its time on a busy machine.
    policy.limits.wall = Duration::from_secs(20);
    let guard = Guard::open(&path, policy.clone()).unwrap();
    policy.limits.wall = Duration::from_millis(300);
    let hasty = Guard::open(&path, policy).unwrap();
    let (mut wrong, mut checked) = (Vec::new(), 0);
    for line in ATTEMPTS.lines().filter(|line| !line.starts_with('#')) {
        let mut parts = line.splitn(3, '|');
        let (id, expected, sql) = (parts.next().unwrap(), parts.next().unwrap(), parts.next().unwrap());
        let answer = if expected == "timeout" { &hasty } else { &guard }.query(sql);
        let got = outcome(&answer);
        if got != expected {
            wrong.push(format!("{id}: expected {expected}, got {got}: {sql}: {answer:?}"));
        }
        if let Err(error) = answer {
            assert!(error.to_string().len() < 1500, "{id} is told at length");
        }
        checked += 1;
    }
    assert_eq!(checked, 231);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let beside = std::fs::read_dir(dir.path()).unwrap().count();
    assert_eq!((beside, std::fs::read(&path).unwrap()), (1, before));
}
