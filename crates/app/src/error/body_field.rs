//! What is wrong with a field of a body, from what serde says of it.

use super::AppError;
use steward_core::text::nearest_name;

impl AppError {
    /// `path`: where the value stands that serde could not read; an unknown or missing field is named by `reason` alone.
    pub fn of_body(path: &str, reason: &str) -> Self {
        let unknown = after(reason, "unknown field `");
        let field = match unknown.or_else(|| after(reason, "missing field `")) {
            Some(name) => join(path, name),
            None if path.is_empty() || path == "." => "body".to_owned(),
            None => path.to_owned(),
        };
        let known = expected(reason);
        let hint = match (unknown.or_else(|| after(reason, "unknown variant `")), known.is_empty()) {
            (Some(wanted), false) => {
                let meant = nearest_name(wanted, known.iter().copied());
                let meant = meant.map(|name| format!("did you mean `{name}`? ")).unwrap_or_default();
                format!("{meant}there are: {}", known.join(", "))
            }
            _ => "correct this field; /docs lists what the body may hold".to_owned(),
        };
        let title = match unknown {
            Some(_) => format!("there is no field `{field}`"),
            None => format!("`{field}`: {reason}"),
        };
        Self::invalid(field, title, hint)
    }
}

/// What stands between `start` and the next backtick.
fn after<'r>(reason: &'r str, start: &str) -> Option<&'r str> {
    reason.strip_prefix(start)?.split('`').next()
}

/// The names in `expected one of …`, as serde lists them.
fn expected(reason: &str) -> Vec<&str> {
    let listed = reason.rsplit_once(", expected ").map_or("", |(_, listed)| listed);
    listed.split('`').skip(1).step_by(2).collect()
}

/// Paths may end at the object around a field, or at the field itself.
fn join(path: &str, name: &str) -> String {
    if path.is_empty() || path == "." {
        return name.to_owned();
    }
    if path == name || path.ends_with(&format!(".{name}")) {
        return path.to_owned();
    }
    format!("{path}.{name}")
}

#[cfg(test)]
mod tests {
    use super::AppError;

    #[test]
    fn a_field_is_named_with_the_nearest_that_is_known() {
        let listed = "unknown field `temprature`, expected one of `temperature`, `max_tokens`";
        for (path, reason, field, title, hint) in [
            (
                "tuning",
                listed,
                "tuning.temprature",
                "no field `tuning.temprature`",
                "did you mean `temperature`? there",
            ),
            (".", "unknown field `x`, expected `name`", "x", "no field `x`", "there are: name"),
            ("a", "unknown field `nmae`, expected `name` or `kind`", "a.nmae", "no field", "there are: name, kind"),
            ("a", "unknown field `x`, there are no fields", "a.x", "no field `a.x`", "correct this field"),
            (".", "missing field `name`", "name", "`name`: missing", "correct this field"),
            (
                "budget",
                "unknown variant `querry`, expected one of `query`, `plan`",
                "budget",
                "unknown variant",
                "`query`?",
            ),
            ("?", "invalid type: map, expected a string", "?", "invalid type", "correct this field"),
            ("", "invalid type: null, expected struct A", "body", "`body`: invalid type", "correct this field"),
        ] {
            let detail = AppError::of_body(path, reason).detail;
            assert_eq!(detail.field.as_deref(), Some(field), "{reason}");
            assert!(detail.title.contains(title), "{}", detail.title);
            assert!(detail.hint.contains(hint), "{}", detail.hint);
        }
    }
}
