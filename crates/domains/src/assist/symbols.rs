//! What a name in a text stands for.

use crate::ast::{Leaf, leaf};
use crate::syntax::{SyntaxKind, SyntaxNode};

/// Something that a domain or view text defines and other places refer to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Symbol {
    Domain(String),
    View(String),
    Field { domain: String, name: String },
    Relation { domain: String, name: String },
    Meta { domain: String, name: String },
}

impl Symbol {
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Domain(name)
            | Self::View(name)
            | Self::Field { name, .. }
            | Self::Relation { name, .. }
            | Self::Meta { name, .. } => name,
        }
    }

    pub(super) fn what(&self) -> &'static str {
        match self {
            Self::Domain(_) => "domain",
            Self::View(_) => "view",
            Self::Field { .. } => "field",
            Self::Relation { .. } => "relation",
            Self::Meta { .. } => "meta",
        }
    }

    /// The same thing by another name.
    pub(super) fn renamed(&self, new: &str) -> Self {
        let name = new.to_owned();
        match self.clone() {
            Self::Domain(_) => Self::Domain(name),
            Self::View(_) => Self::View(name),
            Self::Field { domain, .. } => Self::Field { domain, name },
            Self::Relation { domain, .. } => Self::Relation { domain, name },
            Self::Meta { domain, .. } => Self::Meta { domain, name },
        }
    }
}

/// The symbol that a name node defines or refers to.
pub(super) fn symbol(node: &SyntaxNode) -> Option<Symbol> {
    let name = || Leaf::of(node).text;
    Some(match node.kind() {
        SyntaxKind::Name => match node.parent()?.kind() {
            SyntaxKind::Domain => Symbol::Domain(name()),
            SyntaxKind::View => Symbol::View(name()),
            SyntaxKind::Field => Symbol::Field { domain: enclosing_domain(node)?, name: name() },
            SyntaxKind::Relation => Symbol::Relation { domain: enclosing_domain(node)?, name: name() },
            SyntaxKind::Meta => Symbol::Meta { domain: enclosing_domain(node)?, name: name() },
            _ => return None,
        },
        SyntaxKind::DomainRef => Symbol::Domain(name()),
        SyntaxKind::ViewRef => Symbol::View(name()),
        SyntaxKind::MetaRef => Symbol::Meta { domain: enclosing_domain(node)?, name: name() },
        SyntaxKind::FieldRef | SyntaxKind::ForeignRef => Symbol::Field { domain: domain_of_field(node)?, name: name() },
        _ => return None,
    })
}

pub(super) fn ancestor(node: &SyntaxNode, kind: SyntaxKind) -> Option<SyntaxNode> {
    node.ancestors().find(|ancestor| ancestor.kind() == kind)
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
