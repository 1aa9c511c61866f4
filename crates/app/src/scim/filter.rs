//! Filters: comparisons for equality, joined by `and`. Providers look people and groups up with these.

use super::error::{ScimError, ScimResult};
use super::path::{Comparison, Path};
use serde_json::Value;
use steward_core::ports::{ScimGroupFilter, ScimUserFilter};
use steward_core::{GroupId, UserId};
use uuid::Uuid;

/// Longest filter, characters.
const LONGEST: usize = 2000;
/// Most comparisons.
const MOST: usize = 10;

/// `None`: nothing can be so.
pub(super) fn of_users(text: Option<&str>) -> ScimResult<Option<ScimUserFilter>> {
    let mut filter = ScimUserFilter::default();
    let mut possible = true;
    for (path, value) in comparisons(text)? {
        possible &= match &path {
            path if path.is("active") && is_plain(path) => set(&mut filter.active, flag(&value)?),
            path if path.is("id") && is_plain(path) => match id(&value)? {
                Some(id) => set(&mut filter.id, UserId(id)),
                None => false,
            },
            path if path.is("userName") && is_plain(path) => set(&mut filter.user_name, word(&value)?),
            path if path.is("externalId") && is_plain(path) => set(&mut filter.external_id, word(&value)?),
            path if path.is("displayName") && is_plain(path) => set(&mut filter.name, word(&value)?),
            // There is one email, so it is the one of work and the first one too.
            path if path.is("emails") && (path.sub.is_none() || path.has_sub("value")) => {
                set(&mut filter.email, word(&value)?)
            }
            _ => return Err(unknown("userName, externalId, displayName, id, active and emails.value")),
        };
    }
    Ok(possible.then_some(filter))
}

/// `None`: nothing can be so.
pub(super) fn of_groups(text: Option<&str>) -> ScimResult<Option<ScimGroupFilter>> {
    let mut filter = ScimGroupFilter::default();
    let mut possible = true;
    for (path, value) in comparisons(text)? {
        possible &= match &path {
            path if path.is("id") && is_plain(path) => match id(&value)? {
                Some(id) => set(&mut filter.id, GroupId(id)),
                None => false,
            },
            path if path.is("displayName") && is_plain(path) => set(&mut filter.name, word(&value)?),
            path if path.is("externalId") && is_plain(path) => set(&mut filter.external_id, word(&value)?),
            path if path.is("members") && (path.sub.is_none() || path.has_sub("value")) => match id(&value)? {
                Some(id) => set(&mut filter.member, UserId(id)),
                None => false,
            },
            _ => return Err(unknown("displayName, externalId, id and members.value")),
        };
    }
    Ok(possible.then_some(filter))
}

fn comparisons(text: Option<&str>) -> ScimResult<Vec<(Path, Value)>> {
    let Some(text) = text.map(str::trim).filter(|text| !text.is_empty()) else {
        return Ok(Vec::new());
    };
    if text.chars().count() > LONGEST {
        return Err(invalid(format!("the filter has more than {LONGEST} characters")));
    }
    let mut found = Vec::new();
    let mut rest = text;
    loop {
        let read = Comparison::read(rest).and_then(|read| Some((Path::parse(read.attribute)?, read.value, read.rest)));
        let Some((path, value, after)) = read else {
            return Err(invalid("a filter is `attribute eq \"value\"`, or several of these joined by `and`"));
        };
        found.push((path, value));
        let after = after.trim_start();
        if after.is_empty() {
            return Ok(found);
        }
        let next = after.get(..3).filter(|word| word.eq_ignore_ascii_case("and")).map(|_| &after[3..]);
        rest = next
            .filter(|next| next.starts_with(char::is_whitespace) && found.len() < MOST)
            .ok_or_else(|| invalid("comparisons are joined by `and` here, at most ten of them"))?;
    }
}

fn is_plain(path: &Path) -> bool {
    path.sub.is_none() && path.condition.is_none()
}

/// Whether it fits what was set before.
fn set<T: PartialEq>(place: &mut Option<T>, value: T) -> bool {
    let fits = place.as_ref().is_none_or(|before| *before == value);
    *place = Some(value);
    fits
}

fn word(value: &Value) -> ScimResult<String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        _ => Err(invalid("this attribute is compared with a text")),
    }
}

/// `None`: no id of ours.
fn id(value: &Value) -> ScimResult<Option<Uuid>> {
    Ok(word(value)?.parse().ok())
}

fn flag(value: &Value) -> ScimResult<bool> {
    match value {
        Value::Bool(flag) => Ok(*flag),
        Value::String(text) if text.eq_ignore_ascii_case("true") => Ok(true),
        Value::String(text) if text.eq_ignore_ascii_case("false") => Ok(false),
        _ => Err(invalid("`active` is compared with true or false")),
    }
}

fn unknown(known: &str) -> ScimError {
    invalid(format!("this can be looked for by {known}"))
}

fn invalid(detail: impl Into<String>) -> ScimError {
    ScimError::bad("invalidFilter", detail)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::{of_groups, of_users};

    #[test]
    fn what_providers_look_for_is_understood() {
        let users = |text| of_users(Some(text)).unwrap();
        assert_eq!(users("userName eq \"Ann@Example.org\"").unwrap().user_name.as_deref(), Some("Ann@Example.org"));
        assert_eq!(users("externalId eq \"00u1\"").unwrap().external_id.as_deref(), Some("00u1"));
        assert_eq!(users("emails[type eq \"work\"].value eq \"a@b\"").unwrap().email.as_deref(), Some("a@b"));
        assert_eq!(users("emails.value eq \"a@b\"").unwrap().email.as_deref(), Some("a@b"));
        let both = users("userName eq \"a\" and active eq \"True\"").unwrap();
        assert_eq!((both.user_name.as_deref(), both.active), (Some("a"), Some(true)));
        assert_eq!(users("id eq \"not an id\""), None);
        assert_eq!(users("userName eq \"a\" and userName eq \"b\""), None);
        assert!(of_users(Some(" ")).unwrap().is_some() && of_users(None).unwrap().is_some());
        let group = of_groups(Some("id eq \"0193b1c0-0000-7000-8000-000000000001\" and members eq \"x\"")).unwrap();
        assert_eq!(group, None);
        assert_eq!(of_groups(Some("displayName eq \"Ops\"")).unwrap().unwrap().name.as_deref(), Some("Ops"));
    }

    #[test]
    fn what_is_not_understood_is_refused_as_a_filter() {
        let deep = ["userName eq \"a\""; 11].join(" and ");
        let long = format!("userName eq \"{}\"", "x".repeat(2000));
        for text in [
            "userName",
            "userName co \"a\"",
            "userName eq a",
            "userName eq \"a\" or active eq true",
            "userName eq \"a\" and",
            "userName eq \"a\" andactive eq true",
            "(userName eq \"a\")",
            "not (userName eq \"a\")",
            "title eq \"a\"",
            "userName.x eq \"a\"",
            "userName eq true",
            "active eq \"perhaps\"",
            "meta.lastModified gt \"2020\"",
            deep.as_str(),
            long.as_str(),
        ] {
            let refused = of_users(Some(text)).unwrap_err();
            assert_eq!((refused.status, refused.scim_type), (400, Some("invalidFilter")), "{text}");
        }
    }
}
