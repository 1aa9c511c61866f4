//! Counts, sums and the like, for all rows or for groups of them.

use async_graphql::SelectionField;
use serde_json::{Map, Value};

use super::answer::{Fields, Shape, key_of, merge};
use super::inputs::{Inputs, given};
use super::names::DomainNames;
use crate::model::FieldKind;
use crate::query::{Aggregate, Function, MOST_ROWS, Order, Query};

/// Most characters of a column's name.
const LONGEST: usize = 60;

/// What the numbers are called in requests, with their function and whether equal values count once.
pub(super) const PARTS: &[(&str, Function, bool)] = &[
    ("distinct", Function::Count, true),
    ("sum", Function::Sum, false),
    ("avg", Function::Avg, false),
    ("min", Function::Min, false),
    ("max", Function::Max, false),
];

struct Numbers<'n> {
    domain: usize,
    of: &'n DomainNames,
    query: Query,
    /// Names that columns of numbers must not have: conditions and orders would mean something else by them.
    taken: Vec<String>,
}

pub(super) fn query(
    inputs: &mut Inputs<'_>,
    domain: usize,
    field: &SelectionField<'_>,
    key: &str,
    arguments: &Map<String, Value>,
) -> (Query, Fields) {
    let names = inputs.names;
    let of = &names.domains[domain];
    let get = |name: &str| arguments.get(name).filter(|value| !value.is_null());
    let groups =
        get("groupBy").map(|value| inputs.groups(domain, &format!("{key}.groupBy"), value)).unwrap_or_default();
    let own = of.members.iter().map(|member| member.name.clone());
    let mut numbers = Numbers {
        domain,
        of,
        query: Query { domain: of.domain.clone(), ..Query::default() },
        taken: own.chain(groups.iter().map(|group| group.column.clone())).collect(),
    };
    let group: Vec<_> = groups.iter().map(|one| (one.shown.clone(), one.column.clone(), one.kind)).collect();
    numbers.query.group = groups.into_iter().map(|one| one.group).collect();
    let shape = numbers.selection(field, &group);
    if let Some(value) = get("where") {
        numbers.query.conditions = inputs.conditions(domain, "", &format!("{key}.where"), value);
    }
    if let Some(value) = get("having") {
        numbers.having(inputs, &format!("{key}.having"), value);
    }
    if let Some(value) = get("order") {
        let list = value.as_array().map_or_else(|| std::slice::from_ref(value), Vec::as_slice);
        for (at, one) in list.iter().enumerate() {
            numbers.order(inputs, &format!("{key}.order[{at}]"), one);
        }
    }
    if let Some(value) = get("limit") {
        numbers.query.limit = inputs.limit(&format!("{key}.limit"), value, MOST_ROWS);
    }
    if numbers.query.aggregate.is_empty() && numbers.query.group.is_empty() {
        numbers.column(Function::Count, None, false);
    }
    (numbers.query, shape)
}

impl Numbers<'_> {
    fn selection(&mut self, field: &SelectionField<'_>, group: &[(Vec<String>, String, FieldKind)]) -> Fields {
        let mut shape: Fields = Vec::new();
        for inner in field.selection_set() {
            let key = key_of(&inner);
            let one = match inner.name() {
                "group" => Shape::Group(group.to_vec()),
                "count" => {
                    let column = self.column(Function::Count, None, false);
                    Shape::Leaf { column, kind: FieldKind::Int }
                }
                name => match PARTS.iter().find(|(part, ..)| *part == name) {
                    Some((part, function, distinct)) => self.part(&inner, part, *function, *distinct),
                    None => Shape::Constant(Value::from(self.of.named("_numbers"))),
                },
            };
            merge(&mut shape, key, one);
        }
        shape
    }

    /// `sum { price }`
    fn part(&mut self, field: &SelectionField<'_>, part: &str, function: Function, distinct: bool) -> Shape {
        let of = self.of;
        let mut fields: Fields = Vec::new();
        for inner in field.selection_set() {
            let one = match of.fields().find(|(member, _)| member.graphql == inner.name()) {
                Some((member, kind)) => {
                    let column = self.column(function, Some(&member.name), distinct);
                    Shape::Leaf { column, kind: result(function, kind) }
                }
                None => Shape::Constant(Value::from(of.named(type_of(part)))),
            };
            merge(&mut fields, key_of(&inner), one);
        }
        Shape::One { present: None, fields }
    }

    /// The column with a number; it is added unless it is there.
    fn column(&mut self, function: Function, field: Option<&str>, distinct: bool) -> String {
        let same =
            |one: &&Aggregate| one.function == function && one.field.as_deref() == field && one.distinct == distinct;
        if let Some(there) = self.query.aggregate.iter().find(same) {
            return there.name.clone().unwrap_or_else(|| plain(function, field));
        }
        let usual = if distinct { format!("distinct_{}", field.unwrap_or_default()) } else { plain(function, field) };
        let mut name = usual;
        if name.chars().count() > LONGEST || name.chars().any(char::is_control) {
            name = format!("{}_{}", function.name(), self.query.aggregate.len() + 1);
        }
        while self.taken.contains(&name) {
            name.push('_');
        }
        self.taken.push(name.clone());
        let given = Some(name.clone()).filter(|name| *name != plain(function, field));
        let field = field.map(str::to_owned);
        self.query.aggregate.push(Aggregate { function, field, name: given, distinct });
        name
    }

    /// The column with a number over a field, both as they are called in requests.
    fn column_of(&mut self, part: &str, field: &str) -> Option<String> {
        let (_, function, distinct) = PARTS.iter().find(|(known, ..)| *known == part)?;
        let of = self.of;
        let (member, _) = of.fields().find(|(member, _)| member.graphql == field)?;
        Some(self.column(*function, Some(&member.name), *distinct))
    }

    /// `{count: {gt: 3}, sum: {price: {gte: 10}}}`
    fn having(&mut self, inputs: &mut Inputs<'_>, path: &str, value: &Value) {
        for (key, value) in value.as_object().into_iter().flat_map(given) {
            let path = format!("{path}.{key}");
            if key == "count" {
                let column = self.column(Function::Count, None, false);
                self.query.conditions.extend(inputs.comparisons(&column, &path, value));
                continue;
            }
            for (name, value) in value.as_object().into_iter().flat_map(given) {
                if let Some(column) = self.column_of(key, name) {
                    self.query.conditions.extend(inputs.comparisons(&column, &format!("{path}.{name}"), value));
                }
            }
        }
    }

    /// `{count: DESC}`, `{sum: {price: DESC}}`, `{group: {artist: {name: ASC}}}`
    fn order(&mut self, inputs: &mut Inputs<'_>, path: &str, value: &Value) {
        for (key, value) in value.as_object().into_iter().flat_map(given) {
            let path = format!("{path}.{key}");
            match key.as_str() {
                "count" => {
                    if let Some(desc) = inputs.direction(&path, value) {
                        let field = self.column(Function::Count, None, false);
                        self.query.order.push(Order { field, desc });
                    }
                }
                "group" => inputs.order_of(self.domain, "", &path, value, &mut self.query.order),
                part => {
                    for (name, value) in value.as_object().into_iter().flat_map(given) {
                        if let Some(desc) = inputs.direction(&format!("{path}.{name}"), value)
                            && let Some(field) = self.column_of(part, name)
                        {
                            self.query.order.push(Order { field, desc });
                        }
                    }
                }
            }
        }
    }
}

fn plain(function: Function, field: Option<&str>) -> String {
    match field {
        None => function.name().to_owned(),
        Some(field) => format!("{}_{}", function.name(), field.replace('.', "_")),
    }
}

fn result(function: Function, kind: FieldKind) -> FieldKind {
    match function {
        Function::Count => FieldKind::Int,
        Function::Avg => FieldKind::Float,
        _ => kind,
    }
}

/// The end of the name of the type that holds such numbers.
pub(super) fn type_of(part: &str) -> &'static str {
    match part {
        "distinct" => "_distinct",
        "sum" => "_sums",
        "avg" => "_averages",
        _ => "_extremes",
    }
}
