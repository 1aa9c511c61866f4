//! Text to tokens. Every byte of the text is in exactly one token.

use super::Range;
use super::SyntaxKind::{self, Arrow, At, Colon, Comma, Comment, Dot, Equals, Ident, LBrace, LBracket, Literal};
use super::SyntaxKind::{Newline, RBrace, RBracket, Semicolon, Star, String, Unknown, Whitespace};
use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

#[derive(Debug, Clone, Copy)]
pub(crate) struct Token<'t> {
    pub kind: SyntaxKind,
    pub text: &'t str,
    pub start: usize,
}

impl Token<'_> {
    pub(crate) fn end(&self) -> usize {
        self.start + self.text.len()
    }

    pub(crate) fn range(&self) -> Range {
        (self.start, self.end())
    }
}

pub(crate) fn tokenize(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut start = 0;
    while let Some(first) = text[start..].chars().next() {
        let rest = &text[start..];
        let (kind, length) = token(rest, first);
        tokens.push(Token { kind, text: &rest[..length], start });
        start += length;
    }
    tokens
}

/// The kind and the length in bytes of the token at the beginning of `rest`.
fn token(rest: &str, first: char) -> (SyntaxKind, usize) {
    let while_all = |test: &dyn Fn(char) -> bool| rest.find(|c| !test(c)).unwrap_or(rest.len());
    match first {
        '\r' if rest.starts_with("\r\n") => (Newline, 2),
        '\n' | '\r' => (Newline, 1),
        '#' => (Comment, while_all(&|c| c != '\n' && c != '\r')),
        '"' => (String, string_length(rest)),
        '-' if rest.starts_with("->") => (Arrow, 2),
        '-' if rest[1..].starts_with(|c: char| c.is_ascii_digit()) => (Literal, 1 + literal_length(&rest[1..])),
        '{' => (LBrace, 1),
        '}' => (RBrace, 1),
        '[' => (LBracket, 1),
        ']' => (RBracket, 1),
        ':' => (Colon, 1),
        '=' => (Equals, 1),
        ',' => (Comma, 1),
        ';' => (Semicolon, 1),
        '.' => (Dot, 1),
        '@' => (At, 1),
        '*' => (Star, 1),
        c if is_blank(c) => (Whitespace, while_all(&is_blank)),
        c if c.is_ascii_digit() => (Literal, literal_length(rest)),
        c if begins_identifier(c) => (Ident, while_all(&continues_identifier)),
        c => (Unknown, c.len_utf8()),
    }
}

fn is_blank(c: char) -> bool {
    (c.is_whitespace() && c != '\n' && c != '\r') || c == '\u{feff}'
}

pub(crate) fn begins_identifier(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

pub(crate) fn continues_identifier(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c.general_category_group() == GeneralCategoryGroup::Mark
}

/// Whether a name can stand without quotes.
pub(crate) fn is_identifier(name: &str) -> bool {
    name.starts_with(begins_identifier) && name.chars().all(continues_identifier)
}

/// Signs inside of a number, date or time count only between letters and digits.
fn literal_length(rest: &str) -> usize {
    let mut chars = rest.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let inside = matches!(c, '.' | ':' | '+' | '-') && chars.peek().is_some_and(|(_, next)| next.is_alphanumeric());
        if !inside && !continues_identifier(c) {
            return at;
        }
    }
    rest.len()
}

/// Whether a value can stand without quotes because it begins with a digit.
pub(crate) fn is_literal(value: &str) -> bool {
    let digits = value.strip_prefix('-').unwrap_or(value);
    digits.starts_with(|c: char| c.is_ascii_digit()) && literal_length(digits) == digits.len()
}

/// Up to the closing quote, or to the end of the line where there is none.
fn string_length(rest: &str) -> usize {
    let mut chars = rest.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return at + 1,
            '\n' | '\r' => return at,
            '\\' => {
                chars.next_if(|(_, next)| !matches!(next, '\n' | '\r'));
            }
            _ => {}
        }
    }
    rest.len()
}
