//! The canonical layout of a text: two spaces a block, one statement a line, comments kept. A domain or view with a
//! syntax error stays as it is written.

use crate::ast::Leaf;
use crate::parser::parse;
use crate::syntax::{Range, SyntaxElement, SyntaxKind, SyntaxNode, SyntaxToken, quoting, range_of};
use rowan::NodeOrToken;

const INDENT: &str = "  ";

/// The longest line that a block is written on.
const LINE: usize = 100;

/// Lays a text out anew, with the same meaning. A second time changes nothing.
pub fn format(text: &str) -> String {
    let parse = parse(text);
    let mut printer =
        Printer { out: String::with_capacity(text.len()), errors: parse.diagnostics.iter().map(|d| d.range).collect() };
    printer.lines(&parse.tree(), 0);
    if !printer.out.is_empty() {
        printer.out.push('\n');
    }
    printer.out
}

struct Printer {
    out: String,
    /// Ordered.
    errors: Vec<Range>,
}

impl Printer {
    /// What stands in a file or block, a line each; empty lines between them stay, and one stands between the items of
    /// a file.
    fn lines(&mut self, parent: &SyntaxNode, depth: usize) {
        let is_file = parent.kind() == SyntaxKind::File;
        let mut newlines = 0_usize;
        let (mut first, mut after_item) = (true, false);
        for element in parent.children_with_tokens() {
            let blank = if is_file { after_item || newlines > 1 } else { newlines > 1 && !first };
            match element {
                NodeOrToken::Token(token) => match token.kind() {
                    SyntaxKind::Newline => newlines += 1,
                    SyntaxKind::Comment => {
                        self.comment(&token, newlines, depth, blank);
                        first &= newlines == 0;
                        after_item &= newlines == 0;
                        newlines = 0;
                    }
                    _ => {}
                },
                NodeOrToken::Node(node) => {
                    self.line(depth, blank);
                    if is_file && self.broken(&node) {
                        self.verbatim(&node);
                    } else {
                        self.statement(&node, depth);
                    }
                    (first, after_item) = (false, true);
                    newlines = 0;
                }
            }
        }
    }

    /// Whether an error stands in it. One at the token behind it is the next one's, unless the block is missing.
    fn broken(&self, node: &SyntaxNode) -> bool {
        let (start, end) = range_of(node);
        let first = self.errors.partition_point(|error| error.0 < start);
        let inside = |error: &Range| error.0 < end || (error.0 == end && error.1 == end);
        node.kind() == SyntaxKind::Error
            || self.errors.get(first).is_some_and(inside)
            || node.children().all(|child| child.kind() != SyntaxKind::Block)
    }

    /// Without the blanks and new lines at its end.
    fn verbatim(&mut self, node: &SyntaxNode) {
        let tokens: Vec<SyntaxToken> = node.descendants_with_tokens().filter_map(NodeOrToken::into_token).collect();
        let blank = |token: &SyntaxToken| matches!(token.kind(), SyntaxKind::Whitespace | SyntaxKind::Newline);
        let kept = tokens.iter().rposition(|token| !blank(token)).map_or(0, |last| last + 1);
        for token in &tokens[..kept] {
            self.out.push_str(token.text());
        }
    }

    /// Begins a line.
    fn line(&mut self, depth: usize, blank: bool) {
        if !self.out.is_empty() {
            self.out.push_str(if blank { "\n\n" } else { "\n" });
        }
        self.out.push_str(&INDENT.repeat(depth));
    }

    /// A comment stays behind what stands before it on its line.
    fn comment(&mut self, token: &SyntaxToken, newlines: usize, depth: usize, blank: bool) {
        if newlines == 0 && !self.out.is_empty() {
            self.out.push(' ');
        } else {
            self.line(depth, blank);
        }
        self.out.push_str(token.text().trim_end());
    }

    fn statement(&mut self, node: &SyntaxNode, depth: usize) {
        for token in own_tokens(node).filter(|token| token.kind() == SyntaxKind::Comment) {
            self.out.push_str(token.text().trim_end());
            self.line(depth, false);
        }
        self.out.push_str(&words(node));
        let Some(block) = node.children().find(|child| child.kind() == SyntaxKind::Block) else { return };
        self.out.push_str(" {");
        if let Some(inline) = inline(node, &block) {
            let line = self.out.rfind('\n').map_or(0, |at| at + 1);
            if self.out[line..].chars().count() + inline.chars().count() <= LINE {
                self.out.push_str(&inline);
                return;
            }
        }
        self.lines(&block, depth + 1);
        self.line(depth, false);
        self.out.push('}');
    }
}

/// The block of a row, or of a field with one example, as the rest of its line.
fn inline(node: &SyntaxNode, block: &SyntaxNode) -> Option<String> {
    let count = block.children().count();
    let fits = match node.kind() {
        SyntaxKind::Field => count <= 1,
        SyntaxKind::Row => true,
        _ => count == 0,
    };
    let comment = |element: SyntaxElement| element.kind() == SyntaxKind::Comment;
    if !fits || block.descendants_with_tokens().any(comment) {
        return None;
    }
    let statements: Vec<String> = block.children().map(|statement| words(&statement)).collect();
    Some(if statements.is_empty() { "}".to_owned() } else { format!(" {} }}", statements.join("; ")) })
}

/// The tokens of a statement without those of its block.
fn own_tokens(node: &SyntaxNode) -> impl Iterator<Item = SyntaxToken> {
    node.children_with_tokens().filter(|element| element.kind() != SyntaxKind::Block).flat_map(
        |element| match element {
            NodeOrToken::Token(token) => vec![token],
            NodeOrToken::Node(node) => node.descendants_with_tokens().filter_map(NodeOrToken::into_token).collect(),
        },
    )
}

/// A statement on one line, without its block.
fn words(node: &SyntaxNode) -> String {
    let mut pieces = Vec::new();
    pieces_of(node, &mut pieces);
    let mut line = String::new();
    let mut before: Option<SyntaxKind> = None;
    for (at, (kind, text)) in pieces.iter().enumerate() {
        let next = pieces.get(at + 1).map(|(kind, _)| *kind);
        if *kind == SyntaxKind::Comma && next == Some(SyntaxKind::RBracket) {
            continue;
        }
        if before.is_some_and(|before| spaced(before, *kind)) {
            line.push(' ');
        }
        line.push_str(text);
        before = Some(*kind);
    }
    line
}

fn spaced(before: SyntaxKind, next: SyntaxKind) -> bool {
    use SyntaxKind::{At, Comma, Dot, Equals, LBracket, RBracket};
    !matches!(before, LBracket | Dot | At | Equals) && !matches!(next, Comma | RBracket | Dot | At | Equals)
}

fn pieces_of(node: &SyntaxNode, pieces: &mut Vec<(SyntaxKind, String)>) {
    for element in node.children_with_tokens() {
        match element {
            NodeOrToken::Token(token) if token.kind().is_trivia() => {}
            NodeOrToken::Token(token) => pieces.push((token.kind(), token.text().to_owned())),
            NodeOrToken::Node(node) if node.kind() == SyntaxKind::Block => {}
            NodeOrToken::Node(node) => match canonical(&node) {
                Some(text) => pieces.push((node.kind(), text)),
                None => pieces_of(&node, pieces),
            },
        }
    }
}

/// A name, word or text as it is written best; nothing for nodes that have several parts.
fn canonical(node: &SyntaxNode) -> Option<String> {
    use SyntaxKind as K;
    let text = || Leaf::of(node).text;
    Some(match node.kind() {
        K::Name
        | K::DatasourceName
        | K::DomainRef
        | K::ViewRef
        | K::MetaRef
        | K::FieldRef
        | K::ForeignRef
        | K::ColumnRef => quoting::name(&text()),
        K::TableName => quoting::table(&text()),
        K::RoleName => quoting::role(&text()),
        K::Value => quoting::value(&text()),
        K::Text | K::Tag => quoting::quote(&text()),
        K::FormatValue => quoting::format(&text()),
        _ => return None,
    })
}
