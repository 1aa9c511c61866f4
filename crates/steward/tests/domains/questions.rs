//! Questions in people's words, with a model that can't write queries.

use super::{key, shop};
use crate::api_routes::house::{House, text};
use reqwest::Method;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use steward_testkit::model_server::{Behaviour, Script};

/// A shop whose model neither plans nor sums up, as the built-in one.
fn small() -> House {
    let house = shop(Script::default());
    use_small_model(&house);
    house
}

pub fn use_small_model(house: &House) {
    let body = json!({"name": "small", "provider": "compatible", "base_url": house.bench.model.base_url(),
        "model": "scripted", "auth": {"kind": "none"}, "capabilities": {"trusted": false, "plans": false, "summarises": false}});
    let made = house.post("/api/connections", body, 201);
    house.send(Method::POST, &format!("/api/connections/{}/default", text(&made["id"])), None, 204);
}

pub fn examples(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../evals/data/domains").join(name)
}

fn asked(house: &House, message: &str) -> String {
    let agent = text(&house.items("/api/agents?q=oos")[0]["id"]);
    let started = house.post(&format!("/api/chat/{agent}"), json!({"message": message}), 202);
    text(&house.wait(&text(&started["run_id"]), "finished")["answer"])
}

#[test]
fn a_small_model_answers_with_the_rows_that_a_question_asks_for() {
    let house = small();
    let told = asked(&house, "How many customers are from Brazil?");
    assert!(told.starts_with("5 (customer · count · country = Brazil)"), "{told}");
    let told = asked(&house, "Which albums are by Iron Maiden?");
    assert!(told.contains("artist name = Iron Maiden") && told.contains("Killers"), "{told}");
    let told = asked(&house, "Wie viele Tracks gibt es?");
    assert!(told.starts_with("3503 (track · count)"), "{told}");
    // What can't be answered is said, and with which word it ended.
    let told = asked(&house, "How many concert tickets did we sell?");
    assert!(told.contains("concert"), "{told}");

    let told = asked(&house, "hello");
    assert!(!told.contains("in the data"), "{told}");
}

/// The questions that people were asked for before the reader was written, with the domains that a person refined.
#[test]
fn prove_three_questions_of_five_are_answered_right() {
    let house = small();
    let domains = std::fs::read_to_string(examples("chinook.oos")).unwrap();
    house.send(Method::PUT, "/api/domains/texts", Some(json!({"text": domains})), 200);
    let file = examples("chinook.jsonl");
    let done = house.bench.run(&["eval", "domains", &file.display().to_string(), "--json"]).exits(0);
    let found: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(found["questions"], 60, "{found}");
    let wrong = |one: &&Value| one["right"] == false;
    let wrong: Vec<String> =
        found["results"].as_array().unwrap().iter().filter(wrong).map(|one| one["text"].to_string()).collect();
    eprintln!("music shop: {} of 60 read from words alone", found["right"]);
    assert!(found["right"].as_u64().unwrap() >= 36, "{wrong:#?}");
}

#[test]
fn a_file_that_is_none_is_refused_with_its_line() {
    let house = small();
    house.bench.work.write("questions.jsonl", "{\"id\": \"a\", \"text\": \"x\", \"rows\": []}\nnothing\n").unwrap();
    let file = house.bench.work.path().join("questions.jsonl");
    let done = house.bench.run(&["eval", "domains", &file.display().to_string()]).exits(1);
    assert!(done.err.contains("line 2"), "{done:?}");
    let done = house.bench.run(&["eval", "domains", "nowhere.jsonl"]).exits(1);
    assert!(done.err.contains("can't read nowhere.jsonl"), "{done:?}");
}

#[test]
fn a_verified_question_is_an_example_for_models_and_the_answer_to_the_same() {
    let house = small();
    let query = json!({"domain": "track", "aggregate": [{"fn": "avg", "field": "milliseconds"}]});
    let body = json!({"text": "What is our magic number?", "query": query});
    let kept = house.post("/api/verified-questions", body, 201);
    assert_eq!(kept["domain"], "track", "{kept}");
    assert!(asked(&house, "what is our Magic number").contains("track · avg milliseconds"));
    let wrong = json!({"text": "How many?", "query": {"domain": "trakc"}});
    let problem = house.send(Method::POST, "/api/verified-questions", Some(wrong), 422);
    assert!(problem.to_string().contains("did you mean `track`"), "{problem}");
    let empty = json!({"text": " ", "query": {"domain": "track"}});
    house.send(Method::POST, "/api/verified-questions", Some(empty), 422);
    // A viewer keeps none.
    let mine = json!({"text": "Mine", "query": {"domain": "track"}});
    assert_eq!(house.call_as(&key("vera"), Method::POST, "/api/verified-questions", Some(mine)).0, 403);
    let list = house.bench.run(&["domain", "verified"]).exits(0);
    assert!(list.out.contains("What is our magic number?"), "{list:?}");
    house.bench.run(&["domain", "verified", "remove", &text(&kept["id"])]).exits(0);
    assert!(!asked(&house, "what is our magic number").contains("avg"));
    house.send(Method::DELETE, &format!("/api/verified-questions/{}", text(&kept["id"])), None, 404);
}

#[test]
fn a_capable_model_is_told_what_was_verified() {
    let house = shop(Script::always(Behaviour::text("Fine.")));
    let query = json!({"domain": "customer", "where": [{"field": "country", "op": "eq", "value": "Norway"}]});
    house.post("/api/verified-questions", json!({"text": "Who buys in Norway?", "query": query}), 201);
    asked(&house, "Who buys in Sweden?");
    let told = house.bench.model.requests().last().unwrap().body.to_string();
    assert!(told.contains("Questions that were answered right") && told.contains("Who buys in Norway?"), "{told}");
    asked(&house, "What time is it?");
    let told = house.bench.model.requests().last().unwrap().body.to_string();
    assert!(!told.contains("Who buys in Norway?\\n"), "{told}");
}
