//! `steward model`, alone and through a running server; and the real local model.

use crate::common;

use common::{Bench, Server};
use serde_json::json;
use steward_testkit::model_server::{Behaviour, Script};

fn dull() -> Bench {
    Bench::new(Script::always(Behaviour::text("Hello.")))
}

#[test]
fn a_report_card_and_its_json() {
    let bench = dull();
    let none = bench.run(&["model", "exam", "--last"]).exits(1);
    none.tells(&["has not been examined yet", "steward model exam"]);
    let done = bench.run(&["model", "exam"]).exits(0);
    for part in ["What it can do", "How good it is", "E tool calls", "How it is used from now on"] {
        assert!(done.out.contains(part), "no `{part}` in {}", done.out);
    }
    done.tells(&["reach", "native calls"]);
    let last = bench.run(&["model", "exam", "--last", "--json"]).exits(0).json();
    assert_eq!(last["grades"]["tool_call"], "E");
    bench.run(&["model", "exam", "nobody"]).exits(1).tells(&["no connection `nobody`"]);
}

#[test]
fn through_a_running_server() {
    let bench = dull();
    let _server = Server::start(&bench);
    let done = bench.run(&["model", "exam", "--json"]).exits(0);
    let report = done.json();
    assert_eq!(report["model"], "scripted");
    done.tells(&["reach", "questions"]);
    let last = bench.run(&["model", "exam", "--last", "--json"]).exits(0).json();
    assert_eq!(last, report);
    let url = bench.model.root_url();
    let found = bench.run(&["model", "recognise", &url, "--json"]).exits(0).json();
    assert_eq!(found["models"], json!(["scripted"]));
}

#[test]
fn prove_the_local_model_comes_out_weak() {
    let bench = dull();
    let done = bench.run(&["model", "exam", "local", "--json"]).exits(0);
    let report = done.json();
    let can = &report["capabilities"];
    assert_eq!(report["endpoint"], "local");
    assert_eq!(can["plans"], false, "{report:#}");
    assert_eq!(can["window"], 2048);
    assert_eq!(can["strategy"], "guided_json");
    let card = bench.run(&["model", "exam", "local", "--last"]).exits(0).out;
    assert!(card.contains("How it is used from now on"), "{card}");
    // So that a person can read it in the test's output.
    println!("{card}");
}
