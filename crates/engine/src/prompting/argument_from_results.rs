//! Open arguments that earlier steps have observed already, in so many words: no model is asked then.
//! A value is taken only where the reference quoted by the proposal names one line of the observations, or where there
//! is nothing but one value.

use serde_json::Value;
use steward_core::event::ToolResult;
use steward_core::plan::Plan;
use steward_core::run::{CallStatus, RunState};
use steward_core::text::same_word;

/// Longest observation that is looked at, bytes.
const MAX_RESULT_BYTES: usize = 16 << 10;
/// Tools whose results begin with a heading.
const TOOLS_WITH_HEADING: &[&str] = &["read", "list", "grep"];
/// Words of a reference that name no value.
const IGNORED_WORDS: &[&str] = &[
    "the", "its", "their", "his", "her", "both", "all", "of", "a", "an", "this", "that", "these", "those", "what",
    "number", "value", "name", "price", "it", "in", "from", "first", "last",
];

/// The arguments of step `index` with its one open text, where the observations tell it.
pub(crate) fn arguments(state: &RunState, index: usize) -> Option<Value> {
    let step = state.plan.as_ref()?.plan.steps.get(index)?;
    let spec = state.tool(&step.tool)?;
    let open = Plan::open_arguments(step);
    let [name] = open.as_slice() else { return None };
    if spec.parameters["properties"][name]["type"] != "string" {
        return None;
    }
    let wanted = step.thought.split_once('“')?.1.split_once('”')?.0;
    let texts = result_texts(state);
    let value = value(wanted, &texts)?;
    let mut arguments = step.args.clone();
    arguments[name.as_str()] = Value::String(value);
    steward_core::schema::validate(&spec.parameters, &arguments).ok().map(|()| arguments)
}

fn result_texts(state: &RunState) -> Vec<&str> {
    let seen = state.calls.iter().filter_map(|entry| match &entry.status {
        CallStatus::Done(ToolResult::Ok { content, truncated: false, .. }) if content.len() <= MAX_RESULT_BYTES => {
            // Their first line is about the others.
            let headed = TOOLS_WITH_HEADING.contains(&entry.call.name.as_str());
            let lines = content.split_once('\n').filter(|_| headed).map_or(content.as_str(), |(_, lines)| lines);
            Some(lines.trim())
        }
        _ => None,
    });
    seen.collect()
}

pub(crate) fn stands_in_results(state: &RunState, text: &str) -> bool {
    let sources: Vec<String> = result_texts(state).into_iter().map(str::to_lowercase).collect();
    let mut lines = text.lines().map(|line| line.trim().to_lowercase()).filter(|line| !line.is_empty());
    lines.all(|line| sources.iter().any(|source| source.contains(&line)))
}

/// What `wanted` refers to in the observations.
fn value(wanted: &str, texts: &[&str]) -> Option<String> {
    let words: Vec<String> =
        wanted.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase).collect();
    let says = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    if says(&["both", "all", "each"]) && texts.len() > 1 {
        return Some(texts.join("\n"));
    }
    let text = texts.last()?;
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    if let Some(cell) = cell(&words, &lines) {
        return Some(cell);
    }
    let mut named = lines.iter().filter_map(|line| {
        let (key, value) = line.split_once([':', '='])?;
        let (key, value) = (key.trim(), value.trim());
        let own: Vec<String> =
            key.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase).collect();
        let hit = own
            .iter()
            .any(|key| words.iter().any(|word| !IGNORED_WORDS.contains(&word.as_str()) && same_word(key, word)));
        (hit && !value.is_empty() && own.len() <= 4).then(|| value.to_owned())
    });
    if let (Some(value), None) = (named.next(), named.next()) {
        return Some(value);
    }
    if says(&["names"]) {
        // The size stands in a column of its own.
        let first = lines.iter().map(|line| line.split_once("  ").map_or(*line, |(name, _)| name));
        return Some(first.collect::<Vec<_>>().join("\n"));
    }
    if says(&["line", "lines", "content", "contents", "text", "says"]) {
        return Some((*text).to_owned());
    }
    if says(&["first"]) {
        let first = lines.first()?;
        let bare = first.trim_start_matches(['#', '-', '*', '•', ' ']);
        return (bare != *first).then(|| bare.to_owned());
    }
    // One word is the value, whatever it is called.
    let [line] = lines.as_slice() else {
        return None;
    };
    (!line.contains(char::is_whitespace)).then(|| (*line).to_owned())
}

/// A cell of rows with a header: the row by one word, the column by another.
fn cell(words: &[String], lines: &[&str]) -> Option<String> {
    let (header, rows) = lines.split_first()?;
    let columns: Vec<&str> = header.split(',').map(str::trim).collect();
    if columns.len() < 2 || rows.is_empty() {
        return None;
    }
    let is = |text: &str| words.iter().any(|word| same_word(&text.to_lowercase(), word));
    let column = columns.iter().position(|name| is(name))?;
    let mut hits = rows.iter().filter_map(|row| {
        let cells: Vec<&str> = row.split(',').map(str::trim).collect();
        let named = cells.iter().enumerate().any(|(at, cell)| at != column && is(cell));
        (named && cells.len() == columns.len()).then(|| cells[column].to_owned())
    });
    match (hits.next(), hits.next()) {
        (Some(value), None) => Some(value),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::value;

    #[test]
    fn one_line_or_one_value_is_taken() {
        let of = |wanted: &str, text: &str| value(wanted, &[text]);
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(of("the number of screws", "screws: 7\nnails: 9"), some("7"));
        assert_eq!(of("the owner", "owner = Ann B.\nteam = x"), some("Ann B."));
        assert_eq!(of("the cost of milk", "item,cost\nmilk,2.50\nsalt,1"), some("2.50"));
        assert_eq!(of("the token", "abc\n"), some("abc"));
        assert_eq!(of("its first heading", "# One\ntext"), some("One"));
        assert_eq!(of("the color", "size: 4\nage: 3"), None);
        assert_eq!(of("a summary", "one two\nthree"), None);
        assert_eq!(of("the size", "size: 4\nsize: 5"), None);
        assert_eq!(value("both sums", &["1", "2"]), some("1\n2"));
        assert_eq!(value("the sum", &[]), None);
    }
}
