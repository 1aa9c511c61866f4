//! Holds bodies and parameters to the limits that the API's document gives them: how long texts and lists and how large numbers may be.
//! What else a schema says is read with the body itself.

use crate::problem::Problem;
use jsonschema::error::ValidationErrorKind as Kind;
use jsonschema::{ValidationError, Validator};
use serde_json::{Map, Value, json};
use std::any::TypeId;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};
use steward_core::locks::lock;
use utoipa::ToSchema;
use utoipa::openapi::path::Parameter;
use utoipa::openapi::{RefOr, Schema};

/// Made at the first body of a type.
static KNOWN: LazyLock<Mutex<HashMap<TypeId, Arc<Validator>>>> = LazyLock::new(Mutex::default);

/// Refuses a body that is beyond one of the limits of `T`, by its field. `partial`: fields may be left out.
pub(super) fn check<T: ToSchema + 'static>(body: &Value, partial: bool) -> Result<(), Problem> {
    let validator = validator_of::<T>()
        .map_err(|error| Problem::unavailable(format!("the limits of this body can't be read: {error}")))?;
    if validator.is_valid(body) {
        return Ok(());
    }
    let mut errors = validator.iter_errors(body);
    let beyond = errors.find_map(|error| {
        let left_out = partial && matches!(error.kind(), Kind::Required { .. });
        if left_out { None } else { beyond(&error) }
    });
    let Some(Beyond { place, found, allowed }) = beyond else {
        return Ok(());
    };
    let field = if place.is_empty() { "body" } else { &place };
    Err(Problem::invalid(field, format!("`{field}` {found}"), format!("use {allowed}")))
}

/// Refuses a parameter of an address that is longer than its schema says.
pub(super) fn check_parameters(known: &[Parameter], given: &[(String, String)]) -> Result<(), Problem> {
    for (name, value) in given {
        let schema = known.iter().find(|one| one.name == *name).and_then(|one| one.schema.as_ref());
        let Some(RefOr::T(Schema::Object(schema))) = schema else { continue };
        let count = value.trim().chars().count();
        if let Some(limit) = schema.max_length.filter(|limit| count > *limit) {
            let found = format!("`{name}` has {count} characters");
            return Err(Problem::invalid(name, found, format!("use at most {limit} characters")));
        }
    }
    Ok(())
}

fn validator_of<T: ToSchema + 'static>() -> Result<Arc<Validator>, String> {
    let mut known = lock(&KNOWN);
    if let Some(validator) = known.get(&TypeId::of::<T>()) {
        return Ok(Arc::clone(validator));
    }
    let mut named = Vec::new();
    T::schemas(&mut named);
    let named: Map<String, Value> = named.into_iter().map(|(name, schema)| (name, json!(schema))).collect();
    let schema = json!({"allOf": [T::schema()], "components": {"schemas": named}});
    let validator = Arc::new(jsonschema::validator_for(&schema).map_err(|error| error.to_string())?);
    known.insert(TypeId::of::<T>(), Arc::clone(&validator));
    Ok(validator)
}

/// Where a value is beyond a limit, what it is, and what may be.
struct Beyond {
    place: String,
    found: String,
    allowed: String,
}

fn beyond(error: &ValidationError<'_>) -> Option<Beyond> {
    let value = error.instance();
    let (found, allowed) = match error.kind() {
        Kind::MaxLength { limit } => {
            // Blanks at the ends are mostly cut off; what keeps them counts them itself.
            let count = value.as_str()?.trim().chars().count();
            if count as u64 <= *limit {
                return None;
            }
            (format!("has {count} characters"), format!("at most {limit} characters"))
        }
        Kind::MaxItems { limit } => {
            (format!("has {} entries", value.as_array()?.len()), format!("at most {limit} entries"))
        }
        // What serde would take as null.
        Kind::Required { property } => {
            let name = property.as_str()?;
            let place = format!("{}/{name}", error.instance_path());
            let place = place.trim_start_matches('/').replace('/', ".");
            return Some(Beyond { place, found: "is missing".to_owned(), allowed: "null or a value".to_owned() });
        }
        Kind::Maximum { limit } => (format!("is {value}"), format!("at most {limit}")),
        Kind::Minimum { limit } => (format!("is {value}"), format!("at least {limit}")),
        // A form that the value has but for its limits, such as what is there of an optional field.
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
            return context.iter().find_map(|errors| {
                let mut all: Vec<Beyond> = errors.iter().map(beyond).collect::<Option<_>>()?;
                all.drain(..).next()
            });
        }
        _ => return None,
    };
    let place = error.instance_path().to_string().trim_start_matches('/').replace('/', ".");
    Some(Beyond { place, found, allowed })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "tests")]

    use super::check;
    use axum::response::IntoResponse as _;
    use serde_json::{Value, json};
    use utoipa::ToSchema;

    #[derive(ToSchema)]
    #[expect(dead_code, reason = "only its schema counts")]
    struct Order {
        #[serde(default)]
        #[schema(min_length = 1, max_length = 4)]
        name: String,
        #[schema(maximum = 9)]
        count: Option<u8>,
        #[serde(default)]
        #[schema(max_items = 2)]
        parts: Vec<Part>,
        ship: Option<Ship>,
        keep: Option<Keep>,
    }

    #[derive(ToSchema)]
    #[expect(dead_code, reason = "only its schema counts")]
    struct Keep {
        #[schema(required, minimum = 1)]
        days: Option<u32>,
    }

    #[derive(ToSchema)]
    #[schema(no_recursion)]
    #[expect(dead_code, reason = "only its schema counts")]
    struct Part {
        #[serde(default)]
        #[schema(minimum = 0.5)]
        weight: f64,
        #[serde(default)]
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
        let problem = check::<Order>(body, false).err()?;
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
            (json!({"keep": {"days": null}}), None),
            (json!({"keep": {"days": 400}}), None),
            (json!({"keep": {}}), Some("keep.days")),
            (json!({"keep": {"days": 0}}), Some("keep.days")),
        ] {
            assert_eq!(field(&body).await.as_deref(), expect, "{body}");
        }
    }

    #[test]
    fn a_parameter_is_no_longer_than_its_schema_says() {
        #[derive(utoipa::IntoParams)]
        #[expect(dead_code, reason = "only its schema counts")]
        struct Wanted {
            #[param(nullable = false, max_length = 4)]
            search: Option<String>,
            #[param(max_length = 4)]
            text: Option<String>,
            other: Option<u32>,
        }
        let known = <Wanted as utoipa::IntoParams>::into_params(|| None);
        for (name, value, fits) in [
            ("search", "äöüß", true),
            ("search", " abcd ", true),
            ("search", "abcde", false),
            ("text", "abcde", false),
            ("other", "12345", true),
            ("unknown", "12345", true),
        ] {
            let given = [(name.to_owned(), value.to_owned())];
            assert_eq!(super::check_parameters(&known, &given).is_ok(), fits, "{name}={value}");
        }
    }
}
