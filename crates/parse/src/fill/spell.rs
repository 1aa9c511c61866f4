//! Values that are spelled in several words: numbers of telephones and flights, and what is called so.

use super::lexicon::Lexicon;
use super::request::{Request, What};
use super::token::{Kind, Token};

/// Fewest digits of a telephone number.
const DIGITS: usize = 7;
/// Longest name that is told by `called`, words.
const LONGEST: usize = 6;

pub(super) fn find(request: &mut Request, words: &Lexicon) {
    for at in 0..request.tokens.len() {
        if let Some(end) = telephone(&request.tokens, at) {
            request.add(at, end, What::Code);
        }
        if numbered(&request.tokens, at, words) {
            request.add(at, at + 2, What::Code);
        }
        if let Some((from, end)) = called(&request.tokens, at, words) {
            request.add(from, end, What::Name);
            request.called.push((from, end));
        }
    }
}

/// `+48 601 555 010`: the token after it.
fn telephone(tokens: &[Token], at: usize) -> Option<usize> {
    let begins = tokens[at].is("+") || tokens[at].text.starts_with('+');
    if !begins {
        return None;
    }
    let mut digits = 0;
    let mut end = at;
    for token in &tokens[at..] {
        let close = end == at || token.from <= tokens[end - 1].to + 1;
        let plain = token.text.chars().all(|c| c.is_ascii_digit() || matches!(c, '+' | '-' | '(' | ')'));
        if !close || !plain {
            break;
        }
        digits += token.text.bytes().filter(u8::is_ascii_digit).count();
        end += 1;
    }
    (digits >= DIGITS).then_some(end)
}

/// `LX 318`: a few capitals and a number.
fn numbered(tokens: &[Token], at: usize, words: &Lexicon) -> bool {
    let token = &tokens[at];
    let letters = token.kind == Kind::Word
        && (2..=3).contains(&token.text.len())
        && token.text.bytes().all(|b| b.is_ascii_uppercase())
        && !words.units.contains_key(&token.lower)
        && words.currency(&token.text).is_none();
    letters
        && tokens.get(at + 1).is_some_and(|next| {
            next.kind == Kind::Number && next.from == token.to + 1 && next.text.bytes().all(|b| b.is_ascii_digit())
        })
}

/// `a folder named Offers 2026 under …`: the words after `named`.
fn called(tokens: &[Token], at: usize, words: &Lexicon) -> Option<(usize, usize)> {
    let says = matches!(tokens[at].lower.as_str(), "called" | "named" | "titled" | "entitled" | "labeled" | "labelled");
    if !says || at == 0 {
        return None;
    }
    let mut end = at + 1;
    while let Some(token) = tokens.get(end) {
        let part = token.kind == Kind::Number || token.cap || token.is_content(words);
        if token.kind == Kind::Mark || !part || end - at > LONGEST {
            break;
        }
        end += 1;
    }
    (end > at + 1).then_some((at + 1, end))
}
