//! Domains and their statements.

use super::{Parsed, Parser, Scope, SyntaxKind, Token, list, meant};

/// Words that a field can be.
const FLAGS: [&str; 4] = ["readonly", "filterable", "trusted", "untrusted"];

impl Parser<'_> {
    pub(super) fn domain(&mut self) -> Parsed {
        self.name(SyntaxKind::Name, "the name of the domain")?;
        self.expect_word("from")?;
        self.node(SyntaxKind::Source, |parser| {
            parser.table_name()?;
            parser.expect(SyntaxKind::At, "@")?;
            parser.name(SyntaxKind::DatasourceName, "the name of the datasource")
        })
    }

    pub(super) fn permission(&mut self) -> Parsed {
        self.grantee()?;
        self.listed(|parser| parser.choice(SyntaxKind::RightName, "`read`, `write` or `delete`"))
    }

    /// `*`, a role, or a name behind `role:` or `group:`.
    fn grantee(&mut self) -> Parsed {
        let first = self.wanted(SyntaxKind::RoleName);
        if first.is_some_and(|token| token.kind == SyntaxKind::Star) {
            self.leaf(SyntaxKind::RoleName);
            return Ok(());
        }
        let marked = first
            .is_some_and(|token| token.kind == SyntaxKind::Ident && matches!(token.text, "role" | "group"))
            && self.nth(1).is_some_and(|token| token.kind == SyntaxKind::Colon);
        if !marked {
            return self.name(SyntaxKind::RoleName, "a role, `group:<name>` or `*`");
        }
        self.node(SyntaxKind::RoleName, |parser| {
            parser.bump_as(Some(SyntaxKind::Keyword));
            parser.expect(SyntaxKind::Colon, ":")?;
            let name = parser.wanted(SyntaxKind::RoleName);
            if !name.is_some_and(|token| matches!(token.kind, SyntaxKind::Ident | SyntaxKind::String)) {
                return parser.expected("the name of a role or group");
            }
            parser.bump();
            Ok(())
        })
    }

    pub(super) fn field(&mut self) -> Parsed {
        self.name(SyntaxKind::Name, "the name of a column")?;
        self.expect(SyntaxKind::Colon, ":")?;
        self.choice(SyntaxKind::KindName, "the kind of the field")?;
        while self.on_line() {
            if FLAGS.iter().any(|flag| self.at_word(flag)) {
                self.leaf_word(SyntaxKind::Flag);
            } else if self.at_word("options") {
                self.setting(SyntaxKind::Options, |parser| {
                    parser.name(SyntaxKind::MetaRef, "the name of a meta of this domain")
                })?;
            } else if self.at(SyntaxKind::Ident) && !self.begins(Scope::Domain) {
                self.unknown_word(&[&FLAGS[..], &["options"]].concat(), "A field can be");
            } else {
                break;
            }
        }
        Ok(())
    }

    /// Whether the next token is a word that begins a statement there.
    pub(super) fn begins(&self, scope: Scope) -> bool {
        self.current().is_some_and(|token| scope.words().contains(&token.text))
    }

    /// `<word>=<value>`, at the word.
    pub(super) fn setting(&mut self, kind: SyntaxKind, value: impl FnOnce(&mut Self) -> Parsed) -> Parsed {
        self.node(kind, |parser| {
            parser.bump_as(Some(SyntaxKind::Keyword));
            parser.expect(SyntaxKind::Equals, "=").and_then(|()| value(parser))
        })
    }

    /// Skips one word that should be one of `words`, with what follows its `=`.
    pub(super) fn unknown_word(&mut self, words: &[&str], beginning: &str) {
        let Some(token) = self.current() else { return };
        let hint = meant(token, words).unwrap_or_else(|| format!("{beginning} {}.", list(words)));
        let message = format!("`{}` means nothing here.", token.text);
        self.report(token.range(), "unknown-word", message, hint);
        self.node(SyntaxKind::Error, |parser| {
            parser.bump();
            if parser.at_on_line(SyntaxKind::Equals) {
                parser.bump();
                if parser.on_line() && parser.current().is_some_and(is_value) {
                    parser.bump();
                }
            }
        });
    }

    pub(super) fn example(&mut self) -> Parsed {
        self.choice(SyntaxKind::OperatorName, "an operator such as `eq`")?;
        if !self.wanted(SyntaxKind::Value).is_some_and(is_value) {
            return self.expected("a value");
        }
        self.leaf(SyntaxKind::Value);
        self.string(SyntaxKind::Text, "the words of a person between quotes")
    }

    pub(super) fn relation(&mut self) -> Parsed {
        self.name(SyntaxKind::Name, "the name of the relation")?;
        self.expect(SyntaxKind::Colon, ":")?;
        self.choice(SyntaxKind::KindName, "`has_many`, `belongs_to` or `has_one`")?;
        self.name(SyntaxKind::DomainRef, "the name of the other domain")?;
        self.expect_word("bind")?;
        self.expect(SyntaxKind::Equals, "=")?;
        self.listed(|parser| parser.node(SyntaxKind::Pair, Self::pair))
    }

    fn pair(&mut self) -> Parsed {
        self.name(SyntaxKind::FieldRef, "a field of this domain")?;
        self.expect(SyntaxKind::Arrow, "->")?;
        self.name(SyntaxKind::ForeignRef, "a field of the other domain")
    }

    pub(super) fn meta(&mut self) -> Parsed {
        self.name(SyntaxKind::Name, "the name of the meta")?;
        self.expect_word("from")?;
        self.table_name()?;
        self.name(SyntaxKind::ColumnRef, "the column of the key")?;
        self.name(SyntaxKind::ColumnRef, "the column of the label")?;
        if self.on_line() && self.at_word("order_by") {
            self.node(SyntaxKind::OrderBy, |parser| {
                parser.bump_as(Some(SyntaxKind::Keyword));
                parser.name(SyntaxKind::ColumnRef, "the column to order by")
            })?;
        }
        Ok(())
    }

    pub(super) fn note(&mut self) -> Parsed {
        self.string(SyntaxKind::Tag, "what the line is about between quotes, such as `\"scope\"`")?;
        self.string(SyntaxKind::Text, "a sentence between quotes")
    }

    /// A list in brackets goes over lines.
    pub(super) fn aliases(&mut self) -> Parsed {
        self.expect(SyntaxKind::LBracket, "[")?;
        while let Some(token) = self.current() {
            match token.kind {
                SyntaxKind::RBracket => {
                    self.bump();
                    return Ok(());
                }
                SyntaxKind::String => {
                    self.leaf(SyntaxKind::Text);
                    if self.at(SyntaxKind::Comma) {
                        self.bump();
                    } else if !self.at(SyntaxKind::RBracket) {
                        return self.expected("`,` or `]`");
                    }
                }
                SyntaxKind::Ident | SyntaxKind::Literal if self.on_line() => {
                    let hint = format!("Write `\"{}\"`.", token.text);
                    self.report(token.range(), "unexpected", "An alias stands between quotes.", hint);
                    self.leaf(SyntaxKind::Error);
                    if self.at(SyntaxKind::Comma) {
                        self.bump();
                    }
                }
                _ => break,
            }
        }
        self.expected("`]`")
    }
}

fn is_value(token: Token<'_>) -> bool {
    matches!(token.kind, SyntaxKind::String | SyntaxKind::Literal | SyntaxKind::Ident)
}
