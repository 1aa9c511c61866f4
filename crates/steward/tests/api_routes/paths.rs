//! Addresses that differ only where the one has a word and the other a parameter.

use crate::api_routes::house::{House, text};
use reqwest::Method;
use serde_json::{Value, json};
use steward_testkit::model_server::{Behaviour, Script};

/// Parameters that are no ids, and why no word in their place takes anything from them.
const CHECKED: [(&str, &str); 7] = [
    ("/api/domains/{name}", "the words take other methods; `texts` is refused as a name"),
    ("/api/domains/{name}/choices/{field}", "`texts` is refused as a name"),
    ("/api/domains/texts/{kind}/{name}", "`choices` is no kind of a text"),
    ("/api/kept/{name}", "the word takes another method"),
    ("/api/agents/{id}/database/{table}", "tables begin with `ai_`"),
    ("/api/skills/hosts/{host}", "`hosts` is no id"),
    ("/api/skills/packages/{name}", "`packages` is no id"),
];

fn segments(path: &str) -> Vec<&str> {
    path.trim_matches('/').split('/').collect()
}

/// Whether one address may be read as the other, and not the other way round at all places.
fn are_ambiguous(one: &[&str], other: &[&str]) -> bool {
    let is_open = |part: &str| part.starts_with('{');
    one.len() == other.len()
        && one.iter().zip(other).all(|(a, b)| a == b || is_open(a) || is_open(b))
        && one.iter().zip(other).any(|(a, b)| is_open(a) != is_open(b))
}

/// Whether all parameters of a path that a word stands against are ids or numbers, which no word is.
fn only_ids(operations: &Value, path: &[&str], other: &[&str]) -> bool {
    let parameters = operations.as_object().unwrap().values().filter_map(|one| one["parameters"].as_array());
    let parameters: Vec<&Value> = parameters.flatten().collect();
    let is_id = |part: &str| {
        let name = part.trim_matches(['{', '}']);
        let of_it: Vec<_> = parameters.iter().filter(|one| one["in"] == "path" && one["name"] == name).collect();
        !of_it.is_empty()
            && of_it.iter().all(|one| one["schema"]["format"] == "uuid" || one["schema"]["type"] == "integer")
    };
    path.iter().zip(other).all(|(a, b)| !a.starts_with('{') || b.starts_with('{') || is_id(a))
}

#[test]
fn no_word_in_an_address_takes_the_place_of_a_name() {
    let house = House::new(Script::of([Behaviour::text("Blue.")]));
    let document = house.get("/api/openapi.json");
    let paths: Vec<(&String, &Value)> = document["paths"].as_object().unwrap().iter().collect();
    let mut seen = 0;
    for (one, operations) in &paths {
        for (other, _) in &paths {
            let (a, b) = (segments(one), segments(other));
            if !are_ambiguous(&a, &b) || only_ids(operations, &a, &b) {
                continue;
            }
            seen += 1;
            let known = CHECKED.iter().any(|(path, _)| path == one);
            assert!(known, "{one} may be read as {other}: let no name collide, and say here why none does");
        }
    }
    assert!(seen >= CHECKED.len(), "{seen}");

    for word in ["query", "search", "check", "complete", "hover", "rename", "format"] {
        let (status, answer) = house.call(Method::GET, &format!("/api/domains/{word}"), None);
        assert_eq!(status, 404, "a domain of this name is looked for: {answer}");
    }

    let (run, _) = house.chat("What colour is the sea?");
    house.wait(&run, "finished");
    house.post(&format!("/api/runs/{run}/keep"), json!({"name": "run"}), 201);
    assert_eq!(house.post("/api/kept/run", json!({}), 200)["items"].as_array().map(Vec::len), Some(1));
    assert_eq!(text(&house.items("/api/kept")[0]["name"]), "run");
    house.send(Method::DELETE, "/api/kept/run", None, 204);
    assert!(house.items("/api/kept").is_empty());
}
