//! Brings arguments into the form of a tool's JSON Schema and checks them.
//!
//! Only what can mean one thing is changed: `"3"` where an integer is wanted becomes 3. Arguments that still do not
//! fit are refused with a message that names the fields.

use super::alias::{ACTION, Aliases, key};
use serde_json::{Map, Number, Value};
use steward_core::schema;

#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    /// A JSON object that the schema accepts.
    pub arguments: Value,
    /// What was changed, for the trace.
    pub fixes: Vec<String>,
}

/// Why arguments don't fit; each problem names its field. Meant for the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the arguments do not fit the tool `{tool}`: {problems}. Repeat the call with arguments that do")]
pub struct Unfit {
    tool: String,
    /// Field and expectation, up to three.
    problems: String,
}

pub fn fit(tool: &str, schema: &Value, arguments: &Value) -> Result<Fitted, Unfit> {
    if arguments.is_object() && schema::validate(schema, arguments).is_ok() {
        return Ok(Fitted { arguments: arguments.clone(), fixes: Vec::new() });
    }
    let mut fixes = Vec::new();
    let named = own(tool, schema, arguments.clone(), &mut fixes);
    let fitted = coerce(schema, named, &mut fixes);
    match schema::validate(schema, &fitted) {
        Ok(()) => Ok(Fitted { arguments: fitted, fixes }),
        Err(problems) => Err(Unfit { tool: tool.to_owned(), problems }),
    }
}

/// Gives types to arguments whose form has text only.
pub(crate) fn typed(schema: &Value, arguments: Value) -> Value {
    coerce(schema, arguments, &mut Vec::new())
}

// Objects that models wrap the arguments in.
const WRAPPERS: &[&str] = &["arguments", "parameters", "args", "kwargs", "input", "params", "properties"];

/// Renames arguments to the names in `schema`: other spellings, usual other names of a missing one, and wrappers.
pub(crate) fn own(tool: &str, schema: &Value, arguments: Value, fixes: &mut Vec<String>) -> Value {
    let schema = schema::flattened(schema);
    let Some(known) = schema["properties"].as_object() else {
        return arguments;
    };
    let Value::Object(given) = arguments else {
        return arguments;
    };
    let mut given = unwrap(given, known, fixes);
    for form in Aliases::built_in().published(tool) {
        if known.contains_key(&form.argument) || given.contains_key(&form.becomes) {
            continue;
        }
        if let Some(value) = given.remove(&form.argument) {
            fixes.push(format!("`{}` was taken for `{}`", form.argument, form.becomes));
            given.insert(form.becomes.clone(), value);
            for (name, value) in &form.with {
                given.entry(name.clone()).or_insert_with(|| value.clone());
            }
        }
    }
    let mut out = Map::new();
    let mut strange = Vec::new();
    for (name, value) in given {
        if known.contains_key(&name) {
            out.insert(name, value);
        } else {
            strange.push((name, value));
        }
    }
    for (name, value) in strange {
        // The tool was chosen by this argument.
        if name == ACTION && Aliases::built_in().does_one_action(tool) {
            fixes.push(format!("`{ACTION}` was left out, since `{tool}` does nothing else"));
            continue;
        }
        let own = meant(&name, known, &out);
        fixes.extend(own.as_ref().map(|own| format!("`{name}` was taken for `{own}`")));
        out.insert(own.unwrap_or(name), value);
    }
    Value::Object(out)
}

/// Unwraps `{"arguments": {…}}` if the tool has no such argument.
fn unwrap(given: Map<String, Value>, known: &Map<String, Value>, fixes: &mut Vec<String>) -> Map<String, Value> {
    let wraps = |name: &String| !known.contains_key(name) && WRAPPERS.contains(&name.as_str());
    match given.iter().next() {
        Some((name, Value::Object(inner))) if given.len() == 1 && wraps(name) => {
            fixes.push(format!("took the arguments out of `{name}`"));
            inner.clone()
        }
        _ => given,
    }
}

/// The argument of the tool that `name` can only mean, if it is not given.
fn meant(name: &str, known: &Map<String, Value>, given: &Map<String, Value>) -> Option<String> {
    let free = |own: &&String| !given.contains_key(*own);
    let spelled: Vec<&String> = known.keys().filter(free).filter(|own| key(own) == key(name)).collect();
    if let [only] = spelled[..] {
        return Some(only.clone());
    }
    let lower = name.to_ascii_lowercase();
    for line in Aliases::built_in().arguments(&lower) {
        let mut own = known.keys().filter(|own| line.contains(own));
        if let (Some(only), None) = (own.next(), own.next())
            && free(&only)
        {
            return Some(only.clone());
        }
    }
    None
}

/// Schemas may refer to themselves, and one part may lead to several for the same value: at most this deep, in arguments and
/// parts of the schema.
const MAX_DEPTH: usize = 256;
/// Most parts of a schema that are tried. What is left then stays as it was given.
const MAX_STEPS: u32 = 50_000;

/// Changes `value` to the types of `schema`, as far as that is beyond doubt.
fn coerce(schema: &Value, value: Value, fixes: &mut Vec<String>) -> Value {
    let mut work = Work { root: schema, fixes, path: Vec::new(), depth: 0, left: MAX_STEPS };
    work.value(schema, value)
}

struct Work<'a> {
    root: &'a Value,
    fixes: &'a mut Vec<String>,
    path: Vec<String>,
    depth: usize,
    left: u32,
}

impl<'a> Work<'a> {
    fn note(&mut self, what: &str) {
        let place = if self.path.is_empty() { "arguments".to_owned() } else { self.path.join(".") };
        self.fixes.push(format!("`{place}`: {what}"));
    }

    fn resolve(&self, schema: &'a Value) -> &'a Value {
        let mut schema = schema;
        for _ in 0..8 {
            match schema::referred(self.root, schema) {
                Some((_, next)) => schema = next,
                None => return schema,
            }
        }
        schema
    }

    fn value(&mut self, schema: &'a Value, value: Value) -> Value {
        if self.depth >= MAX_DEPTH || self.left == 0 {
            return value;
        }
        self.left -= 1;
        self.depth += 1;
        let value = self.fitted(schema, value);
        self.depth -= 1;
        value
    }

    fn fitted(&mut self, schema: &'a Value, value: Value) -> Value {
        let schema = self.resolve(schema);
        let parts = schema["allOf"].as_array().into_iter().flatten();
        let value = parts.fold(value, |value, part| self.value(part, value));
        for key in ["anyOf", "oneOf"] {
            if let Some(variants) = schema[key].as_array() {
                return self.variants(variants, value);
            }
        }
        if let Some(choices) = schema["enum"].as_array() {
            return self.choice(choices, value);
        }
        if takes(schema, &value) {
            return self.inside(schema, value);
        }
        kinds(schema).into_iter().find_map(|kind| self.to(schema, kind, &value)).unwrap_or(value)
    }

    /// The variant that has the value's type, else the first one that the value can be changed to.
    fn variants(&mut self, variants: &'a [Value], value: Value) -> Value {
        if let Some(own) = variants.iter().find(|schema| takes(self.resolve(schema), &value)) {
            return self.value(own, value);
        }
        for schema in variants {
            let before = self.fixes.len();
            let tried = self.value(schema, value.clone());
            if takes(self.resolve(schema), &tried) {
                return tried;
            }
            self.fixes.truncate(before);
        }
        value
    }

    fn choice(&mut self, choices: &[Value], value: Value) -> Value {
        if choices.contains(&value) {
            return value;
        }
        let plain = |value: &Value| match value {
            Value::String(text) => text.trim().to_lowercase(),
            other => other.to_string(),
        };
        let wanted = plain(&value);
        let mut same = choices.iter().filter(|choice| plain(choice) == wanted);
        match (same.next(), same.next()) {
            (Some(only), None) => {
                self.note("spelled as the schema has it");
                only.clone()
            }
            _ => value,
        }
    }

    fn inside(&mut self, schema: &'a Value, value: Value) -> Value {
        match value {
            Value::Array(items) if schema["items"].is_object() => {
                let each = items.into_iter().enumerate().map(|(n, item)| {
                    self.path.push(n.to_string());
                    let item = self.value(&schema["items"], item);
                    self.path.pop();
                    item
                });
                Value::Array(each.collect())
            }
            Value::Object(map) => self.object(schema, map),
            other => other,
        }
    }

    fn object(&mut self, schema: &'a Value, map: Map<String, Value>) -> Value {
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let mut out = Map::new();
        for (name, value) in map {
            let field = match &schema["properties"][&name] {
                Value::Null => &schema["additionalProperties"],
                field => field,
            };
            if !field.is_object() {
                out.insert(name, value);
                continue;
            }
            self.path.push(name.clone());
            let value = self.value(field, value);
            let resolved = self.resolve(field);
            let nothing = match &value {
                Value::Null => true,
                Value::String(text) => matches!(text.trim(), "" | "null" | "None"),
                _ => false,
            };
            let optional = !required.contains(&name.as_str()) && resolved["anyOf"].is_null();
            if nothing && optional && !takes(resolved, &value) {
                self.note("left out, since it is empty");
            } else {
                out.insert(name, value);
            }
            self.path.pop();
        }
        Value::Object(out)
    }

    /// `value` as `kind`; `None` if it is in doubt what that would be.
    fn to(&mut self, schema: &'a Value, kind: &str, value: &Value) -> Option<Value> {
        let (done, what) = match (kind, value) {
            ("integer", Value::String(text)) => (whole(text.trim())?.into(), "text read as a number"),
            ("integer", Value::Number(number)) => (whole(&number.to_string())?.into(), "made a whole number"),
            ("number", Value::String(text)) => {
                (serde_json::from_str::<Number>(text.trim()).ok()?.into(), "text read as a number")
            }
            ("boolean", Value::String(text)) => match text.trim().to_ascii_lowercase().as_str() {
                "true" => (Value::Bool(true), "text read as true"),
                "false" => (Value::Bool(false), "text read as false"),
                _ => return None,
            },
            ("null", Value::String(text)) if matches!(text.trim(), "null" | "None") => {
                (Value::Null, "text read as null")
            }
            ("string", Value::Number(_) | Value::Bool(_)) => (value.to_string().into(), "written as text"),
            ("string", Value::Array(_) | Value::Object(_)) => (value.to_string().into(), "JSON written as text"),
            ("array", Value::Null) => return None,
            ("object" | "array", Value::String(text)) => match nested(kind, text) {
                Some(inner) => (self.inside(schema, inner), "JSON read from a text"),
                None if kind == "object" || text.trim().is_empty() || text.trim_start().starts_with(['[', '{']) => {
                    return None;
                }
                None => (self.inside(schema, vec![value.clone()].into()), "made a list of one"),
            },
            ("array", _) => (self.inside(schema, vec![value.clone()].into()), "made a list of one"),
            _ => return None,
        };
        self.note(what);
        Some(done)
    }
}

/// Whether `schema` takes values of this type.
fn takes(schema: &Value, value: &Value) -> bool {
    let kinds = kinds(schema);
    kinds.is_empty() || kinds.iter().any(|kind| is(kind, value))
}

/// Empty: any.
fn kinds(schema: &Value) -> Vec<&str> {
    match &schema["type"] {
        Value::String(kind) => vec![kind],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn is(kind: &str, value: &Value) -> bool {
    match value {
        Value::Null => kind == "null",
        Value::Bool(_) => kind == "boolean",
        Value::Number(number) => kind == "number" || (kind == "integer" && (number.is_i64() || number.is_u64())),
        Value::String(_) => kind == "string",
        Value::Array(_) => kind == "array",
        Value::Object(_) => kind == "object",
    }
}

/// A whole number, which may be written `3.0`.
fn whole(text: &str) -> Option<Number> {
    let digits = match text.split_once('.') {
        Some((digits, zeros)) if !zeros.is_empty() && zeros.bytes().all(|b| b == b'0') => digits,
        Some(_) => return None,
        None => text,
    };
    let number: Number = serde_json::from_str(digits).ok()?;
    (number.is_i64() || number.is_u64()).then_some(number)
}

fn nested(kind: &str, text: &str) -> Option<Value> {
    let text = text.trim();
    if !text.starts_with(if kind == "array" { '[' } else { '{' }) {
        return None;
    }
    let value = super::json::repair(text, true).ok()?.value;
    is(kind, &value).then_some(value)
}
