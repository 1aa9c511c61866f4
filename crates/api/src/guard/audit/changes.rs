//! What a write changed, for its entry: what is shown at its address before and after it. Answers hold no secrets, so entries
//! hold none; texts that people write are only named.

use axum::Router;
use axum::body::{Body, HttpBody as _};
use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, header};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use tower::ServiceExt as _;

use crate::headers::content_type;

/// Longest answer that is compared, bytes.
const MAX_SHOWN: u64 = 512 * 1024;
/// Changes that an entry names; it says how many there are besides.
const MAX_CHANGES: usize = 40;
/// Longest value that stands in an entry, characters.
const MAX_VALUE: usize = 64;
/// Objects within each other.
const MAX_DEPTH: usize = 5;
/// Where others keep what they say; that they changed it is all that an entry tells.
const PRIVATE: [&str; 4] = ["/api/conversations", "/api/files", "/api/documents", "/api/runs"];
/// Parts of the names of fields whose values are never written down, whatever an answer may show.
const SECRET: [&str; 5] = ["secret", "password", "token", "key", "credential"];

/// What the handlers show at an address, to whoever is about to change it.
pub(super) struct Shown(Router);

impl Shown {
    /// `handlers`: without the guards around them.
    pub fn new(handlers: Router) -> Self {
        Self(handlers)
    }

    /// `None`: nothing is shown there, or nothing to compare.
    pub async fn look(&self, parts: &Parts) -> Option<Value> {
        let path = parts.uri.path();
        let compared = matches!(parts.method, Method::PUT | Method::PATCH)
            && path.starts_with("/api/")
            && !PRIVATE.iter().any(|begin| path.starts_with(begin));
        if !compared {
            return None;
        }
        let mut request = Request::builder().uri(path).body(Body::empty()).ok()?;
        *request.headers_mut() = headers_of(&parts.headers);
        *request.extensions_mut() = parts.extensions.clone();
        let answer = self.0.clone().oneshot(request).await.ok()?;
        let short = answer.body().size_hint().exact().is_some_and(|length| length <= MAX_SHOWN);
        if !answer.status().is_success() || !short || content_type(answer.headers()) != "application/json" {
            return None;
        }
        let bytes = axum::body::to_bytes(answer.into_body(), usize::MAX).await.ok()?;
        serde_json::from_slice(&bytes).ok()
    }
}

/// Who asks, and where.
fn headers_of(all: &HeaderMap) -> HeaderMap {
    let mut kept = HeaderMap::new();
    for name in [header::AUTHORIZATION, header::COOKIE, header::HOST, header::ORIGIN] {
        kept.extend(all.get(&name).map(|value| (name, value.clone())));
    }
    kept
}

/// A line for each field that changed.
pub(super) fn changes(before: &Value, after: &Value) -> Vec<String> {
    let mut found = Vec::new();
    compare("", before, after, 0, &mut found);
    let more = found.len().saturating_sub(MAX_CHANGES);
    if more > 0 {
        found.truncate(MAX_CHANGES);
        found.push(format!("and {more} more"));
    }
    found
}

fn compare(path: &str, before: &Value, after: &Value, depth: usize, found: &mut Vec<String>) {
    if before == after {
        return;
    }
    match (before, after) {
        (Value::Object(before), Value::Object(after)) if depth < MAX_DEPTH => {
            compare_objects(path, before, after, depth, found);
        }
        (Value::Array(before), Value::Array(after)) if depth < MAX_DEPTH => {
            compare_lists(path, before, after, depth, found);
        }
        _ => found.push(match (value_of(path, before), value_of(path, after)) {
            (Some(before), Some(after)) => format!("{path}: {before} → {after}"),
            _ => path.to_owned(),
        }),
    }
}

fn compare_objects(
    path: &str,
    before: &Map<String, Value>,
    after: &Map<String, Value>,
    depth: usize,
    found: &mut Vec<String>,
) {
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    for name in names.into_iter().filter(|name| *name != "updated_at" && *name != "changed_at") {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        let (before, after) = (before.get(name), after.get(name));
        compare(&path, before.unwrap_or(&Value::Null), after.unwrap_or(&Value::Null), depth + 1, found);
    }
}

/// Things with ids are compared by these, others as members of a set.
fn compare_lists(path: &str, before: &[Value], after: &[Value], depth: usize, found: &mut Vec<String>) {
    let begun = found.len();
    let same = |one: &Value, all: &[Value]| all.iter().find(|other| *other == one || is_same(one, other)).cloned();
    for one in before {
        match same(one, after) {
            Some(now) => compare(&format!("{path}[{}]", name_of(one)), one, &now, depth + 1, found),
            None => found.push(format!("{path}: − {}", name_of(one))),
        }
    }
    let added = after.iter().filter(|one| same(one, before).is_none());
    found.extend(added.map(|one| format!("{path}: + {}", name_of(one))));
    if found.len() == begun {
        found.push(format!("{path}: another order"));
    }
}

fn is_same(one: &Value, other: &Value) -> bool {
    ["id", "name"]
        .iter()
        .find_map(|field| one.get(field))
        .is_some_and(|id| ["id", "name"].iter().any(|field| other.get(field) == Some(id)))
}

fn name_of(one: &Value) -> String {
    let named = ["id", "name"].iter().find_map(|field| one.get(field)).unwrap_or(one);
    value_of("", named).unwrap_or_else(|| "…".to_owned())
}

/// `None`: a text that is somebody's words, or may be a secret.
fn value_of(path: &str, value: &Value) -> Option<String> {
    let field = path.rsplit('.').next().unwrap_or_default().to_lowercase();
    if SECRET.iter().any(|part| field.contains(part)) && !field.ends_with("_id") {
        return None;
    }
    match value {
        Value::Null => Some("none".to_owned()),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        Value::String(text) => {
            let is_word = |c: char| c.is_alphanumeric() || "_-.:/@*".contains(c);
            (text.chars().count() <= MAX_VALUE && text.chars().all(is_word)).then(|| format!("“{text}”"))
        }
        Value::Array(items) if items.is_empty() => Some("empty".to_owned()),
        Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::changes;
    use serde_json::json;

    #[test]
    fn fields_are_named_with_what_they_were() {
        let before = json!({"name": "shop", "instructions": "Be kind to all.", "budget": {"steps": 10}, "version": 1,
            "tools": ["a", "b"], "api_key": "sk-1", "agent_id": null, "updated_at": 1});
        let after = json!({"name": "shop-2", "instructions": "Be rude to all.", "budget": {"steps": 20}, "version": 2,
            "tools": ["b", "c"], "api_key": "sk-2", "agent_id": "7", "updated_at": 2});
        let expect = [
            "agent_id: none → “7”",
            "api_key",
            "budget.steps: 10 → 20",
            "instructions",
            "name: “shop” → “shop-2”",
            "tools: − “a”",
            "tools: + “c”",
            "version: 1 → 2",
        ];
        assert_eq!(changes(&before, &after), expect);
        assert!(changes(&before, &before).is_empty());
    }

    #[test]
    fn things_are_told_by_their_ids() {
        let rule = |id: &str, decision: &str| json!({"id": id, "decision": decision, "note": "a reason"});
        let before = json!({"rules": [rule("1", "deny"), rule("2", "ask")]});
        let after = json!({"rules": [rule("2", "allow"), rule("3", "deny")]});
        let expect = ["rules: − “1”", "rules[“2”].decision: “ask” → “allow”", "rules: + “3”"];
        assert_eq!(changes(&before, &after), expect);
        let turned = json!({"rules": [rule("2", "ask"), rule("1", "deny")]});
        assert_eq!(changes(&before, &turned), ["rules: another order"]);
    }

    #[test]
    fn many_changes_are_counted() {
        let before = json!((0..100).collect::<Vec<_>>());
        let found = changes(&before, &json!([1]));
        assert_eq!((found.len(), found.last().map(String::as_str)), (41, Some("and 59 more")));
    }
}
