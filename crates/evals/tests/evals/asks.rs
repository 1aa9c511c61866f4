//! Requests in people's words, by the local model.

use crate::{bench, data_file};
use serde_json::Value;
use std::path::Path;
use steward_testkit::model_server::Script;

fn asks(file: &str) -> Value {
    let file = data_file(file);
    let work = Path::new(env!("CARGO_MANIFEST_DIR")).join("../steward/tests/data/workspace");
    let done = bench(Script::default()).run(&[
        "--connection",
        "local",
        "asks",
        file.to_str().unwrap(),
        "--workspace",
        work.to_str().unwrap(),
        "--json",
    ]);
    let report = done.exits(0).json();
    println!(
        "{}: {} cases, right tool {}, observed {}",
        file.display(),
        report["cases"],
        report["right_tool"],
        report["observed"]
    );
    report
}

#[test]
fn local_first_asks() {
    let report = asks("first-asks.jsonl");
    assert_eq!(report["cases"], 20);
    assert!(report["right_tool"].as_u64() >= Some(14), "{report:#}");
    assert!(report["observed"].as_u64() >= Some(10), "{report:#}");
}

#[test]
fn prove_local_other_asks_are_measured() {
    let report = asks("other-asks.jsonl");
    assert_eq!(report["cases"], 50);
}
