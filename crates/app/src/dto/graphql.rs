use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// A request of GraphQL.
#[derive(Debug, Clone, PartialEq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GraphQlBody {
    /// The text.
    #[schema(min_length = 1, max_length = 20000)]
    pub query: String,
    /// Values of its variables, which are bound.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub variables: Option<Map<String, Value>>,
    /// Which operation to run, if the text has several.
    #[serde(default)]
    pub operation_name: Option<String>,
}

/// An answer of GraphQL.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(transparent)]
pub struct GraphQlAnswer(
    /// `{data, errors?, extensions?: {next}}`; `next` has what the next page of each field begins after.
    #[schema(value_type = Object)]
    pub Value,
);
