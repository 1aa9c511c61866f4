//! SQL: a placeholder is a bound value, whatever it holds.

use super::error::TemplateError;
use super::parse::{Part, Template};
use super::values::Values;
use serde_json::Value;

/// How a database writes the place of a bound value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// `?1`: `SQLite`.
    Numbered,
    /// `$1`: PostgreSQL.
    Dollar,
    /// `?`: MariaDB and MySQL.
    Plain,
}

/// The statement with its marks, and the values in their order. An absent value is NULL.
pub fn sql(source: &str, mark: Mark, values: &Values<'_>) -> Result<(String, Vec<Value>), TemplateError> {
    let template = Template::parse(source)?;
    let (mut text, mut bound) = (String::new(), Vec::new());
    for part in &template.parts {
        match part {
            Part::Text(fixed) => text.push_str(fixed),
            Part::Slot(slot) => {
                bound.push(values.get(slot).unwrap_or(Value::Null));
                text.push(if mark == Mark::Dollar { '$' } else { '?' });
                if mark != Mark::Plain {
                    text.push_str(&bound.len().to_string());
                }
            }
        }
    }
    Ok((text, bound))
}
