//! Blocks, their statements, and how the parser goes on after an error.

use super::{Parsed, Parser, QUOTE_NAMES, Scope, list, meant, shortened};
use crate::syntax::lexer::Token;
use crate::syntax::{Range, SyntaxKind};

impl<'t> Parser<'t> {
    /// The block of a statement whose beginning went as `header` says. It may begin on the next line.
    fn body(&mut self, header: &Parsed, scope: Scope, required: bool) {
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
        let open = self.current().map_or((0, 0), |token| token.range());
        self.scopes.push(scope);
        self.node(SyntaxKind::Block, |parser| {
            parser.bump();
            loop {
                match parser.current() {
                    Some(token) if token.kind == SyntaxKind::RBrace => return parser.bump(),
                    Some(token) if token.kind == SyntaxKind::Semicolon => parser.bump(),
                    Some(token) if !parser.begins_outer(token, scope) => {
                        let before = parser.at;
                        parser.statement(scope, token);
                        if parser.at == before {
                            parser.leaf(SyntaxKind::Error);
                        }
                        parser.end_of_statement(scope);
                    }
                    _ => return parser.unclosed(open, scope),
                }
            }
        });
        self.scopes.pop();
    }

    fn begins_outer(&self, token: Token<'t>, scope: Scope) -> bool {
        token.kind == SyntaxKind::Ident
            && !scope.words().contains(&token.text)
            && self.scopes.iter().any(|outer| outer.words().contains(&token.text))
    }

    fn unclosed(&mut self, open: Range, scope: Scope) {
        let message = format!("This `{{` of {} is not closed.", scope.name());
        let hint = "Add `}` after its last statement.".to_owned();
        self.report(open, "unclosed-block", message, hint);
    }

    fn statement(&mut self, scope: Scope, token: Token<'t>) {
        for word in scope.words() {
            self.at_word(word);
        }
        match (scope, token.text) {
            (Scope::Domain, "permission") => self.plain(SyntaxKind::Permission, Self::permission),
            (Scope::Domain, "field") => self.with_block(SyntaxKind::Field, Self::field, Scope::Field, false),
            (Scope::Domain, "relation") => self.plain(SyntaxKind::Relation, Self::relation),
            (Scope::Domain, "meta") => self.plain(SyntaxKind::Meta, Self::meta),
            (Scope::Domain, "ai") => self.plain(SyntaxKind::Note, Self::note),
            (Scope::Domain | Scope::Field, "aliases") => self.plain(SyntaxKind::Aliases, Self::aliases),
            (Scope::Field, "example") => self.plain(SyntaxKind::Example, Self::example),
            (Scope::View, "toolbar") => self.with_block(SyntaxKind::Toolbar, |_| Ok(()), Scope::Toolbar, true),
            (Scope::View, "table") => self.with_block(SyntaxKind::TablePart, Self::rows_of, Scope::Table, false),
            (Scope::View, "section") => {
                self.with_block(SyntaxKind::Section, Self::section_title, Scope::Section, true);
            }
            (Scope::Section, "row") => self.with_block(SyntaxKind::Row, |_| Ok(()), Scope::Row, true),
            (Scope::Toolbar, word) if scope.words().contains(&word) => self.node(SyntaxKind::Button, |parser| {
                parser.leaf_word(SyntaxKind::ActionName);
                if parser.button().is_err() {
                    parser.skip(false);
                }
            }),
            (Scope::Table, "on_select") => self.plain(SyntaxKind::OnSelect, Self::target),
            (Scope::Table, "column") => self.plain(SyntaxKind::Column, Self::column),
            (Scope::Row, "widget") => self.plain(SyntaxKind::Widget, Self::widget),
            _ => self.unknown_statement(scope, token),
        }
    }

    /// A statement without a block. Its first word has been looked at.
    fn plain(&mut self, kind: SyntaxKind, parts: fn(&mut Self) -> Parsed) {
        self.node(kind, |parser| {
            parser.bump_as(Some(SyntaxKind::Keyword));
            if parts(parser).is_err() {
                parser.skip(false);
            }
        });
    }

    pub(super) fn with_block(
        &mut self,
        kind: SyntaxKind,
        parts: fn(&mut Self) -> Parsed,
        scope: Scope,
        required: bool,
    ) {
        self.node(kind, |parser| {
            parser.bump_as(Some(SyntaxKind::Keyword));
            let header = parts(parser);
            parser.body(&header, scope, required);
        });
    }

    /// A statement that begins with no word of its block.
    fn unknown_statement(&mut self, scope: Scope, token: Token<'t>) {
        let words = scope.words();
        let message = match token.kind {
            SyntaxKind::Ident => format!("`{}` begins no statement of {}.", token.text, scope.name()),
            _ => format!("No statement of {} begins like this.", scope.name()),
        };
        let hint = meant(token, words).unwrap_or_else(|| format!("Begin with {}.", list(words)));
        self.report(token.range(), "unknown-statement", message, hint);
        self.node(SyntaxKind::Error, |parser| {
            parser.bump();
            parser.skip_tokens(false, usize::from(token.kind == SyntaxKind::LBrace));
        });
    }

    fn end_of_statement(&mut self, scope: Scope) {
        let Some(token) = self.current().filter(|_| self.on_line()) else { return };
        match token.kind {
            SyntaxKind::Semicolon | SyntaxKind::RBrace => {}
            SyntaxKind::Ident if scope.words().contains(&token.text) => {
                let message = format!("`{}` begins a new statement on the same line.", token.text);
                let hint = "Put a new line or `;` before it.".to_owned();
                self.report(token.range(), "missing-separator", message, hint);
            }
            kind => {
                let message = format!("The statement should end before `{}`.", shortened(token.text));
                let is_unknown = kind == SyntaxKind::Unknown;
                let hint = if is_unknown { QUOTE_NAMES } else { "Remove it, or begin a new line." };
                self.report(token.range(), "unexpected", message, hint.to_owned());
                self.skip(false);
            }
        }
    }

    /// Skips what is left of a statement; `block` says whether its block is kept.
    fn skip(&mut self, block: bool) {
        if !self.skip_ends(block, 0) {
            self.node(SyntaxKind::Error, |parser| parser.skip_tokens(block, 0));
        }
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
