//! The rules that judge answers and calls.

use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use steward_core::tool::ToolCall;

/// What an answer must be like. Case does not matter.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Rule {
    /// One of each group must be in it.
    all: Vec<Vec<String>>,
    /// None of these may be.
    none: Vec<String>,
    /// Values by JSON pointer, in the first JSON object of the answer.
    json: BTreeMap<String, Value>,
    /// Only the last line counts.
    last_line: bool,
    /// Most characters; 0: any.
    longest: usize,
}

impl Rule {
    pub fn is_met(&self, answer: &str) -> bool {
        let answer = without_reasoning(answer).trim();
        if self.longest > 0 && answer.chars().count() > self.longest {
            return false;
        }
        if !self.json.is_empty() {
            return object_in(answer).is_some_and(|object| self.holds(&object));
        }
        let judged =
            if self.last_line { answer.lines().rev().find(|line| !line.trim().is_empty()) } else { Some(answer) };
        let judged = judged.unwrap_or_default().to_lowercase();
        let mut groups = self.all.iter();
        groups.all(|group| contains_any(&judged, group)) && !contains_any(&judged, &self.none)
    }

    fn holds(&self, object: &Value) -> bool {
        let mut wanted = self.json.iter();
        wanted.all(|(pointer, value)| {
            let found = object.pointer(pointer);
            found.is_some_and(|found| is_same(value, found))
        })
    }
}

/// Whether one of `texts` stands in `answer` (in lower case) as whole words.
pub(super) fn contains_any(answer: &str, texts: &[String]) -> bool {
    texts.iter().any(|text| {
        let text = text.to_lowercase();
        answer.match_indices(&text).any(|(at, _)| {
            let before = answer[..at].chars().next_back();
            let after = answer[at + text.len()..].chars().next();
            let joined = |one: Option<char>, other: Option<char>| {
                one.is_some_and(char::is_alphanumeric) && other.is_some_and(char::is_alphanumeric)
            };
            !joined(before, text.chars().next()) && !joined(text.chars().next_back(), after)
        })
    })
}

pub(super) fn object_in(text: &str) -> Option<Value> {
    text.match_indices('{').take(8).find_map(|(at, _)| {
        let mut read = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
        read.next()?.ok().filter(Value::is_object)
    })
}

pub(super) fn without_reasoning(answer: &str) -> &str {
    answer.rsplit("</think>").next().unwrap_or(answer)
}

#[derive(Debug, Default, Clone, Deserialize)]
pub(super) struct Wanted {
    pub name: String,
    pub arguments: Map<String, Value>,
}

/// Points where one call is right: one for the tool, one for its arguments.
pub(super) fn call_points(wanted: Option<&Wanted>, calls: &[ToolCall]) -> u32 {
    let Some(wanted) = wanted else {
        return if calls.is_empty() { 2 } else { 0 };
    };
    let [call] = calls else { return 0 };
    if call.name != wanted.name {
        return 0;
    }
    1 + u32::from(fits(&wanted.arguments, &call.arguments))
}

pub(super) fn are_all_made(wanted: &[Wanted], calls: &[ToolCall]) -> bool {
    let is_made =
        |one: &Wanted| calls.iter().any(|call| call.name == one.name && fits(&one.arguments, &call.arguments));
    calls.len() == wanted.len() && wanted.iter().all(is_made)
}

fn fits(wanted: &Map<String, Value>, given: &Value) -> bool {
    let mut fields = wanted.iter();
    fields.all(|(name, value)| given.get(name).is_some_and(|found| is_same(value, found)))
}

/// Equal for a person: `"Oslo, Norway"` is Oslo, `"17"` is 17.
fn is_same(wanted: &Value, found: &Value) -> bool {
    match (wanted, found) {
        (Value::String(wanted), Value::String(found)) => {
            contains_any(&found.to_lowercase(), std::slice::from_ref(wanted))
        }
        (Value::Number(wanted), Value::String(found)) => found.trim() == wanted.to_string(),
        (Value::Number(wanted), Value::Number(found)) => wanted.as_f64() == found.as_f64(),
        _ => wanted == found,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::needless_pass_by_value, reason = "tests")]

    use super::{Rule, Wanted, are_all_made, call_points, object_in, without_reasoning};
    use serde_json::{Value, json};
    use steward_core::tool::{CallSource, ToolCall};

    impl Rule {
        /// Whether there is an answer that is wrong.
        pub fn is_telling(&self) -> bool {
            !(self.all.is_empty() && self.json.is_empty())
        }
    }

    fn check(rule: &Value, answer: &str, expect: bool) {
        let rule: Rule = serde_json::from_value(rule.clone()).unwrap();
        assert_eq!(rule.is_met(answer), expect, "{answer}");
    }

    #[test]
    fn texts() {
        let rule = json!({"all": [["8", "eight"]], "none": ["18"]});
        check(&rule, "You get 8 euros.", true);
        check(&rule, "Eight.", true);
        check(&rule, "You get 80 euros.", false);
        check(&rule, "8, no, 18", false);
        check(&rule, "<think>18?</think>8", true);
        let last = json!({"all": [["carl"]], "none": ["ann"], "last_line": true});
        check(&last, "Ann is older.\n\n**Carl**\n", true);
        check(&last, "Carl.\nOr Ann.", false);
        check(&json!({"all": [["tokyo"]], "longest": 10}), "Tokyo, of course", false);
        check(&json!({"all": [["count("]]}), "SELECT count(*)", true);
        check(&json!({"all": [["a"]]}), "", false);
    }

    #[test]
    fn objects() {
        let rule = json!({"json": {"/company": "Miller Ltd", "/amount": 120}});
        check(&rule, "```json\n{\"company\": \"Miller Ltd\", \"amount\": 120.0}\n```", true);
        check(&rule, "{\"company\": \"Miller Ltd\", \"amount\": \"120\"}", true);
        check(&rule, "{\"company\": \"Miller Ltd\"}", false);
        check(&rule, "Miller Ltd, 120", false);
        assert_eq!(object_in("{x} {\"a\": 1} {"), Some(json!({"a": 1})));
        assert_eq!(object_in("[1]"), None);
        assert_eq!(without_reasoning("a</think> b"), " b");
    }

    fn call(name: &str, arguments: Value) -> ToolCall {
        ToolCall::new("1", name, arguments, CallSource::Native)
    }

    fn wanted(name: &str, arguments: Value) -> Wanted {
        serde_json::from_value(json!({"name": name, "arguments": arguments})).unwrap()
    }

    #[test]
    fn calls() {
        let oslo = wanted("get_weather", json!({"city": "Oslo"}));
        let right = call("get_weather", json!({"city": "oslo, Norway"}));
        let wrong = call("get_weather", json!({"city": "Lima"}));
        assert_eq!(call_points(Some(&oslo), std::slice::from_ref(&right)), 2);
        assert_eq!(call_points(Some(&oslo), std::slice::from_ref(&wrong)), 1);
        assert_eq!(call_points(Some(&oslo), &[call("other", json!({}))]), 0);
        assert_eq!(call_points(Some(&oslo), &[]), 0);
        assert_eq!(call_points(None, &[]), 2);
        assert_eq!(call_points(None, std::slice::from_ref(&wrong)), 0);
        let both = [oslo.clone(), wanted("get_weather", json!({"city": "Lima"}))];
        assert!(are_all_made(&both, &[wrong.clone(), right.clone()]));
        assert!(!are_all_made(&both, &[right.clone(), right]));
        assert!(!are_all_made(&both, &[wrong]));
    }
}
