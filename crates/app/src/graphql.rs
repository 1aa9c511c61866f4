//! GraphQL over domains: everybody asks what the permissions of domains let them read.

use crate::app::{Action, App, AppError, Caller, Resource, authorize};
use crate::domains::asking;
use crate::dto::graphql::GraphQlBody;
use serde_json::Value;
use steward_domains::graphql::GraphQlRequest;

impl App {
    /// Runs a request. What is wrong with it stands in the answer, as GraphQL has it.
    pub async fn graphql(&self, caller: &Caller, body: GraphQlBody) -> Result<Value, AppError> {
        authorize(caller, Action::Read, Resource::Domains)?;
        let request = GraphQlRequest {
            query: body.query,
            variables: body.variables.unwrap_or_default(),
            operation: body.operation_name,
        };
        Ok(self.domains.ask_graphql(asking(caller), request).await?)
    }

    /// The types that the caller may ask for, in the language for schemas.
    pub async fn graphql_schema(&self, caller: &Caller) -> Result<String, AppError> {
        authorize(caller, Action::Read, Resource::Domains)?;
        Ok(self.domains.graphql_schema(asking(caller)).await?)
    }
}
