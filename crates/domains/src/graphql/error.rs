//! What is wrong with a request, as GraphQL answers it.

use async_graphql::{Pos, ServerError};
use serde::Serialize;
use serde_json::{Value, json};

/// Errors that one answer has.
const MOST_ERRORS: usize = 20;

/// One mistake, where it stands in the text and in the answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{message}")]
pub struct GraphQlError {
    pub message: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub locations: Vec<Location>,
    /// Names and places in the answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<Value>,
}

/// Both count from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Location {
    pub line: usize,
    pub column: usize,
}

impl GraphQlError {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), locations: Vec::new(), path: Vec::new() }
    }

    pub(super) fn at(message: impl Into<String>, position: Pos) -> Self {
        let locations = vec![Location { line: position.line, column: position.column }];
        Self { locations, ..Self::new(message) }
    }

    pub(super) fn of_field(message: impl Into<String>, position: Pos, key: &str) -> Self {
        Self { path: vec![Value::from(key)], ..Self::at(message, position) }
    }
}

impl GraphQlError {
    /// What a text that can't be read has at the place where reading ends.
    pub(super) fn unreadable(error: &async_graphql::parser::Error, text: &str) -> Self {
        let async_graphql::parser::Error::Syntax { message, start, .. } = error else {
            return Self::from(ServerError::from(error.clone()));
        };
        // The last line of the parser's picture says what it expected, by the names of its rules.
        let expected = message.lines().filter_map(|line| line.trim().strip_prefix("= ")).next_back();
        let expected = expected.unwrap_or("expected something else").replace('_', " ");
        let line = text.lines().nth(start.line.saturating_sub(1)).unwrap_or_default();
        let found = match line.chars().nth(start.column.saturating_sub(1)) {
            Some(found) if found.is_alphanumeric() || found.is_ascii_graphic() => format!("`{found}` can't be read"),
            Some(found) => format!("`{}` can't be read", found.escape_unicode()),
            None if text.lines().count() <= start.line => "the text breaks off".to_owned(),
            None => "the line ends too early".to_owned(),
        };
        Self::at(format!("line {}, column {}: {found}; {expected}", start.line, start.column), *start)
    }
}

impl From<ServerError> for GraphQlError {
    fn from(error: ServerError) -> Self {
        let locations = error.locations.iter().map(|at| Location { line: at.line, column: at.column }).collect();
        let path = serde_json::to_value(&error.path).ok().and_then(|path| path.as_array().cloned()).unwrap_or_default();
        Self { message: error.message, locations, path }
    }
}

/// Why a request is not run at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.iter().map(|error| error.message.as_str()).collect::<Vec<_>>().join("\n"))]
pub struct GraphQlErrors(pub Vec<GraphQlError>);

impl GraphQlErrors {
    pub(super) fn of(errors: impl IntoIterator<Item = GraphQlError>) -> Self {
        let mut list: Vec<GraphQlError> = Vec::new();
        for error in errors {
            if list.len() < MOST_ERRORS && !list.contains(&error) {
                list.push(error);
            }
        }
        Self(list)
    }

    /// The body of an answer: nothing was run, so it has no data.
    pub fn response(&self) -> Value {
        json!({"errors": self.0})
    }
}

impl From<GraphQlError> for GraphQlErrors {
    fn from(error: GraphQlError) -> Self {
        Self(vec![error])
    }
}
