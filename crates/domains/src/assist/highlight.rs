//! Colours of the parts of a text.

use crate::parser::parse;
use crate::syntax::{Range, SyntaxKind, SyntaxToken, token_range};
use rowan::NodeOrToken;
use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    Keyword,
    /// A name where it is defined.
    Definition,
    /// The name of a domain or view where it is referred to.
    Reference,
    /// A field, or a column of a table.
    Property,
    /// A table or datasource.
    Source,
    /// The kind of a field, relation or widget.
    Kind,
    Operator,
    /// A role or right.
    Right,
    String,
    Number,
    Comment,
    Punctuation,
    Error,
}

/// The parts of the text that have a class, in order.
pub fn highlight(text: &str) -> Vec<(Range, Class)> {
    let tree = parse(text).tree();
    let tokens = tree.descendants_with_tokens().filter_map(NodeOrToken::into_token);
    tokens.filter_map(|token| Some((token_range(&token), class(&token)?))).collect()
}

fn class(token: &SyntaxToken) -> Option<Class> {
    use SyntaxKind as K;
    let parent = token.parent().map_or(K::File, |parent| parent.kind());
    Some(match (token.kind(), parent) {
        (K::Whitespace | K::Newline, _) => return None,
        (K::Comment, _) => Class::Comment,
        (K::Unknown, _) | (_, K::Error) => Class::Error,
        (K::Keyword, _) => Class::Keyword,
        (K::Dot, _) => Class::Punctuation,
        (_, K::Name) => Class::Definition,
        (_, K::DomainRef | K::ViewRef | K::MetaRef) => Class::Reference,
        (_, K::FieldRef | K::ForeignRef | K::ColumnRef) => Class::Property,
        (_, K::TableName | K::DatasourceName) => Class::Source,
        (_, K::KindName | K::WidgetName) => Class::Kind,
        (_, K::OperatorName) => Class::Operator,
        (_, K::RoleName | K::RightName) => Class::Right,
        (K::Literal, _) => Class::Number,
        (K::String, _) | (_, K::Value | K::FormatValue) => Class::String,
        _ => Class::Punctuation,
    })
}
