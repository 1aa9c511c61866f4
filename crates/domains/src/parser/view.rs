//! Views and their parts.

use super::{Parsed, Parser, Scope, SyntaxKind};

impl Parser<'_> {
    pub(super) fn view(&mut self) -> Parsed {
        self.name(SyntaxKind::Name, "the name of the view")?;
        self.string(SyntaxKind::Text, "the title of the view between quotes")?;
        self.expect_word("over")?;
        self.name(SyntaxKind::DomainRef, "the name of a domain")
    }

    pub(super) fn section_title(&mut self) -> Parsed {
        self.string(SyntaxKind::Text, "the title of the section between quotes")
    }

    pub(super) fn rows_of(&mut self) -> Parsed {
        self.expect(SyntaxKind::Arrow, "->")?;
        self.name(SyntaxKind::DomainRef, "the name of a domain")?;
        self.expect(SyntaxKind::Dot, ".")?;
        self.expect_word("rows")
    }

    pub(super) fn button(&mut self) -> Parsed {
        self.string(SyntaxKind::Text, "the label of the button between quotes")?;
        if self.at_on_line(SyntaxKind::Arrow) { self.target() } else { Ok(()) }
    }

    pub(super) fn target(&mut self) -> Parsed {
        if !self.at_on_line(SyntaxKind::Arrow) {
            return self.expected("`->`");
        }
        self.node(SyntaxKind::Target, Self::target_parts)
    }

    fn target_parts(&mut self) -> Parsed {
        self.bump();
        self.name(SyntaxKind::ViewRef, "the name of a view")?;
        while self.on_line() {
            if self.at_word("bind") {
                self.setting(SyntaxKind::TargetBind, |parser| parser.name(SyntaxKind::FieldRef, "a field"))?;
            } else if self.word("as") {
                self.expect_word("tab")?;
            } else if self.at(SyntaxKind::Ident) && !self.begins_part() {
                self.unknown_word(&["bind", "as"], "A target can have");
            } else {
                break;
            }
        }
        Ok(())
    }

    fn begins_part(&self) -> bool {
        self.begins(Scope::Toolbar) || self.begins(Scope::Table)
    }

    pub(super) fn column(&mut self) -> Parsed {
        self.name(SyntaxKind::FieldRef, "a field")?;
        self.string(SyntaxKind::Text, "the label of the column between quotes")?;
        while self.on_line() {
            if self.at_word("width") {
                self.setting(SyntaxKind::Width, Self::width)?;
            } else if self.at_word("format") {
                self.setting(SyntaxKind::Format, Self::format)?;
            } else if self.at(SyntaxKind::Ident) && !self.begins_part() {
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
        self.node(SyntaxKind::FormatValue, |parser| {
            parser.bump();
            while parser.at_on_line(SyntaxKind::Colon) {
                parser.bump();
                if !part(parser) {
                    return parser.expected("the rest of the format");
                }
                parser.bump();
            }
            Ok(())
        })
    }

    pub(super) fn widget(&mut self) -> Parsed {
        self.choice(SyntaxKind::WidgetName, "the kind of the widget")?;
        self.expect_word("bind")?;
        self.expect(SyntaxKind::Equals, "=")?;
        self.name(SyntaxKind::FieldRef, "a field")
    }
}
