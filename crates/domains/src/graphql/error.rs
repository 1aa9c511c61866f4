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

    /// The body of an answer.
    pub fn response(&self) -> Value {
        json!({"data": null, "errors": self.0})
    }
}

impl From<GraphQlError> for GraphQlErrors {
    fn from(error: GraphQlError) -> Self {
        Self(vec![error])
    }
}
