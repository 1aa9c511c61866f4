//! Requests of GraphQL: each of their fields is a query over a domain, checked and run as any other.

use super::queries::RowsFor;
use super::{DataResult, DomainService, Known};
use futures::future::{BoxFuture, FutureExt as _};
use futures::stream::{self, StreamExt as _};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use steward_core::locks::lock;
use steward_core::ports::{DataAnswer, DataCaller, DataError};
use steward_domains::graphql::{Found, GraphQlErrors, GraphQlRequest, GraphQlSchema, Plan};
use steward_domains::model::Grantee;

/// Queries of a request that run at the same time.
const AT_ONCE: usize = 4;
/// Schemas that are kept, each for who has the same roles.
const MOST_SCHEMAS: usize = 32;

/// The schemas of the domains as they are now, by roles.
#[derive(Default)]
pub(super) struct SchemaCache(Mutex<Option<Schemas>>);

struct Schemas {
    of: Arc<Known>,
    by_roles: HashMap<Vec<Grantee>, Arc<GraphQlSchema>>,
}

impl SchemaCache {
    fn get(&self, known: &Arc<Known>, roles: &[Grantee]) -> Option<Arc<GraphQlSchema>> {
        let kept = lock(&self.0);
        kept.as_ref().filter(|kept| Arc::ptr_eq(&kept.of, known)).and_then(|kept| kept.by_roles.get(roles).cloned())
    }

    fn put(&self, known: &Arc<Known>, roles: Vec<Grantee>, schema: &Arc<GraphQlSchema>) {
        let mut kept = lock(&self.0);
        let fresh = kept.take().filter(|kept| Arc::ptr_eq(&kept.of, known) && kept.by_roles.len() < MOST_SCHEMAS);
        let mut schemas = fresh.unwrap_or_else(|| Schemas { of: Arc::clone(known), by_roles: HashMap::new() });
        schemas.by_roles.insert(roles, Arc::clone(schema));
        *kept = Some(schemas);
    }
}

impl DomainService {
    /// What a caller may ask, as a text.
    pub(crate) async fn graphql_schema(&self, caller: DataCaller) -> DataResult<String> {
        let known = self.known().await?;
        let schema = self.schema_for(caller, &known, &self.roles(caller).await?).await?;
        Ok(schema.sdl())
    }

    /// The body of an answer to a person: what is wrong with the request stands in it.
    pub(crate) async fn ask_graphql(&self, caller: DataCaller, request: GraphQlRequest) -> DataResult<Value> {
        let known = self.known().await?;
        let reader = self.reader(caller).await?;
        let plan = match self.planned(caller, &known, &reader.roles, request).await? {
            Ok(plan) => plan,
            Err(errors) => return Ok(errors.response()),
        };
        let mut work: Vec<BoxFuture<'_, DataResult<DataAnswer>>> = Vec::new();
        for root in plan.roots() {
            work.push(self.ask_with(&known, &reader, &root.query, RowsFor::Person).boxed());
        }
        let found: Vec<DataResult<DataAnswer>> = stream::iter(work).buffered(AT_ONCE).collect().await;
        let mut results = Vec::with_capacity(found.len());
        for one in found {
            results.push(match one {
                Ok(answer) => Ok(rows_of(answer)),
                Err(DataError::Refused(why) | DataError::Failed(why)) => Err(why),
                Err(error @ (DataError::Quoted { .. } | DataError::Unusable { .. })) => Err(error.to_string()),
                Err(error @ (DataError::Store(_) | DataError::Busy(_))) => return Err(error),
            });
        }
        Ok(plan.answer(results))
    }

    /// The rows of the one field that a text of GraphQL asks for, as a model may see them.
    pub(super) async fn ask_by_text(&self, caller: DataCaller, text: &str) -> DataResult<DataAnswer> {
        let known = self.known().await?;
        let reader = self.reader(caller).await?;
        let request = GraphQlRequest::new(without_fence(text));
        let plan = self.planned(caller, &known, &reader.roles, request).await?.map_err(|errors| refused(&errors))?;
        let root = plan.single().map_err(|error| DataError::Refused(error.message))?;
        self.ask_with(&known, &reader, &root.as_table(), RowsFor::Model).await
    }

    /// Off the threads that serve requests: a question about all types of a large database takes its time.
    async fn planned(
        &self,
        caller: DataCaller,
        known: &Arc<Known>,
        roles: &[Grantee],
        request: GraphQlRequest,
    ) -> DataResult<Result<Plan, GraphQlErrors>> {
        let schema = self.schema_for(caller, known, roles).await?;
        let (known, roles) = (Arc::clone(known), roles.to_vec());
        self.run_apart(caller, usize::MAX, move || schema.plan(&request, &known.domains.seen_by(&roles))).await
    }

    async fn schema_for(
        &self,
        caller: DataCaller,
        known: &Arc<Known>,
        roles: &[Grantee],
    ) -> DataResult<Arc<GraphQlSchema>> {
        if let Some(schema) = self.schemas.get(known, roles) {
            return Ok(schema);
        }
        let (of, for_roles) = (Arc::clone(known), roles.to_vec());
        let made =
            self.run_apart(caller, usize::MAX, move || GraphQlSchema::new(&of.domains.seen_by(&for_roles))).await?;
        let schema = Arc::new(made.map_err(|errors| DataError::Failed(errors.to_string()))?);
        self.schemas.put(known, roles.to_vec(), &schema);
        Ok(schema)
    }
}

fn rows_of(answer: DataAnswer) -> Found {
    let columns: Vec<String> = answer.columns.into_iter().map(|column| column.name).collect();
    let object = |row: Vec<Value>| columns.iter().cloned().zip(row).collect::<Map<String, Value>>();
    Found { rows: answer.rows.into_iter().map(object).collect(), next: answer.next, cut: answer.note }
}

fn refused(errors: &GraphQlErrors) -> DataError {
    let all: Vec<&str> = errors.0.iter().take(8).map(|error| error.message.as_str()).collect();
    DataError::Refused(all.join("\n"))
}

/// Models put queries between fences.
fn without_fence(text: &str) -> &str {
    let text = text.trim();
    let Some(inside) = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```")) else { return text };
    inside.strip_prefix("graphql").unwrap_or(inside)
}

#[cfg(test)]
mod tests {
    use super::without_fence;

    #[test]
    fn fences_go() {
        for (text, expect) in [
            ("{ album { title } }", "{ album { title } }"),
            ("```graphql\n{ album { title } }\n```", "\n{ album { title } }\n"),
            ("```{ album { title } }```", "{ album { title } }"),
            ("```", "```"),
        ] {
            assert_eq!(without_fence(text), expect);
        }
    }
}
