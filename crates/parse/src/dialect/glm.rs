//! `<tool_call>name<arg_key>key</arg_key><arg_value>value</arg_value></tool_call>`.
//!
//! Source: chat templates of GLM-4.5 and GLM-4.6 and vLLM's `glm4_moe_tool_parser` (docs.vllm.ai). The
//! tag is the one of `hermes`, which hands over what begins with a name.

use super::call::Cx;
use super::rule::Rule;
use super::xml::{element, then};
use serde_json::{Map, Value};

pub(super) const RULES: &[Rule] = &[];

pub(super) fn read(body: &str, cx: &mut Cx<'_>) {
    let body = body.trim();
    let end = body.find(['\n', '<']).unwrap_or(body.len());
    let name = body[..end].trim();
    let mut map = Map::new();
    let mut rest = &body[end..];
    if !rest.trim().is_empty() && !rest.trim_start().starts_with("<arg_key>") {
        return cx.broken(name, body, "the call is no JSON object with `name` and `arguments`");
    }
    while let Some(key) = element(rest, ("<arg_key>", "", "</arg_key>"), |_| true) {
        let next = |after: &str| then(after, &["<arg_key>", "</tool_call>"]);
        let Some(value) =
            element(key.rest, ("<arg_value>", "", "</arg_value>"), next).filter(|value| value.closed && key.closed)
        else {
            return cx.broken(name, body, &crate::grammar::broken_arguments("they break off"));
        };
        map.insert(key.value.trim().to_owned(), Value::String(value.value.to_owned()));
        rest = value.rest;
    }
    cx.call_untyped(name, map, false);
}
