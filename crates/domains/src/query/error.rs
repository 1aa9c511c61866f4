//! What is wrong with a query, in sentences from which a model can repair it.

use serde_json::Value;

/// One mistake and where it stands, such as `where[1].value`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {problem}")]
pub struct QueryError {
    pub path: String,
    pub problem: Problem,
}

impl QueryError {
    pub fn new(path: impl Into<String>, problem: Problem) -> Self {
        Self { path: path.into(), problem }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    #[error("there is no domain `{name}`; {hint}")]
    Domain { name: String, hint: String },
    #[error("`{domain}` has no field `{name}`; {hint}")]
    Field { domain: String, name: String, hint: String },
    #[error("`{domain}` has no relation `{name}`; {hint}")]
    Relation { domain: String, name: String, hint: String },
    #[error("there is no `{name}` here; {hint}")]
    Key { name: String, hint: String },
    #[error("it should be {expected}, not {found}")]
    Form { expected: String, found: String },
    #[error("there is no {what} `{name}`; use {known}")]
    Word { what: &'static str, name: String, known: String },
    #[error("conditions may not stand on `{field}`; {hint}")]
    NotFilterable { field: String, hint: String },
    #[error("`{op}` does not fit `{field}`, which holds {kind}; use {allowed}")]
    Op { op: &'static str, field: String, kind: &'static str, allowed: String },
    #[error("{found} is no {kind} for `{field}`; write it as {example}")]
    Value { found: String, kind: &'static str, field: String, example: String },
    #[error("`{field}` needs a value, such as {example}")]
    NoValue { field: String, example: String },
    /// A sentence of its own.
    #[error("{0}")]
    Other(String),
}

pub(crate) fn joined(errors: &[QueryError]) -> String {
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// A name from a query, short enough for a message and without signs that would break its line.
pub(crate) fn shown(name: &str) -> String {
    let clean: String = name.chars().take(60).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if name.chars().count() > 60 { format!("{clean}…") } else { clean }
}

/// A value from a query for a message.
pub(crate) fn described(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        Value::String(text) => format!("\"{}\"", shown(text)),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}
