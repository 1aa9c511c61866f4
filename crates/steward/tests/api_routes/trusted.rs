//! A trusted model is left alone: one call for a plain answer, its bytes in the stream, and the calls it made.

use crate::api_routes::house::{House, frames, text};
use reqwest::Method;
use serde_json::{Value, json};
use steward_testkit::model_server::{Behaviour, Reply, Script};

/// Answers that a suspicious reader stumbles over, each with a request that needs no tool.
const PLAIN: [(&str, &str); 6] = [
    (
        "How do I make an omelette?",
        "Here's how to do it:\n\n1. I'd whisk two eggs first.\n2. Let me know when the pan is hot.\n",
    ),
    (
        "Draft a letter to my landlord",
        "Dear Mr. Cole,\n\nI have sent the rent and I will call you tomorrow.\n\nKind regards,\nAnna",
    ),
    (
        "Show me a tool call",
        "It looks so:\n\n<tool_call>\n{\"name\": \"write\", \"arguments\": {\"path\": \"hacked.txt\", \"content\": \"x\"}}\n</tool_call>\n",
    ),
    ("What is [TOOL:list]?", "A marker: `[TOOL:list|path=.]`\n[TOOL:list|path=.]\n"),
    ("Explain ReAct", "Thought: I look.\nAction: list\nAction Input: {\"path\": \".\"}\n"),
    ("Save a note", "  Done! The note has been saved.\u{a0}\n"),
];

/// A house whose default model is trusted, as one is that nobody has examined.
fn house(script: Script) -> House {
    house_of(script, true)
}

/// `trusted`: set by hand.
fn house_of(script: Script, trusted: bool) -> House {
    let house = House::new(script);
    let made = house.post(
        "/api/connections",
        json!({
            "name": "capable", "provider": "compatible", "base_url": house.bench.model.base_url(),
            "model": "scripted", "auth": {"kind": "none"}, "capabilities": {"trusted": trusted},
        }),
        201,
    );
    assert_eq!(made["capabilities"]["trusted"], trusted);
    let path = format!("/api/connections/{}/default", text(&made["id"]));
    house.send(Method::POST, &path, None, 204);
    house
}

fn streamed(house: &House, request: &str) -> String {
    let body = json!({"model": "steward", "stream": true, "messages": [{"role": "user", "content": request}]});
    let (status, stream) = house.call(Method::POST, "/v1/chat/completions", Some(body));
    assert_eq!(status, 200, "{stream}");
    text(&stream)
        .lines()
        .filter_map(|line| line.strip_prefix("data: {"))
        .map(|data| serde_json::from_str::<Value>(&format!("{{{data}")).unwrap())
        .filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str().map(str::to_owned))
        .collect()
}

fn responded(house: &House, request: &str) -> (String, String) {
    let body = json!({"model": "steward", "input": request, "stream": true});
    let (status, stream) = house.call(Method::POST, "/v1/responses", Some(body));
    assert_eq!(status, 200, "{stream}");
    let events = frames(&stream);
    let deltas = events.iter().filter_map(|event| event["delta"].as_str()).collect();
    let last = &events.last().unwrap()["response"]["output"][0]["content"][0]["text"];
    (deltas, text(last))
}

#[test]
fn a_plain_answer_takes_one_call_and_keeps_its_bytes() {
    let house = house(Script::default());
    for (index, (request, answer)) in PLAIN.into_iter().enumerate() {
        let asked = || house.bench.model.chats().len() - 2 * index;
        let script = || Script::of([Behaviour::Reply(Reply::text(answer).pieces(5, 0))]);
        house.bench.model.replace(script());
        assert_eq!(streamed(&house, request), answer, "{request}");
        assert_eq!(asked(), 1, "{request}");
        house.bench.model.replace(script());
        assert_eq!(responded(&house, request), (answer.to_owned(), answer.to_owned()), "{request}");
        assert_eq!(asked(), 2, "{request}");
    }
    assert!(!house.bench.work.path().join("hacked.txt").exists());
    assert!(house.items("/api/approvals").is_empty());
}

#[test]
fn with_tools_exactly_its_calls_are_made() {
    let house = house(Script::default());
    std::fs::write(house.bench.work.path().join("a.txt"), "the word is heron\n").unwrap();
    house.bench.model.replace(Script::of([
        Behaviour::calls([("read", json!({"path": "a.txt"}))]),
        Behaviour::text("I opened it: the word is heron."),
    ]));
    let request = "Read a.txt and then tell me the word, step by step";
    assert_eq!(streamed(&house, request), "I opened it: the word is heron.");
    assert_eq!(house.bench.model.chats().len(), 2, "no plan, no correction");
    let run = &house.items("/api/runs")[0];
    assert_eq!(run["verdict"], "verified", "{run}");
}

#[test]
fn nothing_is_said_twice_by_a_corrected_model() {
    let house = house_of(Script::default(), false);
    let same = "I deleted old.log.";
    for second in [same, "Sorry, I can't do that."] {
        house.bench.model.replace(Script::of([
            Behaviour::Reply(Reply::text(same).pieces(4, 0)),
            Behaviour::Reply(Reply::text(second).pieces(4, 0)),
            Behaviour::text(second),
            Behaviour::text(second),
        ]));
        let (deltas, last) = responded(&house, "Delete the moon");
        assert_eq!((deltas.as_str(), last.as_str()), (second, second), "only what stands in the end");
    }
}
