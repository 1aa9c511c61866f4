//! Domains and their statements.

use super::{Parsed, Parser, Scope, SyntaxKind, Token, unexpected};
use crate::diagnostic::{Diagnostic, closest};

impl<'t> Parser<'t> {
    pub(super) fn domain(&mut self) {
        self.start(SyntaxKind::Domain);
        let header = self.domain_header();
        self.body(&header, Scope::Domain, true);
        self.builder.finish_node();
    }

    fn domain_header(&mut self) -> Parsed {
        self.word("domain");
        self.name(SyntaxKind::Name, "the name of the domain")?;
        self.expect_word("from")?;
        self.flush();
        let start = self.builder.checkpoint();
        let source = self.source();
        self.builder.start_node_at(start, SyntaxKind::Source.into());
        self.builder.finish_node();
        source
    }

    fn source(&mut self) -> Parsed {
        self.table_name()?;
        self.expect(SyntaxKind::At, "@")?;
        self.name(SyntaxKind::DatasourceName, "the name of the datasource")
    }

    pub(super) fn domain_statement(&mut self, token: Token<'t>) {
        match token.text {
            "permission" => self.plain(SyntaxKind::Permission, Self::permission),
            "field" => {
                self.start(SyntaxKind::Field);
                let header = self.field();
                self.body(&header, Scope::Field, false);
                self.builder.finish_node();
            }
            "relation" => self.plain(SyntaxKind::Relation, Self::relation),
            "meta" => self.plain(SyntaxKind::Meta, Self::meta),
            "ai" => self.plain(SyntaxKind::Note, Self::note),
            "aliases" => self.plain(SyntaxKind::Aliases, Self::aliases),
            _ => self.unknown_statement(Scope::Domain, token),
        }
    }

    /// A statement without a block. Its first word has been looked at.
    pub(super) fn plain(&mut self, kind: SyntaxKind, parts: fn(&mut Self) -> Parsed) {
        self.start(kind);
        self.bump_as(Some(SyntaxKind::Keyword));
        if parts(self).is_err() {
            self.skip(false);
        }
        self.builder.finish_node();
    }

    fn permission(&mut self) -> Parsed {
        if self.wanted(SyntaxKind::RoleName).is_some_and(|token| token.kind == SyntaxKind::Star) {
            self.leaf(SyntaxKind::RoleName);
        } else {
            self.name(SyntaxKind::RoleName, "a role, the name of a group, or `*`")?;
        }
        self.choice(SyntaxKind::RightName, "`read`, `write` or `delete`")?;
        while self.at_on_line(SyntaxKind::Comma) {
            self.bump();
            self.choice(SyntaxKind::RightName, "`read`, `write` or `delete`")?;
        }
        Ok(())
    }

    fn field(&mut self) -> Parsed {
        self.word("field");
        self.name(SyntaxKind::Name, "the name of a column")?;
        self.expect(SyntaxKind::Colon, ":")?;
        self.choice(SyntaxKind::KindName, "the kind of the field")?;
        while self.on_line() {
            if self.at_word("readonly") || self.at_word("filterable") {
                self.start(SyntaxKind::Flag);
                self.bump_as(Some(SyntaxKind::Keyword));
                self.builder.finish_node();
            } else if self.at_word("options") {
                self.setting(SyntaxKind::Options, |parser| {
                    parser.name(SyntaxKind::MetaRef, "the name of a meta of this domain")
                })?;
            } else if self.at(SyntaxKind::Ident) && !Scope::Domain.words().contains(&self.text_here()) {
                self.unknown_word(&["readonly", "filterable", "options"], "A field can be");
            } else {
                break;
            }
        }
        Ok(())
    }

    fn text_here(&self) -> &'t str {
        self.current().map_or("", |token| token.text)
    }

    /// `<word>=<value>`, at the word.
    pub(super) fn setting(&mut self, kind: SyntaxKind, value: impl FnOnce(&mut Self) -> Parsed) -> Parsed {
        self.start(kind);
        self.bump_as(Some(SyntaxKind::Keyword));
        let parsed = self.expect(SyntaxKind::Equals, "=").and_then(|()| value(self));
        self.builder.finish_node();
        parsed
    }

    /// Skips one word that should be one of `words`, with what follows its `=`.
    pub(super) fn unknown_word(&mut self, words: &[&str], beginning: &str) {
        let Some(token) = self.current() else { return };
        let hint = match closest(token.text, words.iter().copied()) {
            Some(word) => format!("Did you mean `{word}`?"),
            None => format!("{beginning} {}.", super::list(words)),
        };
        let message = format!("`{}` means nothing here.", token.text);
        self.report(Diagnostic::error((token.start, token.end()), "unknown-word", message).with_hint(hint));
        self.start(SyntaxKind::Error);
        self.bump();
        if self.at_on_line(SyntaxKind::Equals) {
            self.bump();
            if self.on_line() && self.current().is_some_and(is_value) {
                self.bump();
            }
        }
        self.builder.finish_node();
    }

    pub(super) fn field_statement(&mut self, token: Token<'t>) {
        match token.text {
            "example" => self.plain(SyntaxKind::Example, Self::example_parts),
            "aliases" => self.plain(SyntaxKind::Aliases, Self::aliases),
            _ => self.unknown_statement(Scope::Field, token),
        }
    }

    fn example_parts(&mut self) -> Parsed {
        self.choice(SyntaxKind::OperatorName, "an operator such as `eq`")?;
        if !self.wanted(SyntaxKind::Value).is_some_and(is_value) {
            return self.expected("a value");
        }
        self.leaf(SyntaxKind::Value);
        self.string(SyntaxKind::Text, "the words of a person between quotes")
    }

    fn relation(&mut self) -> Parsed {
        self.name(SyntaxKind::Name, "the name of the relation")?;
        self.expect(SyntaxKind::Colon, ":")?;
        self.choice(SyntaxKind::KindName, "`has_many`, `belongs_to` or `has_one`")?;
        self.name(SyntaxKind::DomainRef, "the name of the other domain")?;
        self.expect_word("bind")?;
        self.expect(SyntaxKind::Equals, "=")?;
        self.pair()?;
        while self.at_on_line(SyntaxKind::Comma) {
            self.bump();
            self.pair()?;
        }
        Ok(())
    }

    fn pair(&mut self) -> Parsed {
        self.flush();
        let start = self.builder.checkpoint();
        let parsed = self
            .name(SyntaxKind::FieldRef, "a field of this domain")
            .and_then(|()| self.expect(SyntaxKind::Arrow, "->"))
            .and_then(|()| self.name(SyntaxKind::ForeignRef, "a field of the other domain"));
        self.builder.start_node_at(start, SyntaxKind::Pair.into());
        self.builder.finish_node();
        parsed
    }

    fn meta(&mut self) -> Parsed {
        self.name(SyntaxKind::Name, "the name of the meta")?;
        self.expect_word("from")?;
        self.table_name()?;
        self.name(SyntaxKind::ColumnRef, "the column of the key")?;
        self.name(SyntaxKind::ColumnRef, "the column of the label")?;
        if self.on_line() && self.at_word("order_by") {
            self.start(SyntaxKind::OrderBy);
            self.bump_as(Some(SyntaxKind::Keyword));
            let parsed = self.name(SyntaxKind::ColumnRef, "the column to order by");
            self.builder.finish_node();
            parsed?;
        }
        Ok(())
    }

    fn note(&mut self) -> Parsed {
        self.string(SyntaxKind::Tag, "what the line is about between quotes, such as `\"scope\"`")?;
        self.string(SyntaxKind::Text, "a sentence between quotes")
    }

    /// A list in brackets goes over lines.
    fn aliases(&mut self) -> Parsed {
        self.expect(SyntaxKind::LBracket, "[")?;
        loop {
            match self.current().map(|token| token.kind) {
                Some(SyntaxKind::RBracket) => {
                    self.bump();
                    return Ok(());
                }
                Some(SyntaxKind::String) => {
                    self.leaf(SyntaxKind::Text);
                    if self.at(SyntaxKind::Comma) {
                        self.bump();
                    } else if !self.at(SyntaxKind::RBracket) {
                        return self.expected("`,` or `]`");
                    }
                }
                Some(SyntaxKind::Ident | SyntaxKind::Literal) if self.on_line() => {
                    if let Some(token) = self.current() {
                        let hint = format!("Write `\"{}\"`.", token.text);
                        self.report(Diagnostic { hint: Some(hint), ..unexpected_alias(token) });
                    }
                    self.leaf(SyntaxKind::Error);
                    if self.at(SyntaxKind::Comma) {
                        self.bump();
                    }
                }
                _ => return self.expected("`]`"),
            }
        }
    }
}

fn is_value(token: Token<'_>) -> bool {
    matches!(token.kind, SyntaxKind::String | SyntaxKind::Literal | SyntaxKind::Ident)
}

fn unexpected_alias(token: Token<'_>) -> Diagnostic {
    let Diagnostic { range, severity, code, .. } = unexpected(token);
    Diagnostic { range, severity, code, message: "An alias stands between quotes.".to_owned(), hint: None }
}
