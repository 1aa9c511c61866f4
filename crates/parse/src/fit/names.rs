//! Names of arguments: another spelling or a usual other name of one that is missing, and wrappers.

use crate::alias::{ACTION, Aliases};
use crate::index::key;
use serde_json::{Map, Value};

const WRAPPERS: &[&str] = &["arguments", "parameters", "args", "kwargs", "input", "params", "properties"];

/// `arguments` with the names that `schema` has for them.
pub(super) fn own(tool: &str, schema: &Value, arguments: Value, fixes: &mut Vec<String>) -> Value {
    let Some(known) = schema["properties"].as_object() else {
        return arguments;
    };
    let Value::Object(given) = arguments else {
        return arguments;
    };
    let given = unwrap(given, known, fixes);
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
        // The tool was chosen by it.
        if name == ACTION && Aliases::built_in().does_one_action(tool) {
            fixes.push(format!("`{ACTION}` was left out, since `{tool}` does nothing else"));
            continue;
        }
        match meant(&name, known, &out) {
            Some(own) => {
                fixes.push(format!("`{name}` was taken for `{own}`"));
                out.insert(own, value);
            }
            None => {
                out.insert(name, value);
            }
        }
    }
    Value::Object(out)
}

/// `{"arguments": {…}}` where the tool has no such argument.
fn unwrap(given: Map<String, Value>, known: &Map<String, Value>, fixes: &mut Vec<String>) -> Map<String, Value> {
    let wrapper = match given.iter().next() {
        Some((name, Value::Object(_))) if given.len() == 1 => name.clone(),
        _ => return given,
    };
    if known.contains_key(&wrapper) || !WRAPPERS.contains(&wrapper.as_str()) {
        return given;
    }
    fixes.push(format!("took the arguments out of `{wrapper}`"));
    given
        .into_iter()
        .find_map(|(_, inner)| match inner {
            Value::Object(inner) => Some(inner),
            _ => None,
        })
        .unwrap_or_default()
}

/// The argument of the tool that `name` can only mean, if that is not given.
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
