//! New names for what a text defines, in all places that refer to it.

use super::symbols::{Symbol, symbol};
use super::token_at;
use crate::parser::parse;
use crate::syntax::{Range, SyntaxKind, SyntaxNode, quoting, range_of};
use serde::Serialize;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Edit {
    /// Which of the texts.
    pub text: usize,
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

/// Renames what stands at `offset` within one text.
pub fn rename(text: &str, offset: usize, new_name: &str) -> Result<Vec<Edit>, RenameError> {
    rename_in(&[text], (0, offset), new_name)
}

/// Renames what stands at an offset of one of the texts, in all of them.
pub fn rename_in(texts: &[&str], at: (usize, usize), new_name: &str) -> Result<Vec<Edit>, RenameError> {
    if new_name.trim().is_empty() || new_name.chars().any(char::is_control) {
        return Err(RenameError::BadName);
    }
    let trees: Vec<SyntaxNode> = texts.iter().map(|text| parse(text).tree()).collect();
    let old = symbol_at(&trees, at).ok_or(RenameError::NoName)?;
    if old.name() == new_name {
        return Ok(Vec::new());
    }
    let places = |wanted: &Symbol| -> Vec<(usize, SyntaxNode)> {
        let named = trees.iter().enumerate().flat_map(|(text, tree)| tree.descendants().map(move |node| (text, node)));
        named.filter(|(_, node)| symbol(node).as_ref() == Some(wanted)).collect()
    };
    let found = places(&old);
    let defines = |(_, node): &(usize, SyntaxNode)| node.kind() == SyntaxKind::Name;
    if !found.iter().any(defines) {
        return Err(RenameError::NotDefined { what: old.what(), name: old.name().to_owned() });
    }
    if let Some(taken) = rivals(&old, new_name).into_iter().find(|rival| places(rival).iter().any(defines)) {
        return Err(RenameError::Taken { what: taken.what(), name: new_name.to_owned() });
    }
    let insert = quoting::name(new_name);
    Ok(found.iter().map(|(text, node)| Edit { text: *text, range: range_of(node), insert: insert.clone() }).collect())
}

/// What would have the same name. Fields and relations of a domain share their names.
fn rivals(old: &Symbol, new_name: &str) -> Vec<Symbol> {
    let mut rivals = vec![old.renamed(new_name)];
    match old {
        Symbol::Field { domain, .. } => {
            rivals.push(Symbol::Relation { domain: domain.clone(), name: new_name.to_owned() });
        }
        Symbol::Relation { domain, .. } => {
            rivals.push(Symbol::Field { domain: domain.clone(), name: new_name.to_owned() });
        }
        _ => {}
    }
    rivals
}

/// Where what stands at `offset` is defined in the text.
pub fn definition(text: &str, offset: usize) -> Option<Range> {
    definition_in(&[text], (0, offset)).map(|(_, range)| range)
}

/// Which of the texts defines what stands at an offset of one of them, and where.
pub fn definition_in(texts: &[&str], at: (usize, usize)) -> Option<(usize, Range)> {
    let trees: Vec<SyntaxNode> = texts.iter().map(|text| parse(text).tree()).collect();
    let wanted = symbol_at(&trees, at)?;
    trees.iter().enumerate().find_map(|(text, tree)| {
        let mut names = tree.descendants().filter(|node| node.kind() == SyntaxKind::Name);
        names.find(|node| symbol(node).as_ref() == Some(&wanted)).map(|node| (text, range_of(&node)))
    })
}

fn symbol_at(trees: &[SyntaxNode], (text, offset): (usize, usize)) -> Option<Symbol> {
    symbol(&token_at(trees.get(text)?, offset)?.parent()?)
}
