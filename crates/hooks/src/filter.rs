use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::clip::clip;
use crate::error::HookError;
use crate::headers::{HeaderName, Headers};
use crate::place::{Place, Pointer};

/// Values of `one_of`.
pub const MAX_CHOICES: usize = 100;

/// Characters of `contains`.
const MAX_CONTAINED: usize = 1_000;

/// Characters that a message shows of a value.
const SHOWN: usize = 80;

/// What a request must have for anything to happen: `{"pointer": "/action", "equals": "opened"}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "FilterFields", into = "FilterFields")]
pub struct Filter {
    pub place: Place,
    pub test: FilterTest,
}

/// What is asked of the value in a place. Texts are compared letter by letter, in their case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FilterTest {
    /// The same JSON value, whatever the order of keys; `1` and `1.0` are the same. A header is compared with the text of a
    /// number or of `true` and `false`, too.
    Equals(Value),
    OneOf(Vec<Value>),
    /// A text with this one in it, or a list with this text as a member.
    Contains(String),
    /// Whether there is something other than `null`.
    Exists(bool),
}

/// Says which filter doesn't let a request pass, if one doesn't, and what was found instead.
pub fn check_filters(filters: &[Filter], headers: &Headers, payload: &Value) -> Result<(), String> {
    filters.iter().try_for_each(|filter| filter.check(headers, payload))
}

impl Filter {
    fn check(&self, headers: &Headers, payload: &Value) -> Result<(), String> {
        let header;
        let found = match &self.place {
            Place::Header(name) => {
                header = headers.get(name.as_str()).map(|text| Value::String(text.to_owned()));
                header.as_ref()
            }
            Place::Pointer(pointer) => pointer.find(payload),
        };
        let is_header = matches!(self.place, Place::Header(_));
        let equals = |wanted: &Value| found.is_some_and(|found| is_same(found, wanted, is_header));
        let (passes, wanted) = match &self.test {
            FilterTest::Equals(wanted) => (equals(wanted), format!("to be {}", clip(wanted, SHOWN))),
            FilterTest::OneOf(choices) => {
                (choices.iter().any(equals), format!("to be one of {}", clip(Value::Array(choices.clone()), SHOWN)))
            }
            FilterTest::Contains(part) => (
                found.is_some_and(|found| has_part(found, part)),
                format!("to contain {}", clip(Value::from(part.as_str()), SHOWN)),
            ),
            FilterTest::Exists(wanted) => (
                found.is_some_and(|found| !found.is_null()) == *wanted,
                if *wanted { "to have a value" } else { "to have no value" }.to_owned(),
            ),
        };
        if passes {
            return Ok(());
        }
        let found = found.map_or_else(|| "it isn't there".to_owned(), |found| format!("it is {}", clip(found, SHOWN)));
        Err(format!("A filter wants {} {wanted}, but {found}.", self.place))
    }
}

fn is_same(found: &Value, wanted: &Value, is_header: bool) -> bool {
    match (found, wanted) {
        (Value::Number(found), Value::Number(wanted)) => {
            let with_fraction = found.is_f64() || wanted.is_f64();
            found == wanted || (with_fraction && found.as_f64() == wanted.as_f64())
        }
        (Value::String(found), Value::Number(_) | Value::Bool(_)) if is_header => {
            let wanted = wanted.to_string();
            *found == wanted
        }
        _ => found == wanted,
    }
}

fn has_part(found: &Value, part: &str) -> bool {
    match found {
        Value::String(text) => text.contains(part),
        Value::Array(members) => members.iter().any(|member| member.as_str() == Some(part)),
        _ => false,
    }
}

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FilterFields {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    header: Option<HeaderName>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pointer: Option<Pointer>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "read_also_null")]
    equals: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    one_of: Option<Vec<Value>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    contains: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    exists: Option<bool>,
}

/// `null` is a value that one can ask for.
fn read_also_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl TryFrom<FilterFields> for Filter {
    type Error = HookError;

    fn try_from(fields: FilterFields) -> Result<Self, Self::Error> {
        let place = Place::choose(fields.header, fields.pointer)?;
        let tests = [
            fields.equals.map(FilterTest::Equals),
            fields.one_of.map(FilterTest::OneOf),
            fields.contains.map(FilterTest::Contains),
            fields.exists.map(FilterTest::Exists),
        ];
        let mut tests = tests.into_iter().flatten();
        let (Some(test), None) = (tests.next(), tests.next()) else {
            return Err(HookError::new(
                "A filter needs exactly one test.",
                "Give one of `equals`, `one_of`, `contains` and `exists`: {\"pointer\": \"/action\", \"equals\": \"opened\"}.",
            ));
        };
        match &test {
            FilterTest::OneOf(choices) if choices.is_empty() || choices.len() > MAX_CHOICES => Err(HookError::new(
                format!("`one_of` has {} values.", choices.len()),
                format!("Give it 1 to {MAX_CHOICES}."),
            )),
            FilterTest::Contains(part) if part.is_empty() || part.chars().count() > MAX_CONTAINED => {
                Err(HookError::new(
                    "`contains` is empty or too long.",
                    format!(
                        "Give it 1 to {MAX_CONTAINED} characters; to ask whether there is a value use `\"exists\": true`."
                    ),
                ))
            }
            _ => Ok(Self { place, test }),
        }
    }
}

impl From<Filter> for FilterFields {
    fn from(filter: Filter) -> Self {
        let mut fields = Self::default();
        match filter.place {
            Place::Header(name) => fields.header = Some(name),
            Place::Pointer(pointer) => fields.pointer = Some(pointer),
        }
        match filter.test {
            FilterTest::Equals(value) => fields.equals = Some(value),
            FilterTest::OneOf(values) => fields.one_of = Some(values),
            FilterTest::Contains(part) => fields.contains = Some(part),
            FilterTest::Exists(wanted) => fields.exists = Some(wanted),
        }
        fields
    }
}
