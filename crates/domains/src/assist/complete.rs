//! What can stand at a place, also in a text that is not finished. A word is put in at the cursor, and the parser says
//! what it looked for there.

mod candidates;

use super::world::World;
use crate::catalog::Catalog;
use crate::parser::{Expected, parse_expecting};
use crate::syntax::lexer::{Token, tokenize};
use crate::syntax::{Range, SyntaxKind, SyntaxNode, quoting};
use serde::Serialize;
use std::collections::HashSet;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Completion {
    pub label: String,
    pub kind: CompletionKind,
    /// What replaces the range.
    pub insert: String,
    pub range: Range,
    pub detail: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CompletionKind {
    Keyword,
    Table,
    Column,
    Datasource,
    Domain,
    View,
    Meta,
    Field,
    /// Of a field, relation or widget.
    Kind,
    Operator,
    Role,
    Right,
    Tag,
    Format,
    Value,
}

/// Stands for what is not written yet.
const CURSOR: &str = "steward_cursor_7f3a";

/// What is written at the cursor.
struct Written {
    range: Range,
    /// What begins it, without quotes.
    prefix: String,
    quoted: bool,
}

/// The best candidates first.
pub fn complete(text: &str, offset: usize, catalog: &Catalog) -> Vec<Completion> {
    let offset = text.floor_char_boundary(offset);
    let Some(written) = written(text, offset) else { return Vec::new() };
    let (start, end) = written.range;
    let stand_in = if written.quoted { quoting::quote(CURSOR) } else { CURSOR.to_owned() };
    let patched = format!("{}{stand_in}{}", &text[..start], &text[end..]);
    let (parse, expected) = parse_expecting(&patched, start);
    let tree = parse.tree();
    let Some(node) = super::token_at(&tree, start).and_then(|token| token.parent()) else { return Vec::new() };
    let world = World::new(&parse, catalog);
    let mut found = candidates::of_nodes(&expected.nodes, &node, &world);
    if !written.quoted {
        found.extend(words(&expected, &node));
    }
    ranked(found, &written)
}

/// A candidate without its place.
struct Candidate {
    label: String,
    kind: CompletionKind,
    /// What is written for it outside of quotes.
    insert: String,
    detail: Option<String>,
}

fn words(expected: &Expected, node: &SyntaxNode) -> Vec<Candidate> {
    // Settings stand once in a statement.
    let mut present = HashSet::new();
    for statement in node.ancestors().take_while(|node| node.kind() != SyntaxKind::Block) {
        for element in statement.children().filter(|child| is_setting(child.kind())) {
            present.extend(element.first_token().map(|token| token.text().to_owned()));
        }
    }
    let missing = expected.words.iter().filter(|word| !present.contains(**word));
    missing
        .map(|word| Candidate {
            label: (*word).to_owned(),
            kind: CompletionKind::Keyword,
            insert: match *word {
                "options" | "width" | "format" | "bind" => format!("{word}="),
                word => word.to_owned(),
            },
            detail: super::words::find(word).map(|word| word.meaning.to_owned()),
        })
        .collect()
}

fn is_setting(kind: SyntaxKind) -> bool {
    matches!(
        kind,
        SyntaxKind::Flag | SyntaxKind::Options | SyntaxKind::Width | SyntaxKind::Format | SyntaxKind::TargetBind
    )
}

/// What is written at the offset; `None` in comments.
fn written(text: &str, offset: usize) -> Option<Written> {
    let word = |token: &Token<'_>| matches!(token.kind, SyntaxKind::Ident | SyntaxKind::Literal);
    let tokens = tokenize(text);
    let next = tokens.partition_point(|token| token.end() < offset);
    let touching: Vec<Token<'_>> = tokens[next..].iter().take_while(|token| token.start <= offset).copied().collect();
    for token in &touching {
        let range = token.range();
        let inside = token.start < offset;
        match token.kind {
            SyntaxKind::Comment if inside => return None,
            SyntaxKind::String if inside && (offset < token.end() || !quoting::is_closed(token.text)) => {
                let prefix = quoting::unquote(&text[token.start..offset]);
                return Some(Written { range, prefix, quoted: true });
            }
            _ if word(token) && inside => {
                return Some(Written { range, prefix: text[token.start..offset].to_owned(), quoted: false });
            }
            _ => {}
        }
    }
    let ahead = touching.iter().find(|token| word(token) && token.start == offset);
    let range = ahead.map_or((offset, offset), super::super::syntax::lexer::Token::range);
    Some(Written { range, prefix: String::new(), quoted: false })
}

/// Those that have what is written in them, and of these first the ones that begin with it.
fn ranked(found: Vec<Candidate>, written: &Written) -> Vec<Completion> {
    let prefix = written.prefix.to_lowercase();
    let mut known = HashSet::new();
    let mut ranked: Vec<(bool, Completion)> = Vec::new();
    for Candidate { label, kind, insert, detail } in found {
        let lower = label.to_lowercase();
        if label == CURSOR || !lower.contains(&prefix) || !known.insert((label.clone(), kind)) {
            continue;
        }
        let insert = if written.quoted { quoting::quote(&label) } else { insert };
        ranked.push((!lower.starts_with(&prefix), Completion { label, kind, insert, range: written.range, detail }));
    }
    ranked.sort_by_key(|(inside, _)| *inside);
    ranked.into_iter().map(|(_, completion)| completion).collect()
}
