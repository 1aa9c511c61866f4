//! What documents are searched for before a plan is made: by the planner, or by the request's own sentences.

use serde_json::{Value, json};
use steward_core::event::Setup;
use steward_core::message::{Message, Role};
use steward_core::model::Purpose;
use steward_core::run::RunState;

/// Most search strings.
const MAX_STRINGS: usize = 3;
/// Longest search string, characters.
const MAX_LENGTH: usize = 200;
/// A request is searched with, and shown, up to so many characters.
const MAX_QUESTION: usize = 1000;
/// A request of fewer words than these goes on with the one before it.
const WORDS_OF_A_QUESTION: usize = 4;

pub(crate) fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {"queries": {
            "type": "array",
            "items": {"type": "string", "maxLength": MAX_LENGTH},
            "minItems": 1,
            "maxItems": MAX_STRINGS,
        }},
        "required": ["queries"],
        "additionalProperties": false,
    })
}

/// What a request asks, with the one before it where it is too short to say it alone.
pub(crate) fn question(input: &str, history: &[Message]) -> String {
    let cut = |text: &str| text.chars().take(MAX_QUESTION).collect::<String>();
    let before = history.iter().rev().find(|message| message.role == Role::User);
    match before {
        Some(before) if input.split_whitespace().count() < WORDS_OF_A_QUESTION => {
            format!("{} {}", cut(&before.text), cut(input))
        }
        _ => cut(input),
    }
}

/// The search strings, and who wrote them: the model in the last reply, if that holds any, else the request.
pub(crate) fn strings(state: &RunState, setup: &Setup) -> (Vec<String>, &'static str) {
    let written = match &state.reply {
        Some((Purpose::Search, text)) => from_reply(text),
        _ => Vec::new(),
    };
    if written.is_empty() {
        (from_request(&question(&setup.input, &setup.history)), "request")
    } else {
        (written, "model")
    }
}

fn from_reply(text: &str) -> Vec<String> {
    let Ok(repaired) = steward_parse::repair(text, false) else {
        return Vec::new();
    };
    let list = repaired.value.get("queries").and_then(Value::as_array);
    distinct(list.into_iter().flatten().filter_map(Value::as_str))
}

/// The request's sentences; those of one word say too little.
fn from_request(question: &str) -> Vec<String> {
    let sentences = distinct(
        question
            .split_inclusive(ends_sentence)
            .fold(Vec::new(), joined)
            .iter()
            .map(String::as_str)
            .filter(|one| one.split_whitespace().nth(1).is_some()),
    );
    if sentences.is_empty() { distinct([question].into_iter()) } else { sentences }
}

fn ends_sentence(c: char) -> bool {
    matches!(c, '\n' | '.' | '!' | '?' | ';' | '。' | '！' | '？' | '؟')
}

/// A point within a word or number ends no sentence: the next piece goes on without a space.
fn joined(mut sentences: Vec<String>, piece: &str) -> Vec<String> {
    match sentences.last_mut() {
        Some(last) if last.ends_with('.') && !piece.starts_with(char::is_whitespace) => last.push_str(piece),
        _ => sentences.push(piece.to_owned()),
    }
    sentences
}

fn distinct<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut strings: Vec<String> = Vec::new();
    for text in texts {
        let text: String = text.trim().chars().take(MAX_LENGTH).collect();
        if !text.is_empty() && !strings.contains(&text) && strings.len() < MAX_STRINGS {
            strings.push(text);
        }
    }
    strings
}

#[cfg(test)]
mod tests {
    use super::{from_reply, from_request};

    #[test]
    fn a_model_writes_one_to_three_strings_as_json() {
        assert_eq!(
            from_reply(r#"{"queries": ["notice period", " notice period ", "lease 2024"]}"#),
            ["notice period", "lease 2024"]
        );
        assert_eq!(from_reply("```json\n{\"queries\": [\"a\", \"b\", \"c\", \"d\"]}\n```").len(), 3);
        for other in ["", "notice period", "[\"notice period\"]", r#"{"queries": [7, ""]}"#, r#"{"query": "x"}"#] {
            assert!(from_reply(other).is_empty(), "{other}");
        }
    }

    #[test]
    fn the_requests_own_sentences_take_their_place() {
        let found = from_request("Look up the notice period in 3.5 of the lease. Then write it to notice.txt! Thanks.");
        assert_eq!(found, ["Look up the notice period in 3.5 of the lease.", "Then write it to notice.txt!"]);
        assert_eq!(from_request("Kündigungsfrist?"), ["Kündigungsfrist?"]);
        assert_eq!(from_request("Lies den Vertrag\nNenne die Frist"), ["Lies den Vertrag", "Nenne die Frist"]);
        assert_eq!(from_request(&"word ".repeat(300))[0].chars().count(), 200);
    }
}
