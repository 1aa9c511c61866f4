//! What a name in a text stands for.

use crate::ast::{Leaf, ancestor, leaf};
use crate::syntax::{SyntaxKind, SyntaxNode};

/// Something that a domain or view text defines and other places refer to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Symbol {
    pub kind: SymbolKind,
    /// The domain that a field, relation or meta is of; empty for domains and views.
    pub domain: String,
    pub name: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub(super) enum SymbolKind {
    Domain,
    View,
    Field,
    Relation,
    Meta,
}

/// The symbol that a name node defines or refers to.
pub(super) fn symbol(node: &SyntaxNode) -> Option<Symbol> {
    let kind = match (node.kind(), node.parent().map(|parent| parent.kind())) {
        (SyntaxKind::Name, Some(SyntaxKind::Domain)) | (SyntaxKind::DomainRef, _) => SymbolKind::Domain,
        (SyntaxKind::Name, Some(SyntaxKind::View)) | (SyntaxKind::ViewRef, _) => SymbolKind::View,
        (SyntaxKind::Name, Some(SyntaxKind::Field)) | (SyntaxKind::FieldRef | SyntaxKind::ForeignRef, _) => {
            SymbolKind::Field
        }
        (SyntaxKind::Name, Some(SyntaxKind::Relation)) => SymbolKind::Relation,
        (SyntaxKind::Name, Some(SyntaxKind::Meta)) | (SyntaxKind::MetaRef, _) => SymbolKind::Meta,
        _ => return None,
    };
    let domain = match (kind, node.kind()) {
        (SymbolKind::Domain | SymbolKind::View, _) => String::new(),
        (_, SyntaxKind::FieldRef | SyntaxKind::ForeignRef) => domain_of_field(node)?,
        _ => enclosing_domain(node)?,
    };
    Some(Symbol { kind, domain, name: Leaf::of(node).text })
}

pub(super) fn enclosing_domain(node: &SyntaxNode) -> Option<String> {
    Some(leaf(&ancestor(node, SyntaxKind::Domain)?, SyntaxKind::Name)?.text)
}

/// The domain whose fields can stand at a node.
pub(super) fn domain_of_field(node: &SyntaxNode) -> Option<String> {
    if let Some(relation) = ancestor(node, SyntaxKind::Relation) {
        return match node.kind() {
            SyntaxKind::ForeignRef => Some(leaf(&relation, SyntaxKind::DomainRef)?.text),
            _ => enclosing_domain(node),
        };
    }
    let listing = ancestor(node, SyntaxKind::TablePart).or_else(|| ancestor(node, SyntaxKind::View))?;
    Some(leaf(&listing, SyntaxKind::DomainRef)?.text)
}
