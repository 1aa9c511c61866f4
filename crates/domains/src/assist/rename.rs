//! New names for what a text defines, in all places of it that refer to it.

use super::symbols::{Symbol, SymbolKind, symbol};
use super::token_at;
use crate::parser::parse;
use crate::syntax::{Range, SyntaxKind, SyntaxNode, quoting, range_of};
use serde::Serialize;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Edit {
    pub range: Range,
    pub insert: String,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RenameError {
    #[error(
        "Nothing here has a name of its own. Place the cursor on the name of a domain, view, field, relation or meta."
    )]
    NoName,
    #[error("The {what} `{name}` is not defined in this text. Rename it where it is defined.")]
    NotDefined { what: &'static str, name: String },
    #[error("There is another {what} `{name}`. Choose another name.")]
    Taken { what: &'static str, name: String },
    #[error("A name can't be empty or hold control characters. Choose another name.")]
    BadName,
}

/// Renames what stands at `offset` of the text.
pub fn rename(text: &str, offset: usize, new_name: &str) -> Result<Vec<Edit>, RenameError> {
    if new_name.trim().is_empty() || new_name.chars().any(char::is_control) {
        return Err(RenameError::BadName);
    }
    let tree = parse(text).tree();
    let node = token_at(&tree, offset).and_then(|token| token.parent());
    let old = node.as_ref().and_then(symbol).ok_or(RenameError::NoName)?;
    if old.name == new_name {
        return Ok(Vec::new());
    }
    let places = |wanted: &Symbol| -> Vec<SyntaxNode> {
        tree.descendants().filter(|node| symbol(node).as_ref() == Some(wanted)).collect()
    };
    let is_defined = |places: &[SyntaxNode]| places.iter().any(|node| node.kind() == SyntaxKind::Name);
    let found = places(&old);
    if !is_defined(&found) {
        return Err(RenameError::NotDefined { what: old.kind.into(), name: old.name });
    }
    let rivals = rivals(old.kind).iter().map(|kind| Symbol { kind: *kind, name: new_name.to_owned(), ..old.clone() });
    if let Some(taken) = rivals.into_iter().find(|rival| is_defined(&places(rival))) {
        return Err(RenameError::Taken { what: taken.kind.into(), name: taken.name });
    }
    let insert = quoting::name(new_name);
    Ok(found.iter().map(|node| Edit { range: range_of(node), insert: insert.clone() }).collect())
}

/// What must not have the same name. Fields and relations of a domain share their names.
fn rivals(kind: SymbolKind) -> &'static [SymbolKind] {
    match kind {
        SymbolKind::Domain => &[SymbolKind::Domain],
        SymbolKind::View => &[SymbolKind::View],
        SymbolKind::Field => &[SymbolKind::Field, SymbolKind::Relation],
        SymbolKind::Relation => &[SymbolKind::Relation, SymbolKind::Field],
        SymbolKind::Meta => &[SymbolKind::Meta],
    }
}
