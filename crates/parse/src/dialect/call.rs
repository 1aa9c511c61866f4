//! Reads JSON objects as calls, by the many names that models give to the parts.

use super::Dialect;
use crate::grammar::{Call, Found};
use crate::json::{Scanner, Token, repair, strip_fence};
use crate::native::as_object;
use crate::tool_index::ToolIndex;
use serde_json::{Map, Value};
use steward_core::tool::CallSource;

/// Confidence of a call in the model's own form.
const SURE: f32 = 0.9;
/// The same for a call that had to be repaired.
const MENDED: f32 = 0.75;

/// Command R's word for answering without a tool.
const NO_TOOL: &str = "directly_answer";

const NAMES: &[&str] = &["name", "tool_name", "function_name", "function", "tool", "recipient_name", "action"];
const ARGUMENTS: &[&str] =
    &["arguments", "parameters", "args", "input", "action_input", "tool_input", "params", "kwargs", "inputs"];
const IDS: &[&str] = &["id", "call_id", "tool_call_id"];
/// Keys beside name and arguments that are no arguments.
const BESIDE: &[&str] = &["type", "index", "thought", "reasoning", "description"];

pub(crate) struct Cx<'a> {
    pub tools: &'a ToolIndex,
    pub found: &'a mut Found,
    pub dialect: Dialect,
    /// Whether the block had its closing.
    pub closed: bool,
    /// Whether the reply ran into its token limit.
    pub cut: bool,
}

impl Cx<'_> {
    /// Whether the end of the block may be missing.
    pub fn may_be_cut(&self) -> bool {
        self.cut && !self.closed
    }

    pub fn call(&mut self, name: &str, arguments: Map<String, Value>, mended: bool) {
        self.add(None, name, Value::Object(arguments), mended, false);
    }

    /// A call whose form gives all arguments as text.
    pub fn call_untyped(&mut self, name: &str, arguments: Map<String, Value>, mended: bool) {
        self.add(None, name, Value::Object(arguments), mended, true);
    }

    fn add(&mut self, id: Option<String>, name: &str, arguments: Value, mended: bool, untyped: bool) {
        let name = self.tools.name(name);
        if name.is_empty() {
            return self.broken("", &arguments.to_string(), "the call names no tool");
        }
        if self.dialect == Dialect::CommandR && name.replace('-', "_") == NO_TOOL {
            return self.found.note(format!("`{name}` means no call"));
        }
        if self.tools.resolve(&name).is_none() {
            self.found.note(format!("`{name}` is no known tool"));
        }
        let marker = self.dialect == Dialect::Marker;
        let (source, confidence) = match (mended, marker) {
            (true, _) => (CallSource::Repaired, MENDED),
            (false, true) => (CallSource::Marker, 0.8),
            (false, false) => (CallSource::Dialect, SURE),
        };
        self.found.call(Call { id, untyped, ..Call::new(name, arguments, source, confidence) });
    }

    /// A call whose arguments are JSON text.
    pub fn call_text(&mut self, id: Option<String>, name: &str, raw: &str) {
        let name = self.tools.name(name);
        if name.is_empty() {
            return self.broken("", raw, "the call names no tool");
        }
        match crate::native::arguments(strip_fence(raw), self.may_be_cut()) {
            Ok((arguments, fixes)) => {
                for fix in &fixes {
                    self.found.note(format!("arguments of `{name}`: {fix}"));
                }
                let mended = fixes.iter().any(|fix| !fix.contains("fence") && !fix.contains("unquoted"));
                self.add(id, &name, arguments, mended, false);
            }
            Err(error) => self.found.unreadable(id, name, raw.trim(), &error),
        }
    }

    pub fn unreadable(&mut self, name: &str, raw: &str, error: &str) {
        let name: String = name.chars().take(64).collect();
        let name = self.tools.name(&name);
        self.found.unreadable(None, name, raw.trim(), error);
    }

    pub fn broken(&mut self, name: &str, raw: &str, error: &str) {
        let name = self.tools.name(name);
        self.found.broken(None, name, raw.trim(), error);
    }
}

pub(crate) type Told = (Option<String>, String, Value);

/// A call: `{"name": …, "arguments": …}`, `{"type": "function", "function": {…}}` or `{"<tool>": {…}}`.
fn as_call(object: &Map<String, Value>, tools: &ToolIndex) -> Option<Told> {
    let id = IDS.iter().find_map(|key| object.get(*key)?.as_str()).map(str::to_owned);
    if let Some(inner) = object.get("function").and_then(Value::as_object) {
        let (inner_id, name, arguments) = as_call(inner, tools)?;
        return Some((id.or(inner_id), name, arguments));
    }
    let named = NAMES.iter().find_map(|key| Some((*key, object.get(*key)?.as_str()?)));
    if let Some((name_key, name)) = named {
        let given = ARGUMENTS.iter().find_map(|key| object.get(*key));
        let arguments = given.cloned().unwrap_or_else(|| {
            let rest = object
                .iter()
                .filter(|(key, _)| *key != name_key && !IDS.contains(&key.as_str()) && !BESIDE.contains(&key.as_str()));
            Value::Object(rest.map(|(key, value)| (key.clone(), value.clone())).collect())
        });
        return Some((id, name.to_owned(), arguments));
    }
    if object.len() != 1 {
        return None;
    }
    let (name, arguments) = object.iter().next()?;
    let known = tools.resolve(name).is_some() && arguments.is_object();
    known.then(|| (id, name.clone(), arguments.clone()))
}

/// Whether the value consists of nothing but calls of known tools with arguments.
pub(crate) fn looks_like_call(value: &Value, tools: &ToolIndex) -> bool {
    match value {
        Value::Array(items) => {
            !items.is_empty() && items.iter().all(|item| item.is_object() && looks_like_call(item, tools))
        }
        Value::Object(object) => {
            let holder = object.get("function").and_then(Value::as_object).unwrap_or(object);
            let given = holder.len() == 1 || ARGUMENTS.iter().any(|key| holder.contains_key(*key));
            given
                && as_call(object, tools).is_some_and(|(_, name, arguments)| {
                    let arguments = arguments.as_object();
                    tools.resolve_call(&name, arguments).is_some()
                })
        }
        _ => false,
    }
}

/// Of one list in a reply.
const MOST_CALLS: usize = 200;

pub(crate) fn json_calls(value: Value, raw: &str, mended: bool, cx: &mut Cx<'_>) {
    match value {
        Value::Array(items) => {
            // Each keeps its own text only: the whole list once for each item would be its length squared.
            let alone = items.len() == 1;
            if items.len() > MOST_CALLS {
                cx.found.note(format!("{} calls in one list: only {MOST_CALLS} were read", items.len()));
            }
            for item in items.into_iter().take(MOST_CALLS) {
                let own = if alone { raw.to_owned() } else { item.to_string() };
                json_calls(item, &own, mended, cx);
            }
        }
        Value::Object(mut object) => {
            if let Some(calls @ Value::Array(_)) = object.remove("tool_calls") {
                return json_calls(calls, raw, mended, cx);
            }
            let Some((id, name, arguments)) = as_call(&object, cx.tools).filter(|(_, name, _)| !name.trim().is_empty())
            else {
                return cx.broken("", raw, "each call must be an object with `name` and `arguments`");
            };
            match as_object(arguments, Vec::new(), false) {
                Ok((arguments, fixes)) => {
                    let mended = mended || fixes.iter().any(|fix| !fix.contains("unquoted"));
                    cx.add(id, &name, arguments, mended, false);
                }
                Err(error) => {
                    let name = cx.tools.name(&name);
                    cx.found.unreadable(id, name, raw, &error);
                }
            }
        }
        _ => cx.broken("", raw, "each call must be an object with `name` and `arguments`"),
    }
}

/// Reads one or more JSON values that are calls, whatever separates them.
pub(super) fn read_json(body: &str, cx: &mut Cx<'_>) {
    let mut rest = strip_fence(body);
    if rest.is_empty() {
        return cx.found.note("a block of calls was empty");
    }
    let mut any = false;
    while !rest.is_empty() {
        let len = value_len(rest);
        let raw = &rest[..len];
        if !raw.starts_with(['{', '[']) {
            if any {
                cx.found.note("text after a call was ignored");
            } else {
                cx.broken("", raw, "the call is no JSON object with `name` and `arguments`");
            }
            return;
        }
        // Only the last value can have been cut.
        let last = len == rest.len();
        match repair(raw, last && cx.may_be_cut()) {
            Ok(read) => {
                for fix in &read.fixes {
                    cx.found.note(format!("a call: {fix}"));
                }
                json_calls(read.value, raw, !read.fixes.is_empty(), cx);
            }
            Err(error) => return cx.unreadable(name_within(raw), raw, &error),
        }
        any = true;
        rest = rest[len..].trim_start_matches(|c: char| c.is_whitespace() || matches!(c, ';' | ','));
    }
}

/// The length of the JSON value at the start of `text`; all of it if that is no JSON.
fn value_len(text: &str) -> usize {
    let mut scanner = Scanner::new(0);
    loop {
        match scanner.next(text) {
            Token::End => return scanner.pos,
            Token::Error | Token::More => return text.len(),
            _ => {}
        }
    }
}

/// The name in a call that can't be read.
pub(crate) fn name_within(raw: &str) -> &str {
    let after = raw.split_once("\"name\"").map_or("", |(_, rest)| rest);
    let quoted = after.trim_start().strip_prefix(':').map_or("", str::trim_start);
    quoted.strip_prefix('"').and_then(|rest| rest.split_once('"')).map_or("", |(name, _)| name)
}
