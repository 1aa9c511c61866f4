//! The attributes of users that are kept, with what may stand in them. Whatever else a provider sends of a person is not
//! needed here, and left out.

use super::error::{ScimError, ScimResult};
use super::path::{ENTERPRISE, USER};
use serde_json::{Map, Value, json};

/// Longest text of an attribute, characters.
const LONGEST: usize = 1000;
/// Most emails of a user.
const MOST_EMAILS: usize = 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Flag,
    /// An object with texts of these names.
    Object(&'static [&'static str]),
    Emails,
    /// Ours to say.
    ReadOnly,
    /// Known to SCIM, not kept.
    Dropped,
}

const NAME: Kind =
    Kind::Object(&["formatted", "familyName", "givenName", "middleName", "honorificPrefix", "honorificSuffix"]);
const MANAGER: Kind = Kind::Object(&["value", "displayName", "$ref"]);

const OF_USERS: [(&str, Kind); 26] = [
    ("userName", Kind::Text),
    ("externalId", Kind::Text),
    ("active", Kind::Flag),
    ("displayName", Kind::Text),
    ("name", NAME),
    ("emails", Kind::Emails),
    ("nickName", Kind::Text),
    ("profileUrl", Kind::Text),
    ("title", Kind::Text),
    ("userType", Kind::Text),
    ("preferredLanguage", Kind::Text),
    ("locale", Kind::Text),
    ("timezone", Kind::Text),
    ("id", Kind::ReadOnly),
    ("meta", Kind::ReadOnly),
    ("schemas", Kind::ReadOnly),
    ("groups", Kind::ReadOnly),
    // Nobody logs in with a password that another program knows.
    ("password", Kind::Dropped),
    ("phoneNumbers", Kind::Dropped),
    ("ims", Kind::Dropped),
    ("photos", Kind::Dropped),
    ("addresses", Kind::Dropped),
    ("entitlements", Kind::Dropped),
    ("roles", Kind::Dropped),
    ("x509Certificates", Kind::Dropped),
    ("$ref", Kind::ReadOnly),
];

const OF_ENTERPRISE: [(&str, Kind); 6] = [
    ("employeeNumber", Kind::Text),
    ("costCenter", Kind::Text),
    ("organization", Kind::Text),
    ("division", Kind::Text),
    ("department", Kind::Text),
    ("manager", MANAGER),
];

/// The attribute in its own case.
pub(super) fn known(enterprise: bool, name: &str) -> Option<(&'static str, Kind)> {
    let table: &[(&'static str, Kind)] = if enterprise { &OF_ENTERPRISE } else { &OF_USERS };
    table.iter().find(|(one, _)| one.eq_ignore_ascii_case(name)).copied()
}

/// What is kept of a whole user as a provider sends it, under the names that they have here.
pub(super) fn kept(sent: &Map<String, Value>) -> ScimResult<Map<String, Value>> {
    let mut kept = Map::new();
    for (name, value) in sent {
        if name.eq_ignore_ascii_case(ENTERPRISE) {
            let extension = extension(value)?;
            if !extension.is_empty() {
                kept.insert(ENTERPRISE.to_owned(), Value::Object(extension));
            }
        } else if let Some((name, kind)) = known(false, name)
            && let Some(value) = checked(name, kind, value)?
        {
            kept.insert(name.to_owned(), value);
        }
    }
    Ok(kept)
}

pub(super) fn extension(sent: &Value) -> ScimResult<Map<String, Value>> {
    let mut kept = Map::new();
    let Value::Object(sent) = sent else {
        return if sent.is_null() { Ok(kept) } else { Err(ScimError::value(format!("`{ENTERPRISE}` is an object"))) };
    };
    for (name, value) in sent {
        if let Some((name, kind)) = known(true, name)
            && let Some(value) = checked(name, kind, value)?
        {
            kept.insert(name.to_owned(), value);
        }
    }
    Ok(kept)
}

/// A value as it is kept; `None`: there is none.
pub(super) fn checked(name: &str, kind: Kind, value: &Value) -> ScimResult<Option<Value>> {
    if value.is_null() {
        return Ok(None);
    }
    match kind {
        Kind::ReadOnly | Kind::Dropped => Ok(None),
        Kind::Text => Ok(text(name, value)?.map(Value::String)),
        Kind::Flag => flag(name, value).map(|flag| Some(Value::Bool(flag))),
        Kind::Object(subs) => object(name, subs, value),
        Kind::Emails => emails(value),
    }
}

/// `None`: it is empty.
pub(super) fn text(name: &str, value: &Value) -> ScimResult<Option<String>> {
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        _ => return Err(ScimError::value(format!("`{name}` is a text"))),
    };
    if text.chars().count() > LONGEST || text.contains('\0') {
        return Err(ScimError::value(format!("`{name}` has at most {LONGEST} characters, none of them U+0000")));
    }
    Ok(Some(text).filter(|text| !text.is_empty()))
}

/// Some providers send it as a text.
pub(super) fn flag(name: &str, value: &Value) -> ScimResult<bool> {
    match value {
        Value::Bool(flag) => Ok(*flag),
        Value::String(text) if text.eq_ignore_ascii_case("true") => Ok(true),
        Value::String(text) if text.eq_ignore_ascii_case("false") => Ok(false),
        // A list of one, as some send it without a path.
        Value::Array(one) if one.len() == 1 && one[0].get("value").is_some() => flag(name, &one[0]["value"]),
        _ => Err(ScimError::value(format!("`{name}` is true or false"))),
    }
}

fn object(name: &str, subs: &[&str], value: &Value) -> ScimResult<Option<Value>> {
    let sent = match value {
        Value::Object(sent) => sent.clone(),
        // The id alone, as some send a manager.
        Value::String(id) if subs.contains(&"value") => Map::from_iter([("value".to_owned(), json!(id))]),
        _ => return Err(ScimError::value(format!("`{name}` is an object"))),
    };
    let mut kept = Map::new();
    for sub in subs {
        let found = sent.iter().find(|(one, value)| one.eq_ignore_ascii_case(sub) && !value.is_null());
        if let Some((_, value)) = found
            && let Some(text) = text(sub, value)?
        {
            kept.insert((*sub).to_owned(), Value::String(text));
        }
    }
    Ok((!kept.is_empty()).then_some(Value::Object(kept)))
}

fn emails(value: &Value) -> ScimResult<Option<Value>> {
    let sent = match value {
        Value::Array(all) => all.clone(),
        one => vec![one.clone()],
    };
    if sent.len() > MOST_EMAILS {
        return Err(ScimError::value(format!("a user has at most {MOST_EMAILS} emails")));
    }
    let kept = sent.iter().filter_map(|one| email(one).transpose()).collect::<Result<Vec<_>, _>>()?;
    Ok((!kept.is_empty()).then_some(Value::Array(kept)))
}

/// `None`: it has no address.
pub(super) fn email(value: &Value) -> ScimResult<Option<Value>> {
    let sent = match value {
        Value::Object(sent) => sent.clone(),
        Value::String(address) => Map::from_iter([("value".to_owned(), json!(address))]),
        _ => return Err(ScimError::value("`emails` is a list of objects with `value`")),
    };
    let mut kept = Map::new();
    for (name, value) in &sent {
        if value.is_null() {
            continue;
        }
        if name.eq_ignore_ascii_case("primary") {
            kept.insert("primary".to_owned(), Value::Bool(flag("primary", value)?));
        } else if let Some(name) = ["value", "type", "display"].into_iter().find(|one| one.eq_ignore_ascii_case(name))
            && let Some(text) = text(name, value)?
        {
            kept.insert(name.to_owned(), Value::String(text));
        }
    }
    Ok(kept.contains_key("value").then_some(Value::Object(kept)))
}

/// The schemas of a user with these attributes.
pub(super) fn schemas(attributes: &Map<String, Value>) -> Value {
    if attributes.contains_key(ENTERPRISE) { json!([USER, ENTERPRISE]) } else { json!([USER]) }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::{ENTERPRISE, kept};
    use serde_json::{Value, json};

    fn of(sent: &Value) -> Value {
        Value::Object(kept(sent.as_object().unwrap()).unwrap())
    }

    #[test]
    fn what_is_not_needed_is_not_kept() {
        let sent = json!({
            "schemas": ["x"], "USERNAME": " ann ", "active": "False", "password": "secret", "id": "7",
            "name": {"givenName": "Ann", "familyName": "", "other": "x"}, "emails": [{"value": "a@b", "Primary": "True"}, {}],
            "phoneNumbers": [{"value": "1"}], "title": null, "unknown": 1,
            ENTERPRISE: {"department": "R&D", "manager": "26118915", "other": 1},
        });
        let expect = json!({
            "userName": "ann", "active": false, "name": {"givenName": "Ann"},
            "emails": [{"value": "a@b", "primary": true}],
            ENTERPRISE: {"department": "R&D", "manager": {"value": "26118915"}},
        });
        assert_eq!(of(&sent), expect);
    }

    #[test]
    fn values_of_another_kind_are_refused() {
        for sent in [
            json!({"userName": ["a"]}),
            json!({"active": "perhaps"}),
            json!({"active": 1}),
            json!({"name": "Ann"}),
            json!({"emails": 7}),
            json!({"emails": [7]}),
            json!({"emails": [{"value": {"x": 1}}]}),
            json!({"emails": vec!["a@b"; 21]}),
            json!({"title": "x".repeat(1001)}),
            json!({"title": "a\u{0}b"}),
            json!({ENTERPRISE: "x"}),
            json!({ENTERPRISE: {"manager": [1]}}),
        ] {
            let refused = kept(sent.as_object().unwrap()).unwrap_err();
            assert_eq!((refused.status, refused.scim_type), (400, Some("invalidValue")), "{sent}");
        }
    }
}
