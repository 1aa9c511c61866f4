//! What an editor asks: completions, explanations and new names.

mod complete;
mod hover;
mod rename;
mod symbols;
mod words;
mod world;

pub use complete::{Completion, CompletionKind, complete};
pub use hover::{Hover, hover};
pub use rename::{Edit, RenameError, rename};
pub use words::{WORDS, Word};

use crate::syntax::{SyntaxKind, SyntaxNode, SyntaxToken};
use rowan::{TextSize, TokenAtOffset};

/// The token at an offset, the one with a meaning where two touch.
fn token_at(tree: &SyntaxNode, offset: usize) -> Option<SyntaxToken> {
    let offset = TextSize::try_from(offset).ok().filter(|offset| *offset <= tree.text_range().end())?;
    let named = |token: &SyntaxToken| {
        matches!(token.kind(), SyntaxKind::Ident | SyntaxKind::Keyword | SyntaxKind::String | SyntaxKind::Literal)
    };
    match tree.token_at_offset(offset) {
        TokenAtOffset::None => None,
        TokenAtOffset::Single(token) => Some(token),
        TokenAtOffset::Between(left, right) => Some(if named(&right) || !named(&left) { right } else { left }),
    }
}
