//! What this side of SCIM can do, as providers ask for it.

use super::ScimCaller;
use super::error::{ScimError, ScimResult};
use super::query::ScimQuery;
use serde_json::{Map, Value, json};
use std::sync::LazyLock;

static CONFIG: &str = include_str!("../../data/scim/config.json");
static TYPES: LazyLock<Vec<Value>> = LazyLock::new(|| list(include_str!("../../data/scim/types.json")));
static SCHEMAS: LazyLock<Vec<Value>> = LazyLock::new(|| list(include_str!("../../data/scim/schemas.json")));

/// The files are tested to be such lists.
fn list(text: &str) -> Vec<Value> {
    serde_json::from_str(text).unwrap_or_default()
}

impl ScimCaller {
    pub fn service_provider_config(&self) -> Value {
        let mut config: Map<String, Value> = serde_json::from_str(CONFIG).unwrap_or_default();
        let meta = json!({
            "resourceType": "ServiceProviderConfig", "location": format!("{}/ServiceProviderConfig", self.base),
        });
        config.insert("meta".to_owned(), meta);
        Value::Object(config)
    }

    pub fn resource_types(&self) -> Value {
        let all: Vec<Value> = TYPES.iter().map(|one| self.located(one, "ResourceType")).collect();
        ScimQuery::default().listed(all.len() as u64, &all)
    }

    pub fn resource_type(&self, id: &str) -> ScimResult<Value> {
        let found = TYPES.iter().find(|one| one["id"] == json!(id));
        found.map(|one| self.located(one, "ResourceType")).ok_or_else(|| ScimError::not_found(id))
    }

    pub fn schemas(&self) -> Value {
        let all: Vec<Value> = SCHEMAS.iter().map(|one| self.located(one, "Schema")).collect();
        ScimQuery::default().listed(all.len() as u64, &all)
    }

    pub fn schema(&self, id: &str) -> ScimResult<Value> {
        let found = SCHEMAS.iter().find(|one| one["id"].as_str().is_some_and(|own| own.eq_ignore_ascii_case(id)));
        found.map(|one| self.located(one, "Schema")).ok_or_else(|| ScimError::not_found(id))
    }

    fn located(&self, one: &Value, kind: &str) -> Value {
        let mut one = one.clone();
        let id = one["id"].as_str().unwrap_or_default();
        one["meta"] = json!({"resourceType": kind, "location": format!("{}/{kind}s/{id}", self.base)});
        one
    }
}

#[cfg(test)]
mod tests {
    use super::{CONFIG, SCHEMAS, TYPES};
    use crate::scim::attributes::{Kind, known};
    use serde_json::{Map, Value};

    #[test]
    fn the_files_say_what_is_kept() {
        assert!(serde_json::from_str::<Map<String, Value>>(CONFIG).is_ok());
        assert_eq!((TYPES.len(), SCHEMAS.len()), (2, 3));
        for (schema, enterprise) in [(0, false), (2, true)] {
            for attribute in SCHEMAS[schema]["attributes"].as_array().into_iter().flatten() {
                let name = attribute["name"].as_str().unwrap_or_default();
                let found = known(enterprise, name);
                assert!(found.is_some_and(|(own, kind)| own == name && kind != Kind::Dropped), "{name}");
            }
        }
    }
}
