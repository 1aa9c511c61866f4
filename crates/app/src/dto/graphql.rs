use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// A request of GraphQL.
#[derive(Debug, Clone, PartialEq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GraphQlBody {
    /// The text, up to 20,000 bytes; what is wrong with it, the answer says as GraphQL does.
    #[schema(min_length = 1)]
    pub query: String,
    /// Values of its variables, which are bound.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub variables: Option<Map<String, Value>>,
    /// Which operation to run, if the text has several.
    pub operation_name: Option<String>,
}

/// An answer of GraphQL.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct GraphQlAnswer {
    /// What was asked for; left out where the request itself is wrong, so that nothing was run.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>, required = false)]
    pub data: Option<Value>,
    /// What is wrong with the request.
    #[serde(skip_serializing_if = "Value::is_null")]
    #[schema(value_type = Vec<Object>, required = false)]
    pub errors: Value,
    /// `next` has what the next page of each field begins after.
    #[serde(skip_serializing_if = "Value::is_null")]
    #[schema(value_type = Object, required = false)]
    pub extensions: Value,
}

impl From<Value> for GraphQlAnswer {
    fn from(mut answer: Value) -> Self {
        let mut part = |name: &str| answer.get_mut(name).map(Value::take).unwrap_or_default();
        let (errors, extensions) = (part("errors"), part("extensions"));
        Self { data: answer.get_mut("data").map(Value::take), errors, extensions }
    }
}
