//! The OpenAPI document is what the studio's client is generated from: it changes on purpose only.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write;
use utoipa::PartialSchema;

const KEPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../web/openapi.json");

fn document() -> Value {
    serde_json::to_value(steward_api::document()).unwrap()
}

/// Method, path and operation of all.
fn operations(document: &Value) -> Vec<(String, String, Value)> {
    let mut all = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            if operation["responses"].is_object() {
                all.push((method.to_uppercase(), path.clone(), operation.clone()));
            }
        }
    }
    all
}

#[test]
fn the_kept_document_is_this_one() {
    let now = serde_json::to_string_pretty(&document()).unwrap() + "\n";
    if std::env::var_os("STEWARD_UPDATE_OPENAPI").is_some() {
        std::fs::write(KEPT, &now).unwrap();
    }
    let kept = std::fs::read_to_string(KEPT).unwrap_or_default();
    assert!(
        kept == now,
        "web/openapi.json is not the document of this API; if that is meant, run this test with STEWARD_UPDATE_OPENAPI=1"
    );
}

#[test]
fn every_operation_is_complete() {
    let document = document();
    let tags: BTreeSet<&str> =
        document["tags"].as_array().unwrap().iter().map(|tag| tag["name"].as_str().unwrap()).collect();
    let mut ids = BTreeSet::new();
    for (method, path, operation) in operations(&document) {
        let at = format!("{method} {path}");
        let id = operation["operationId"].as_str().unwrap_or_default();
        assert!(ids.insert(id.to_owned()), "{at}: `{id}` is not unique");
        assert!(!operation["summary"].as_str().unwrap_or_default().is_empty(), "{at} has no summary");
        let tag = operation["tags"][0].as_str().unwrap_or_default();
        assert!(tags.contains(tag), "{at}: the tag `{tag}` is not explained");
        let statuses: Vec<&String> = operation["responses"].as_object().unwrap().keys().collect();
        assert!(statuses.iter().any(|status| status.starts_with(['2', '3'])), "{at} has no success");
        assert!(statuses.iter().any(|status| *status == "503"), "{at}: {statuses:?}");
        let open = operation["security"].is_array();
        assert!(open || statuses.iter().any(|status| *status == "401"), "{at}: {statuses:?}");
    }
}

#[test]
fn every_reference_leads_somewhere() {
    fn walk(value: &Value, document: &Value, broken: &mut Vec<String>) {
        match value {
            Value::Object(map) => {
                if let Some(reference) = map.get("$ref").and_then(Value::as_str)
                    && document.pointer(reference.trim_start_matches('#')).is_none()
                {
                    broken.push(reference.to_owned());
                }
                map.values().for_each(|value| walk(value, document, broken));
            }
            Value::Array(items) => items.iter().for_each(|value| walk(value, document, broken)),
            _ => {}
        }
    }
    let document = document();
    let mut broken = Vec::new();
    walk(&document, &document, &mut broken);
    assert_eq!(broken, Vec::<String>::new());
}

/// Each word of the document is one that the type reads, and writes again.
fn check<T: PartialSchema + Serialize + DeserializeOwned>() {
    let documented = json!(T::schema())["enum"].as_array().unwrap().clone();
    assert!(documented.len() > 1);
    for word in documented {
        let read: T = serde_json::from_value(word.clone()).unwrap();
        assert_eq!(json!(read), word);
    }
}

#[test]
fn words_are_documented_as_they_are_written() {
    use steward_core::{
        agent, budget, credential, event, exam, message, model, package, policy, ports, receipts, routing, skill, tool,
    };
    check::<agent::PlanStyle>();
    check::<budget::Limit>();
    check::<budget::Preset>();
    check::<credential::CredentialKind>();
    check::<event::Mode>();
    check::<event::Origin>();
    check::<exam::CheckOutcome>();
    check::<exam::Grade>();
    check::<message::Role>();
    check::<model::Constrained>();
    check::<model::Provider>();
    check::<model::Purpose>();
    check::<model::Strategy>();
    check::<model::Wire>();
    check::<package::PackageState>();
    check::<package::Severity>();
    check::<policy::Decision>();
    check::<policy::RiskClass>();
    check::<ports::Breaker>();
    check::<ports::Period>();
    check::<ports::Role>();
    check::<ports::RunStatus>();
    check::<ports::UsageBy>();
    check::<receipts::Verdict>();
    check::<routing::Balance>();
    check::<routing::Hint>();
    check::<routing::Task>();
    check::<skill::SkillKind>();
    check::<tool::EffectClass>();
}

/// Calls `each` with every schema of the document and where it stands.
fn schemas(value: &Value, place: &str, each: &mut impl FnMut(&str, &Value)) {
    match value {
        Value::Object(map) => {
            each(place, value);
            map.iter().for_each(|(key, value)| schemas(value, &format!("{place}/{key}"), each));
        }
        Value::Array(items) => items.iter().for_each(|value| schemas(value, place, each)),
        _ => {}
    }
}

#[test]
fn what_the_document_says_fits_together() {
    let document = document();
    assert!(document["servers"][0]["url"].is_string());
    let mut wrong = Vec::new();
    schemas(&document, "", &mut |place, schema| {
        if let Some(default) = schema.get("default").filter(|_| !place.ends_with("/properties")) {
            let mut whole = schema.clone();
            // References lead to the components of this document.
            if schema.to_string().contains("\"$ref\"") {
                whole["components"] = document["components"].clone();
            }
            if !jsonschema::validator_for(&whole).unwrap().is_valid(default) {
                wrong.push(format!("{place}: the default {default} is none"));
            }
        }
        if schema["type"] == "array" && !schema["items"].is_object() {
            wrong.push(format!("{place}: an array without items"));
        }
    });
    for (method, path, operation) in operations(&document) {
        for (status, response) in operation["responses"].as_object().unwrap() {
            let kinds = response["content"].as_object().map(|kinds| kinds.keys().cloned().collect::<Vec<_>>());
            // A page for the browser that comes back from another server, and errors as GraphQL has them.
            let own = ["/api/mcp/callback", "/api/graphql"].contains(&path.as_str());
            if status.as_str() >= "400" && !own && kinds.is_some_and(|kinds| kinds != ["application/problem+json"]) {
                wrong.push(format!("{method} {path} {status}: an error that is no problem"));
            }
        }
        let statuses = &operation["responses"];
        if operation["requestBody"].is_object() && !statuses["404"].is_object() {
            wrong.push(format!("{method} {path}: what its body names may be missing"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The whole document is `web/openapi.json`; this is what a reviewer wants to see of a change.
#[test]
fn outline() {
    let mut outline = String::new();
    for (method, path, operation) in operations(&document()) {
        let statuses: Vec<&String> = operation["responses"].as_object().unwrap().keys().collect();
        let statuses: Vec<&str> = statuses.iter().map(|status| status.as_str()).collect();
        let id = operation["operationId"].as_str().unwrap_or_default();
        writeln!(outline, "{method} {path} ({id}): {}", statuses.join(" ")).unwrap();
    }
    insta::assert_snapshot!(outline);
}
