//! Replies whose reasoning the prompt has opened: only its closing tag is there, and nobody knew of it.

use crate::api_routes::house::{House, text};
use reqwest::Method;
use serde_json::{Value, json};
use steward_testkit::model_server::{Behaviour, Reply, Script};

const THOUGHT: &str = "The user greets me, so I greet back.";

fn ask(house: &House, path: &str, body: Value) -> Vec<String> {
    let (status, stream) = house.call(Method::POST, path, Some(body));
    assert_eq!(status, 200, "{stream}");
    let said = |event: &Value| {
        let chat = event["choices"][0]["delta"]["content"].as_str();
        let responses = event["delta"].as_str().filter(|_| event["type"] == "response.output_text.delta");
        chat.or(responses).filter(|text| !text.is_empty()).map(str::to_owned)
    };
    let text = text(&stream);
    let data = text.lines().filter_map(|line| line.strip_prefix("data: ")).filter(|data| *data != "[DONE]");
    data.filter_map(|data| said(&serde_json::from_str(data).unwrap())).collect()
}

fn greet(house: &House, path: &str) -> Vec<String> {
    let body = match path {
        "/v1/responses" => json!({"model": "steward", "input": "Hello", "stream": true}),
        _ => json!({"model": "steward", "messages": [{"role": "user", "content": "Hello"}], "stream": true}),
    };
    ask(house, path, body)
}

fn deltas(house: &House, run: &str) -> Vec<Value> {
    let log = house.get(&format!("/api/runs/{run}/log?limit=100"));
    let events = log["items"].as_array().unwrap().iter();
    events.filter(|event| event["type"] == "model.delta").cloned().collect()
}

#[test]
fn thoughts_without_a_beginning_are_no_answer_while_it_arrives() {
    let reply = Reply::text(format!("{THOUGHT}\n</think>\n\nHello to you!")).pieces(3, 5);
    let house = House::new(Script::always(Behaviour::Reply(reply)));
    for path in ["/v1/chat/completions", "/v1/responses"] {
        assert_eq!(greet(&house, path).concat(), "Hello to you!", "{path}");
    }
    // The studio shows what there is and takes it back, long before the reply has ended.
    let (run, _) = house.chat("Hello");
    house.wait(&run, "finished");
    let deltas = deltas(&house, &run);
    let at = deltas.iter().position(|one| one["retracts"] == true).unwrap();
    assert!(at > 2 && at + 2 < deltas.len(), "{at} of {}", deltas.len());
    assert!(deltas[..at].iter().all(|one| one["provisional"] == true), "{deltas:?}");
    assert!(deltas[at + 1..].iter().all(|one| one["provisional"].is_null()), "{deltas:?}");
    let shown: String = deltas[at..].iter().filter_map(|one| one["text"].as_str()).collect();
    assert_eq!((shown.as_str(), deltas[at]["reasoning"].as_str().unwrap()), ("Hello to you!", THOUGHT));
    assert_eq!(text(&house.get(&format!("/api/runs/{run}"))["answer"]), "Hello to you!");
}

#[test]
fn a_connection_that_has_answered_plainly_is_streamed_from_then_on() {
    let house = House::new(Script::always(Behaviour::Reply(Reply::text("Hello to you, too!").pieces(3, 20))));
    let first = greet(&house, "/v1/chat/completions");
    assert_eq!(first, ["Hello to you, too!"], "nobody knows yet how its replies begin");
    for path in ["/v1/chat/completions", "/v1/responses"] {
        let next = greet(&house, path);
        assert!(next.len() > 2 && next.concat() == "Hello to you, too!", "{path}: {next:?}");
    }
    let (run, _) = house.chat("Hello");
    house.wait(&run, "finished");
    assert!(deltas(&house, &run).iter().all(|one| one["provisional"].is_null()));
}
