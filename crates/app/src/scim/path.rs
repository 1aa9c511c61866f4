//! Paths of attributes, as filters and changes name them: `name.familyName`, `emails[type eq "work"].value`.

use super::error::{ScimError, ScimResult};
use serde_json::Value;

pub(super) const USER: &str = "urn:ietf:params:scim:schemas:core:2.0:User";
pub(super) const GROUP: &str = "urn:ietf:params:scim:schemas:core:2.0:Group";
pub(super) const ENTERPRISE: &str = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Path {
    /// Whether it is one of the enterprise extension. Then an empty attribute is the extension as a whole.
    pub enterprise: bool,
    pub attribute: String,
    /// `[sub eq value]`
    pub condition: Option<(String, Value)>,
    pub sub: Option<String>,
}

impl Path {
    /// `None`: it is no path.
    pub fn parse(text: &str) -> Option<Self> {
        let (enterprise, text) = without_schema(text.trim())?;
        if enterprise && text.is_empty() {
            return Some(Self { enterprise, attribute: String::new(), condition: None, sub: None });
        }
        let end = text.find(['[', '.']).unwrap_or(text.len());
        let (attribute, rest) = text.split_at(end);
        let (condition, rest) = match rest.strip_prefix('[') {
            None => (None, rest),
            Some(within) => {
                let end = closing(within)?;
                let comparison = Comparison::read(&within[..end])?;
                if !comparison.rest.trim().is_empty() {
                    return None;
                }
                (Some((comparison.attribute.to_owned(), comparison.value)), &within[end + 1..])
            }
        };
        let sub = match rest.strip_prefix('.') {
            Some(sub) => Some(sub),
            None if rest.is_empty() => None,
            None => return None,
        };
        let names = [Some(attribute), sub, condition.as_ref().map(|(sub, _)| sub.as_str())];
        if !names.into_iter().flatten().all(is_name) {
            return None;
        }
        Some(Self { enterprise, attribute: attribute.to_owned(), condition, sub: sub.map(str::to_owned) })
    }

    pub fn parse_or_refuse(text: &str) -> ScimResult<Self> {
        let shown: String = text.chars().take(120).collect();
        Self::parse(text).ok_or_else(|| ScimError::path(format!("`{shown}` is not a path that is known here")))
    }

    pub fn is(&self, attribute: &str) -> bool {
        !self.enterprise && self.attribute.eq_ignore_ascii_case(attribute)
    }

    pub fn has_sub(&self, sub: &str) -> bool {
        self.sub.as_deref().is_some_and(|one| one.eq_ignore_ascii_case(sub))
    }
}

fn without_schema(text: &str) -> Option<(bool, &str)> {
    if !text.get(..4).is_some_and(|begin| begin.eq_ignore_ascii_case("urn:")) {
        return Some((false, text));
    }
    [USER, GROUP, ENTERPRISE].into_iter().find_map(|schema| {
        let begin = text.get(..schema.len()).filter(|begin| begin.eq_ignore_ascii_case(schema))?;
        let rest = &text[begin.len()..];
        let rest = if rest.is_empty() { rest } else { rest.strip_prefix(':')? };
        Some((schema == ENTERPRISE, rest))
    })
}

/// Where the bracket ends, whatever stands in quotes.
fn closing(text: &str) -> Option<usize> {
    let (mut quoted, mut escaped) = (false, false);
    for (at, letter) in text.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            ']' if !quoted => return Some(at),
            _ => {}
        }
    }
    None
}

fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '$')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_$".contains(c))
}

/// `attribute eq value` at the beginning of a text.
#[derive(Debug, PartialEq)]
pub(super) struct Comparison<'a> {
    pub attribute: &'a str,
    pub value: Value,
    pub rest: &'a str,
}

impl<'a> Comparison<'a> {
    /// `None`: another operator, or no comparison.
    pub fn read(text: &'a str) -> Option<Self> {
        let text = text.trim_start();
        let (attribute, rest) = word(text);
        let (operator, rest) = word(rest.trim_start());
        if attribute.is_empty() || !operator.eq_ignore_ascii_case("eq") {
            return None;
        }
        let rest = rest.trim_start();
        if rest.starts_with('"') {
            let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
            let value = values.next()?.ok()?;
            let rest = &rest[values.byte_offset()..];
            return Some(Self { attribute, value, rest });
        }
        let (literal, rest) = word(rest);
        let value = serde_json::from_str(&literal.to_ascii_lowercase()).ok()?;
        Some(Self { attribute, value, rest })
    }
}

/// Up to the next blank that is not within brackets.
fn word(text: &str) -> (&str, &str) {
    let mut skip = 0;
    while let Some(found) = text[skip..].find(|c: char| c.is_whitespace() || c == '[') {
        let at = skip + found;
        if !text[at..].starts_with('[') {
            return text.split_at(at);
        }
        match closing(&text[at + 1..]) {
            Some(end) => skip = at + 1 + end + 1,
            None => break,
        }
    }
    (text, "")
}

#[cfg(test)]
mod tests {
    use super::{Comparison, Path};
    use serde_json::json;

    #[test]
    fn paths_are_read() {
        for (text, enterprise, attribute, condition, sub) in [
            ("userName", false, "userName", None, None),
            ("name.familyName", false, "name", None, Some("familyName")),
            (
                "emails[type eq \"work\"].value",
                false,
                "emails",
                Some(("type".to_owned(), json!("work"))),
                Some("value"),
            ),
            ("members[value eq \"a]b\"]", false, "members", Some(("value".to_owned(), json!("a]b"))), None),
            ("emails[primary eq True]", false, "emails", Some(("primary".to_owned(), json!(true))), None),
            ("urn:ietf:params:scim:schemas:core:2.0:User:name.givenName", false, "name", None, Some("givenName")),
            ("URN:ietf:params:scim:schemas:extension:enterprise:2.0:user:department", true, "department", None, None),
            ("urn:ietf:params:scim:schemas:extension:enterprise:2.0:User", true, "", None, None),
        ] {
            let path = Path::parse(text).unwrap_or_else(|| panic!("{text}"));
            let found = (path.enterprise, path.attribute.as_str(), path.condition, path.sub.as_deref());
            assert_eq!(found, (enterprise, attribute, condition, sub), "{text}");
        }
        for text in [
            "",
            " ",
            "a b",
            "emails[",
            "emails[type eq \"work\"",
            "emails[type eq \"work\"]value",
            "emails[type co \"w\"].value",
            "emails[type eq \"a\" or type eq \"b\"]",
            "name.",
            ".value",
            "1a",
            "urn:example:other:attribute",
            "a.b.c",
        ] {
            assert_eq!(Path::parse(text), None, "{text}");
        }
    }

    #[test]
    fn comparisons_end_where_their_value_does() {
        let read = |text| Comparison::read(text).map(|found| (found.attribute, found.value, found.rest));
        assert_eq!(read("userName EQ \"a \\\" b\" and x"), Some(("userName", json!("a \" b"), " and x")));
        assert_eq!(read("active eq False"), Some(("active", json!(false), "")));
        assert_eq!(
            read("emails[type eq \"work\"].value eq \"x\""),
            Some(("emails[type eq \"work\"].value", json!("x"), ""))
        );
        for text in ["", "userName", "userName eq", "userName eq x", "userName sw \"a\"", "userName eq \"a", "eq \"a\""]
        {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
