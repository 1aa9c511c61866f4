//! Reads a query from JSON: the plain form, and the shorter and other words that models use for the same.

use std::str::FromStr;

use serde_json::{Map, Value};
use strum::VariantNames as _;

use super::error::{Problem, QueryError, described, shown};
use super::{Aggregate, Condition, DatePart, Function, Group, Op, Order, Query, With};
use crate::registry::suggestion;

/// Levels of `any` and `all` in each other.
const MOST_LEVELS: usize = 4;

/// Where the reader is, and what it has found wrong.
struct Reader {
    errors: Vec<QueryError>,
}

/// Keys of an object with the other words for them.
type Keys = &'static [(&'static str, &'static [&'static str])];

const QUERY: Keys = &[
    ("domain", &["from", "table"]),
    ("fields", &["select", "columns", "field"]),
    ("where", &["filter", "filters", "conditions"]),
    ("order", &["order_by", "orderBy", "sort"]),
    ("limit", &["first", "top"]),
    ("group", &["group_by", "groupBy"]),
    ("aggregate", &["aggregates"]),
    ("with", &["include"]),
    ("after", &["cursor"]),
];
const CONDITION: Keys = &[("field", &["column"]), ("op", &["operator"]), ("value", &["values"])];
const ORDER: Keys = &[("field", &["column", "by"]), ("desc", &["descending"]), ("direction", &["dir"])];
const GROUP: Keys = &[("field", &["column"]), ("by", &["part"])];
const AGGREGATE: Keys =
    &[("fn", &["function", "func"]), ("field", &["column"]), ("as", &["alias", "name"]), ("distinct", &[])];
const WITH: Keys = &[
    ("relation", &["name"]),
    ("fields", &["select", "columns"]),
    ("where", &["filter", "conditions"]),
    ("order", &["order_by", "sort"]),
    ("limit", &["first"]),
];

pub(super) fn query(value: &Value) -> Result<Query, Vec<QueryError>> {
    let mut reader = Reader { errors: Vec::new() };
    let query = reader.query(value);
    if reader.errors.is_empty() { Ok(query) } else { Err(reader.errors) }
}

/// Comparisons in other words.
fn op(name: &str) -> Option<Op> {
    let lower = name.trim().to_lowercase().replace(['-', ' '], "_");
    Some(match lower.as_str() {
        "=" | "==" | "is" | "equals" | "equal" => Op::Eq,
        "!=" | "<>" | "neq" | "not" | "not_equal" | "not_equals" => Op::Ne,
        ">" | "after" => Op::Gt,
        ">=" | "ge" | "since" => Op::Gte,
        "<" | "before" => Op::Lt,
        "<=" | "le" => Op::Lte,
        "like" | "ilike" | "includes" => Op::Contains,
        "starts_with" | "startswith" | "begins" | "begins_with" => Op::Starts,
        "one_of" => Op::In,
        "range" => Op::Between,
        "null" | "isnull" | "empty" => Op::IsNull,
        "notnull" | "is_not_null" | "exists" => Op::NotNull,
        other => Op::from_str(other).ok()?,
    })
}

impl Reader {
    fn wrong(&mut self, path: &str, problem: Problem) {
        self.errors.push(QueryError::new(path, problem));
    }

    fn form(&mut self, path: &str, expected: &str, found: &Value) {
        let problem = Problem::Form { expected: expected.to_owned(), found: described(found) };
        self.wrong(path, problem);
    }

    /// The members of an object by their proper keys.
    fn members<'v>(&mut self, path: &str, map: &'v Map<String, Value>, keys: Keys) -> Vec<(&'static str, &'v Value)> {
        let mut found: Vec<(&'static str, &'v Value)> = Vec::new();
        for (key, value) in map {
            let known = keys.iter().find(|(name, others)| name == key || others.contains(&key.as_str()));
            let Some((name, _)) = known else {
                let hint = suggestion(key, keys.iter().map(|(name, _)| *name));
                self.wrong(path, Problem::Key { name: shown(key), hint });
                continue;
            };
            if found.iter().any(|(there, _)| there == name) {
                self.wrong(path, Problem::Other(format!("`{name}` is given twice; leave one out")));
            } else if !value.is_null() || *name == "value" {
                found.push((name, value));
            }
        }
        found
    }

    fn query(&mut self, value: &Value) -> Query {
        let mut query = Query::default();
        let Value::Object(map) = value else {
            self.form("query", "an object such as {\"domain\": \"…\"}", value);
            return query;
        };
        for (key, value) in self.members("query", map, QUERY) {
            match key {
                "domain" => query.domain = self.text("domain", value),
                "fields" => query.fields = self.fields("fields", value),
                "where" => query.conditions = self.conditions("where", value, 0),
                "order" => query.order = self.order("order", value),
                "limit" => query.limit = self.limit("limit", value),
                "group" => query.group = self.many("group", value, Self::group),
                "aggregate" => query.aggregate = self.many("aggregate", value, Self::aggregate),
                "with" => query.with = self.many("with", value, Self::with),
                _ => query.after = Some(self.text("after", value)),
            }
        }
        if query.domain.is_empty() && self.errors.is_empty() {
            self.wrong("domain", Problem::Other("name the domain that is asked".to_owned()));
        }
        query
    }

    fn text(&mut self, path: &str, value: &Value) -> String {
        if let Value::String(text) = value {
            return text.clone();
        }
        self.form(path, "a text", value);
        String::new()
    }

    fn flag(&mut self, path: &str, value: &Value) -> bool {
        match value {
            Value::Bool(flag) => *flag,
            Value::String(text) if text == "true" => true,
            Value::String(text) if text == "false" => false,
            other => {
                self.form(path, "true or false", other);
                false
            }
        }
    }

    fn limit(&mut self, path: &str, value: &Value) -> Option<u32> {
        let number = match value {
            Value::Number(number) => number.as_u64(),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        };
        if number.is_none_or(|number| number == 0) {
            self.form(path, "a whole number from 1", value);
        }
        number.map(|number| u32::try_from(number).unwrap_or(u32::MAX))
    }

    /// One or a list.
    fn many<T>(&mut self, path: &str, value: &Value, one: fn(&mut Self, &str, &Value) -> Option<T>) -> Vec<T> {
        match value {
            Value::Array(list) => {
                let each = list.iter().enumerate();
                each.filter_map(|(at, value)| one(self, &format!("{path}[{at}]"), value)).collect()
            }
            single => one(self, path, single).into_iter().collect(),
        }
    }

    fn fields(&mut self, path: &str, value: &Value) -> Vec<String> {
        let fields = self.many(path, value, |reader, path, value| Some(reader.text(path, value)));
        if fields.iter().any(|field| field == "*") { Vec::new() } else { fields }
    }

    fn conditions(&mut self, path: &str, value: &Value, level: usize) -> Vec<Condition> {
        if level > MOST_LEVELS {
            let problem = format!("conditions are nested more than {MOST_LEVELS} levels; flatten them");
            self.wrong(path, Problem::Other(problem));
            return Vec::new();
        }
        match value {
            // `["price", ">", 3]`
            Value::Array(list) if matches!(list.as_slice(), [Value::String(_), Value::String(word), _] if op(word).is_some()) =>
            {
                let (field, word) = (list[0].as_str().unwrap_or_default(), list[1].as_str().unwrap_or_default());
                self.compare(path, field, Some(word), list[2].clone()).into_iter().collect()
            }
            Value::Array(list) => {
                let each = list.iter().enumerate();
                each.flat_map(|(at, value)| self.condition(&format!("{path}[{at}]"), value, level)).collect()
            }
            single => self.condition(path, single, level),
        }
    }

    fn condition(&mut self, path: &str, value: &Value, level: usize) -> Vec<Condition> {
        let map = match value {
            Value::Object(map) => map,
            Value::Array(_) => return self.conditions(path, value, level + 1),
            other => {
                self.form(path, "a condition such as {\"field\": \"…\", \"op\": \"eq\", \"value\": …}", other);
                return Vec::new();
            }
        };
        if let (Some((word, inner)), 1) = (map.iter().next(), map.len()) {
            let mut inner = |word: &str| self.conditions(&format!("{path}.{word}"), inner, level + 1);
            match word.as_str() {
                "any" | "or" | "OR" => return vec![Condition::Any { any: inner("any") }],
                "not" | "none" | "NOT" => return vec![Condition::Not { not: inner("not") }],
                "all" | "and" | "AND" => return vec![Condition::All { all: inner("all") }],
                _ => {}
            }
        }
        if map.get("field").or_else(|| map.get("column")).is_some_and(Value::is_string) {
            let (mut field, mut word, mut compared) = (String::new(), None, Value::Null);
            for (key, value) in self.members(path, map, CONDITION) {
                match key {
                    "field" => field = self.text(&format!("{path}.field"), value),
                    "op" => word = Some(self.text(&format!("{path}.op"), value)),
                    _ => compared = value.clone(),
                }
            }
            return self.compare(path, &field, word.as_deref(), compared).into_iter().collect();
        }
        // `{"country": "Chile", "price": {"gt": 3}}`
        let mut found = Vec::new();
        for (field, value) in map {
            let path = format!("{path}.{}", shown(field));
            match value {
                Value::Object(ops) => {
                    for (word, value) in ops {
                        found.extend(self.compare(&path, field, Some(word), value.clone()));
                    }
                }
                value => found.extend(self.compare(&path, field, None, value.clone())),
            }
        }
        found
    }

    fn compare(&mut self, path: &str, field: &str, word: Option<&str>, mut value: Value) -> Option<Condition> {
        let mut op = match word {
            None => Op::Eq,
            Some(word) => {
                let Some(found) = op(word) else {
                    let known = Op::VARIANTS.join(", ");
                    let path = format!("{path}.op");
                    self.wrong(&path, Problem::Word { what: "comparison", name: shown(word), known });
                    return None;
                };
                if let (true, Value::String(pattern)) = (word.to_lowercase().ends_with("like"), &value) {
                    // The signs of SQL's LIKE at the ends say what is meant.
                    let open = pattern.ends_with('%') && !pattern.starts_with('%');
                    let bare = pattern.trim_matches('%').to_owned();
                    value = Value::String(bare);
                    if open { Op::Starts } else { found }
                } else {
                    found
                }
            }
        };
        op = match (op, &value) {
            (Op::Eq, Value::Null) | (Op::NotNull, Value::Bool(false)) => Op::IsNull,
            (Op::Ne, Value::Null) | (Op::IsNull, Value::Bool(false)) => Op::NotNull,
            (Op::Eq, Value::Array(_)) => Op::In,
            (op, _) => op,
        };
        if matches!(op, Op::IsNull | Op::NotNull) {
            value = Value::Null;
        }
        Some(Condition::compare(field, op, value))
    }

    fn order(&mut self, path: &str, value: &Value) -> Vec<Order> {
        // `["name", "desc"]` is one order.
        if let Value::Array(list) = value
            && let [Value::String(field), Value::String(word)] = list.as_slice()
            && let Some(desc) = direction(word)
        {
            return vec![Order { field: field.clone(), desc }];
        }
        self.many(path, value, |reader, path, value| match value {
            Value::String(text) => Some(ordered(text)),
            Value::Object(map) => {
                let mut order = Order { field: String::new(), desc: false };
                for (key, value) in reader.members(path, map, ORDER) {
                    match key {
                        "field" => order.field = reader.text(path, value),
                        "desc" => order.desc = reader.flag(&format!("{path}.desc"), value),
                        _ => match value.as_str().and_then(direction) {
                            Some(desc) => order.desc = desc,
                            None => reader.form(&format!("{path}.direction"), "\"asc\" or \"desc\"", value),
                        },
                    }
                }
                Some(order)
            }
            other => {
                reader.form(path, "a field or {\"field\": \"…\", \"desc\": true}", other);
                None
            }
        })
    }

    fn group(&mut self, path: &str, value: &Value) -> Option<Group> {
        match value {
            Value::String(field) => Some(Group { field: field.clone(), by: None }),
            Value::Object(map) => {
                let mut group = Group { field: String::new(), by: None };
                for (key, value) in self.members(path, map, GROUP) {
                    if key == "field" {
                        group.field = self.text(path, value);
                        continue;
                    }
                    let word = self.text(&format!("{path}.by"), value);
                    group.by = DatePart::from_str(&word.to_lowercase()).ok();
                    if group.by.is_none() {
                        let (name, known) = (shown(&word), DatePart::VARIANTS.join(", "));
                        self.wrong(&format!("{path}.by"), Problem::Word { what: "part of a date", name, known });
                    }
                }
                Some(group)
            }
            other => {
                self.form(path, "a field or {\"field\": \"…\", \"by\": \"month\"}", other);
                None
            }
        }
    }

    fn aggregate(&mut self, path: &str, value: &Value) -> Option<Aggregate> {
        let (mut word, mut field, mut name, mut distinct) = (String::new(), None, None, false);
        match value {
            // `count`, `sum(total)`
            Value::String(text) => {
                let call = text.trim().strip_suffix(')').and_then(|text| text.split_once('('));
                let (function, inside) = call.unwrap_or((text.trim(), ""));
                function.trim().clone_into(&mut word);
                field = Some(inside.trim().to_owned());
            }
            Value::Object(map) => {
                // `{"sum": "total"}`
                let short = map.iter().find(|(key, value)| Function::from_str(key).is_ok() && value.is_string());
                let short = short.filter(|_| !map.contains_key("fn"));
                let mut rest = map.clone();
                if let Some((function, inside)) = short {
                    word.clone_from(function);
                    field = inside.as_str().map(str::to_owned);
                    rest.retain(|key, _| key != function);
                }
                for (key, value) in self.members(path, &rest, AGGREGATE) {
                    match key {
                        "as" => name = Some(self.text(&format!("{path}.as"), value)),
                        "distinct" => distinct = self.flag(&format!("{path}.distinct"), value),
                        _ if short.is_some() => {
                            self.wrong(path, Problem::Other(format!("`{key}` is given twice; leave one out")));
                        }
                        "fn" => word = self.text(&format!("{path}.fn"), value),
                        _ => field = Some(self.text(&format!("{path}.field"), value)),
                    }
                }
            }
            other => {
                self.form(path, "{\"fn\": \"count\"} or {\"fn\": \"sum\", \"field\": \"…\"}", other);
                return None;
            }
        }
        let function = match word.to_lowercase().as_str() {
            "average" | "mean" => Ok(Function::Avg),
            "minimum" => Ok(Function::Min),
            "maximum" => Ok(Function::Max),
            "total" => Ok(Function::Sum),
            "count_distinct" => {
                distinct = true;
                Ok(Function::Count)
            }
            other => Function::from_str(other),
        };
        let Ok(function) = function else {
            let known = Function::VARIANTS.join(", ");
            self.wrong(&format!("{path}.fn"), Problem::Word { what: "function", name: shown(&word), known });
            return None;
        };
        let field = field.filter(|field| !field.is_empty() && field != "*");
        Some(Aggregate { function, field, name, distinct })
    }

    fn with(&mut self, path: &str, value: &Value) -> Option<With> {
        match value {
            Value::String(relation) => Some(With { relation: relation.clone(), ..With::default() }),
            Value::Object(map) => {
                let mut with = With::default();
                for (key, value) in self.members(path, map, WITH) {
                    match key {
                        "relation" => with.relation = self.text(path, value),
                        "fields" => with.fields = self.fields(&format!("{path}.fields"), value),
                        "where" => with.conditions = self.conditions(&format!("{path}.where"), value, 0),
                        "order" => with.order = self.order(&format!("{path}.order"), value),
                        _ => with.limit = self.limit(&format!("{path}.limit"), value),
                    }
                }
                Some(with)
            }
            other => {
                self.form(path, "a relation or {\"relation\": \"…\", \"fields\": […]}", other);
                None
            }
        }
    }
}

fn direction(word: &str) -> Option<bool> {
    match word.to_lowercase().as_str() {
        "desc" | "descending" => Some(true),
        "asc" | "ascending" => Some(false),
        _ => None,
    }
}

/// `name`, `-name`, `name desc`
fn ordered(text: &str) -> Order {
    let text = text.trim();
    if let Some((field, word)) = text.rsplit_once(' ')
        && let Some(desc) = direction(word)
    {
        return Order { field: field.trim().to_owned(), desc };
    }
    match text.strip_prefix('-') {
        Some(field) => Order { field: field.to_owned(), desc: true },
        None => Order { field: text.to_owned(), desc: false },
    }
}
