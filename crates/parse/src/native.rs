//! Assembles calls from the pieces in the provider's own field.

use super::grammar::{Found, Read};
use super::json::repair;
use super::out::Sink;
use super::tool_index::ToolIndex;
use serde_json::{Map, Value};
use steward_core::tool::CallSource;

#[derive(Debug, Default)]
pub(crate) struct Native {
    calls: Vec<Piece>,
}

#[derive(Debug, Default)]
struct Piece {
    index: usize,
    id: String,
    name: String,
    arguments: String,
    signature: Option<String>,
}

impl Native {
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Adds a piece. Some servers give every parallel call the index 0, so that only a new id or name tells them apart.
    pub fn push(
        &mut self,
        (index, id, name): (usize, Option<&str>, Option<&str>),
        arguments: &str,
        tools: &ToolIndex,
        sink: &mut Sink,
    ) {
        let id = id.unwrap_or("");
        let name = name.map_or("", str::trim);
        let open = self.calls.iter().rposition(|call| call.index == index);
        let same = open.filter(|&at| {
            let call = &self.calls[at];
            let other_id = !id.is_empty() && !call.id.is_empty() && call.id != id;
            let other_name = !name.is_empty() && !call.name.is_empty() && call.name != name;
            !other_id && !other_name
        });
        let at = same.unwrap_or_else(|| {
            self.calls.push(Piece { index, ..Piece::default() });
            self.calls.len() - 1
        });
        let call = &mut self.calls[at];
        if call.id.is_empty() {
            id.clone_into(&mut call.id);
        }
        if call.name.is_empty() && !name.is_empty() {
            name.clone_into(&mut call.name);
            sink.call_started(&tools.name(name));
        }
        call.arguments.push_str(arguments);
    }

    pub fn sign(&mut self, index: usize, signature: &str) {
        if let Some(call) = self.calls.iter_mut().rfind(|call| call.index == index) {
            call.signature = Some(signature.to_owned());
        }
    }

    /// In the order in which the calls are found.
    pub fn signatures(&self) -> Vec<Option<String>> {
        self.calls.iter().map(|call| call.signature.clone()).collect()
    }

    pub fn finish(self, tools: &ToolIndex, cut: bool) -> Found {
        let mut found = Found::default();
        for piece in self.calls {
            let name = tools.name(&piece.name);
            let id = Some(piece.id).filter(|id| !id.is_empty());
            if name.is_empty() {
                found.broken(id, name, &piece.arguments, "the call names no tool");
                continue;
            }
            let read = arguments(&piece.arguments, cut);
            found.read((id, name), (&piece.arguments, read), "arguments", (CallSource::Native, 1.0));
        }
        found
    }
}

/// Arguments as an object. No text means no arguments; some models quote the object.
pub(crate) fn arguments(raw: &str, cut: bool) -> Read {
    if raw.trim().is_empty() {
        let nothing = (Value::Object(Map::new()), Vec::new());
        return if cut { Err("they were cut off before they began".to_owned()) } else { Ok(nothing) };
    }
    let repaired = repair(raw, cut)?;
    as_object(repaired.value, repaired.fixes, cut)
}

/// `value` as an object; a string is read as JSON.
pub(crate) fn as_object(value: Value, mut fixes: Vec<&'static str>, cut: bool) -> Read {
    match value {
        Value::Object(_) => Ok((value, fixes)),
        Value::Null => Ok((Value::Object(Map::new()), fixes)),
        Value::String(inner) if inner.trim_start().starts_with('{') => {
            let repaired = repair(&inner, cut)?;
            fixes.push("unquoted the arguments");
            fixes.extend(repaired.fixes);
            match repaired.value {
                Value::Object(_) => Ok((repaired.value, fixes)),
                _ => Err("they are no JSON object".to_owned()),
            }
        }
        _ => Err("they are no JSON object".to_owned()),
    }
}
