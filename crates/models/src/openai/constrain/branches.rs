//! The tools of a schema: each `{name: "one", arguments: {…}}` (in plans `{tool, args}`) in it is a
//! branch, whose arguments can be left open without touching the others.

use serde_json::{Value, json};

/// Names of a branch's two properties.
const PAIRS: [(&str, &str); 2] = [("name", "arguments"), ("tool", "args")];

/// A tool of a schema.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Branch<'a> {
    /// The tool's name.
    pub name: &'a str,
    /// Schema of its arguments.
    pub arguments: &'a Value,
}

impl Branch<'_> {
    /// Whether the arguments are anything that an object can be.
    pub fn is_open(&self) -> bool {
        *self.arguments == json!({"type": "object"})
    }
}

/// The branches in order.
pub(super) fn of(schema: &Value) -> Vec<Branch<'_>> {
    let mut found = Vec::new();
    walk(schema, &mut found);
    found
}

fn walk<'a>(schema: &'a Value, found: &mut Vec<Branch<'a>>) {
    if let Some((branch, _)) = branch(schema) {
        found.push(branch);
        return;
    }
    match schema {
        Value::Object(map) => map.values().for_each(|inner| walk(inner, found)),
        Value::Array(items) => items.iter().for_each(|inner| walk(inner, found)),
        _ => {}
    }
}

/// The branch that `schema` is, and the name of the property that holds its arguments.
fn branch(schema: &Value) -> Option<(Branch<'_>, &'static str)> {
    let properties = schema.get("properties")?;
    PAIRS.iter().find_map(|(name, arguments)| {
        let name = only(properties.get(name)?)?;
        let inner = properties.get(arguments)?;
        let branch = Branch { name, arguments: inner };
        Some((branch, *arguments))
    })
}

/// The one text that a schema allows.
fn only(schema: &Value) -> Option<&str> {
    match schema.get("enum").and_then(Value::as_array) {
        Some(values) if values.len() == 1 => values[0].as_str(),
        Some(_) => None,
        None => schema.get("const")?.as_str(),
    }
}

/// `schema` with the arguments of those branches open for which `open` holds, by position.
pub(super) fn opened(schema: &Value, open: &[bool]) -> Value {
    let mut schema = schema.clone();
    if open.contains(&true) {
        let mut at = 0;
        visit(&mut schema, &mut |arguments| {
            if open.get(at) == Some(&true) {
                *arguments = json!({"type": "object"});
            }
            at += 1;
        });
    }
    schema
}

/// `schema` with all branches open: what is left when the tools are not to blame.
pub(super) fn skeleton(schema: &Value) -> Value {
    let count = of(schema).len();
    opened(schema, &vec![true; count])
}

fn visit(schema: &mut Value, change: &mut dyn FnMut(&mut Value)) {
    if let Some((_, arguments)) = branch(schema) {
        if let Some(inner) = schema.get_mut("properties").and_then(|properties| properties.get_mut(arguments)) {
            change(inner);
        }
        return;
    }
    match schema {
        Value::Object(map) => map.values_mut().for_each(|inner| visit(inner, change)),
        Value::Array(items) => items.iter_mut().for_each(|inner| visit(inner, change)),
        _ => {}
    }
}
