//! Rows of the API: finding one, and reading their fields.

use crate::client::{Client, Refused};
use crate::term::Term;
use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::path::Path;
use steward_core::ports::RunRow;
use steward_core::{RunId, Timestamp};

/// Shortest part of an id that finds a row, characters.
const LEAST: usize = 4;
/// Runs searched for the beginning or end of an id.
const LOOKED_THROUGH: u32 = 1000;

/// Says what to do where a running server wants an administrator. `what` as in "manages users".
pub fn for_administrators(client: &Client, error: anyhow::Error, what: &str) -> anyhow::Error {
    if Refused::is(&error, 403) && client.server_url().is_some() {
        return error.context(format!(
            "at a running server only an administrator {what}, put an administrator's API key into STEWARD_API_KEY, or stop the server and run this again"
        ));
    }
    error
}

/// A row that the API has named for people.
#[derive(Serialize, Deserialize)]
pub struct Labelled<T> {
    #[serde(flatten)]
    pub value: T,
    pub label: String,
}

/// What a command knows of the things that it lists.
pub struct Resource {
    /// The path of the list.
    pub path: &'static str,
    /// As in "there is no skill".
    pub what: &'static str,
    /// The command that lists them.
    pub list: &'static str,
}

pub const AGENT: Resource = Resource { path: "/api/agents", what: "agent", list: "steward agents" };
pub const SKILL: Resource = Resource { path: "/api/skills", what: "skill", list: "steward skill list" };
pub const CONNECTION: Resource = Resource { path: "/api/connections", what: "connection", list: "steward connections" };
pub const CREDENTIAL: Resource =
    Resource { path: "/api/credentials", what: "credential", list: "steward credential list" };
pub const COLLECTION: Resource =
    Resource { path: "/api/collections", what: "collection", list: "steward documents collections" };

impl Resource {
    /// The row of this name, or whose id begins or ends with it.
    pub async fn find(&self, client: &Client, wanted: &str) -> anyhow::Result<Value> {
        self.pick(client.rows(self.path).await?, wanted)
    }

    pub fn pick(&self, rows: Vec<Value>, wanted: &str) -> anyhow::Result<Value> {
        let Self { what, list, .. } = self;
        if let Some(named) = rows.iter().find(|row| row["name"] == wanted) {
            return Ok(named.clone());
        }
        let mut fits = rows;
        fits.retain(|row| wanted.len() >= LEAST && is_part(wanted, text(row, "id")));
        match fits.len() {
            1 => Ok(fits.remove(0)),
            0 => bail!("there is no {what} `{wanted}`; `{list}` shows what there is"),
            many => bail!("`{wanted}` fits {many}; give more of the id, or the name"),
        }
    }

    /// The path of one of them.
    pub fn path_of(&self, row: &Value) -> String {
        format!("{}/{}", self.path, text(row, "id"))
    }
}

/// Whether an id begins or ends with a text.
pub fn is_part(text: &str, id: &str) -> bool {
    id.starts_with(text) || id.ends_with(text)
}

/// The row whose id begins or ends with `text`. `what` as in "budgets"; `none` says what to do if there is none.
pub fn by_id<T>(mut rows: Vec<T>, text: &str, id: impl Fn(&T) -> String, what: &str, none: &str) -> anyhow::Result<T> {
    rows.retain(|row| is_part(text, &id(row)));
    match rows.len() {
        1 => Ok(rows.remove(0)),
        0 => bail!("{none}"),
        many => bail!("`{text}` fits {many} {what}; give more of the id"),
    }
}

/// The run of this id, or whose id begins or ends with it.
pub async fn find_run(client: &Client, text: &str) -> anyhow::Result<RunRow> {
    if let Ok(id) = text.parse::<RunId>() {
        return client.run(id).await;
    }
    let (rows, _) = client.runs(None, None, LOOKED_THROUGH).await?;
    let none = format!("no run `{text}`; `steward runs` lists them");
    by_id(rows, text, |row| row.id.to_string(), "runs", &none)
}

/// Empty if the row has none.
pub fn text<'v>(row: &'v Value, field: &str) -> &'v str {
    row[field].as_str().unwrap_or_default()
}

/// Empty if the row has none.
pub fn items<'v>(row: &'v Value, field: &str) -> &'v [Value] {
    row[field].as_array().map_or(&[], Vec::as_slice)
}

pub fn texts<'v>(row: &'v Value, field: &str) -> impl Iterator<Item = &'v str> {
    items(row, field).iter().filter_map(Value::as_str)
}

pub fn joined(row: &Value, field: &str) -> String {
    texts(row, field).collect::<Vec<_>>().join(", ")
}

/// Prints what there is of these, a line each.
pub fn print_facts<'n>(facts: impl IntoIterator<Item = (&'n str, String)>) {
    for (name, value) in facts.into_iter().filter(|(_, value)| !value.is_empty()) {
        println!("{name:<12} {value}");
    }
}

/// The elements of an array; none if it is something else.
pub fn elements(array: &Value) -> impl Iterator<Item = &Value> {
    array.as_array().into_iter().flatten()
}

/// Prints a table with columns as wide as they need to be.
pub fn print_table(columns: &[String], rows: &[Vec<String>], term: Term) {
    let lines = || rows.iter().map(Vec::as_slice).chain([columns]);
    let width = |at: usize| lines().filter_map(|line| Some(line.get(at)?.chars().count())).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns.len()).map(width).collect();
    let line = |cells: &[String]| {
        let padded: Vec<String> = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        padded.join("  ").trim_end().to_owned()
    };
    println!("{}", term.bold(&line(columns)));
    for row in rows {
        println!("{}", line(row));
    }
}

/// A value as it stands in a table.
pub fn cell(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// An object of those fields that have a value.
pub fn object<const N: usize>(fields: [(&str, Option<Value>); N]) -> Map<String, Value> {
    fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
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
    row[field].as_i64().map(|at| Timestamp(at).rfc3339()).unwrap_or_default()
}

/// What something that a rule or key is about is called: by its name, or as deleted.
pub fn name_of(named: &Value) -> String {
    named["name"].as_str().map_or_else(|| format!("deleted ({})", text(named, "id")), str::to_owned)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::{SKILL, first_line};
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
            let found = SKILL.pick(rows(), wanted);
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
