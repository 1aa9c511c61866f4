use crate::client::{Client, Refused};
use anyhow::{Context, bail};
use serde_json::Value;
use std::path::Path;

const LEAST: usize = 4;

/// Says what to do where a running server wants an administrator. `what` as in "manages users".
pub fn for_administrators(client: &Client, error: anyhow::Error, what: &str) -> anyhow::Error {
    let forbidden = error.downcast_ref::<Refused>().is_some_and(|refused| refused.status == 403);
    if forbidden && client.server_url().is_some() {
        return error.context(format!(
            "at a running server only an administrator {what}, put an administrator's API key into STEWARD_API_KEY, or stop the server and run this again"
        ));
    }
    error
}

/// The row named `wanted`, or whose id begins or ends with it. `what` as in "skill"; `list` is the listing command.
pub fn pick(rows: Vec<Value>, wanted: &str, what: &str, list: &str) -> anyhow::Result<Value> {
    if let Some(named) = rows.iter().find(|row| row["name"] == wanted) {
        return Ok(named.clone());
    }
    let part = |row: &Value| {
        let id = row["id"].as_str().unwrap_or_default();
        wanted.len() >= LEAST && (id.starts_with(wanted) || id.ends_with(wanted))
    };
    let mut fits: Vec<Value> = rows.into_iter().filter(part).collect();
    match fits.len() {
        1 => Ok(fits.remove(0)),
        0 => bail!("there is no {what} `{wanted}`; `{list}` shows what there is"),
        many => bail!("`{wanted}` fits {many}; give more of the id, or the name"),
    }
}

/// The row whose id begins or ends with `text`. `what` as in "budgets"; `none` says what to do if there is none.
pub fn by_id<T>(mut rows: Vec<T>, text: &str, id: impl Fn(&T) -> String, what: &str, none: &str) -> anyhow::Result<T> {
    rows.retain(|row| {
        let id = id(row);
        id.starts_with(text) || id.ends_with(text)
    });
    match rows.len() {
        1 => Ok(rows.remove(0)),
        0 => bail!("{none}"),
        many => bail!("`{text}` fits {many} {what}; give more of the id"),
    }
}

/// Empty if the row has none.
pub fn text<'v>(row: &'v Value, field: &str) -> &'v str {
    row[field].as_str().unwrap_or_default()
}

pub fn joined(list: &Value) -> String {
    let texts = list.as_array().into_iter().flatten();
    let texts: Vec<&str> = texts.filter_map(Value::as_str).collect();
    texts.join(", ")
}

pub fn first_line(text: &str, most: usize) -> String {
    text.lines().next().unwrap_or_default().chars().take(most).collect()
}

/// The text of a file; `-` is standard input.
pub fn content_of(file: &Path) -> anyhow::Result<String> {
    if file == Path::new("-") {
        return std::io::read_to_string(std::io::stdin()).context("standard input can't be read");
    }
    std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))
}

/// A time of a row, for people; empty if it has none.
pub fn time(row: &Value, field: &str) -> String {
    row[field].as_i64().map(|at| steward_core::Timestamp(at).rfc3339()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::{first_line, pick};
    use serde_json::{Value, json};

    #[test]
    fn names_go_before_parts_of_ids() {
        let rows = || {
            vec![
                json!({"name": "a", "id": "0199-aaaa-1111"}),
                json!({"name": "b", "id": "0199-bbbb-2222"}),
                json!({"name": "0199", "id": "7777-cccc-3333"}),
            ]
        };
        let picked = |wanted: &str| {
            let found = pick(rows(), wanted, "skill", "steward skill list");
            found.map(|row: Value| row["name"].as_str().unwrap().to_owned())
        };
        assert_eq!(picked("b").unwrap(), "b");
        assert_eq!(picked("0199").unwrap(), "0199");
        assert_eq!(picked("2222").unwrap(), "b");
        assert_eq!(picked("0199-a").unwrap(), "a");
        let many = picked("0199-").unwrap_err().to_string();
        assert!(many.contains("fits 2"), "{many}");
        for none in ["", "1", "zebra"] {
            let why = picked(none).unwrap_err().to_string();
            assert!(why.contains("no skill") && why.contains("skill list"), "{why}");
        }
    }

    #[test]
    fn a_line_is_cut_between_characters() {
        assert_eq!(first_line("größer\nx", 4), "größ");
        assert_eq!(first_line("", 4), "");
    }
}
