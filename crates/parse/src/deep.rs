//! Reads deep plans: JSON, or a numbered list in plain text.

use super::json::repair;
use super::tool_index::ToolIndex;
use regex::Regex;
use serde_json::Value;
use std::sync::LazyLock;
use steward_core::deep::DeepStep;

/// Longest field, in characters.
const LONGEST: usize = 300;
/// How much of a reply is read, in characters.
const LOOKED_AT: usize = 20_000;

/// `1. goal`, `2) goal`, `Step 3: goal`.
static ITEM: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)^\s*(?:[-*]\s*)?(?:\*\*)?(?:step\s+|schritt\s+|étape\s+|paso\s+)?(\d{1,2})\s*[.):]\s*(.+)$").ok()
});
/// `(tool: x)`, `[after 1, 2]`, `risk: …` behind a goal.
static NOTE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?i)[(\[]\s*(tool|after|depends on|risk|expect)\s*:?\s*([^()\[\]]*)[)\]]").ok());

/// Empty: there are none.
pub fn steps(text: &str, tools: &ToolIndex) -> Vec<DeepStep> {
    let text: String = text.chars().take(LOOKED_AT).collect();
    let found = from_json(&text, tools);
    if found.is_empty() { from_list(&text, tools) } else { found }
}

fn from_json(text: &str, tools: &ToolIndex) -> Vec<DeepStep> {
    let Some(value) = json_in(text) else {
        return Vec::new();
    };
    let list = match &value {
        Value::Array(list) => list,
        Value::Object(object) => match ["steps", "plan"].iter().find_map(|key| object.get(*key)) {
            Some(Value::Array(list)) => list,
            _ => return Vec::new(),
        },
        _ => return Vec::new(),
    };
    list.iter().zip(1u8..).filter_map(|(item, number)| step_of(item, number, tools)).collect()
}

/// The JSON in a reply, which may stand in a fence or among words.
fn json_in(text: &str) -> Option<Value> {
    let whole = |text: &str| {
        repair(text, false).ok().map(|repaired| repaired.value).filter(|value| value.is_array() || value.is_object())
    };
    whole(text).or_else(|| {
        let from = text.find(['{', '['])?;
        let to = text.rfind(['}', ']'])?;
        whole(text.get(from..=to)?)
    })
}

fn step_of(item: &Value, position: u8, tools: &ToolIndex) -> Option<DeepStep> {
    if let Some(goal) = item.as_str() {
        return Some(step(position, goal));
    }
    let text =
        |keys: &[&str]| keys.iter().find_map(|key| item.get(*key)).and_then(Value::as_str).map(cut).unwrap_or_default();
    let goal = text(&["goal", "task", "description", "step", "thought"]);
    if goal.is_empty() {
        return None;
    }
    let number = item.get("number").or_else(|| item.get("id")).and_then(Value::as_u64);
    Some(DeepStep {
        goal,
        number: number.and_then(|number| u8::try_from(number).ok()).unwrap_or(position),
        tool: known(&text(&["tool"]), tools),
        depends_on: numbers(item.get("depends_on").unwrap_or(&Value::Null)),
        risk: text(&["risk"]),
        expect: text(&["expect", "expected"]),
    })
}

fn numbers(value: &Value) -> Vec<u8> {
    match value {
        Value::Array(list) => list.iter().flat_map(numbers).collect(),
        Value::Number(number) => number.as_u64().and_then(|number| u8::try_from(number).ok()).into_iter().collect(),
        Value::String(text) => text.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect(),
        _ => Vec::new(),
    }
}

fn from_list(text: &str, tools: &ToolIndex) -> Vec<DeepStep> {
    let (Some(item), Some(note)) = (ITEM.as_ref(), NOTE.as_ref()) else {
        return Vec::new();
    };
    text.lines()
        .filter_map(|line| {
            let found = item.captures(line)?;
            let number = found[1].parse().ok()?;
            let said = &found[2];
            let mut made = step(number, note.replace_all(said, "").replace("**", "").trim());
            for part in note.captures_iter(said) {
                let value = part[2].trim();
                match part[1].to_lowercase().as_str() {
                    "tool" => made.tool = known(value, tools),
                    "risk" => made.risk = cut(value),
                    "expect" => made.expect = cut(value),
                    _ => made.depends_on = numbers(&Value::from(value)),
                }
            }
            (!made.goal.is_empty()).then_some(made)
        })
        .collect()
}

fn step(number: u8, goal: &str) -> DeepStep {
    DeepStep { number, goal: cut(goal), tool: None, depends_on: Vec::new(), risk: String::new(), expect: String::new() }
}

/// `None`: there is no such tool.
fn known(name: &str, tools: &ToolIndex) -> Option<String> {
    let name = name.trim().trim_matches(['`', '"', '\'']);
    tools.resolve(name).map(str::to_owned)
}

fn cut(text: &str) -> String {
    text.trim().chars().take(LONGEST).collect()
}
