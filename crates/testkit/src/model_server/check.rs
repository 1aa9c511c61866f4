//! Checks that a conversation is complete: each call has its result, each result its call.

use std::collections::BTreeSet;

use serde_json::Value;

/// What is wrong with the messages of a request; `None` if nothing is.
pub(super) fn violation(body: &Value) -> Option<String> {
    let Some(messages) = body.get("messages").and_then(Value::as_array) else {
        return Some("messages is missing".to_owned());
    };
    if messages.is_empty() {
        return Some("messages is empty".to_owned());
    }
    let mut open = BTreeSet::new();
    let mut seen = BTreeSet::new();
    for (position, message) in messages.iter().enumerate() {
        let role = message.get("role").and_then(Value::as_str).unwrap_or_default();
        if role == "tool" {
            let id = text(message, "tool_call_id");
            if !open.remove(&id) {
                return Some(format!("message {position}: no open call `{id}` for this result"));
            }
            continue;
        }
        if let Some(id) = open.first() {
            return Some(format!("message {position} ({role}) comes before the result of call `{id}`"));
        }
        if !matches!(role, "system" | "developer" | "user" | "assistant") {
            return Some(format!("message {position} has the role `{role}`"));
        }
        let calls = message.get("tool_calls").and_then(Value::as_array);
        for call in calls.into_iter().flatten() {
            let id = text(call, "id");
            if id.is_empty() || !seen.insert(id.clone()) {
                return Some(format!("message {position}: the call id `{id}` is empty or used before"));
            }
            if let Some(wrong) = call_violation(call) {
                return Some(format!("message {position}, call `{id}`: {wrong}"));
            }
            open.insert(id);
        }
    }
    open.first().map(|id| format!("call `{id}` has no result"))
}

fn call_violation(call: &Value) -> Option<String> {
    if call.get("type").and_then(Value::as_str) != Some("function") {
        return Some("type is not `function`".to_owned());
    }
    let function = call.get("function")?;
    if text(function, "name").is_empty() {
        return Some("it has no name".to_owned());
    }
    let Some(arguments) = function.get("arguments").and_then(Value::as_str) else {
        return Some("arguments is no string".to_owned());
    };
    match serde_json::from_str::<Value>(arguments) {
        Ok(Value::Object(_)) => None,
        Ok(_) => Some("arguments is no JSON object".to_owned()),
        Err(e) => Some(format!("arguments is no JSON: {e}")),
    }
}

fn text(value: &Value, field: &str) -> String {
    value.get(field).and_then(Value::as_str).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::violation;
    use serde_json::{Value, json};

    fn call(id: &str, arguments: &str) -> Value {
        json!({"id": id, "type": "function", "function": {"name": "read", "arguments": arguments}})
    }

    fn check(messages: &Value, expect: Option<&str>) {
        let found = violation(&json!({"messages": messages}));
        match (&found, expect) {
            (None, None) => {}
            (Some(found), Some(part)) if found.contains(part) => {}
            _ => panic!("{messages}: {found:?}, expected {expect:?}"),
        }
    }

    #[test]
    fn calls_and_results_belong_together() {
        let user = json!({"role": "user", "content": "hi"});
        let two = json!({"role": "assistant", "tool_calls": [call("a", "{}"), call("b", "{}")]});
        let result = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": "x"});
        check(&json!([user]), None);
        check(&json!([]), Some("empty"));
        check(&json!([user, two, result("b"), result("a"), user]), None);
        check(&json!([user, two, result("a")]), Some("`b` has no result"));
        check(&json!([user, two, result("a"), user]), Some("before the result of call `b`"));
        check(&json!([user, result("a")]), Some("no open call `a`"));
        check(&json!([user, two, result("a"), result("a")]), Some("no open call `a`"));
        check(&json!([{"role": "robot", "content": ""}]), Some("robot"));
        let broken = json!({"role": "assistant", "tool_calls": [call("a", "{")]});
        check(&json!([user, broken, result("a")]), Some("no JSON"));
        let array = json!({"role": "assistant", "tool_calls": [call("a", "[]")]});
        check(&json!([user, array, result("a")]), Some("no JSON object"));
    }
}
