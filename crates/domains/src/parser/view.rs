//! Views and their parts.

use super::{Parsed, Parser, Scope, SyntaxKind, Token};

impl<'t> Parser<'t> {
    pub(super) fn view(&mut self) {
        self.start(SyntaxKind::View);
        let header = self.view_header();
        self.body(&header, Scope::View, true);
        self.builder.finish_node();
    }

    fn view_header(&mut self) -> Parsed {
        self.word("view");
        self.name(SyntaxKind::Name, "the name of the view")?;
        self.string(SyntaxKind::Text, "the title of the view between quotes")?;
        self.expect_word("over")?;
        self.name(SyntaxKind::DomainRef, "the name of a domain")
    }

    pub(super) fn view_statement(&mut self, scope: Scope, token: Token<'t>) {
        match (scope, token.text) {
            (Scope::View, "toolbar") => self.with_block(SyntaxKind::Toolbar, |_| Ok(()), Scope::Toolbar, true),
            (Scope::View, "table") => self.with_block(SyntaxKind::TablePart, Self::rows_of, Scope::Table, false),
            (Scope::View, "section") => {
                self.with_block(SyntaxKind::Section, Self::section_title, Scope::Section, true);
            }
            (Scope::Section, "row") => self.with_block(SyntaxKind::Row, |_| Ok(()), Scope::Row, true),
            (Scope::Toolbar, word) if scope.words().contains(&word) => {
                self.start(SyntaxKind::Button);
                self.leaf_word(SyntaxKind::ActionName);
                if self.button().is_err() {
                    self.skip(false);
                }
                self.builder.finish_node();
            }
            (Scope::Table, "on_select") => self.plain(SyntaxKind::OnSelect, Self::target),
            (Scope::Table, "column") => self.plain(SyntaxKind::Column, Self::column),
            (Scope::Row, "widget") => self.plain(SyntaxKind::Widget, Self::widget),
            _ => self.unknown_statement(scope, token),
        }
    }

    fn with_block(&mut self, kind: SyntaxKind, parts: fn(&mut Self) -> Parsed, scope: Scope, required: bool) {
        self.start(kind);
        self.bump_as(Some(SyntaxKind::Keyword));
        let header = parts(self);
        self.body(&header, scope, required);
        self.builder.finish_node();
    }

    fn leaf_word(&mut self, node: SyntaxKind) {
        self.start(node);
        self.bump_as(Some(SyntaxKind::Keyword));
        self.builder.finish_node();
    }

    fn section_title(&mut self) -> Parsed {
        self.string(SyntaxKind::Text, "the title of the section between quotes")
    }

    fn rows_of(&mut self) -> Parsed {
        self.expect(SyntaxKind::Arrow, "->")?;
        self.name(SyntaxKind::DomainRef, "the name of a domain")?;
        self.expect(SyntaxKind::Dot, ".")?;
        self.expect_word("rows")
    }

    fn button(&mut self) -> Parsed {
        self.string(SyntaxKind::Text, "the label of the button between quotes")?;
        if self.at_on_line(SyntaxKind::Arrow) { self.target() } else { Ok(()) }
    }

    fn target(&mut self) -> Parsed {
        if !self.at_on_line(SyntaxKind::Arrow) {
            return self.expected("`->`");
        }
        self.start(SyntaxKind::Target);
        let parsed = self.target_parts();
        self.builder.finish_node();
        parsed
    }

    fn target_parts(&mut self) -> Parsed {
        self.bump();
        self.name(SyntaxKind::ViewRef, "the name of a view")?;
        while self.on_line() {
            if self.at_word("bind") {
                self.setting(SyntaxKind::TargetBind, |parser| parser.name(SyntaxKind::FieldRef, "a field"))?;
            } else if self.word("as") {
                self.expect_word("tab")?;
            } else if self.at(SyntaxKind::Ident) && !self.begins_button() {
                self.unknown_word(&["bind", "as"], "A target can have");
            } else {
                break;
            }
        }
        Ok(())
    }

    fn begins_button(&self) -> bool {
        let words = [Scope::Toolbar.words(), Scope::Table.words()];
        self.current().is_some_and(|token| words.iter().any(|words| words.contains(&token.text)))
    }

    fn column(&mut self) -> Parsed {
        self.name(SyntaxKind::FieldRef, "a field")?;
        self.string(SyntaxKind::Text, "the label of the column between quotes")?;
        while self.on_line() {
            if self.at_word("width") {
                self.setting(SyntaxKind::Width, Self::width)?;
            } else if self.at_word("format") {
                self.setting(SyntaxKind::Format, Self::format)?;
            } else if self.at(SyntaxKind::Ident) && !self.begins_button() {
                self.unknown_word(&["width", "format"], "A column can have");
            } else {
                break;
            }
        }
        Ok(())
    }

    fn width(&mut self) -> Parsed {
        if self.at_on_line(SyntaxKind::Literal) {
            self.leaf(SyntaxKind::WidthValue);
            return Ok(());
        }
        self.expected("a number of characters")
    }

    fn format(&mut self) -> Parsed {
        if self.wanted(SyntaxKind::FormatValue).is_some_and(|token| token.kind == SyntaxKind::String) {
            self.leaf(SyntaxKind::FormatValue);
            return Ok(());
        }
        let part = |parser: &Self| parser.at_on_line(SyntaxKind::Ident) || parser.at_on_line(SyntaxKind::Literal);
        if !part(self) {
            return self.expected("a format such as `number:0`");
        }
        self.start(SyntaxKind::FormatValue);
        self.bump();
        let mut parsed = Ok(());
        while parsed.is_ok() && self.at_on_line(SyntaxKind::Colon) {
            self.bump();
            if part(self) {
                self.bump();
            } else {
                parsed = self.expected("the rest of the format");
            }
        }
        self.builder.finish_node();
        parsed
    }

    fn widget(&mut self) -> Parsed {
        self.choice(SyntaxKind::WidgetName, "the kind of the widget")?;
        self.expect_word("bind")?;
        self.expect(SyntaxKind::Equals, "=")?;
        self.name(SyntaxKind::FieldRef, "a field")
    }
}
