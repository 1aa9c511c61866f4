//! `steward model`, alone and through a running server; and the real local model.

use crate::common;

use common::{Bench, Server};
use reqwest::Method;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
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

/// The exam's state of a connection, once it is none of a running one.
fn settled(server: &Server, bench: &Bench, id: &str) -> Value {
    let begun = Instant::now();
    loop {
        let (_, all) = server.request(bench, Method::GET, "/api/connections", Some(&server.key), None);
        let one = all["items"].as_array().unwrap().iter().find(|one| one["id"] == id).unwrap().clone();
        if one["exam_state"]["state"] != "running" {
            return one["exam_state"].clone();
        }
        assert!(begun.elapsed() < Duration::from_mins(5), "{one:#}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_connection_is_examined_by_itself_where_that_costs_nothing() {
    let bench = dull();
    let server = Server::start_with(&bench, &[("STEWARD_EXAMINE_CONNECTIONS", "true")]);
    let url = bench.model.base_url();
    let save = |id: Option<&str>, body: Value| {
        let (method, path) = id.map_or_else(
            || (Method::POST, "/api/connections".to_owned()),
            |id| (Method::PUT, format!("/api/connections/{id}")),
        );
        let (status, made) = server.request(&bench, method, &path, Some(&server.key), Some(&body));
        assert!(status.is_success(), "{made:#}");
        made
    };
    let body =
        |name: &str, model: &str| json!({"name": name, "provider": "compatible", "base_url": url, "model": model});
    let made = save(None, body("big", "one"));
    let id = made["id"].as_str().unwrap();
    assert_eq!(made["exam_state"]["state"], "running", "{made:#}");
    assert_eq!(settled(&server, &bench, id), json!({"state": "done"}));
    let said = bench.run(&["model", "exam", "big", "--last", "--json"]).exits(0).json();
    assert_eq!(said["model"], "one");
    // Another name is no other model; another model is.
    save(Some(id), body("large", "one"));
    assert_eq!(settled(&server, &bench, id), json!({"state": "done"}));
    let again = bench.run(&["model", "exam", "large", "--last", "--json"]).exits(0).json();
    assert_eq!(again["at"], said["at"], "it was not examined again");
    save(Some(id), body("large", "two"));
    assert_eq!(settled(&server, &bench, id), json!({"state": "done"}));

    // Where it costs something somebody has to begin it, and knows what it costs at most.
    let price = json!({"input": 1_000_000, "cached": 0, "output": 4_000_000});
    let mut dear = body("dear", "three");
    dear["price"] = price;
    let made = save(None, dear);
    let waiting = json!({"state": "waiting", "most_tokens": 15_000, "most_cost": 60_000});
    assert_eq!(made["exam_state"], waiting);
    bench.run(&["model", "exam", "dear"]).exits(0).tells(&["native calls"]);
    assert_eq!(settled(&server, &bench, made["id"].as_str().unwrap()), json!({"state": "done"}));

    // Nobody answers: it says why, and the connection stays.
    let mut gone = body("gone", "four");
    gone["base_url"] = json!("http://127.0.0.1:9/v1");
    let made = save(None, gone);
    let state = settled(&server, &bench, made["id"].as_str().unwrap());
    assert_eq!(state["state"], "failed", "{state:#}");
    assert!(state["message"].is_string() && state["hint"].is_string(), "{state:#}");
    let added = bench.run(&["connections", "add", "free", &url, "--model", "five"]).exits(0);
    added.tells(&["it is being examined", "steward model exam free --last"]);
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
