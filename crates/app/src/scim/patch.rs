//! Changes by PATCH: operations over the attributes of a user. Those of groups are in `groups.rs`.

use super::attributes::{self, Kind, checked, email, flag, known, text};
use super::error::{ScimError, ScimResult};
use super::path::{ENTERPRISE, Path};
use serde_json::{Map, Value, json};

/// Most operations of one request.
const MOST: usize = 1000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Op {
    Add,
    Replace,
    Remove,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Operation {
    pub op: Op,
    pub path: Option<String>,
    pub value: Value,
}

/// The operations of a request. Names and verbs may be in any case.
pub(super) fn operations(body: &Map<String, Value>) -> ScimResult<Vec<Operation>> {
    let Some(Value::Array(all)) = field(body, "Operations") else {
        return Err(ScimError::bad("invalidSyntax", "a PATCH has a list of `Operations`"));
    };
    if all.is_empty() || all.len() > MOST {
        return Err(ScimError::bad("invalidSyntax", format!("a PATCH has 1 to {MOST} operations")));
    }
    all.iter().map(operation).collect()
}

fn operation(sent: &Value) -> ScimResult<Operation> {
    let syntax = |detail: &str| ScimError::bad("invalidSyntax", detail);
    let Value::Object(sent) = sent else {
        return Err(syntax("an operation is an object"));
    };
    let op = match field(sent, "op").and_then(Value::as_str).map(str::to_ascii_lowercase).as_deref() {
        Some("add") => Op::Add,
        Some("replace") => Op::Replace,
        Some("remove") => Op::Remove,
        _ => return Err(syntax("`op` is add, replace or remove")),
    };
    let path = match field(sent, "path") {
        None | Some(Value::Null) => None,
        Some(Value::String(path)) if path.trim().is_empty() => None,
        Some(Value::String(path)) => Some(path.clone()),
        Some(_) => return Err(ScimError::path("`path` is a text")),
    };
    let value = field(sent, "value").cloned().unwrap_or(Value::Null);
    match (op, &path) {
        (Op::Remove, None) => Err(ScimError::bad("noTarget", "a removal needs a `path`")),
        (Op::Add | Op::Replace, None) if !value.is_object() => {
            Err(ScimError::value("without a `path`, `value` is an object of attributes"))
        }
        _ => Ok(Operation { op, path, value }),
    }
}

/// The one that a client means, whatever its case.
pub(super) fn field<'a>(object: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    object.get(name).or_else(|| object.iter().find(|(one, _)| one.eq_ignore_ascii_case(name)).map(|(_, value)| value))
}

impl Operation {
    /// Hands each attribute that is meant to `change`, with its value and whether a path names it.
    pub fn each(&self, mut change: impl FnMut(Op, &Path, &Value, bool) -> ScimResult<()>) -> ScimResult<()> {
        if let Some(path) = &self.path {
            return change(self.op, &Path::parse_or_refuse(path)?, &self.value, true);
        }
        for (name, value) in self.value.as_object().into_iter().flatten() {
            // What has no name here is no mistake, as in a whole user.
            if let Some(path) = Path::parse(name) {
                change(self.op, &path, value, false)?;
            }
        }
        Ok(())
    }
}

/// Carries an operation out on the kept attributes of a user.
pub(super) fn apply(user: &mut Map<String, Value>, operation: &Operation) -> ScimResult<()> {
    operation.each(|op, path, value, named| one(user, op, path, value, named))
}

/// `named`: by a path, so that what is not there is a mistake.
fn one(user: &mut Map<String, Value>, op: Op, path: &Path, value: &Value, named: bool) -> ScimResult<()> {
    if path.enterprise {
        let mut extension = match user.remove(ENTERPRISE) {
            Some(Value::Object(extension)) => extension,
            _ => Map::new(),
        };
        if !path.attribute.is_empty() {
            attribute(&mut extension, op, path, value, named)?;
        } else if op == Op::Remove {
            extension.clear();
        } else {
            extension.extend(attributes::extension(value)?);
        }
        if !extension.is_empty() {
            user.insert(ENTERPRISE.to_owned(), Value::Object(extension));
        }
        return Ok(());
    }
    attribute(user, op, path, value, named)
}

fn attribute(within: &mut Map<String, Value>, op: Op, path: &Path, value: &Value, named: bool) -> ScimResult<()> {
    let Some((name, kind)) = known(path.enterprise, &path.attribute) else {
        let unknown = || ScimError::path(format!("a user has no attribute `{}`", path.attribute));
        return if named { Err(unknown()) } else { Ok(()) };
    };
    let misfit = || ScimError::path(format!("`{name}` has no such part"));
    match kind {
        Kind::ReadOnly if named => Err(ScimError::mutability(format!("`{name}` can't be changed"))),
        Kind::ReadOnly | Kind::Dropped => Ok(()),
        Kind::Emails => emails(within, op, path, value),
        _ if path.condition.is_some() => Err(misfit()),
        Kind::Text | Kind::Flag if path.sub.is_some() => Err(misfit()),
        _ if op == Op::Remove && path.sub.is_none() => {
            match name {
                "userName" => return Err(ScimError::mutability("`userName` can't be removed")),
                // As somebody is of whom it was never said.
                "active" => put(within, name, Some(json!(true))),
                _ => put(within, name, None),
            }
            Ok(())
        }
        Kind::Text | Kind::Flag => {
            put(within, name, checked(name, kind, value)?);
            Ok(())
        }
        Kind::Object(subs) => {
            let mut object = within.remove(name).and_then(|one| one.as_object().cloned()).unwrap_or_default();
            match &path.sub {
                None => {
                    if let Some(Value::Object(new)) = checked(name, kind, value)? {
                        object.extend(new);
                    }
                }
                Some(sub) => {
                    let sub = subs.iter().find(|one| one.eq_ignore_ascii_case(sub)).ok_or_else(misfit)?;
                    let new = if op == Op::Remove || value.is_null() { None } else { text(sub, value)? };
                    put(&mut object, sub, new.map(Value::String));
                }
            }
            put(within, name, (!object.is_empty()).then_some(Value::Object(object)));
            Ok(())
        }
    }
}

fn put(within: &mut Map<String, Value>, name: &str, value: Option<Value>) {
    match value {
        Some(value) => within.insert(name.to_owned(), value),
        None => within.remove(name),
    };
}

fn emails(within: &mut Map<String, Value>, op: Op, path: &Path, value: &Value) -> ScimResult<()> {
    let mut all = match within.remove("emails") {
        Some(Value::Array(all)) => all,
        _ => Vec::new(),
    };
    let wanted = |one: &Value| match &path.condition {
        None => true,
        Some((sub, value)) => fits(one, sub, value),
    };
    if op == Op::Remove {
        match path.sub.as_deref() {
            None => all.retain(|one| !wanted(one)),
            Some(sub) if sub.eq_ignore_ascii_case("value") => all.retain(|one| !wanted(one)),
            Some(sub) => all.iter_mut().filter(|one| wanted(one)).filter_map(Value::as_object_mut).for_each(|one| {
                one.retain(|name, _| !name.eq_ignore_ascii_case(sub));
            }),
        }
    } else if path.condition.is_none() && path.sub.is_none() {
        let new = match checked("emails", Kind::Emails, value)? {
            Some(Value::Array(new)) => new,
            _ => Vec::new(),
        };
        if op == Op::Replace {
            all = new;
        } else {
            for one in new {
                add(&mut all, one);
            }
        }
    } else {
        let new = match (&path.sub, value) {
            (Some(sub), value) if sub.eq_ignore_ascii_case("primary") => json!({"primary": flag("primary", value)?}),
            (Some(sub), value) => {
                let known = ["value", "type", "display"].into_iter().find(|one| one.eq_ignore_ascii_case(sub));
                let sub = known.ok_or_else(|| ScimError::path(format!("an email has no `{sub}`")))?;
                json!({sub: text(sub, value)?.ok_or_else(|| ScimError::value(format!("`{sub}` is empty")))?})
            }
            (None, value) => email(value)?.ok_or_else(|| ScimError::value("an email has a `value`"))?,
        };
        change(&mut all, path, wanted, &new)?;
    }
    let rest = checked("emails", Kind::Emails, &Value::Array(all))?;
    put(within, "emails", rest);
    Ok(())
}

/// Sets parts of those emails that are meant. If there is none, the condition says what a new one is.
fn change(all: &mut Vec<Value>, path: &Path, wanted: impl Fn(&Value) -> bool, new: &Value) -> ScimResult<()> {
    let new = new.as_object().cloned().unwrap_or_default();
    let mut met = false;
    for one in all.iter_mut().filter(|one| wanted(one)).filter_map(Value::as_object_mut) {
        one.extend(new.clone());
        met = true;
    }
    if met {
        return Ok(());
    }
    let made_of = match &path.condition {
        None => Some(Map::new()),
        Some((sub, value)) if sub.eq_ignore_ascii_case("type") => {
            Some(Map::from_iter([("type".to_owned(), value.clone())]))
        }
        Some((sub, Value::Bool(true))) if sub.eq_ignore_ascii_case("primary") => {
            Some(Map::from_iter([("primary".to_owned(), json!(true))]))
        }
        Some(_) => None,
    };
    match made_of {
        Some(mut made) if new.contains_key("value") => {
            made.extend(new);
            add(all, Value::Object(made));
            Ok(())
        }
        _ => Err(ScimError::bad("noTarget", "no email is as the path says")),
    }
}

/// One of the same address is replaced; there is one first email.
fn add(all: &mut Vec<Value>, new: Value) {
    if new["primary"] == json!(true) {
        all.iter_mut().filter_map(Value::as_object_mut).for_each(|one| drop(one.remove("primary")));
    }
    all.retain(|one| one["value"] != new["value"]);
    all.push(new);
}

fn fits(one: &Value, sub: &str, wanted: &Value) -> bool {
    let found = one.as_object().and_then(|one| field(one, sub));
    match (found, wanted) {
        (Some(Value::String(found)), Value::String(wanted)) => found.eq_ignore_ascii_case(wanted),
        (Some(Value::Bool(found)), wanted) => flag(sub, wanted).is_ok_and(|wanted| *found == wanted),
        _ => false,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests;
