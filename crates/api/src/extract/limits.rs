//! Holds bodies to the limits that the API's document gives them: how long texts and lists and how large numbers may be.

use crate::problem::Problem;
use serde_json::Value;
use std::any::TypeId;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};
use steward_core::locks::lock;
use utoipa::ToSchema;

/// Made at the first body of a type.
static KNOWN: LazyLock<Mutex<HashMap<TypeId, Arc<Limits>>>> = LazyLock::new(Mutex::default);

/// Refuses a body that is beyond one of the limits of `T`, by its field.
pub(super) fn check<T: ToSchema + 'static>(body: &Value) -> Result<(), Problem> {
    let limits = lock(&KNOWN).entry(TypeId::of::<T>()).or_insert_with(|| Arc::new(Limits::of::<T>())).clone();
    let Some(beyond) = limits.beyond(&limits.schema, body) else {
        return Ok(());
    };
    let Beyond { place, found, allowed } = beyond;
    let field = if place.is_empty() { "body" } else { &place };
    Err(Problem::invalid(field, format!("`{field}` {found}"), format!("use {allowed}")))
}

/// Where a value is beyond a limit, what it is, and what may be.
struct Beyond {
    /// Written from within, so that a body without fault costs no paths.
    place: String,
    found: String,
    allowed: String,
}

/// A schema in JSON, with those that it names.
struct Limits {
    schema: Value,
    named: HashMap<String, Value>,
}

impl Limits {
    fn of<T: ToSchema>() -> Self {
        let mut named = Vec::new();
        T::schemas(&mut named);
        let json = |schema| serde_json::to_value(schema).map(without_words).unwrap_or_default();
        Self {
            schema: json(T::schema()),
            named: named.into_iter().map(|(name, schema)| (name, json(schema))).collect(),
        }
    }

    fn beyond(&self, schema: &Value, value: &Value) -> Option<Beyond> {
        let schema = self.followed(schema).filter(|schema| schema.is_object())?;
        let own = match value {
            // What is empty or blank, the use cases refuse with what to write instead.
            Value::String(text) => outside(schema, "maxLength", text.trim().chars().count(), "characters"),
            Value::Array(items) => outside(schema, "maxItems", items.len(), "entries"),
            Value::Number(number) => outside_numbers(schema, number.as_f64()?),
            _ => None,
        };
        if own.is_some() {
            return own;
        }
        let inner = match value {
            Value::Array(items) => items.iter().enumerate().find_map(|(index, item)| {
                let beyond = self.beyond(&schema["items"], item)?;
                Some(Beyond { place: place_in(&index.to_string(), &beyond.place), ..beyond })
            }),
            Value::Object(fields) => fields.iter().find_map(|(key, item)| {
                let known = schema["properties"].get(key).unwrap_or(&schema["additionalProperties"]);
                let beyond = self.beyond(known, item)?;
                Some(Beyond { place: place_in(key, &beyond.place), ..beyond })
            }),
            _ => None,
        };
        inner
            .or_else(|| listed(schema, "allOf").find_map(|part| self.beyond(part, value)))
            .or_else(|| ["oneOf", "anyOf"].into_iter().find_map(|key| self.beyond_each(schema, key, value)))
    }

    /// Of the forms that the value may have, none takes it.
    fn beyond_each(&self, schema: &Value, key: &str, value: &Value) -> Option<Beyond> {
        let mut forms = listed(schema, key).filter(|form| self.has_form(form, value));
        let first = self.beyond(forms.next()?, value)?;
        forms.all(|form| self.beyond(form, value).is_some()).then_some(first)
    }

    /// Whether the value may be meant as this: its type, and of an object the fields that tell forms apart.
    fn has_form(&self, schema: &Value, value: &Value) -> bool {
        let Some(schema) = self.followed(schema) else {
            return true;
        };
        let kind = match value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        };
        let is_kind = |one: &Value| one == kind || (one == "integer" && kind == "number");
        let of_kind = match &schema["type"] {
            Value::Array(kinds) => kinds.iter().any(is_kind),
            Value::Null => true,
            one => is_kind(one),
        };
        let may_be = |(name, field): (&String, &Value)| match (value.get(name), field["enum"].as_array()) {
            (Some(said), Some(allowed)) => allowed.contains(said),
            _ => true,
        };
        let has = |name: &Value| name.as_str().is_none_or(|name| value.get(name).is_some());
        of_kind
            && (!value.is_object()
                || (schema["properties"].as_object().is_none_or(|fields| fields.iter().all(may_be))
                    && listed(schema, "required").all(has)
                    && listed(schema, "allOf").all(|part| self.has_form(part, value))))
    }

    /// The schema that a reference leads to; `None`: it leads nowhere.
    fn followed<'a>(&'a self, schema: &'a Value) -> Option<&'a Value> {
        let Some(reference) = schema["$ref"].as_str() else {
            return Some(schema);
        };
        self.followed(self.named.get(reference.rsplit('/').next()?)?)
    }
}

/// Where a value stands that is at `place` within `key`.
pub(super) fn place_in(key: &str, place: &str) -> String {
    if place.is_empty() { key.to_owned() } else { format!("{key}.{place}") }
}

fn listed<'a>(schema: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    schema[key].as_array().into_iter().flatten()
}

fn outside(schema: &Value, limit: &str, count: usize, what: &str) -> Option<Beyond> {
    let most = schema[limit].as_u64().filter(|most| count as u64 > *most)?;
    let (found, allowed) = (format!("has {count} {what}"), format!("at most {most} {what}"));
    Some(Beyond { place: String::new(), found, allowed })
}

fn outside_numbers(schema: &Value, number: f64) -> Option<Beyond> {
    let [least, most] = ["minimum", "maximum"].map(|key| schema[key].as_f64());
    if least.is_none_or(|least| number >= least) && most.is_none_or(|most| number <= most) {
        return None;
    }
    let allowed = match (least, most) {
        (Some(least), Some(most)) => format!("{least} to {most}"),
        (Some(least), None) => format!("at least {least}"),
        (None, most) => format!("at most {}", most.unwrap_or(number)),
    };
    Some(Beyond { place: String::new(), found: format!("is {number}"), allowed })
}

/// Descriptions and examples are many times what is needed of a schema.
fn without_words(mut schema: Value) -> Value {
    match &mut schema {
        Value::Object(fields) => {
            fields.retain(|key, value| !(value.is_string() && matches!(key.as_str(), "description" | "title")));
            fields.values_mut().for_each(|value| *value = without_words(value.take()));
        }
        Value::Array(items) => items.iter_mut().for_each(|value| *value = without_words(value.take())),
        _ => {}
    }
    schema
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "tests")]

    use super::{Limits, check};
    use axum::response::IntoResponse as _;
    use serde_json::{Value, json};
    use utoipa::ToSchema;

    #[derive(ToSchema)]
    #[expect(dead_code, reason = "only its schema counts")]
    struct Order {
        #[schema(min_length = 1, max_length = 4)]
        name: String,
        #[schema(maximum = 9)]
        count: Option<u8>,
        #[schema(max_items = 2)]
        parts: Vec<Part>,
        ship: Option<Ship>,
    }

    #[derive(ToSchema)]
    #[schema(no_recursion)]
    #[expect(dead_code, reason = "only its schema counts")]
    struct Part {
        #[schema(minimum = 0.5)]
        weight: f64,
        within: Vec<Part>,
    }

    #[derive(ToSchema)]
    #[serde(tag = "kind", rename_all = "snake_case")]
    #[expect(dead_code, reason = "only its schema counts")]
    enum Ship {
        Post {
            #[schema(max_length = 5)]
            code: String,
        },
        Cart {
            #[schema(max_length = 2)]
            code: String,
        },
    }

    async fn field(body: &Value) -> Option<String> {
        let problem = check::<Order>(body).err()?;
        let answer = axum::body::to_bytes(problem.into_response().into_body(), 10_000).await.expect("a body");
        let answer: Value = serde_json::from_slice(&answer).expect("JSON");
        Some(answer["field"].as_str().expect("a field").to_owned())
    }

    #[tokio::test]
    async fn what_is_beyond_a_limit_is_refused_by_its_field() {
        for (body, expect) in [
            (json!({"name": "äöüß", "count": 9, "parts": [{"weight": 0.5, "within": []}]}), None),
            (json!({"name": "äöüß!"}), Some("name")),
            (json!({"name": null, "count": null, "more": "what is not known is for others to refuse"}), None),
            (json!({"name": " abcd\n"}), None),
            (json!({"count": 10}), Some("count")),
            (json!({"parts": [{}, {}, {}]}), Some("parts")),
            (json!({"parts": [{}, {"within": [{"weight": 0.1}]}]}), Some("parts.1.within.0.weight")),
            (json!({"ship": {"kind": "post", "code": "12345"}}), None),
            (json!({"ship": {"kind": "post", "code": "123456"}}), Some("ship.code")),
            (json!({"ship": {"kind": "cart", "code": "123"}}), Some("ship.code")),
            (json!({"ship": {"kind": "cart", "code": "12"}}), None),
            (json!({"ship": null}), None),
        ] {
            assert_eq!(field(&body).await.as_deref(), expect, "{body}");
        }
    }

    #[test]
    fn schemas_are_kept_without_their_words() {
        let limits = Limits::of::<steward_core::sign_on::Directory>();
        let kept = format!("{}{:?}", limits.schema, limits.named);
        assert!(kept.contains("maxLength") && !kept.contains("\"description\""), "{kept}");
    }
}
