//! Text to trees, by hand-written descent. After an error the rest of the statement is skipped, a block that is not
//! closed ends where a statement of an outer one begins, and every domain and view begins anew.

mod domain;
mod recovery;
mod view;

use crate::diagnostic::{Diagnostic, closest, enumerated};
use crate::syntax::lexer::{Token, tokenize};
use crate::syntax::{Range, SyntaxKind, SyntaxNode, quoting};
use rowan::{GreenNode, GreenNodeBuilder};

#[derive(Debug, Clone)]
pub struct Parse {
    green: GreenNode,
    pub diagnostics: Vec<Diagnostic>,
}

impl Parse {
    /// The text of the tree is the parsed text.
    pub fn tree(&self) -> SyntaxNode {
        SyntaxNode::new_root(self.green.clone())
    }
}

/// Reads any text, in time linear in its length.
pub fn parse(text: &str) -> Parse {
    let mut parser = Parser::new(text, None);
    parser.text();
    parser.finish().0
}

/// What may stand at a place.
#[derive(Debug, Clone, Default)]
pub(crate) struct Expected {
    /// Words of the language.
    pub words: Vec<&'static str>,
    /// Names and other parts, by the node that they would be in.
    pub nodes: Vec<SyntaxKind>,
}

/// Also collects what may stand at `offset`, where a token begins.
pub(crate) fn parse_expecting(text: &str, offset: usize) -> (Parse, Expected) {
    let mut parser = Parser::new(text, Some(offset));
    parser.text();
    parser.finish()
}

/// The statement at hand is broken, which has been reported.
struct Broken;

type Parsed = Result<(), Broken>;

/// Where statements stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    Text,
    Domain,
    Field,
    View,
    Toolbar,
    Table,
    Section,
    Row,
}

impl Scope {
    /// The words that begin its statements.
    fn words(self) -> &'static [&'static str] {
        match self {
            Self::Text => &["domain", "view"],
            Self::Domain => &["permission", "field", "relation", "meta", "ai", "aliases"],
            Self::Field => &["example", "aliases"],
            Self::View => &["toolbar", "table", "section"],
            Self::Toolbar => &["new", "refresh", "save", "delete"],
            Self::Table => &["on_select", "column"],
            Self::Section => &["row"],
            Self::Row => &["widget"],
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Text => "the text",
            Self::Domain => "a domain",
            Self::Field => "the block of a field",
            Self::View => "a view",
            Self::Toolbar => "a toolbar",
            Self::Table => "a table",
            Self::Section => "a section",
            Self::Row => "a row",
        }
    }
}

struct Parser<'t> {
    tokens: Vec<Token<'t>>,
    /// Positions in `tokens` of those that are no trivia, each with whether its line begins with it.
    significant: Vec<(usize, bool)>,
    /// The next of `significant`.
    at: usize,
    /// The next of `tokens` that is not in the tree.
    built: usize,
    builder: GreenNodeBuilder<'static>,
    diagnostics: Vec<Diagnostic>,
    /// The blocks around, outermost first.
    scopes: Vec<Scope>,
    probe: Option<usize>,
    expected: Expected,
}

impl<'t> Parser<'t> {
    fn new(text: &'t str, probe: Option<usize>) -> Self {
        let tokens = tokenize(text);
        let mut significant = Vec::new();
        let mut begins_line = true;
        for (at, token) in tokens.iter().enumerate() {
            if token.kind == SyntaxKind::Newline {
                begins_line = true;
            } else if !token.kind.is_trivia() {
                significant.push((at, begins_line));
                begins_line = false;
            }
        }
        Self {
            tokens,
            significant,
            at: 0,
            built: 0,
            builder: GreenNodeBuilder::new(),
            diagnostics: Vec::new(),
            scopes: vec![Scope::Text],
            probe,
            expected: Expected::default(),
        }
    }

    fn finish(mut self) -> (Parse, Expected) {
        self.diagnostics.sort_by_key(|diagnostic| diagnostic.range);
        (Parse { green: self.builder.finish(), diagnostics: self.diagnostics }, self.expected)
    }

    fn text(&mut self) {
        self.builder.start_node(SyntaxKind::File.into());
        while let Some(token) = self.current() {
            if token.kind == SyntaxKind::Semicolon {
                self.bump();
            } else if self.at_word("domain") {
                self.with_block(SyntaxKind::Domain, Self::domain, Scope::Domain, true);
            } else if self.at_word("view") {
                self.with_block(SyntaxKind::View, Self::view, Scope::View, true);
            } else {
                self.stray(token);
            }
        }
        while self.built < self.tokens.len() {
            self.build_token(None);
        }
        self.builder.finish_node();
    }

    /// What stands outside of domains and views, up to the next of them.
    fn stray(&mut self, token: Token<'t>) {
        let inner = [Scope::Domain, Scope::View].into_iter().find(|scope| scope.words().contains(&token.text));
        let (message, hint) = match (token.kind, inner) {
            (SyntaxKind::RBrace, _) => ("This `}` closes nothing.".to_owned(), "Remove it.".to_owned()),
            (_, Some(scope)) => (
                format!("`{}` stands outside of {}.", token.text, scope.name()),
                "Move it between the braces that it belongs to.".to_owned(),
            ),
            _ => (
                "A text consists of domains and views, and this begins neither.".to_owned(),
                meant(token, Scope::Text.words()).unwrap_or_else(|| {
                    "Begin with `domain <name> from <table>@<datasource> {` or `view <name> …`.".to_owned()
                }),
            ),
        };
        self.report(token.range(), "unexpected", message, hint);
        self.node(SyntaxKind::Error, |parser| {
            parser.bump();
            while parser.current().is_some() && !parser.at_item() {
                parser.bump();
            }
        });
    }

    // Tokens

    fn nth(&self, ahead: usize) -> Option<Token<'t>> {
        self.significant.get(self.at + ahead).map(|(at, _)| self.tokens[*at])
    }

    fn current(&self) -> Option<Token<'t>> {
        self.nth(0)
    }

    fn at(&self, kind: SyntaxKind) -> bool {
        self.current().is_some_and(|token| token.kind == kind)
    }

    /// Whether the next token stands on the line of the one before.
    fn on_line(&self) -> bool {
        self.significant.get(self.at).is_some_and(|(_, begins_line)| !begins_line)
    }

    fn at_on_line(&self, kind: SyntaxKind) -> bool {
        self.on_line() && self.at(kind)
    }

    /// Whether the next token is this word of the language.
    fn at_word(&mut self, word: &'static str) -> bool {
        let Some(token) = self.current() else { return false };
        if self.probe == Some(token.start) && !self.expected.words.contains(&word) {
            self.expected.words.push(word);
        }
        token.kind == SyntaxKind::Ident && token.text == word
    }

    /// Whether a domain or view surely begins with the next token.
    fn at_item(&self) -> bool {
        let Some(token) = self.current() else { return false };
        let begins = !self.on_line()
            || self.at.checked_sub(1).is_some_and(|before| {
                matches!(self.tokens[self.significant[before].0].kind, SyntaxKind::RBrace | SyntaxKind::Semicolon)
            });
        let named = self.nth(1).is_some_and(|name| matches!(name.kind, SyntaxKind::Ident | SyntaxKind::String));
        let Some(third) = self.nth(2).filter(|_| begins && named && token.kind == SyntaxKind::Ident) else {
            return false;
        };
        match token.text {
            "domain" => third.text == "from",
            "view" => third.kind == SyntaxKind::String || third.text == "over",
            _ => false,
        }
    }

    // The tree

    /// Adds the next token with any trivia before it.
    fn bump(&mut self) {
        self.bump_as(None);
    }

    fn bump_as(&mut self, kind: Option<SyntaxKind>) {
        self.flush();
        if let Some(token) = self.current() {
            if token.kind == SyntaxKind::String {
                self.check_string(token);
            }
            self.build_token(kind);
            self.at += 1;
        }
    }

    /// Adds the trivia before the next token.
    fn flush(&mut self) {
        let until = self.significant.get(self.at).map_or(self.tokens.len(), |(at, _)| *at);
        while self.built < until {
            self.build_token(None);
        }
    }

    fn build_token(&mut self, kind: Option<SyntaxKind>) {
        let token = self.tokens[self.built];
        self.builder.token(kind.unwrap_or(token.kind).into(), token.text);
        self.built += 1;
    }

    /// A node that begins at the next token.
    fn node<T>(&mut self, kind: SyntaxKind, parts: impl FnOnce(&mut Self) -> T) -> T {
        self.flush();
        self.builder.start_node(kind.into());
        let parts = parts(self);
        self.builder.finish_node();
        parts
    }

    fn check_string(&mut self, token: Token<'t>) {
        if !quoting::is_closed(token.text) {
            let message = "This text has no closing quote.";
            let hint = "Close it with `\"` on the same line. A new line in it is written `\\n`.".to_owned();
            self.report(token.range(), "unterminated-string", message, hint);
        } else if let Some((at, escaped)) = quoting::unknown_escape(token.text) {
            let start = token.start + at;
            let message = format!("`\\{escaped}` stands for nothing.");
            let hint = r#"Use `\"`, `\\`, `\n`, `\r` or `\t`; a backslash itself is written `\\`."#.to_owned();
            let range = (start, start + 1 + escaped.len_utf8());
            self.report(range, "unknown-escape", message, hint);
        }
    }

    // Parts of statements

    fn word(&mut self, word: &'static str) -> bool {
        let found = self.at_word(word);
        if found {
            self.bump_as(Some(SyntaxKind::Keyword));
        }
        found
    }

    fn expect_word(&mut self, word: &'static str) -> Parsed {
        if self.on_line() && self.word(word) { Ok(()) } else { self.expected(&format!("`{word}`")) }
    }

    fn expect(&mut self, kind: SyntaxKind, shown: &str) -> Parsed {
        if self.at_on_line(kind) {
            self.bump();
            return Ok(());
        }
        self.expected(&format!("`{shown}`"))
    }

    /// The next token where a node of this kind may stand.
    fn wanted(&mut self, node: SyntaxKind) -> Option<Token<'t>> {
        let token = self.current().filter(|_| self.on_line())?;
        if self.probe == Some(token.start) {
            self.expected.nodes.push(node);
        }
        Some(token)
    }

    /// A name, with quotes where it is no identifier.
    fn name(&mut self, node: SyntaxKind, what: &str) -> Parsed {
        let Some(token) = self.wanted(node) else { return self.expected(what) };
        match token.kind {
            SyntaxKind::Ident | SyntaxKind::String => {}
            SyntaxKind::Literal => {
                let message = format!("`{}` begins with a digit.", token.text);
                let hint = format!("Put the name into quotes: `\"{}\"`.", token.text);
                self.report(token.range(), "unquoted-name", message, hint);
            }
            _ => return self.expected(what),
        }
        self.leaf(node);
        Ok(())
    }

    /// A word from a fixed set, which is looked at when the tree is read.
    fn choice(&mut self, node: SyntaxKind, what: &str) -> Parsed {
        if self.wanted(node).is_some_and(|token| token.kind == SyntaxKind::Ident) {
            self.leaf(node);
            return Ok(());
        }
        self.expected(what)
    }

    fn string(&mut self, node: SyntaxKind, what: &str) -> Parsed {
        if self.wanted(node).is_some_and(|token| token.kind == SyntaxKind::String) {
            self.leaf(node);
            return Ok(());
        }
        self.expected(what)
    }

    fn leaf(&mut self, node: SyntaxKind) {
        self.node(node, Self::bump);
    }

    /// A word of the language as a node of its own.
    fn leaf_word(&mut self, node: SyntaxKind) {
        self.node(node, |parser| parser.bump_as(Some(SyntaxKind::Keyword)));
    }

    fn table_name(&mut self) -> Parsed {
        self.flush();
        let plain = |token: Token<'_>| matches!(token.kind, SyntaxKind::Ident | SyntaxKind::String);
        if !self.wanted(SyntaxKind::TableName).is_some_and(plain) {
            return self.expected("the name of a table");
        }
        self.node(SyntaxKind::TableName, |parser| {
            parser.bump();
            if !parser.at_on_line(SyntaxKind::Dot) {
                return Ok(());
            }
            parser.bump();
            if !parser.wanted(SyntaxKind::TableName).is_some_and(plain) {
                return parser.expected("the name of a table after the schema");
            }
            parser.bump();
            Ok(())
        })
    }

    /// One or several with commas between them.
    fn listed(&mut self, one: impl Fn(&mut Self) -> Parsed) -> Parsed {
        one(self)?;
        while self.at_on_line(SyntaxKind::Comma) {
            self.bump();
            one(self)?;
        }
        Ok(())
    }

    // Reports

    fn report(
        &mut self,
        range: Range,
        code: &'static str,
        message: impl Into<String>,
        hint: impl Into<Option<String>>,
    ) {
        self.diagnostics.push(Diagnostic::error(range, code, message).with_hint(hint));
    }

    /// Says what is missing before the next token.
    fn expected(&mut self, what: &str) -> Parsed {
        let end = self.at.checked_sub(1).map_or(0, |before| self.tokens[self.significant[before].0].end());
        match self.current().filter(|_| self.on_line()) {
            Some(token) => {
                let message = format!("Here {what} is expected, not `{}`.", shortened(token.text));
                let hint = (token.kind == SyntaxKind::Unknown).then(|| QUOTE_NAMES.to_owned());
                self.report(token.range(), "expected", message, hint);
            }
            None => self.report((end, end), "expected", format!("Here {what} is missing."), None),
        }
        Err(Broken)
    }
}

const QUOTE_NAMES: &str = "Put names with other characters than letters, digits and `_` into quotes.";

/// The word of these that a token was probably meant to be.
fn meant(token: Token<'_>, words: &[&str]) -> Option<String> {
    closest(token.text, words.iter().copied()).map(|word| format!("Did you mean `{word}`?"))
}

fn shortened(text: &str) -> String {
    const SHOWN: usize = 40;
    if text.chars().count() <= SHOWN { text.to_owned() } else { text.chars().take(SHOWN).chain(['…']).collect() }
}

fn list(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    enumerated(&quoted, "or")
}
