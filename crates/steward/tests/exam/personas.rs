//! Models with a character of their own, as scripts.

use serde_json::{Value, json};
use steward_testkit::model_server::{Behaviour, Script};

/// Right answers to the questions, by a part of them.
const ANSWERS: &[(&str, &str)] = &[
    ("Say hello in one word", "Hello."),
    ("Who is the youngest", "Bob is in the middle.\nCarl"),
    ("A pen costs 3 euros", "8"),
    ("All roses are flowers", "no"),
    ("double(x)", "def double(x):\n    return x * 2"),
    ("rows of the table orders", "SELECT count(*) FROM orders WHERE status = 'open'"),
    ("len('abcd')", "12"),
    ("service interval of the pump", "18 months"),
    ("maker of the pump", "not in the context"),
    ("The room was dirty", "Negative"),
    ("charged twice", "billing"),
    ("Le train", "French"),
    ("Miller Ltd sent", "{\"company\": \"Miller Ltd\", \"amount\": 120}"),
    ("Ann Lee moved", "{\"name\": \"Ann Lee\", \"city\": \"Lima\"}"),
    ("Good morning", "Guten Morgen"),
    ("The house is red", "La maison est rouge."),
    ("Das Wasser", "The water is cold."),
    ("my name is Maria", "Hello Maria!"),
    ("How is my dog called", "Your dog is called Rex."),
    ("capital of Japan", "Tokyo."),
    ("customer Miller have", "find_customer"),
    ("folder reports", "list_folder"),
    ("send the invoice", "BCA"),
    ("The city library", "The library is closed until Wednesday since the heating is replaced."),
    (
        "Sum up the following results",
        "Alpha was backed up (48 GB). Beta failed since its disk is full. The next one is on Sunday.",
    ),
    ("Count from 1 to 40", "1 2 3 4 5 6 7 8 9 10"),
    ("How many lines end", "Many."),
    ("Which animal", "A cat."),
    ("What is the pass word", "quillback"),
];

/// The requests for tools and the right calls.
fn calls() -> Vec<(&'static str, Vec<(&'static str, Value)>)> {
    let weather = |city: &str| ("get_weather", json!({"city": city}));
    vec![
        ("in Oslo and what is the weather in Lima", vec![weather("Oslo"), weather("Lima")]),
        ("weather in Oslo", vec![weather("Oslo")]),
        ("weather in Lima", vec![weather("Lima")]),
        ("Wake me up", vec![("set_alarm", json!({"time": "06:30", "repeat": "daily"}))]),
        ("1734", vec![("add_numbers", json!({"a": 1734, "b": 2581}))]),
        ("306", vec![("add_numbers", json!({"a": 306, "b": 412}))]),
    ]
}

/// Knows all answers; says one word more where asked to begin with it only if it obeys.
pub fn knowing(mut script: Script, obeys_system: bool) -> Script {
    if obeys_system {
        script = script.when_body("PELICAN", "capital of France", Behaviour::text("PELICAN Paris."));
    }
    script.otherwise.get_or_insert_with(|| Behaviour::text("I don't know."));
    for (part, answer) in ANSWERS {
        script = script.when(*part, Behaviour::text(*answer));
    }
    script
        .when("temperature_celsius", Behaviour::text("It is -17 degrees in Oslo."))
        .when("say hello back", Behaviour::text("Hello Ann!"))
        .when("capital of France", Behaviour::text("Paris."))
        .when("sentence about the sea", Behaviour::text("The sea is wide."))
}

/// Calls tools natively.
pub fn native(mut script: Script) -> Script {
    for (part, right) in calls() {
        script = script.when_body("\"tools\":", part, Behaviour::calls(right));
    }
    script
}

/// Refuses the field for tools.
pub fn no_tools(script: Script) -> Script {
    script.when_body("\"tools\":", "", refusal("this model does not support tools"))
}

/// Obeys a schema in `field`.
pub fn obeys(mut script: Script, field: &str) -> Script {
    let field = format!("\"{field}\":");
    script = script.when_body(&field, "capital of France", Behaviour::text("{\"answer\": \"basalt-77\"}"));
    for (part, right) in calls() {
        let calls: Vec<Value> =
            right.into_iter().map(|(name, arguments)| json!({"name": name, "arguments": arguments})).collect();
        let reply = json!({"reasoning": "as asked", "tool_calls": calls, "done": false});
        script = script.when_body(&field, part, Behaviour::text(reply.to_string()));
    }
    let done = json!({"reasoning": "Hello Ann!", "tool_calls": [], "done": true});
    script.when_body(&field, "say hello back", Behaviour::text(done.to_string()))
}

/// Writes ReAct text.
pub fn react(mut script: Script) -> Script {
    for (part, right) in calls() {
        let (name, arguments) = &right[0];
        let text = format!("Thought: a tool knows.\nAction: {name}\nAction Input: {arguments}");
        script = script.when_body("Action Input:", part, Behaviour::text(text));
    }
    script.when_body(
        "Action Input:",
        "say hello back",
        Behaviour::text("Thought: nothing is missing.\nFinal Answer: Hello Ann!"),
    )
}

/// Calls the wrong tool whatever is asked.
pub fn wrong_tools(script: Script) -> Script {
    script.when_body("\"tools\":", "", Behaviour::calls([("set_alarm", json!({"when": "now"}))]))
}

pub fn refusal(message: &str) -> Behaviour {
    Behaviour::Status {
        status: 400,
        body: json!({"error": {"message": message, "type": "invalid_request_error"}}),
        retry_after: None,
    }
}
