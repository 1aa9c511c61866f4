//! A JSON Schema of the queries that can be asked, so that a small model can say nothing that is not valid.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use steward_core::text::Spans;

use crate::change::Options;
use crate::model::{Field, FieldKind, RelationKind};
use crate::query::MOST_ROWS;
use crate::registry::{Domains, Known, Visible};

/// Most values that a list of choices may have to stand in the schema.
const MOST_CHOICES: usize = 60;
/// A date, or the year or month of one.
const DATE: &str = "^[12][0-9]{3}(-(0[1-9]|1[0-2])(-(0[1-9]|1[0-9]|2[0-8]))?)?$";
/// The name that numbers have in these queries.
const NUMBER: &str = "value";

/// What a request says besides words: possible texts and numbers of conditions.
pub fn values_in(request: &str) -> Spans {
    Spans::of(request)
}

/// The schema of queries over these domains, as far as a caller with the roles may read them; of no query if there are
/// none. With `said`, texts and numbers are those of the request; `options` are choices of fields.
pub fn schema_for_model(
    domains: &Domains,
    names: &[&str],
    roles: &[String],
    options: &Options,
    said: Option<&Spans>,
) -> Value {
    let writer = Writer { visible: domains.seen_by(roles), options, said };
    let (mut queries, mut definitions) = (Vec::new(), Map::new());
    let known = names.iter().filter_map(|name| writer.visible.domain(name));
    for (at, known) in known.enumerate() {
        writer.domain(known, &format!("where{at}"), &mut queries, &mut definitions);
    }
    match queries.len() {
        0 => json!(false),
        _ => json!({ "anyOf": queries, "$defs": definitions }),
    }
}

/// A field that can be named, by its path.
struct Named<'d> {
    path: String,
    domain: &'d str,
    field: &'d Field,
    /// Whether a row has a list of it.
    many: bool,
}

struct Writer<'a> {
    visible: Visible<'a>,
    options: &'a Options,
    said: Option<&'a Spans>,
}

/// An object without other members than these.
fn object(properties: &Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

fn list(items: &Value, least: usize, most: usize) -> Value {
    json!({ "type": "array", "items": items, "minItems": least, "maxItems": most })
}

fn choice(values: &[impl serde::Serialize]) -> Value {
    json!({ "enum": values })
}

impl<'a> Writer<'a> {
    fn named(&self, known: Known<'a>) -> Vec<Named<'a>> {
        let own = known.domain.fields.iter();
        let own = own.map(|field| Named { path: field.name.clone(), domain: &known.domain.name, field, many: false });
        let mut all: Vec<Named<'a>> = own.collect();
        for (relation, to) in self.visible.relations(known) {
            all.extend(to.domain.fields.iter().map(|field| Named {
                path: format!("{}.{}", relation.name, field.name),
                domain: &to.domain.name,
                field,
                many: relation.kind == RelationKind::HasMany,
            }));
        }
        all
    }

    fn domain(&self, known: Known<'a>, rule: &str, queries: &mut Vec<Value>, definitions: &mut Map<String, Value>) {
        let named = self.named(known);
        let paths = |of: &dyn Fn(&Named<'_>) -> bool| -> Vec<&str> {
            named.iter().filter(|one| of(one)).map(|one| one.path.as_str()).collect()
        };
        let single = paths(&|one| !one.many);
        if single.is_empty() {
            return;
        }
        let conditions = self.conditions(&named);
        let conditions_of_rows = (!conditions.is_empty()).then(|| json!({ "$ref": format!("#/$defs/{rule}") }));
        if !conditions.is_empty() {
            definitions.insert(rule.to_owned(), json!({ "anyOf": conditions }));
        }
        let domain = json!({ "const": known.domain.name });
        let limit = json!({ "type": "integer", "minimum": 1, "maximum": MOST_ROWS });
        let filter = |having: Option<&Value>| {
            let kinds: Vec<Value> = conditions_of_rows.iter().cloned().chain(having.cloned()).collect();
            (!kinds.is_empty()).then(|| list(&json!({ "anyOf": kinds }), 0, 6))
        };
        let order = |fields: &[&str]| {
            let one = json!({ "field": choice(fields), "desc": { "type": "boolean" } });
            list(&object(&one, &["field", "desc"]), 0, 2)
        };
        let rows = json!({
            "domain": domain, "fields": list(&choice(&single), 0, 8), "where": filter(None), "order": order(&single),
            "limit": limit,
        });
        queries.push(object(&without_nulls(rows), &["domain", "fields"]));

        let group = self.groups(&named);
        let relations = self.visible.relations(known).filter(|(relation, _)| relation.kind == RelationKind::HasMany);
        let lists: Vec<&str> = relations.map(|(relation, _)| relation.name.as_str()).collect();
        let number = |functions: &[&str], fields: &[&str]| {
            let members = json!({ "fn": choice(functions), "field": choice(fields), "as": { "const": NUMBER } });
            (!fields.is_empty()).then(|| object(&members, &["fn", "field", "as"]))
        };
        let numeric = |one: &Named<'_>| matches!(one.field.kind, FieldKind::Int | FieldKind::Float);
        let rows = object(&json!({ "fn": { "const": "count" }, "as": { "const": NUMBER } }), &["fn", "as"]);
        let sums = number(&["sum", "avg"], &paths(&numeric));
        let counted: Vec<Value> = [Some(rows), number(&["count"], &lists), sums].into_iter().flatten().collect();
        let ordered = number(&["min", "max"], &paths(&|one| one.field.kind != FieldKind::Bool));
        let having = self.having();
        for (numbers, having) in [(counted, having.as_ref()), (ordered.into_iter().collect(), None)] {
            if numbers.is_empty() {
                continue;
            }
            let query = json!({
                "domain": domain, "aggregate": list(&json!({ "anyOf": numbers }), 1, 1), "group": group,
                "where": filter(having), "order": order(&[NUMBER]), "limit": limit,
            });
            queries.push(object(&without_nulls(query), &["domain", "aggregate"]));
        }
    }

    #[expect(clippy::unused_self, reason = "it belongs to the parts beside it")]
    fn groups(&self, named: &[Named<'_>]) -> Value {
        let is_time = |one: &&Named<'_>| matches!(one.field.kind, FieldKind::Date | FieldKind::Datetime);
        let single = || named.iter().filter(|one| !one.many);
        let plain: Vec<&str> = single().map(|one| one.path.as_str()).collect();
        let times: Vec<&str> = single().filter(is_time).map(|one| one.path.as_str()).collect();
        let by = json!({ "field": choice(&times), "by": choice(&["year", "month", "day"]) });
        let kinds = [Some(choice(&plain)), (!times.is_empty()).then(|| object(&by, &["field", "by"]))];
        list(&json!({ "anyOf": kinds.into_iter().flatten().collect::<Vec<_>>() }), 0, 3)
    }

    /// Conditions on the number of a group.
    fn having(&self) -> Option<Value> {
        let value = self.numbers(true)?;
        let members = json!({
            "field": { "const": NUMBER }, "op": choice(&["eq", "gt", "gte", "lt", "lte"]), "value": value,
        });
        Some(object(&members, &["field", "op", "value"]))
    }

    /// `None`: the request has no number.
    fn numbers(&self, whole: bool) -> Option<Value> {
        let kind = if whole { "integer" } else { "number" };
        let Some(said) = self.said else {
            return Some(json!({ "type": kind }));
        };
        let fits = |number: &&serde_json::Number| !whole || number.is_i64();
        let numbers: Vec<_> = said.numbers.iter().filter(fits).collect();
        (!numbers.is_empty()).then(|| choice(&numbers))
    }

    fn texts(&self) -> Option<Value> {
        let Some(said) = self.said else {
            return Some(json!({ "type": "string", "minLength": 1, "maxLength": 100 }));
        };
        (!said.texts.is_empty()).then(|| choice(&said.texts))
    }

    /// The forms of conditions: one for each kind of value, with the fields that take it.
    fn conditions(&self, named: &[Named<'_>]) -> Vec<Value> {
        let mut by_kind: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        let (mut forms, mut all) = (Vec::new(), Vec::new());
        for one in named.iter().filter(|one| one.field.filterable) {
            let path = one.path.as_str();
            all.push(path);
            let choices = one.field.options.as_ref().and_then(|_| self.options.of(one.domain, &one.field.name));
            if let Some(choices) = choices.filter(|choices| (1..=MOST_CHOICES).contains(&choices.len())) {
                forms.push(condition(&[path], &["eq", "ne"], &choice(choices)));
                continue;
            }
            let kind = match one.field.kind {
                FieldKind::Int => "int",
                FieldKind::Float => "float",
                FieldKind::String | FieldKind::Text => "text",
                FieldKind::Bool => "bool",
                FieldKind::Date | FieldKind::Datetime => "time",
            };
            by_kind.entry(kind).or_default().push(path);
        }
        for (kind, fields) in by_kind {
            let (ops, value): (&[&str], Option<Value>) = match kind {
                "int" => (ORDERED, self.numbers(true)),
                "float" => (ORDERED, self.numbers(false)),
                "text" => (&["eq", "ne", "contains", "starts"], self.texts()),
                "bool" => (&["eq"], Some(json!({ "type": "boolean" }))),
                _ => (ORDERED, Some(json!({ "type": "string", "pattern": DATE }))),
            };
            let Some(value) = value else {
                continue;
            };
            forms.push(condition(&fields, ops, &value));
            if ops == ORDERED {
                forms.push(condition(&fields, &["between"], &list(&value, 2, 2)));
            } else if kind == "text" {
                forms.push(condition(&fields, &["in"], &list(&value, 1, 5)));
            }
        }
        if !all.is_empty() {
            let members = json!({ "field": choice(&all), "op": choice(&["is_null", "not_null"]) });
            forms.push(object(&members, &["field", "op"]));
        }
        forms
    }
}

const ORDERED: &[&str] = &["eq", "ne", "gt", "gte", "lt", "lte"];

fn condition(fields: &[&str], ops: &[&str], value: &Value) -> Value {
    object(&json!({ "field": choice(fields), "op": choice(ops), "value": value }), &["field", "op", "value"])
}

fn without_nulls(members: Value) -> Value {
    match members {
        Value::Object(map) => Value::Object(map.into_iter().filter(|(_, value)| !value.is_null()).collect()),
        other => other,
    }
}
