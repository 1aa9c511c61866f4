//! Domains as GraphQL, to be read only: each field of a request becomes one [`Query`](crate::query::Query).
//!
//! A domain is a field of the query and a type, `album(where: {price: {lt: 5}}, order: [{title: ASC}], limit: 10)`.
//! Relations are fields of the type: those to one row are joined, a list is read along by one statement more. Numbers
//! are asked by `album_aggregate(groupBy: [{artist: {name: VALUE}}]) { group count sum { price } }`. How names are
//! changed that GraphQL does not permit is said in `names.rs`.
//!
//! A request is planned first, and nothing is read unless all of it is right:
//! [`GraphQlSchema::plan`] → run the queries of [`Plan::roots`] → [`Plan::answer`]. There is no I/O here: async-graphql
//! validates, answers what is asked about types, and resolves every field at once to what it asks for.

mod answer;
mod error;
mod guard;
mod inputs;
mod names;
mod numbers;
mod plan;
mod recorder;
mod suggest;
mod types;

pub use error::{GraphQlError, GraphQlErrors, Location};
pub use guard::{LONGEST, MOST_DEPTH, MOST_ROOTS};
pub use plan::Root;

use std::sync::Arc;

use async_graphql::dynamic::Schema;
use async_graphql::parser::types::DocumentOperations;
use async_graphql::{Request, Variables};
use futures_util::FutureExt as _;
use serde_json::{Map, Value, json};

use crate::query::error::shown;
use crate::query::validate_for;
use crate::registry::{Visible, suggestion};
use names::Names;
use recorder::Recorder;

/// A request as it comes over the wire.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GraphQlRequest {
    pub query: String,
    pub variables: Map<String, Value>,
    /// Which operation to run, if the text has several.
    pub operation: Option<String>,
}

impl GraphQlRequest {
    pub fn new(query: impl Into<String>) -> Self {
        Self { query: query.into(), ..Self::default() }
    }
}

/// What a caller may ask. It is made once for each set of roles, since that takes longer than asking.
#[derive(Debug)]
pub struct GraphQlSchema {
    schema: Schema,
}

impl GraphQlSchema {
    pub fn new(visible: &Visible<'_>) -> Result<Self, GraphQlErrors> {
        let names = Arc::new(Names::new(visible));
        let schema = types::schema(&names).map_err(|error| GraphQlError::new(error.0))?;
        Ok(Self { schema })
    }

    /// The schema as a text.
    pub fn sdl(&self) -> String {
        self.schema.sdl()
    }

    /// Reads a request of a caller who sees what this schema was made of. What it asks about types is answered already.
    pub fn plan(&self, request: &GraphQlRequest, visible: &Visible<'_>) -> Result<Plan, GraphQlErrors> {
        guard::text(&request.query)?;
        let document = async_graphql::parser::parse_query(&request.query)
            .map_err(|error| GraphQlError::unreadable(&error, &request.query))?;
        guard::document(&document, self.schema.registry())?;
        if let (DocumentOperations::Multiple(all), operation) = (&document.operations, &request.operation) {
            let unknown = match operation {
                Some(name) => !all.contains_key(name.as_str()),
                None => all.len() > 1,
            };
            if unknown {
                let mut known: Vec<&str> = all.keys().map(async_graphql::Name::as_str).collect();
                known.sort_unstable();
                let wanted = operation.as_deref().unwrap_or_default();
                let message = format!(
                    "`operationName` should name one of the operations, not `{}`; {}",
                    shown(wanted),
                    suggestion(wanted, known)
                );
                return Err(GraphQlError::new(message).into());
            }
        }
        guard::required_variables(&document, request.operation.as_deref(), &request.variables)?;
        guard::copied_variables(&request.query, &request.variables)?;
        let variables = Variables::from_json(Value::Object(request.variables.clone()));
        let unknown = suggest::unknown_names(&document, self.schema.registry(), &variables);
        if !unknown.is_empty() {
            return Err(GraphQlErrors::of(unknown));
        }
        let recorder = Arc::new(Recorder::default());
        let mut inner = Request::new(request.query.as_str()).variables(variables).data(Arc::clone(&recorder));
        // An operation without a name can't be named.
        if let (Some(name), DocumentOperations::Multiple(_)) = (&request.operation, &document.operations) {
            inner = inner.operation_name(name.as_str());
        }
        inner.set_parsed_query(document);
        // No field waits for anything.
        let Some(response) = self.schema.execute(inner).now_or_never() else {
            return Err(GraphQlError::new("the request can't be answered at once").into());
        };
        let notes = recorder.take();
        let errors: Vec<GraphQlError> = response.errors.into_iter().map(GraphQlError::from).collect();
        if !errors.is_empty() || !notes.errors.is_empty() {
            return Err(GraphQlErrors::of(errors.into_iter().chain(notes.errors)));
        }
        let wrong = notes.roots.iter().flat_map(|root| {
            let errors = validate_for(&root.query, *visible).err().unwrap_or_default();
            errors.into_iter().map(|error| root.error(&error.problem.to_string()))
        });
        let wrong: Vec<GraphQlError> = wrong.collect();
        if !wrong.is_empty() {
            return Err(GraphQlErrors::of(wrong));
        }
        let data = response.data.into_json().ok().and_then(|data| match data {
            Value::Object(map) => Some(map),
            _ => None,
        });
        Ok(Plan { data: data.unwrap_or_default(), roots: notes.roots })
    }
}

/// The queries of a request and the form of its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Null where rows are to come.
    data: Map<String, Value>,
    roots: Vec<Root>,
}

/// What a query of a plan found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Found {
    /// By the names of their columns; rows of relations as objects under the relation's name.
    pub rows: Vec<Map<String, Value>>,
    /// What the next page begins after.
    pub next: Option<String>,
    /// Which lists in the rows are cut, in words.
    pub cut: Option<String>,
}

impl Plan {
    /// To be run in any order.
    pub fn roots(&self) -> &[Root] {
        &self.roots
    }

    /// The only query, for who can show the rows of one.
    pub fn single(&self) -> Result<&Root, GraphQlError> {
        match self.roots.as_slice() {
            [root] if self.data.len() == 1 => Ok(root),
            [] => Err(GraphQlError::new("the text asks for no rows; ask a domain, such as `{ customer { name } }`")),
            more => Err(GraphQlError::new(format!(
                "the text asks for {} things at once; ask for the rows of one field at a time",
                more.len().max(self.data.len())
            ))),
        }
    }

    /// The body of the answer: `found` has what each of the roots found, or why it could not be asked.
    pub fn answer(self, found: Vec<Result<Found, String>>) -> Value {
        let (mut data, mut errors, mut next, mut cut) = (self.data, Vec::new(), Map::new(), Map::new());
        let missing = std::iter::repeat_with(|| Err("it was not asked".to_owned()));
        for (root, found) in self.roots.iter().zip(found.into_iter().chain(missing)) {
            let value = match found {
                Ok(found) => {
                    next.extend(found.next.map(|after| (root.key.clone(), Value::from(after))));
                    cut.extend(found.cut.map(|what| (root.key.clone(), Value::from(what))));
                    found.rows.iter().map(|row| answer::row(&root.fields, row)).collect()
                }
                Err(message) => {
                    errors.push(GraphQlError {
                        path: vec![Value::from(root.key.as_str())],
                        ..GraphQlError::new(message)
                    });
                    Value::Null
                }
            };
            data.insert(root.key.clone(), value);
        }
        let mut body = json!({"data": data});
        if !errors.is_empty() {
            body["errors"] = json!(errors);
        }
        if !next.is_empty() {
            body["extensions"]["next"] = Value::Object(next);
        }
        if !cut.is_empty() {
            body["extensions"]["truncated"] = Value::Object(cut);
        }
        body
    }
}
