//! Makes one query of each field of the request.

use async_graphql::{Pos, SelectionField};
use serde_json::{Map, Value};

use super::answer::{Fields, Shape, key_of, merge};
use super::error::GraphQlError;
use super::inputs::Inputs;
use super::names::{DomainNames, Names, What};
use super::numbers;
use crate::model::RelationKind;
use crate::query::{DEFAULT_LIMIT, MOST_EMBEDDED, MOST_PARENTS, MOST_ROWS, Query, With};

/// Rows of a relation for each row, where the request does not say how many.
const EMBEDDED: u32 = 20;

/// What one field of the request asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct Root {
    /// Where its rows stand in the answer.
    pub key: String,
    /// As it is to be run.
    pub query: Query,
    /// Fields that are read besides those asked for: by them an object of a relation is told from none.
    pub(super) presence: Vec<(Option<String>, String)>,
    pub(super) fields: Fields,
    /// Rows that can come back at most.
    pub(super) cost: u64,
    /// Where it stands in the text.
    pub(super) position: Pos,
}

impl Root {
    pub(super) fn error(&self, problem: &str) -> GraphQlError {
        GraphQlError::of_field(format!("{}: {problem}", self.key), self.position, &self.key)
    }

    /// The query without what only the form of the answer needs.
    pub fn as_table(&self) -> Query {
        let mut query = self.query.clone();
        for (relation, field) in &self.presence {
            let fields = match relation {
                None => Some(&mut query.fields),
                Some(name) => query.with.iter_mut().find(|with| with.relation == *name).map(|with| &mut with.fields),
            };
            if let Some(fields) = fields.filter(|fields| fields.len() > 1) {
                fields.retain(|one| one != field);
            }
        }
        query
    }
}

/// A root field as it was read.
pub(super) struct Planned {
    pub root: Root,
    pub errors: Vec<String>,
}

/// Where selected fields go: into the query or into an embedded relation of it.
struct Place {
    fields: Vec<String>,
    presence: Vec<String>,
    /// `None`: no rows can be embedded here.
    with: Option<Vec<With>>,
    inner_presence: Vec<(Option<String>, String)>,
    limit: u32,
}

impl Place {
    fn new(with: Option<Vec<With>>, limit: u32) -> Self {
        Self { fields: Vec::new(), presence: Vec::new(), with, inner_presence: Vec::new(), limit }
    }
}

/// The arguments of a field, variables put in.
pub(super) fn arguments(field: &SelectionField<'_>, errors: &mut Vec<String>) -> Map<String, Value> {
    let arguments = match field.arguments() {
        Ok(arguments) => arguments,
        Err(error) => {
            errors.push(error.message);
            return Map::new();
        }
    };
    let json = |value: async_graphql::Value| value.into_json().unwrap_or_default();
    arguments.into_iter().map(|(name, value)| (name.to_string(), json(value))).collect()
}

/// The field that asks for rows of a domain.
pub(super) fn rows(names: &Names, domain: usize, field: &SelectionField<'_>) -> Planned {
    let mut inputs = Inputs { names, errors: Vec::new() };
    let of = &names.domains[domain];
    let arguments = arguments(field, &mut inputs.errors);
    let path = key_of(field).to_owned();
    let mut query = Query { domain: of.domain.clone(), ..Query::default() };
    for (name, value) in &arguments {
        let path = format!("{path}.{name}");
        match name.as_str() {
            _ if value.is_null() => {}
            "where" => query.conditions = inputs.conditions(domain, "", &path, value),
            "order" => query.order = inputs.order(domain, &path, value),
            "limit" => query.limit = inputs.limit(&path, value, MOST_ROWS),
            _ => query.after = value.as_str().map(str::to_owned),
        }
    }
    let limit = query.limit.unwrap_or(DEFAULT_LIMIT);
    let mut place = Place::new(Some(Vec::new()), limit);
    let fields = inputs.selection(field, domain, "", &path, &mut place);
    let with = place.with.unwrap_or_default();
    if !with.is_empty() && limit > MOST_PARENTS {
        let problem = format!("{path}: with rows of relations at most {MOST_PARENTS} rows can be asked for");
        inputs.errors.push(problem);
    }
    let each: u64 = with.iter().map(|with| u64::from(with.limit.unwrap_or(1))).sum();
    let cost = u64::from(limit).saturating_mul(1 + each);
    let presence;
    (query.fields, presence) = closed(of, place.fields, place.presence);
    query.with = with;
    let presence: Vec<_> = presence.into_iter().map(|field| (None, field)).chain(place.inner_presence).collect();
    let root = Root { key: path, query, presence, fields, cost, position: Pos::default() };
    Planned { root, errors: inputs.errors }
}

/// The field that asks for numbers over the rows of a domain.
pub(super) fn numbers(names: &Names, domain: usize, field: &SelectionField<'_>) -> Planned {
    let mut errors = Vec::new();
    let arguments = arguments(field, &mut errors);
    let mut inputs = Inputs { names, errors };
    let key = key_of(field).to_owned();
    let (query, fields) = numbers::query(&mut inputs, domain, field, &key, &arguments);
    let cost = u64::from(query.limit.unwrap_or(DEFAULT_LIMIT));
    let root = Root { key, query, presence: Vec::new(), fields, cost, position: Pos::default() };
    Planned { root, errors: inputs.errors }
}

/// Fields to read with those that tell rows from none; an empty list would stand for all fields.
fn closed(of: &DomainNames, mut fields: Vec<String>, mut presence: Vec<String>) -> (Vec<String>, Vec<String>) {
    presence.retain(|field| !fields.contains(field));
    presence.dedup();
    if fields.is_empty() && presence.is_empty() {
        presence.extend(of.least().map(str::to_owned));
    }
    fields.extend(presence.iter().cloned());
    (fields, presence)
}

fn add(list: &mut Vec<String>, name: String) {
    if !list.contains(&name) {
        list.push(name);
    }
}

impl Inputs<'_> {
    /// `prefix`: the relations to one row on the way, each with a dot behind it.
    fn selection(
        &mut self,
        field: &SelectionField<'_>,
        domain: usize,
        prefix: &str,
        path: &str,
        place: &mut Place,
    ) -> Fields {
        let names = self.names;
        let of = &names.domains[domain];
        let mut shape: Fields = Vec::new();
        for inner in field.selection_set() {
            let key = key_of(&inner);
            let Some(member) = of.member(inner.name()) else {
                // Validation lets nothing else through.
                merge(&mut shape, key, Shape::Constant(Value::from(of.graphql.as_str())));
                continue;
            };
            let full = format!("{prefix}{}", member.name);
            let path = format!("{path}.{key}");
            match &member.what {
                What::Field { kind, .. } => {
                    add(&mut place.fields, full.clone());
                    merge(&mut shape, key, Shape::Leaf { column: full, kind: *kind });
                }
                What::Relation { kind, to, present } => {
                    let many = *kind == RelationKind::HasMany;
                    let embeds = many || (*kind == RelationKind::HasOne && prefix.is_empty() && place.with.is_some());
                    if embeds {
                        if let Some(one) = self.embedded(&inner, (*to, &member.name, many), prefix, &path, place) {
                            merge(&mut shape, key, one);
                        }
                        continue;
                    }
                    let present = format!("{full}.{present}");
                    add(&mut place.presence, present.clone());
                    let fields = self.selection(&inner, *to, &format!("{full}."), &path, place);
                    merge(&mut shape, key, Shape::One { present: Some(present), fields });
                }
            }
        }
        shape
    }

    /// Rows of a relation of the domain that is asked.
    fn embedded(
        &mut self,
        field: &SelectionField<'_>,
        (to, relation, many): (usize, &str, bool),
        prefix: &str,
        path: &str,
        place: &mut Place,
    ) -> Option<Shape> {
        let names = self.names;
        let of = &names.domains[to];
        if place.with.is_none() || !prefix.is_empty() {
            let problem = format!(
                "{path}: a list can only stand right below the rows that are asked for; ask `{0}` by a field of its own, \
                 such as `{0}(where: …)`",
                of.graphql
            );
            self.errors.push(problem);
            return None;
        }
        let mut with = With { relation: relation.to_owned(), ..With::default() };
        for (name, value) in &arguments(field, &mut self.errors) {
            let path = format!("{path}.{name}");
            match name.as_str() {
                _ if value.is_null() => {}
                "where" => with.conditions = self.conditions(to, "", &path, value),
                "order" => with.order = self.order(to, &path, value),
                _ => with.limit = self.limit(&path, value, MOST_EMBEDDED),
            }
        }
        if many {
            // What all lists have together is limited, and no row may lose its share without a word.
            let share = (MOST_ROWS / place.limit.max(1)).max(1);
            match with.limit {
                Some(limit) if limit > share => self.errors.push(format!(
                    "{path}: {} rows with {limit} each are more than {MOST_ROWS}; lower one of both limits",
                    place.limit
                )),
                Some(_) => {}
                None => with.limit = Some(EMBEDDED.min(share)),
            }
        }
        let mut inner = Place::new(None, with.limit.unwrap_or(1));
        let fields = self.selection(field, to, "", path, &mut inner);
        let presence;
        (with.fields, presence) = closed(of, inner.fields, inner.presence);
        let list = place.with.as_mut()?;
        match list.iter_mut().find(|there| there.relation == relation) {
            None => list.push(with),
            Some(there)
                if there.conditions == with.conditions && there.order == with.order && there.limit == with.limit =>
            {
                for name in with.fields {
                    add(&mut there.fields, name);
                }
            }
            Some(_) => self.errors.push(format!(
                "{path}: `{relation}` is asked for twice with different arguments; ask the second time by a field of \
                 its own, such as `{}(where: …)`",
                of.graphql
            )),
        }
        place.inner_presence.extend(presence.into_iter().map(|field| (Some(relation.to_owned()), field)));
        Some(Shape::Embedded { column: relation.to_owned(), fields })
    }
}
