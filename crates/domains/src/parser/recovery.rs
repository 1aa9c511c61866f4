//! Blocks, their statements, and how the parser goes on after an error.

use super::{Parsed, Parser, Scope, list, unexpected};
use crate::diagnostic::{Diagnostic, closest};
use crate::syntax::lexer::Token;
use crate::syntax::{Range, SyntaxKind};

impl<'t> Parser<'t> {
    /// The block of a statement whose beginning went as `header` says. It may begin on the next line.
    pub(super) fn body(&mut self, header: &Parsed, scope: Scope, required: bool) {
        if header.is_err() {
            self.skip(true);
        }
        if self.at(SyntaxKind::LBrace) {
            self.block(scope);
        } else if required && header.is_ok() && self.expected("`{`").is_err() {
            self.skip(true);
            if self.at(SyntaxKind::LBrace) {
                self.block(scope);
            }
        }
    }

    fn block(&mut self, scope: Scope) {
        let open = self.current().map_or((0, 0), |token| (token.start, token.end()));
        self.start(SyntaxKind::Block);
        self.bump();
        self.scopes.push(scope);
        loop {
            let Some(token) = self.current() else {
                self.unclosed(open, scope);
                break;
            };
            match token.kind {
                SyntaxKind::RBrace => {
                    self.bump();
                    break;
                }
                SyntaxKind::Semicolon => self.bump(),
                _ if self.begins_outer(token, scope) => {
                    self.unclosed(open, scope);
                    break;
                }
                _ => {
                    let before = self.at;
                    self.statement(scope, token);
                    if self.at == before {
                        self.leaf(SyntaxKind::Error);
                    }
                    self.end_of_statement(scope);
                }
            }
        }
        self.scopes.pop();
        self.builder.finish_node();
    }

    fn begins_outer(&self, token: Token<'t>, scope: Scope) -> bool {
        token.kind == SyntaxKind::Ident
            && !scope.words().contains(&token.text)
            && self.scopes.iter().any(|outer| outer.words().contains(&token.text))
    }

    fn unclosed(&mut self, open: Range, scope: Scope) {
        let message = format!("This `{{` of {} is not closed.", scope.name());
        let hint = "Add `}` after its last statement.".to_owned();
        self.report(Diagnostic::error(open, "unclosed-block", message).with_hint(hint));
    }

    fn statement(&mut self, scope: Scope, token: Token<'t>) {
        for word in scope.words() {
            self.at_word(word);
        }
        match scope {
            Scope::Domain => self.domain_statement(token),
            Scope::Field => self.field_statement(token),
            Scope::View | Scope::Toolbar | Scope::Table | Scope::Section | Scope::Row => {
                self.view_statement(scope, token);
            }
            Scope::Text => {}
        }
    }

    /// A statement that begins with no word of its block.
    pub(super) fn unknown_statement(&mut self, scope: Scope, token: Token<'t>) {
        let words = scope.words();
        let message = match token.kind {
            SyntaxKind::Ident => format!("`{}` begins no statement of {}.", token.text, scope.name()),
            _ => format!("No statement of {} begins like this.", scope.name()),
        };
        let hint = match closest(token.text, words.iter().copied()) {
            Some(word) => format!("Did you mean `{word}`?"),
            None => format!("Begin with {}.", list(words)),
        };
        self.report(Diagnostic::error((token.start, token.end()), "unknown-statement", message).with_hint(hint));
        let depth = usize::from(token.kind == SyntaxKind::LBrace);
        self.start(SyntaxKind::Error);
        self.bump();
        self.skip_tokens(false, depth);
        self.builder.finish_node();
    }

    fn end_of_statement(&mut self, scope: Scope) {
        let Some(token) = self.current().filter(|_| self.on_line()) else { return };
        let range = (token.start, token.end());
        match token.kind {
            SyntaxKind::Semicolon | SyntaxKind::RBrace => {}
            SyntaxKind::Ident if scope.words().contains(&token.text) => {
                let message = format!("`{}` begins a new statement on the same line.", token.text);
                let hint = "Put a new line or `;` before it.".to_owned();
                self.report(Diagnostic::error(range, "missing-separator", message).with_hint(hint));
            }
            _ => {
                self.report(unexpected(token));
                self.skip(false);
            }
        }
    }

    /// Skips what is left of a statement; `block` says whether its block is kept.
    pub(super) fn skip(&mut self, block: bool) {
        if self.skip_ends(block, 0) {
            return;
        }
        self.start(SyntaxKind::Error);
        self.skip_tokens(block, 0);
        self.builder.finish_node();
    }

    fn skip_ends(&self, block: bool, depth: usize) -> bool {
        let Some(token) = self.current() else { return true };
        if self.at_item() {
            return true;
        }
        depth == 0
            && (!self.on_line()
                || matches!(token.kind, SyntaxKind::Semicolon | SyntaxKind::RBrace)
                || (block && token.kind == SyntaxKind::LBrace))
    }

    fn skip_tokens(&mut self, block: bool, mut depth: usize) {
        while !self.skip_ends(block, depth) {
            match self.current().map(|token| token.kind) {
                Some(SyntaxKind::LBrace) => depth += 1,
                Some(SyntaxKind::RBrace) => depth = depth.saturating_sub(1),
                _ => {}
            }
            self.bump();
        }
    }
}
