//! Users and groups of Steward as resources of SCIM, and the other way round.

use super::ScimCaller;
use super::attributes::schemas;
use super::error::{ScimError, ScimResult};
use super::path::GROUP;
use serde_json::{Map, Value, json};
use steward_access::ScimProfile;
use steward_core::ports::{Group, ScimUser, User};

/// Longest name to show, characters.
const LONGEST_NAME: usize = 100;

/// The attributes that a provider has set, as a change begins with them.
pub(super) fn attributes_of(user: &ScimUser) -> Map<String, Value> {
    let Some(record) = &user.record else {
        return Map::from_iter([
            ("userName".to_owned(), json!(user.user.email)),
            ("displayName".to_owned(), json!(user.user.name)),
        ]);
    };
    let mut all = record.attributes.clone();
    all.insert("userName".to_owned(), json!(record.user_name));
    if let Some(id) = &record.external_id {
        all.insert("externalId".to_owned(), json!(id));
    }
    all
}

/// What a provider wants of a user whose attributes become these. `before`: the user that it is, if there is one.
pub(super) fn profile(mut all: Map<String, Value>, before: Option<&ScimUser>) -> ScimResult<ScimProfile> {
    let mut take = |name: &str| match all.remove(name) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    };
    let user_name = take("userName").ok_or_else(|| ScimError::value("a user needs a `userName`"))?;
    if user_name.chars().count() > 254 {
        return Err(ScimError::value("a `userName` has at most 254 characters"));
    }
    let external_id = take("externalId");
    let active = all.remove("active").and_then(|active| active.as_bool());
    let email = email(&all).or_else(|| user_name.contains('@').then(|| user_name.clone()));
    let email = email.or_else(|| before.map(|before| before.user.email.clone()));
    let email = email.ok_or_else(|| ScimError::value("a user needs an email: among `emails`, or as the `userName`"))?;
    let had_name =
        || before.and_then(|before| before.record.as_ref()).is_some_and(|had| name(&had.attributes).is_some());
    // A name that is taken away goes: they are called as somebody who never had one.
    let name = name(&all).or_else(|| had_name().then(|| email.split('@').next().unwrap_or_default().to_owned()));
    Ok(ScimProfile { user_name, external_id, name, email, active, attributes: all })
}

/// The first one, else that of work, else any.
fn email(all: &Map<String, Value>) -> Option<String> {
    let emails = all.get("emails")?.as_array()?;
    let primary = emails.iter().find(|one| one["primary"] == json!(true));
    let work = || emails.iter().find(|one| one["type"].as_str().is_some_and(|kind| kind.eq_ignore_ascii_case("work")));
    let found = primary.or_else(work).or_else(|| emails.first())?;
    found["value"].as_str().map(str::to_owned)
}

/// As it can stand in a line.
fn name(all: &Map<String, Value>) -> Option<String> {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    let parts = all.get("name");
    let formatted = || text(parts.and_then(|parts| parts.get("formatted")));
    let joined = || {
        let part = |name: &str| text(parts.and_then(|parts| parts.get(name)));
        let joined: Vec<String> = [part("givenName"), part("familyName")].into_iter().flatten().collect();
        (!joined.is_empty()).then(|| joined.join(" "))
    };
    let name = text(all.get("displayName")).or_else(formatted).or_else(joined)?;
    let name: String = name.chars().filter(|c| !c.is_control()).take(LONGEST_NAME).collect();
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}

/// A user as it is shown; `groups`: those that they are in, if they are asked for.
pub(super) fn shown_user(caller: &ScimCaller, user: &ScimUser, groups: Option<&[Group]>) -> Map<String, Value> {
    let mut all = attributes_of(user);
    let id = user.user.id;
    all.insert("schemas".to_owned(), schemas(&all));
    all.insert("id".to_owned(), json!(id));
    all.insert("active".to_owned(), json!(!user.user.is_disabled()));
    // By which people here know them, where the provider has given them one.
    all.entry("displayName").and_modify(|name| *name = json!(user.user.name));
    all.entry("emails").or_insert_with(|| json!([{"value": user.user.email, "type": "work", "primary": true}]));
    if let Some(groups) = groups {
        let of = |group: &Group| {
            json!({
                "value": group.id, "display": group.name, "type": "direct",
                "$ref": format!("{}/Groups/{}", caller.base, group.id),
            })
        };
        all.insert("groups".to_owned(), groups.iter().map(of).collect());
    }
    let changed = user.record.as_ref().map_or(user.user.created_at, |record| record.updated_at);
    let meta = json!({
        "resourceType": "User", "created": user.user.created_at.rfc3339(), "lastModified": changed.rfc3339(),
        "location": format!("{}/Users/{id}", caller.base),
    });
    all.insert("meta".to_owned(), meta);
    all
}

/// A group as it is shown; `members`: unless they are left out.
pub(super) fn shown_group(caller: &ScimCaller, group: &Group, members: Option<&[User]>) -> Map<String, Value> {
    let mut all = Map::new();
    all.insert("schemas".to_owned(), json!([GROUP]));
    all.insert("id".to_owned(), json!(group.id));
    all.insert("displayName".to_owned(), json!(group.name));
    if let Some(id) = &group.external_id {
        all.insert("externalId".to_owned(), json!(id));
    }
    if let Some(members) = members {
        let of = |user: &User| {
            json!({
                "value": user.id, "display": user.name, "type": "User",
                "$ref": format!("{}/Users/{}", caller.base, user.id),
            })
        };
        all.insert("members".to_owned(), members.iter().map(of).collect());
    }
    let meta = json!({
        "resourceType": "Group", "created": group.created_at.rfc3339(),
        "location": format!("{}/Groups/{}", caller.base, group.id),
    });
    all.insert("meta".to_owned(), meta);
    all
}
