//! `PATCH` of an agent: a JSON merge patch (RFC 7396).

use super::change::change;
use crate::auth::Person;
use crate::dto::agent::AgentInput;
use crate::dto::published;
use crate::extract::{Body, PathId};
use crate::problem::Problem;
use crate::state::ApiState;
use axum::Json;
use axum::extract::State;
use serde_json::{Map, Value};
use steward_core::AgentId;
use steward_core::agent::Agent;
use steward_core::ports::Role;

/// Changes the named fields of an agent; null takes a field back to its default. Objects such as `metadata` are
/// merged key by key. The names of AOS such as `system_prompt` are taken too.
#[utoipa::path(patch, path = "/api/universal-agents/{id}", tag = "agents", operation_id = "patchAgent",
    params(("id" = Uuid, Path)), request_body(content = Object, description = "Fields of AgentInput"),
    responses((status = 200, description = "Changed", body = Agent)))]
pub(crate) async fn patch(
    State(state): State<ApiState>,
    person: Person,
    PathId(id): PathId<AgentId>,
    Body(mut patch): Body<Map<String, Value>>,
) -> Result<Json<Agent>, Problem> {
    person.may(Role::Operator)?;
    published::agent(&mut patch)?;
    let patch = Value::Object(patch);
    let agent = change(&state, id, |before| {
        let mut whole = serde_json::to_value(before).unwrap_or_default();
        if let Some(fields) = whole.as_object_mut() {
            fields.remove("id");
        }
        merge(&mut whole, &patch);
        serde_json::from_value::<AgentInput>(whole).map_err(|error| {
            Problem::invalid("", format!("the agent would not be one: {error}"), "see AgentInput in the API's document")
        })
    })
    .await?;
    Ok(Json(agent))
}

fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = Value::Object(serde_json::Map::new());
    }
    let Some(target) = target.as_object_mut() else {
        return;
    };
    for (key, value) in patch {
        if value.is_null() {
            target.remove(key);
        } else {
            merge(target.entry(key.clone()).or_insert(Value::Null), value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::merge;
    use serde_json::json;

    #[test]
    fn fields_are_merged_and_null_removes() {
        let mut whole = json!({"name": "a", "metadata": {"x": 1, "y": 2}, "tools": ["read"]});
        merge(&mut whole, &json!({"metadata": {"x": null, "z": {"deep": true}}, "tools": ["write"], "deep": null}));
        assert_eq!(whole, json!({"name": "a", "metadata": {"y": 2, "z": {"deep": true}}, "tools": ["write"]}));
    }
}
