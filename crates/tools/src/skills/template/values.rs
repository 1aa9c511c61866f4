//! What placeholders stand for in one call.

use super::error::TemplateError;
use super::parse::{Part, Place, Slot, Template};
use crate::skills::Job;
use secrecy::ExposeSecret as _;
use serde_json::Value;
use steward_core::ports::OpenedCredential;
use steward_core::skill::Skill;

#[derive(Debug, Clone, Copy)]
pub enum Secrets<'a> {
    /// For people: a secret shows as `[credential.field]`.
    Hidden,
    Open(Option<&'a OpenedCredential>),
}

/// Arguments, result and credential of one call.
#[derive(Debug, Clone, Copy)]
pub struct Values<'a> {
    pub arguments: &'a Value,
    /// Their schema, for defaults and types.
    pub schema: &'a Value,
    /// Data of the call's result, for a compensation.
    pub result: Option<&'a Value>,
    pub secrets: Secrets<'a>,
    /// Whether an absent value is an error rather than left out.
    pub strict: bool,
}

impl<'a> Values<'a> {
    pub fn of(job: Job<'a>) -> Self {
        Self { secrets: Secrets::Open(job.secret), ..Self::shown(job.skill, job.arguments) }
    }

    pub fn shown(skill: &'a Skill, arguments: &'a Value) -> Self {
        Self { arguments, schema: &skill.parameters, result: None, secrets: Secrets::Hidden, strict: false }
    }

    /// The value of a placeholder; `None` where it is absent or null and has no default.
    pub fn get(&self, slot: &Slot) -> Option<Value> {
        if let Some(field) = slot.credential() {
            return match self.secrets {
                Secrets::Hidden => Some(Value::String(format!("[credential.{field}]"))),
                Secrets::Open(opened) => opened
                    .and_then(|opened| opened.fields.get(field))
                    .map(|secret| Value::String(secret.expose_secret().to_owned())),
            };
        }
        let (root, path) = match self.result {
            Some(result) if slot.is_result() => (result, &slot.path[1..]),
            _ => (self.arguments, slot.path.as_slice()),
        };
        let found = path.iter().try_fold(root, |value, name| match value {
            Value::Array(items) => items.get(name.parse::<usize>().ok()?),
            other => other.get(name),
        });
        if let Some(value) = found.filter(|value| !value.is_null()) {
            return Some(value.clone());
        }
        let property = &self.schema["properties"][slot.path.first()?];
        if let Some(text) = &slot.default {
            let is_text = property["type"].as_str().is_none_or(|kind| kind == "string");
            let typed = (!is_text).then(|| serde_json::from_str(text).ok()).flatten();
            return Some(typed.unwrap_or_else(|| Value::String(text.clone())));
        }
        let default = property.get("default").filter(|value| !value.is_null());
        default.filter(|_| slot.path.len() == 1).cloned()
    }
}

/// A value within a text: strings as they are, the rest as JSON.
pub(super) fn as_text(value: Value) -> String {
    match value {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

impl Template {
    /// The text, with values as they are; `None` where there are placeholders and all are absent.
    pub fn text(&self, values: &Values<'_>) -> Result<Option<String>, TemplateError> {
        self.rendered(values, |_, value| Ok(value))
    }

    /// The value of a header: no line breaks, no control characters.
    pub fn header(&self, name: &str, values: &Values<'_>) -> Result<Option<String>, TemplateError> {
        let text = self.text(values)?;
        let bad = |c: char| c.is_control() && c != '\t';
        match text {
            Some(text) if text.contains(bad) => Err(TemplateError::Control(format!("the header {name}"))),
            other => Ok(other),
        }
    }

    /// The text, each value passed through `form`.
    pub(super) fn rendered(
        &self,
        values: &Values<'_>,
        form: impl Fn(&Slot, String) -> Result<String, TemplateError>,
    ) -> Result<Option<String>, TemplateError> {
        let mut out = String::new();
        let (mut slots, mut present) = (0, 0);
        for part in &self.parts {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Slot(slot) => {
                    slots += 1;
                    if let Some(value) = values.get(slot) {
                        present += 1;
                        out.push_str(&form(slot, as_text(value))?);
                    } else if values.strict {
                        return Err(TemplateError::Missing { name: slot.name(), place: "there" });
                    }
                }
            }
        }
        Ok((slots == 0 || present > 0).then_some(out))
    }
}

/// Reads and fills one; for texts whose placeholders were checked when the skill was saved.
pub fn text(source: &str, values: &Values<'_>) -> Result<Option<String>, TemplateError> {
    Template::parse(source)?.text(values)
}

/// The places that take text need no check of their own but this one.
pub fn check_texts<'a>(
    texts: impl IntoIterator<Item = &'a String>,
    place: Place,
    schema: &Value,
) -> Result<(), TemplateError> {
    texts.into_iter().try_for_each(|text| super::parse::check_text(text, place, schema))
}
