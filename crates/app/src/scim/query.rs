//! What a provider wants to see of a list or of a resource.

use super::error::{ScimError, ScimResult};
use super::path::{ENTERPRISE, GROUP, USER};
use serde_json::{Map, Value, json};
use steward_core::ports::Counted;

const LIST: &str = "urn:ietf:params:scim:api:messages:2.0:ListResponse";
/// How many resources a list has, if it isn't said.
const USUAL: u32 = 100;
/// Most resources of a list.
pub(super) const MOST: u32 = 1000;
/// What is never left out.
const ALWAYS: [&str; 2] = ["schemas", "id"];

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScimQuery {
    pub filter: Option<String>,
    start: Option<i64>,
    count: Option<i64>,
    /// If there are any, only these are shown.
    attributes: Vec<String>,
    excluded: Vec<String>,
}

impl ScimQuery {
    /// From the parameters of an address; others than those of SCIM are ignored.
    pub fn read(pairs: &[(String, String)]) -> ScimResult<Self> {
        let mut query = Self::default();
        for (name, value) in pairs {
            match name.to_ascii_lowercase().as_str() {
                "filter" => query.filter = Some(value.clone()),
                "startindex" => query.start = Some(number(name, value)?),
                "count" => query.count = Some(number(name, value)?),
                "attributes" => query.attributes = names(value),
                "excludedattributes" => query.excluded = names(value),
                _ => {}
            }
        }
        Ok(query)
    }

    /// From the body of a search; others than its own fields are ignored.
    pub fn read_search(body: &Map<String, Value>) -> ScimResult<Self> {
        let mut pairs = Vec::new();
        for (name, value) in body {
            let value = match value {
                Value::Null => continue,
                Value::String(text) => text.clone(),
                Value::Array(names) => names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(","),
                other => other.to_string(),
            };
            pairs.push((name.clone(), value));
        }
        Self::read(&pairs)
    }

    /// Where a list begins, from 1.
    pub(super) fn start(&self) -> u64 {
        u64::try_from(self.start.unwrap_or(1)).unwrap_or(1).max(1)
    }

    pub(super) fn offset(&self) -> u64 {
        self.start() - 1
    }

    pub(super) fn count(&self) -> u32 {
        let wanted = self.count.unwrap_or(i64::from(USUAL)).clamp(0, i64::from(MOST));
        u32::try_from(wanted).unwrap_or(USUAL)
    }

    /// Whether an attribute that is shown without being asked for is.
    pub(super) fn shows(&self, attribute: &str) -> bool {
        let begins = |one: &String| one.eq_ignore_ascii_case(attribute) || sub_of(one, attribute).is_some();
        (self.attributes.is_empty() || self.attributes.iter().any(begins))
            && !self.excluded.iter().any(|one| one.eq_ignore_ascii_case(attribute))
    }

    /// Whether an attribute that is only shown when it is asked for is.
    pub(super) fn asks_for(&self, attribute: &str) -> bool {
        !self.attributes.is_empty() && self.shows(attribute)
    }

    /// A resource without what was not asked for.
    pub(super) fn select(&self, resource: Map<String, Value>) -> Value {
        let mut selected = Map::new();
        for (name, value) in resource {
            if ALWAYS.contains(&name.as_str()) {
                selected.insert(name, value);
                continue;
            }
            if !self.shows(&name) {
                continue;
            }
            let whole = self.attributes.is_empty() || self.attributes.iter().any(|one| one.eq_ignore_ascii_case(&name));
            let subs = |all: &[String]| -> Vec<String> {
                all.iter().filter_map(|one| sub_of(one, &name)).map(str::to_ascii_lowercase).collect()
            };
            let (wanted, unwanted) = (subs(&self.attributes), subs(&self.excluded));
            let keep = |sub: &str| {
                let sub = sub.to_ascii_lowercase();
                (whole || wanted.contains(&sub)) && !unwanted.contains(&sub)
            };
            let value = parts(value, &keep);
            selected.insert(name, value);
        }
        Value::Object(selected)
    }

    /// A list as it is answered.
    pub(super) fn listed(&self, total: u64, resources: &[Value]) -> Value {
        json!({
            "schemas": [LIST], "totalResults": total, "startIndex": self.start(), "itemsPerPage": resources.len(),
            "Resources": resources,
        })
    }

    pub(super) fn nothing<T>() -> Counted<T> {
        Counted { items: Vec::new(), total: 0 }
    }
}

/// `givenName` of `name.givenName`; `department` of the extension's.
fn sub_of<'a>(wanted: &'a str, attribute: &str) -> Option<&'a str> {
    let begin = wanted.get(..attribute.len()).filter(|begin| begin.eq_ignore_ascii_case(attribute))?;
    let rest = &wanted[begin.len()..];
    rest.strip_prefix(if attribute == ENTERPRISE { ':' } else { '.' })
}

fn parts(value: Value, keep: &impl Fn(&str) -> bool) -> Value {
    match value {
        Value::Object(object) => Value::Object(object.into_iter().filter(|(name, _)| keep(name)).collect()),
        Value::Array(all) => Value::Array(all.into_iter().map(|one| parts(one, keep)).collect()),
        other => other,
    }
}

fn number(name: &str, value: &str) -> ScimResult<i64> {
    value.trim().parse().map_err(|_| ScimError::bad("invalidValue", format!("`{name}` is a whole number")))
}

/// The names without the schemas that all attributes are of.
fn names(list: &str) -> Vec<String> {
    let plain = |name: &str| {
        let schema = [USER, GROUP].into_iter().find(|schema| {
            name.get(..schema.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(schema))
                && name[schema.len()..].starts_with(':')
        });
        schema.map_or(name, |schema| &name[schema.len() + 1..]).to_owned()
    };
    list.split(',').map(str::trim).filter(|name| !name.is_empty()).map(plain).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::{ENTERPRISE, ScimQuery};
    use serde_json::{Value, json};

    fn read(pairs: &[(&str, &str)]) -> ScimQuery {
        let pairs: Vec<_> = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        ScimQuery::read(&pairs).unwrap()
    }

    #[test]
    fn pages_begin_at_one_and_have_bounds() {
        for (pairs, expect) in [
            (vec![], (1, 100)),
            (vec![("startIndex", "11"), ("count", "5")], (11, 5)),
            (vec![("startIndex", "0"), ("count", "0")], (1, 0)),
            (vec![("startindex", "-4"), ("count", "-1")], (1, 0)),
            (vec![("count", "100000")], (1, 1000)),
        ] {
            let query = read(&pairs);
            assert_eq!((query.start(), query.count()), expect, "{pairs:?}");
        }
        let bad = [("count".to_owned(), "many".to_owned())];
        assert_eq!(ScimQuery::read(&bad).unwrap_err().scim_type, Some("invalidValue"));
    }

    #[test]
    fn attributes_are_selected() {
        let user = json!({
            "schemas": ["s"], "id": "1", "userName": "a", "name": {"givenName": "A", "familyName": "B"},
            "emails": [{"value": "a@b", "type": "work"}], ENTERPRISE: {"department": "d", "division": "v"},
        });
        let select = |pairs: &[(&str, &str)]| read(pairs).select(user.as_object().unwrap().clone());
        let always = |rest: Value| {
            let mut all = json!({"schemas": ["s"], "id": "1"});
            all.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
            all
        };
        assert_eq!(select(&[]), user);
        assert_eq!(select(&[("attributes", "USERNAME")]), always(json!({"userName": "a"})));
        assert_eq!(
            select(&[("attributes", "name.givenName, emails.value")]),
            always(json!({"name": {"givenName": "A"}, "emails": [{"value": "a@b"}]}))
        );
        let department = format!("{ENTERPRISE}:department");
        assert_eq!(select(&[("attributes", &department)]), always(json!({ENTERPRISE: {"department": "d"}})));
        assert_eq!(
            select(&[("excludedAttributes", "id,emails,name.familyName"), ("attributes", "name,emails")]),
            always(json!({"name": {"givenName": "A"}}))
        );
        let query = read(&[("excludedAttributes", "urn:ietf:params:scim:schemas:core:2.0:Group:members")]);
        assert!(!query.shows("members") && query.shows("displayName") && !query.asks_for("groups"));
        assert!(read(&[("attributes", "groups")]).asks_for("groups"));
    }
}
