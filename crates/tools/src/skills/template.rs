//! Templates of skills: `{{name}}` stands for an argument, and never changes the form of what holds it. In JSON it is a
//! value, in a URL it is percent-encoded, in an argv it stays within its element, on a remote shell it is quoted. Further
//! forms:
//! - `{{name|default:text}}`: where the argument is absent;
//! - `{{name|option}}`: in an argv, where the value may begin with `-`;
//! - `{{a.b}}`: a field of an object;
//! - `{{credential.field}}`: in headers, bodies, variables of the environment and standard input only;
//! - `\\{{`: two braces as they are.

mod render;

pub use render::{
    argv, check_argv, check_json, check_url, json, percent_encode, quote, remote_line, shell_line, sql, url,
};

use super::SkillCall;
use crate::error::ToolsError;
use secrecy::ExposeSecret as _;
use serde_json::Value;
use std::fmt;
use steward_core::ports::OpenedCredential;
use steward_core::skill::Skill;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TemplateUse {
    /// An element of an argument vector, here or on a server.
    Argv,
    Url,
    Query,
    Header,
    /// A JSON body, a form field, GraphQL variables.
    Body,
    Stdin,
    Env,
    Sql,
    /// Other text: a request to an agent, an input of a model.
    Text,
    /// Arguments of a compensation: may also hold `{{result.path}}`.
    Compensation,
}

impl TemplateUse {
    /// Whether a secret may be used: only where nobody but the receiver sees it.
    pub fn takes_credentials(self) -> bool {
        matches!(self, Self::Header | Self::Body | Self::Stdin | Self::Env)
    }
}

impl fmt::Display for TemplateUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Argv => "a command line",
            Self::Url => "a URL",
            Self::Query => "a query",
            Self::Header => "a header",
            Self::Body => "a body",
            Self::Stdin => "standard input",
            Self::Env => "the environment",
            Self::Sql => "a statement",
            Self::Text => "a text",
            Self::Compensation => "a compensation",
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slot {
    /// Name of the argument, then the fields within it.
    pub path: Vec<String>,
    pub default: Option<String>,
    /// Whether its value may begin with `-` in an argv.
    pub option: bool,
}

impl Slot {
    pub fn name(&self) -> String {
        self.path.join(".")
    }

    pub fn credential(&self) -> Option<&str> {
        match self.path.as_slice() {
            [first, field] if first == "credential" => Some(field),
            _ => None,
        }
    }

    pub fn is_result(&self) -> bool {
        self.path.len() > 1 && self.path[0] == "result"
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    Text(String),
    Slot(Slot),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    pub(super) parts: Vec<Part>,
}

impl Template {
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        let mut parts = Vec::new();
        let mut fixed = String::new();
        let mut rest = text;
        while let Some(at) = rest.find("{{") {
            let (before, after) = (&rest[..at], &rest[at + 2..]);
            if let Some(before) = before.strip_suffix('\\') {
                fixed.push_str(before);
                fixed.push_str("{{");
                rest = after;
                continue;
            }
            fixed.push_str(before);
            let end = after.find("}}").ok_or_else(|| TemplateError::Open(text.chars().take(80).collect()))?;
            if !fixed.is_empty() {
                parts.push(Part::Text(std::mem::take(&mut fixed)));
            }
            parts.push(Part::Slot(parse_slot(&after[..end])?));
            rest = &after[end + 2..];
        }
        fixed.push_str(rest);
        if !fixed.is_empty() || parts.is_empty() {
            parts.push(Part::Text(fixed));
        }
        Ok(Self { parts })
    }

    pub fn slots(&self) -> impl Iterator<Item = &Slot> {
        self.parts.iter().filter_map(|part| match part {
            Part::Slot(slot) => Some(slot),
            Part::Text(_) => None,
        })
    }

    pub fn is_fixed(&self) -> bool {
        self.slots().next().is_none()
    }

    pub fn single(&self) -> Option<&Slot> {
        match self.parts.as_slice() {
            [Part::Slot(slot)] => Some(slot),
            _ => None,
        }
    }

    /// Whether all placeholders are inputs of `schema` (JSON Schema), and secrets are used only where allowed.
    pub fn check(&self, place: TemplateUse, schema: &Value) -> Result<(), TemplateError> {
        for slot in self.slots() {
            if let Some(field) = slot.credential() {
                if !place.takes_credentials() {
                    return Err(TemplateError::Credential { field: field.to_owned(), place });
                }
                continue;
            }
            if place == TemplateUse::Compensation && slot.is_result() {
                continue;
            }
            let inputs = schema["properties"].as_object();
            let known = slot.path.first().is_some_and(|name| inputs.is_some_and(|inputs| inputs.contains_key(name)));
            if !known {
                let names: Vec<&str> = inputs.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
                return Err(TemplateError::Unknown {
                    name: slot.name(),
                    known: if names.is_empty() { "none".to_owned() } else { names.join(", ") },
                });
            }
        }
        Ok(())
    }
}

pub fn check_text(text: &str, place: TemplateUse, schema: &Value) -> Result<(), TemplateError> {
    Template::parse(text)?.check(place, schema)
}

fn parse_slot(inner: &str) -> Result<Slot, TemplateError> {
    let bad = || TemplateError::Form(inner.chars().take(80).collect());
    let mut pieces = inner.split('|');
    let path: Vec<String> = pieces.next().unwrap_or("").trim().split('.').map(str::to_owned).collect();
    let proper =
        |name: &String| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
    if !path.iter().all(proper) {
        return Err(bad());
    }
    let mut slot = Slot { path, default: None, option: false };
    for filter in pieces {
        if let Some(text) = filter.trim_start().strip_prefix("default:") {
            slot.default = Some(text.trim().to_owned());
        } else if filter.trim() == "option" {
            slot.option = true;
        } else {
            return Err(bad());
        }
    }
    Ok(slot)
}

#[derive(Debug, Clone, Copy)]
pub enum Secrets<'a> {
    /// For people: a secret shows as `[credential.field]`.
    Hidden,
    Open(Option<&'a OpenedCredential>),
}

#[derive(Debug, Clone, Copy)]
pub struct Values<'a> {
    pub arguments: &'a Value,
    pub schema: &'a Value,
    /// Data of the call's result, for a compensation.
    pub result: Option<&'a Value>,
    pub secrets: Secrets<'a>,
    /// Whether an absent value is an error rather than left out.
    pub strict: bool,
}

impl<'a> Values<'a> {
    pub fn of(job: SkillCall<'a>) -> Self {
        Self { secrets: Secrets::Open(job.secret), ..Self::shown(job.skill, job.arguments) }
    }

    pub fn shown(skill: &'a Skill, arguments: &'a Value) -> Self {
        Self { arguments, schema: &skill.parameters, result: None, secrets: Secrets::Hidden, strict: false }
    }

    /// The value of a placeholder; `None` if it is absent or null and has no default.
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

pub(in crate::skills) fn as_text(value: Value) -> String {
    match value {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

impl Template {
    /// The text with values; `None` if there are placeholders and all are absent.
    pub fn text(&self, values: &Values<'_>) -> Result<Option<String>, TemplateError> {
        let mut out = String::new();
        let (mut slots, mut present) = (0, 0);
        for part in &self.parts {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Slot(slot) => {
                    slots += 1;
                    if let Some(value) = values.get(slot) {
                        present += 1;
                        out.push_str(&as_text(value));
                    } else if values.strict {
                        return Err(TemplateError::Missing { name: slot.name(), place: "there" });
                    }
                }
            }
        }
        Ok((slots == 0 || present > 0).then_some(out))
    }

    pub fn header(&self, name: &str, values: &Values<'_>) -> Result<Option<String>, TemplateError> {
        let text = self.text(values)?;
        let bad = |c: char| c.is_control() && c != '\t';
        match text {
            Some(text) if text.contains(bad) => Err(TemplateError::Control(format!("the header {name}"))),
            other => Ok(other),
        }
    }
}

pub fn text(source: &str, values: &Values<'_>) -> Result<Option<String>, TemplateError> {
    Template::parse(source)?.text(values)
}

pub fn check_texts<'a>(
    texts: impl IntoIterator<Item = &'a String>,
    place: TemplateUse,
    schema: &Value,
) -> Result<(), TemplateError> {
    texts.into_iter().try_for_each(|text| check_text(text, place, schema))
}

/// Why a template is refused. No message holds a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    #[error("a placeholder is not closed in `{0}`; write {{{{name}}}}, or \\{{{{ for two braces")]
    Open(String),
    #[error("`{{{{{0}}}}}` is no placeholder; write {{{{name}}}}, {{{{name|default:text}}}} or {{{{name|option}}}}")]
    Form(String),
    #[error("{{{{{name}}}}} is no input of the skill; its inputs are {known}")]
    Unknown { name: String, known: String },
    #[error(
        "{{{{credential.{field}}}}} is not allowed in {place}; put it into a header, the body, the environment or standard input"
    )]
    Credential { field: String, place: TemplateUse },
    /// A placeholder where only fixed text is allowed.
    #[error("{0} is fixed text; no placeholder may stand there")]
    Fixed(&'static str),
    #[error(
        "`{0}` is no address with a fixed host; write it as https://api.example.org/path/{{{{name}}}}, with no user name and no placeholder before the path"
    )]
    Host(String),
    #[error("`{name}` is needed {place}; give it a value")]
    Missing { name: String, place: &'static str },
    /// A value that would leave its folder in a path.
    #[error("`{0}` may not hold `.` or `..` as a part of a path")]
    Dots(String),
    /// A value that a program would read as an option.
    #[error("`{name}` may not begin with `-` (`{value}`), since the program would read it as an option")]
    Option { name: String, value: String },
    /// A control character where none is allowed.
    #[error("{0} may not hold a line break or another control character")]
    Control(String),
}

impl From<TemplateError> for ToolsError {
    fn from(error: TemplateError) -> Self {
        Self::Refused(error.to_string())
    }
}

impl From<TemplateError> for String {
    fn from(error: TemplateError) -> Self {
        error.to_string()
    }
}
