//! Fields that say yes or no, and with which words.

use crate::model::{Example, Field, FieldKind};

/// Whether a field is yes or no: also a number that is only ever 0 or 1, as databases without such a kind have it.
pub(super) fn is_flag(field: &Field) -> bool {
    let binary = |example: &Example| example.op == "eq" && ["0", "1"].contains(&example.value.as_str());
    let numbers = field.kind == FieldKind::Int && field.examples.len() >= 2;
    let words = field.kind == FieldKind::String
        && field.examples.len() == 2
        && [true, false].into_iter().all(|said| !word_for(field, said).is_empty());
    field.kind == FieldKind::Bool || words || numbers && field.examples.iter().all(binary)
}

/// Words for yes and no that databases keep in texts.
const YES: [&str; 10] = ["y", "yes", "j", "ja", "t", "true", "o", "oui", "s", "sí"];
const NO: [&str; 7] = ["n", "no", "nein", "f", "false", "non", "not"];

/// The value of a field of texts that says yes or no; empty: it has none.
pub(super) fn word_for(field: &Field, yes: bool) -> String {
    let words: &[&str] = if yes { &YES } else { &NO };
    let says = |example: &&Example| example.op == "eq" && words.contains(&example.value.to_lowercase().as_str());
    field.examples.iter().find(says).map(|example| example.value.clone()).unwrap_or_default()
}
