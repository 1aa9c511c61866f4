use super::{apply, operations};
use crate::scim::error::ScimError;
use crate::scim::path::ENTERPRISE;
use serde_json::{Value, json};

fn ann() -> Value {
    json!({
        "userName": "ann@example.org", "active": true, "name": {"givenName": "Ann", "familyName": "Bo"},
        "emails": [{"value": "ann@example.org", "type": "work", "primary": true}],
    })
}

fn patched(user: &Value, sent: &Value) -> Result<Value, ScimError> {
    let mut user = user.as_object().unwrap().clone();
    for operation in operations(json!({"Operations": sent}).as_object().unwrap())? {
        apply(&mut user, &operation)?;
    }
    Ok(Value::Object(user))
}

/// What of Ann is different after it.
#[expect(clippy::needless_pass_by_value, reason = "shorter cases")]
fn check(sent: Value, expect: Value) {
    let after = patched(&ann(), &sent).unwrap_or_else(|error| panic!("{sent}: {error:?}"));
    let mut whole = ann();
    for (name, value) in expect.as_object().unwrap() {
        if value.is_null() {
            whole.as_object_mut().unwrap().remove(name);
        } else {
            whole[name] = value.clone();
        }
    }
    assert_eq!(after, whole, "{sent}");
}

#[test]
fn the_shapes_of_providers_are_understood() {
    let work = |value: &str| json!({"emails": [{"value": value, "type": "work", "primary": true}]});
    check(json!([{"op": "replace", "value": {"active": false}}]), json!({"active": false}));
    check(json!([{"op": "Replace", "path": "active", "value": "False"}]), json!({"active": false}));
    check(json!([{"op": "replace", "path": "active", "value": [{"value": "false"}]}]), json!({"active": false}));
    check(
        json!([{"op": "Add", "path": "emails[type eq \"work\"].value", "value": "new@example.org"}]),
        work("new@example.org"),
    );
    check(
        json!([{"op": "replace", "value": {"emails[type eq \"work\"].value": "new@example.org", "name.familyName": "Cy"}}]),
        json!({
            "emails": [{"value": "new@example.org", "type": "work", "primary": true}],
            "name": {"givenName": "Ann", "familyName": "Cy"},
        }),
    );
    check(
        json!([{"op": "Add", "path": "emails[type eq \"home\"].value", "value": "h@example.org"}]),
        json!({"emails": [
            {"value": "ann@example.org", "type": "work", "primary": true}, {"value": "h@example.org", "type": "home"},
        ]}),
    );
    check(
        json!([{"op": "add", "path": "emails", "value": [{"value": "b@example.org", "primary": true}]}]),
        json!({"emails": [{"value": "ann@example.org", "type": "work"}, {"value": "b@example.org", "primary": true}]}),
    );
    check(json!([{"op": "remove", "path": "emails[type eq \"work\"]"}]), json!({"emails": null}));
    check(json!([{"op": "remove", "path": "name.familyName"}]), json!({"name": {"givenName": "Ann"}}));
    check(
        json!([{"op": "replace", "path": "name", "value": {"givenName": "An"}}]),
        json!({
            "name": {"givenName": "An", "familyName": "Bo"},
        }),
    );
    check(
        json!([{"op": "Add", "path": format!("{ENTERPRISE}:department"), "value": "R&D"}]),
        json!({ENTERPRISE: {"department": "R&D"}}),
    );
    check(
        json!([{"op": "add", "value": {format!("{ENTERPRISE}:manager"): "1", ENTERPRISE: {"division": "x"}}}]),
        json!({ENTERPRISE: {"manager": {"value": "1"}, "division": "x"}}),
    );
    check(json!([{"op": "Replace", "path": format!("{ENTERPRISE}:manager"), "value": ""}]), json!({}));
    // Kept by nobody, and no mistake.
    check(json!([{"op": "add", "path": "phoneNumbers[type eq \"work\"].value", "value": "1"}]), json!({}));
    check(json!([{"op": "replace", "value": {"id": "7", "schemas": [], "unknown": 1, "title": null}}]), json!({}));
    check(json!([{"op": "replace", "path": "title", "value": "Dr"}, {"op": "remove", "path": "title"}]), json!({}));
}

#[test]
fn mistakes_are_told_apart() {
    for (sent, scim_type) in [
        (json!([]), "invalidSyntax"),
        (json!([1]), "invalidSyntax"),
        (json!([{"op": "move", "path": "title", "value": "x"}]), "invalidSyntax"),
        (json!([{"path": "title", "value": "x"}]), "invalidSyntax"),
        (json!([{"op": "remove"}]), "noTarget"),
        (json!([{"op": "replace", "value": "x"}]), "invalidValue"),
        (json!([{"op": "replace", "path": 7, "value": "x"}]), "invalidPath"),
        (json!([{"op": "replace", "path": "nothing", "value": "x"}]), "invalidPath"),
        (json!([{"op": "replace", "path": "title.x", "value": "x"}]), "invalidPath"),
        (json!([{"op": "replace", "path": "name.x", "value": "x"}]), "invalidPath"),
        (json!([{"op": "replace", "path": "emails[type eq \"work\"].x", "value": "x"}]), "invalidPath"),
        (json!([{"op": "replace", "path": "emails[type eq", "value": "x"}]), "invalidPath"),
        (json!([{"op": "replace", "path": "emails[value eq \"no@x\"].type", "value": "home"}]), "noTarget"),
        (json!([{"op": "replace", "path": "id", "value": "x"}]), "mutability"),
        (json!([{"op": "remove", "path": "userName"}]), "mutability"),
        (json!([{"op": "replace", "path": "active", "value": "perhaps"}]), "invalidValue"),
        (json!([{"op": "replace", "path": "title", "value": {"x": 1}}]), "invalidValue"),
        (json!([{"op": "add", "path": "emails[type eq \"home\"].value", "value": ""}]), "invalidValue"),
    ] {
        let refused = patched(&ann(), &sent).unwrap_err();
        assert_eq!((refused.status, refused.scim_type), (400, Some(scim_type)), "{sent}: {}", refused.detail);
    }
}
