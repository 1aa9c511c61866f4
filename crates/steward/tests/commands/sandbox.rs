//! `steward sandbox`: one JSON object and a fitting exit code, whatever is tried.

use crate::common::{Bench, data_file};
use serde_json::{Value, json};
use std::process::Stdio;
use steward_testkit::model_server::Script;

fn answer(bench: &Bench, args: &[&str]) -> Value {
    let done = bench.run(args);
    let answer = done.json();
    assert_eq!(done.code, Some(i32::from(answer["ok"] != true)), "{done:?}");
    answer
}

#[test]
fn statements_are_answered_whatever_they_begin_with() {
    let bench = Bench::new(Script::default());
    let database = data_file("workspace/chinook.db").display().to_string();
    for (sql, outcome) in [
        ("SELECT count(*) FROM artist", "ok"),
        ("-- how many?\nSELECT count(*) FROM artist", "ok"),
        ("SELECT sqrt(16), median(id) FROM artist", "ok"),
        ("-- nothing", "error"),
        ("SELECT * FROM sqlite_master", "deny"),
        ("SELECT nope FROM artist", "error"),
    ] {
        let told = answer(&bench, &["sandbox", "sql", &database, sql]);
        assert_eq!(told["outcome"], outcome, "{sql}: {told}");
    }
    let told = answer(&bench, &["sandbox", "sql", "/nowhere.db", "SELECT 1"]);
    assert_eq!(told["error"]["kind"], "open", "{told}");
    let late = ["sandbox", "sql", &database, "SELECT 1", "--timeout", "0"];
    let told = answer(&bench, &late);
    let message = told["error"]["message"].as_str().unwrap();
    assert!(message.contains("--timeout must be above 0"), "{told}");
}

#[test]
fn files_are_answered_whatever_they_hold() {
    let bench = Bench::new(Script::default());
    let code = "def run(payload):\n    return payload\n";
    bench.work.write("echo.py", code).unwrap();
    bench.work.write("latin.py", b"# \xe9\n").unwrap();
    let file = |name: &str| bench.work.path().join(name).display().to_string();
    let (echo, latin, missing) = (file("echo.py"), file("latin.py"), file("none.py"));
    let run = ["sandbox", "python", &echo, "--payload", "-5"];
    let told = answer(&bench, &run);
    assert_eq!(told["result"], json!(-5), "{told}");
    for (args, expect) in [
        (&[&echo, "--payload", "{"][..], "the payload is no JSON"),
        (&[&latin], "is no UTF-8 text"),
        (&[&missing], "cannot read"),
    ] {
        let all: Vec<&str> = ["sandbox", "python"].iter().chain(args).copied().collect();
        let told = answer(&bench, &all);
        let message = told["error"]["message"].as_str().unwrap();
        assert!(message.contains(expect), "{told}");
    }
}

#[test]
fn a_reader_that_has_gone_is_no_reason_to_panic() {
    let bench = Bench::new(Script::default());
    let database = data_file("workspace/chinook.db").display().to_string();
    let mut command = bench.command(&["sandbox", "sql", &database, "SELECT 1"]);
    let (read, write) = std::io::pipe().unwrap();
    drop(read);
    command.stdout(Stdio::from(write));
    let done = command.output().unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success() && !said.contains("panicked"), "{said}");
}
