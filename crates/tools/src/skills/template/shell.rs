//! Templates in argument vectors, and their form for a remote shell.

use super::error::TemplateError;
use super::parse::{Part, Place, Template};
use super::values::Values;
use serde_json::Value;

/// Fills an argument vector: every value stays within its element. An element whose placeholders are
/// all absent is left out. A value at the beginning of an element may not begin with `-` unless its
/// placeholder says `|option`.
pub fn argv(source: &[String], values: &Values<'_>) -> Result<Vec<String>, TemplateError> {
    let mut words = Vec::new();
    for text in source {
        let template = Template::parse(text)?;
        let Some(word) = template.text(values)? else {
            continue;
        };
        if word.contains('\0') {
            return Err(TemplateError::Control("a command line".to_owned()));
        }
        guard_option(&template, &word)?;
        words.push(word);
    }
    Ok(words)
}

/// What a program would read as an option although its author meant a value. The first placeholder
/// answers for those right behind it, since it may be empty.
fn guard_option(template: &Template, word: &str) -> Result<(), TemplateError> {
    match template.parts.first() {
        Some(Part::Slot(slot)) if word.starts_with('-') && !slot.option => {
            Err(TemplateError::Option { name: slot.name(), value: word.chars().take(40).collect() })
        }
        _ => Ok(()),
    }
}

/// The command as one line for a POSIX shell, every word quoted where that is needed.
pub fn remote(source: &[String], values: &Values<'_>) -> Result<String, TemplateError> {
    let words: Vec<String> = argv(source, values)?.iter().map(|word| quote(word)).collect();
    Ok(words.join(" "))
}

/// One word for a POSIX shell: the shell reads it as this word and nothing else.
pub fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:,+@".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Whether there is a fixed program and all placeholders are inputs of `schema`.
pub fn check_argv(source: &[String], schema: &Value) -> Result<(), TemplateError> {
    let program = source.first().map(|text| Template::parse(text)).transpose()?;
    if !program.is_some_and(|program| program.is_fixed() && !source[0].trim().is_empty()) {
        return Err(TemplateError::Fixed("the program"));
    }
    super::values::check_texts(source, Place::Argv, schema)
}
