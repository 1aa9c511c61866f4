//! Text with placeholders, read once.

use super::error::TemplateError;
use serde_json::Value;
use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// An element of an argument vector, here or on a server.
    Argv,
    Url,
    /// A value of a URL's query.
    Query,
    Header,
    /// A JSON body, a form field, GraphQL variables.
    Body,
    /// Text for a program's standard input.
    Stdin,
    /// A variable of a program's environment.
    Env,
    Sql,
    /// Other text: a request to an agent, an input of a model.
    Text,
    /// Arguments of a compensation: may also hold `{{result.path}}`.
    Compensation,
}

impl Place {
    /// Whether a secret may stand there: only where nobody but the receiver sees it.
    pub fn takes_credentials(self) -> bool {
        matches!(self, Self::Header | Self::Body | Self::Stdin | Self::Env)
    }
}

impl fmt::Display for Place {
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
    /// What stands for an absent value.
    pub default: Option<String>,
    /// Whether its value may begin with `-` in an argv.
    pub option: bool,
}

impl Slot {
    /// As written, without filters.
    pub fn name(&self) -> String {
        self.path.join(".")
    }

    /// The field of the credential that it stands for.
    pub fn credential(&self) -> Option<&str> {
        match self.path.as_slice() {
            [first, field] if first == "credential" => Some(field),
            _ => None,
        }
    }

    /// Whether it stands for something of the call's result.
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
            parts.push(Part::Slot(slot(&after[..end])?));
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

    /// The placeholder, where it is nothing but one.
    pub fn single(&self) -> Option<&Slot> {
        match self.parts.as_slice() {
            [Part::Slot(slot)] => Some(slot),
            _ => None,
        }
    }

    /// Whether all placeholders stand for inputs of `schema` (an object's JSON Schema), and secrets
    /// stand only where they may.
    pub fn check(&self, place: Place, schema: &Value) -> Result<(), TemplateError> {
        for slot in self.slots() {
            if let Some(field) = slot.credential() {
                if !place.takes_credentials() {
                    return Err(TemplateError::Credential { field: field.to_owned(), place });
                }
                continue;
            }
            if place == Place::Compensation && slot.is_result() {
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

pub fn check_text(text: &str, place: Place, schema: &Value) -> Result<(), TemplateError> {
    Template::parse(text)?.check(place, schema)
}

fn slot(inner: &str) -> Result<Slot, TemplateError> {
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
