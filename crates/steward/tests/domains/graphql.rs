//! GraphQL over HTTP and as a query of a run.

use super::{key, shop};
use crate::api_routes::house::{House, text};
use reqwest::Method;
use serde_json::{Value, json};
use steward_testkit::model_server::{Behaviour, Script};

fn ask(house: &House, as_key: &str, query: &str, variables: Value) -> (u16, Value) {
    let body = json!({"query": query, "variables": variables});
    house.call_as(as_key, Method::POST, "/api/graphql", Some(body))
}

#[test]
fn rows_relations_and_numbers_come_in_one_request() {
    let house = shop(Script::default());
    let query = "query($country: String) {
        customer(where: {country: {eq: $country}}, order: {last_name: ASC}) { first_name last_name support_rep { last_name } }
    }";
    let (status, answer) = ask(&house, &house.server.key, query, json!({"country": "Norway"}));
    assert_eq!(status, 200, "{answer}");
    let rows = &answer["data"]["customer"];
    assert_eq!(rows[0]["first_name"], "Bjørn", "{answer}");
    assert_eq!(rows[0]["support_rep"]["last_name"], "Park", "{answer}");

    let (status, schema) = house.bench.runtime.block_on(async {
        let url = format!("{}/api/graphql/schema", house.server.url);
        let answer = crate::api_routes::house::client().get(url).bearer_auth(&house.server.key).send().await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    });
    assert_eq!(status, 200);
    assert!(schema.contains("customer"), "{schema}");
}

#[test]
fn what_is_wrong_stands_in_the_answer_and_rights_hold() {
    let house = shop(Script::default());
    for (query, part) in [
        ("{ custmer { id } }", "custmer"),
        ("{ customer { id ", "expected"),
        ("mutation { customer { id } }", "only be read"),
        ("{ __schema { types { name } } }", ""),
    ] {
        let (status, answer) = ask(&house, &house.server.key, query, json!({}));
        assert_eq!(status, 200, "{query}: {answer}");
        if !part.is_empty() {
            let told = answer["errors"].to_string().to_lowercase();
            assert!(told.contains(part), "{query}: {answer}");
            assert!(answer["data"].is_null(), "{query}: {answer}");
        }
    }
    let source = text(&house.get("/api/domains/texts/domain/invoice")["text"]);
    let source = source.replace("permission role:viewer read\n", "").replace("permission role:developer read\n", "");
    house.send(Method::PUT, "/api/domains/texts", Some(json!({"text": source})), 200);
    let hidden = "{ invoice { id } }";
    let (_, answer) = ask(&house, &house.server.key, hidden, json!({}));
    assert!(answer["data"]["invoice"].as_array().is_some_and(|rows| !rows.is_empty()), "{answer}");
    let (_, answer) = ask(&house, &key("vera"), hidden, json!({}));
    assert!(answer["data"].is_null() && !answer["errors"].as_array().unwrap().is_empty(), "{answer}");
    let (_, answer) = ask(&house, &key("vera"), "{ customer(limit: 1) { id } }", json!({}));
    assert_eq!(answer["data"]["customer"].as_array().map(Vec::len), Some(1), "{answer}");
}

#[test]
fn a_model_asks_by_graphql_too() {
    let query = "{ customer(where: {country: {eq: \"Norway\"}}) { first_name } }";
    let script = Script::of([Behaviour::calls([("oos_query", json!({"query": query}))]), Behaviour::text("Bjørn.")]);
    let house = shop(script);
    let agent = text(&house.items("/api/agents?q=oos")[0]["id"]);
    let started = house.post(&format!("/api/chat/{agent}"), json!({"message": "who buys in Norway?"}), 202);
    let run = text(&started["run_id"]);
    house.wait(&run, "finished");
    let log = house.get(&format!("/api/runs/{run}/events")).to_string();
    assert!(log.contains("Bjørn") && log.contains("shape"), "{log}");
}
