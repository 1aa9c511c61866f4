//! Arguments as parts of a query: filters, orders and groups.

use std::str::FromStr as _;

use serde_json::{Map, Value};

use super::names::{ALL, ANY, DomainNames, EXISTS, Names, What};
use crate::model::{FieldKind, RelationKind};
use crate::query::error::{described, shown};
use crate::query::{Condition, DatePart, Group, Op, Order};
use crate::registry::suggestion;

/// Levels of `any` in each other.
const MOST_LEVELS: usize = 4;

/// Reads the arguments of one field; what is wrong is told in the order in which it is found.
pub(super) struct Inputs<'n> {
    pub names: &'n Names,
    pub errors: Vec<String>,
}

/// What a name means where there is one row.
enum Target {
    Field(String, FieldKind),
    /// A relation and the domain that it leads to.
    Relation(String, usize),
}

/// A group with the way to it, as the answer shows it.
pub(super) struct GroupInput {
    pub group: Group,
    /// The name of its column.
    pub column: String,
    pub kind: FieldKind,
    pub shown: Vec<String>,
}

impl<'n> Inputs<'n> {
    fn domain(&self, at: usize) -> &'n DomainNames {
        &self.names.domains[at]
    }

    fn wrong(&mut self, path: &str, problem: &str) {
        self.errors.push(format!("{path}: {problem}"));
    }

    fn object<'v>(&mut self, path: &str, value: &'v Value) -> Option<&'v Map<String, Value>> {
        if let Value::Object(map) = value {
            return Some(map);
        }
        self.wrong(path, &format!("it should be an object, not {}", described(value)));
        None
    }

    /// Conditions that must all hold. `prefix`: the relations on the way, each with a dot behind it.
    pub fn conditions(&mut self, domain: usize, prefix: &str, path: &str, value: &Value) -> Vec<Condition> {
        self.filter(domain, prefix, path, value, 0)
    }

    fn filter(&mut self, domain: usize, prefix: &str, path: &str, value: &Value, level: usize) -> Vec<Condition> {
        let mut found = Vec::new();
        let Some(map) = self.object(path, value) else { return found };
        for (key, value) in given(map) {
            let path = format!("{path}.{}", shown(key));
            match key.as_str() {
                ALL => {
                    for (at, one) in listed(value).iter().enumerate() {
                        found.extend(self.filter(domain, prefix, &format!("{path}[{at}]"), one, level));
                    }
                }
                ANY if level == MOST_LEVELS => {
                    self.wrong(&path, &format!("`any` is nested more than {MOST_LEVELS} levels; flatten it"));
                }
                ANY => {
                    let alternatives: Vec<Vec<Condition>> = listed(value)
                        .iter()
                        .enumerate()
                        .map(|(at, one)| self.filter(domain, prefix, &format!("{path}[{at}]"), one, level + 1))
                        .collect();
                    // An alternative without conditions always holds.
                    if alternatives.is_empty() || alternatives.iter().all(|all| !all.is_empty()) {
                        let any = alternatives.into_iter().map(one_condition).collect();
                        found.push(Condition::Any { any });
                    }
                }
                EXISTS => match (value, prefix.strip_suffix('.')) {
                    (Value::Bool(there), Some(relation)) => {
                        let op = if *there { Op::NotNull } else { Op::IsNull };
                        found.push(Condition::compare(relation, op, Value::Null));
                    }
                    (_, Some(_)) => self.wrong(&path, "it should be true or false"),
                    (_, None) => self.wrong(&path, "ask it of a relation: `{relation: {exists: false}}`"),
                },
                name => found.extend(self.member(domain, prefix, &path, (name, value), level)),
            }
        }
        found
    }

    fn member(
        &mut self,
        domain: usize,
        prefix: &str,
        path: &str,
        (name, value): (&str, &Value),
        level: usize,
    ) -> Vec<Condition> {
        let of = self.domain(domain);
        let Some(member) = of.member(name) else {
            let known = of.members.iter().filter(|member| match member.what {
                What::Field { filterable, .. } => filterable,
                What::Relation { .. } => true,
            });
            let hint = suggestion(name, known.map(|member| member.graphql.as_str()));
            self.wrong(path, &format!("there is no `{}` in a filter of `{}`; {hint}", shown(name), of.domain));
            return Vec::new();
        };
        let field = format!("{prefix}{}", member.name);
        match member.what {
            What::Relation { to, .. } => self.filter(to, &format!("{field}."), path, value, level),
            What::Field { .. } => self.comparisons(&field, path, value),
        }
    }

    /// `{gt: 3, lt: 9}` of a field.
    pub fn comparisons(&mut self, field: &str, path: &str, value: &Value) -> Vec<Condition> {
        let mut found = Vec::new();
        let Some(map) = self.object(path, value) else { return found };
        for (word, value) in given(map) {
            let path = format!("{path}.{}", shown(word));
            let Ok(op) = Op::from_str(word) else {
                self.wrong(&path, "there is no such comparison");
                continue;
            };
            let (op, value) = match (op, value) {
                (Op::IsNull, Value::Bool(true)) | (Op::NotNull, Value::Bool(false)) => (Op::IsNull, Value::Null),
                (Op::IsNull, Value::Bool(false)) | (Op::NotNull, Value::Bool(true)) => (Op::NotNull, Value::Null),
                (op, value) => (op, value.clone()),
            };
            found.push(Condition::compare(field, op, value));
        }
        found
    }

    /// `[{artist: {name: ASC}}, {title: DESC}]`
    pub fn order(&mut self, domain: usize, path: &str, value: &Value) -> Vec<Order> {
        let mut found = Vec::new();
        for (at, one) in listed(value).iter().enumerate() {
            self.order_of(domain, "", &format!("{path}[{at}]"), one, &mut found);
        }
        found
    }

    pub fn order_of(&mut self, domain: usize, prefix: &str, path: &str, value: &Value, found: &mut Vec<Order>) {
        let Some(map) = self.object(path, value) else { return };
        for (key, value) in given(map) {
            let path = format!("{path}.{}", shown(key));
            match self.target(domain, prefix, &path, key) {
                Some(Target::Field(field, _)) => {
                    if let Some(desc) = self.direction(&path, value) {
                        found.push(Order { field, desc });
                    }
                }
                Some(Target::Relation(field, to)) => self.order_of(to, &format!("{field}."), &path, value, found),
                None => {}
            }
        }
    }

    /// `None`: it is no direction.
    pub fn direction(&mut self, path: &str, value: &Value) -> Option<bool> {
        match value.as_str() {
            Some("ASC") => Some(false),
            Some("DESC") => Some(true),
            _ => {
                self.wrong(path, "it should be ASC or DESC");
                None
            }
        }
    }

    /// `[{artist: {name: VALUE}}, {released: MONTH}]`
    pub fn groups(&mut self, domain: usize, path: &str, value: &Value) -> Vec<GroupInput> {
        let mut found: Vec<GroupInput> = Vec::new();
        for (at, one) in listed(value).iter().enumerate() {
            self.groups_of((domain, ""), &[], &format!("{path}[{at}]"), one, &mut found);
        }
        found
    }

    fn groups_of(
        &mut self,
        (domain, prefix): (usize, &str),
        way: &[String],
        path: &str,
        value: &Value,
        found: &mut Vec<GroupInput>,
    ) {
        let Some(map) = self.object(path, value) else { return };
        for (key, value) in given(map) {
            let path = format!("{path}.{}", shown(key));
            let shown: Vec<String> = way.iter().cloned().chain([key.clone()]).collect();
            let (field, kind) = match self.target(domain, prefix, &path, key) {
                Some(Target::Field(field, kind)) => (field, kind),
                Some(Target::Relation(field, to)) => {
                    self.groups_of((to, &format!("{field}.")), &shown, &path, value, found);
                    continue;
                }
                None => continue,
            };
            let by = match value.as_str() {
                Some("VALUE") => None,
                Some(part) if DatePart::from_str(&part.to_lowercase()).is_ok() => {
                    DatePart::from_str(&part.to_lowercase()).ok()
                }
                _ => {
                    self.wrong(&path, "it should be VALUE, or YEAR, MONTH or DAY of a date");
                    continue;
                }
            };
            if found.iter().any(|there| there.shown == shown) {
                self.wrong(&path, "rows are grouped by it twice; leave one out");
                continue;
            }
            let column = by.map_or_else(|| field.clone(), |part| format!("{field}_{}", part.name()));
            let kind = if by.is_some() { FieldKind::String } else { kind };
            found.push(GroupInput { group: Group { field, by }, column, kind, shown });
        }
    }

    /// The field that a name means, or the domain that a relation to one row leads to.
    fn target(&mut self, domain: usize, prefix: &str, path: &str, name: &str) -> Option<Target> {
        let of = self.domain(domain);
        let found = of.member(name).and_then(|member| {
            let full = format!("{prefix}{}", member.name);
            match member.what {
                What::Field { kind, .. } => Some(Target::Field(full, kind)),
                What::Relation { kind: RelationKind::HasMany, .. } => None,
                What::Relation { to, .. } => Some(Target::Relation(full, to)),
            }
        });
        if found.is_none() {
            let known = of
                .members
                .iter()
                .filter(|member| !matches!(member.what, What::Relation { kind: RelationKind::HasMany, .. }));
            let hint = suggestion(name, known.map(|member| member.graphql.as_str()));
            self.wrong(path, &format!("there is no `{}` of `{}` here; {hint}", shown(name), of.domain));
        }
        found
    }

    /// How many rows; `most` is a limit that is told instead of cutting them off.
    pub fn limit(&mut self, path: &str, value: &Value, most: u32) -> Option<u32> {
        if value.is_null() {
            return None;
        }
        let limit =
            value.as_i64().and_then(|limit| u32::try_from(limit).ok()).filter(|limit| (1..=most).contains(limit));
        if limit.is_none() {
            self.wrong(path, &format!("it should be a whole number from 1 to {most}, not {}", described(value)));
        }
        limit
    }
}

/// What an object holds. Null is as if it were left out: clients send it for variables that nobody set.
pub(super) fn given(map: &Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
    map.iter().filter(|(_, value)| !value.is_null())
}

/// One stands for a list of one.
fn listed(value: &Value) -> &[Value] {
    match value {
        Value::Array(list) => list,
        Value::Null => &[],
        one => std::slice::from_ref(one),
    }
}

fn one_condition(mut all: Vec<Condition>) -> Condition {
    match all.pop() {
        Some(single) if all.is_empty() => single,
        last => {
            all.extend(last);
            Condition::All { all }
        }
    }
}
