//! A query in a few words, so that a person sees how a request was understood.

use serde_json::Value;
use steward_core::text::parts;

use crate::query::{Aggregate, Condition, Function, Op, Query};

/// `invoice · sum of total · billing country = France`.
pub fn in_words(query: &Query) -> String {
    let mut said = vec![phrase(&query.domain)];
    said.extend(query.aggregate.iter().map(number));
    // What an order or another condition needs anyway is not said.
    let is_said = |field: &str| {
        let ordered = query.order.iter().any(|order| order.field == field);
        let compared =
            |one: &Condition| matches!(one, Condition::Compare(one) if one.op != Op::NotNull && one.field == field);
        ordered || query.conditions.iter().any(compared)
    };
    let conditions = query
        .conditions
        .iter()
        .filter(|one| !matches!(one, Condition::Compare(one) if one.op == Op::NotNull && is_said(&one.field)));
    said.extend(conditions.map(condition));
    if !query.group.is_empty() {
        let groups: Vec<String> = query
            .group
            .iter()
            .map(|group| match group.by {
                Some(by) => format!("{} ({})", phrase(&group.field), by.name()),
                None => phrase(&group.field),
            })
            .collect();
        said.push(format!("/ {}", groups.join(", ")));
        // What has no rows is in none of these groups.
        let counts = |one: &Aggregate| one.function == Function::Count && one.field.is_none();
        if query.aggregate.iter().any(counts) && query.group.iter().any(|group| group.field.contains('.')) {
            said.push("count ≥ 1".to_owned());
        }
    }
    for order in &query.order {
        let of_number = query.aggregate.iter().any(|one| one.name.as_ref() == Some(&order.field));
        let what = if of_number { String::new() } else { format!(" {}", phrase(&order.field)) };
        said.push(format!("{}{what}", if order.desc { "↓" } else { "↑" }));
    }
    said.join(" · ")
}

/// The words of a path: `billing country`, `artist name`.
fn phrase(path: &str) -> String {
    path.split('.').map(|name| parts(name).join(" ")).collect::<Vec<_>>().join(" ")
}

fn number(one: &Aggregate) -> String {
    let what = one.field.as_deref().map(phrase).unwrap_or_default();
    let name = one.function.name();
    if what.is_empty() { name.to_owned() } else { format!("{name} {what}") }
}

fn condition(one: &Condition) -> String {
    let all = |list: &[Condition], sign: &str| list.iter().map(condition).collect::<Vec<_>>().join(sign);
    match one {
        Condition::Any { any } => all(any, " | "),
        Condition::All { all: list } => all(list, " & "),
        Condition::Not { not } => format!("not ({})", all(not, " & ")),
        Condition::Compare(one) => {
            let sign = match one.op {
                Op::Eq | Op::In | Op::Between => "=",
                Op::Ne => "≠",
                Op::Gt => ">",
                Op::Gte => "≥",
                Op::Lt => "<",
                Op::Lte => "≤",
                Op::Contains => "~",
                Op::Starts => "^",
                Op::IsNull => return format!("{} = –", phrase(&one.field)),
                Op::NotNull => return format!("{} ≠ –", phrase(&one.field)),
            };
            format!(
                "{} {sign} {}",
                phrase(&one.field),
                value(&one.value, if one.op == Op::Between { " … " } else { ", " })
            )
        }
    }
}

fn value(value: &Value, between: &str) -> String {
    match value {
        Value::String(text) if text.is_empty() => "\"\"".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(|one| self::value(one, ", ")).collect::<Vec<_>>().join(between),
        other => other.to_string(),
    }
}
