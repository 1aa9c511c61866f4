//! Calls written as Python: `[read(path="a"), list()]`, `print(default_api.read(path="a"))`.
//!
//! Source: Llama 3.2 and 4 model cards ("pythonic" calls), Gemma 3 function calling guide
//! (ai.google.dev/gemma/docs/capabilities/function-calling), LFM2 model card.

use super::call::Cx;
use crate::json::{Loose, strip_fence};
use serde_json::{Map, Value};

/// Reads the calls of `body`, in a list or one after the other.
pub(crate) fn python_calls(body: &str, cx: &mut Cx<'_>) {
    let mut loose = Loose::new(strip_fence(body), &[]);
    let before = cx.found.items.len();
    loop {
        loose.blanks();
        while [',', ';', '[', ']', ')'].iter().any(|c| loose.eat(*c)) {
            loose.blanks();
        }
        if loose.rest().is_empty() {
            return;
        }
        let from = loose.pos;
        let Ok(word) = loose.word() else {
            return rest(&loose, before, from, body, cx);
        };
        loose.blanks();
        if loose.eat('=') || (word == "print" && loose.eat('(')) {
            continue;
        }
        if !loose.eat('(') {
            return rest(&loose, before, from, body, cx);
        }
        let name = word.strip_suffix(".call").unwrap_or(word);
        match arguments(&mut loose, name, cx) {
            Ok(map) => cx.call(name, map, false),
            Err(error) => {
                let message = crate::grammar::broken_arguments(&error);
                return cx.broken(name, &body[from.min(body.len())..], &message);
            }
        }
    }
}

/// What follows is no call.
fn rest(_: &Loose<'_>, before: usize, from: usize, body: &str, cx: &mut Cx<'_>) {
    if cx.found.items.len() > before {
        cx.found.note("text after a call was ignored");
    } else {
        let raw = strip_fence(body).get(from..).unwrap_or(body);
        cx.broken("", raw, "there is no call of the form `name(argument=value)`");
    }
}

/// After the opening parenthesis, up to and with the closing one.
fn arguments(loose: &mut Loose<'_>, name: &str, cx: &Cx<'_>) -> Result<Map<String, Value>, String> {
    let mut map = Map::new();
    loop {
        loose.blanks();
        while loose.eat(',') {
            loose.blanks();
        }
        if loose.eat(')') {
            return Ok(map);
        }
        if loose.rest().is_empty() {
            return Err("they break off".to_owned());
        }
        let from = loose.pos;
        let key = loose.word().ok().map(str::to_owned);
        loose.blanks();
        let key = key.filter(|_| loose.eat('='));
        if key.is_none() {
            loose.pos = from;
        }
        let key = match key {
            Some(key) => key,
            None => nth(name, map.len(), cx).ok_or("an argument has no name")?,
        };
        let value = loose.value()?;
        map.insert(key, value);
    }
}

/// The name of the `n`th argument.
fn nth(name: &str, n: usize, cx: &Cx<'_>) -> Option<String> {
    let name = cx.tools.name(name);
    let parameters = cx.tools.parameters(&name)?;
    parameters["properties"].as_object()?.keys().nth(n).cloned()
}
