//! The parts of the nodes of a tree. Each may be missing, since texts may be broken.

use crate::syntax::{Range, SyntaxKind, SyntaxNode, quoting, range_of};

/// A name, word or text with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Leaf {
    /// Without quotes.
    pub text: String,
    pub range: Range,
}

impl Leaf {
    pub(crate) fn of(node: &SyntaxNode) -> Self {
        let mut text = String::new();
        for token in node.children_with_tokens().filter_map(rowan::NodeOrToken::into_token) {
            match token.kind() {
                SyntaxKind::String => text.push_str(&quoting::unquote(token.text())),
                kind if kind.is_trivia() => {}
                _ => text.push_str(token.text()),
            }
        }
        Self { text, range: range_of(node) }
    }
}

pub(crate) fn leaf(node: &SyntaxNode, kind: SyntaxKind) -> Option<Leaf> {
    child(node, kind).as_ref().map(Leaf::of)
}

/// The leaf within a part of the node, such as the table within the source of a domain.
pub(crate) fn inner_leaf(node: &SyntaxNode, part: SyntaxKind, kind: SyntaxKind) -> Option<Leaf> {
    leaf(&child(node, part)?, kind)
}

pub(crate) fn leaves(node: &SyntaxNode, kind: SyntaxKind) -> impl Iterator<Item = Leaf> + use<> {
    children(node, kind).map(|child| Leaf::of(&child))
}

pub(crate) fn child(node: &SyntaxNode, kind: SyntaxKind) -> Option<SyntaxNode> {
    children(node, kind).next()
}

pub(crate) fn children(node: &SyntaxNode, kind: SyntaxKind) -> impl Iterator<Item = SyntaxNode> + use<> {
    node.children().filter(move |child| child.kind() == kind)
}

/// The statements of a kind in the block of a node.
pub(crate) fn statements(node: &SyntaxNode, kind: SyntaxKind) -> impl Iterator<Item = SyntaxNode> + use<> {
    child(node, SyntaxKind::Block).into_iter().flat_map(move |block| children(&block, kind))
}

/// The nearest node of a kind that a node is or stands in.
pub(crate) fn ancestor(node: &SyntaxNode, kind: SyntaxKind) -> Option<SyntaxNode> {
    node.ancestors().find(|ancestor| ancestor.kind() == kind)
}
