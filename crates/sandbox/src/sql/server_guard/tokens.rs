//! Texts and quoted names are taken out before a statement is parsed, and put back, quoted anew, into what is sent: the
//! server gets word for word what was judged.

use sqlparser::tokenizer::{Location, Token, TokenWithSpan, Tokenizer, Whitespace};

use super::{Rules, unread};
use crate::sql::error::{SqlError, denied, limit};

/// Most words, numbers and signs of a statement.
const MOST_TOKENS: usize = 5000;

#[derive(Clone, Copy)]
pub(crate) struct Reader<'r> {
    pub rules: &'r Rules,
}

#[derive(Debug)]
pub(crate) struct Bare {
    pub tokens: Vec<Token>,
    /// The tokens that were taken out, by the number in their substitute.
    taken: Vec<Token>,
}

/// A token, and whether nothing stood between it and the one before.
struct Word {
    token: Token,
    tight: bool,
}

impl Reader<'_> {
    /// Reads the tokens that count, each in the one form in which it is judged and sent.
    pub fn read(self, sql: &str) -> Result<Vec<Token>, SqlError> {
        let words = self.words(sql)?;
        if self.rules.live_comments {
            prefixes(&words)?;
        }
        if words.len() > MOST_TOKENS {
            return Err(limit(format!("the statement has more than {MOST_TOKENS} words")));
        }
        Ok(words.into_iter().map(|word| word.token).collect())
    }

    /// Puts what was taken out back into what the grammar has written from the bare statement.
    pub fn fill(self, bare: &Bare, written: &str) -> Result<String, SqlError> {
        let mut text = String::new();
        let (mut named, mut dotted) = (false, false);
        for Word { token, tight } in self.words(written)? {
            let name = matches!(token, Token::Word(_));
            // Some servers recognise a call by a parenthesis directly after the name.
            let joined = match token {
                Token::LParen | Token::Period => named,
                _ => dotted && name,
            };
            let apart = !tight || !joined;
            if apart && !text.is_empty() {
                text.push(' ');
            }
            dotted = token == Token::Period && named && tight;
            named = name;
            write(bare.whole(&token).ok_or_else(two_ways)?, &mut text);
        }
        Ok(text)
    }

    fn words(self, sql: &str) -> Result<Vec<Word>, SqlError> {
        let read = Tokenizer::new(self.rules.lexer, sql)
            .with_unescape(true)
            .tokenize_with_location()
            .map_err(|e| unread(&e.to_string()))?;
        let lines: Vec<&str> = sql.split('\n').collect();
        let mut words: Vec<Word> = Vec::with_capacity(read.len());
        let mut tight = false;
        for TokenWithSpan { token, span } in read {
            if let Token::Whitespace(space) = &token {
                if self.rules.live_comments && is_order(space) {
                    return Err(denied("a comment that the server runs", "Leave it out."));
                }
                tight = false;
                continue;
            }
            let token = match token {
                // `0x1F` is a number, `X'1F'` is not.
                Token::HexStringLiteral(digits) if !digits.is_empty() && begins_with_zero(&lines, span.start) => {
                    Token::Number(format!("0x{digits}"), false)
                }
                other => plain(other, self.rules)?,
            };
            let number = matches!(words.last(), Some(Word { token: Token::Number(..), .. }));
            if tight && number && matches!(token, Token::Word(_)) {
                return Err(denied(
                    &format!("a number followed by {token}"),
                    "Put a blank between them, or write the number in decimal digits.",
                ));
            }
            words.push(Word { token, tight });
            tight = true;
        }
        Ok(words)
    }
}

impl Bare {
    pub fn of(tokens: &[Token]) -> Self {
        let mut taken = Vec::new();
        let mut take = |token: &Token, substitute: fn(usize) -> Token| {
            taken.push(token.clone());
            substitute(taken.len() - 1)
        };
        let tokens = tokens
            .iter()
            .map(|token| match token {
                Token::SingleQuotedString(_) => take(token, |n| Token::SingleQuotedString(format!("t{n}"))),
                Token::Word(word) if word.quote_style == Some('"') => {
                    take(token, |n| Token::make_word(&format!("t{n}"), Some('"')))
                }
                Token::Word(word) if word.quote_style.is_some() => {
                    take(token, |n| Token::make_word(&format!("t{n}"), Some('`')))
                }
                other => other.clone(),
            })
            .collect();
        Self { tokens, taken }
    }

    /// The token that a substitute stands for; other tokens stand for themselves.
    fn whole<'t>(&'t self, token: &'t Token) -> Option<&'t Token> {
        let substitute = match token {
            Token::SingleQuotedString(text) => text,
            Token::Word(word) if word.quote_style.is_some() => &word.value,
            _ => return Some(token),
        };
        self.taken.get(substitute.strip_prefix('t')?.parse::<usize>().ok()?)
    }
}

pub(crate) fn two_ways() -> SqlError {
    denied("a statement that can be read in two ways", "Simplify it.")
}

/// Checks uses of BINARY, which binds tighter than the grammar believes.
fn prefixes(words: &[Word]) -> Result<(), SqlError> {
    let is = |word: Option<&Word>, names: &[&str]| {
        matches!(word, Some(Word { token: Token::Word(word), .. })
            if word.quote_style.is_none() && names.iter().any(|name| word.value.eq_ignore_ascii_case(name)))
    };
    let of = |at: usize| words.get(at).map(|word| &word.token);
    for (at, word) in words.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| words.get(at));
        let after = of(at + 1);
        let size = matches!(after, Some(Token::LParen)) && matches!(of(at + 2), Some(Token::Number(..)));
        let kind = is(before, &["as", "collate", "set"])
            || (before.is_some_and(|word| word.token == Token::Comma) && (size || after == Some(&Token::RParen)));
        if is(Some(word), &["binary"]) && !kind {
            return Err(denied("BINARY before a value", "Write CAST(… AS BINARY)."));
        }
    }
    Ok(())
}

fn begins_with_zero(lines: &[&str], at: Location) -> bool {
    let place = |number: u64| usize::try_from(number).ok()?.checked_sub(1);
    let line = place(at.line).and_then(|line| lines.get(line));
    let sign = line.zip(place(at.column));
    sign.and_then(|(line, column)| line.chars().nth(column)) == Some('0')
}

/// Whether the server would run the comment or read it as an instruction to its planner.
fn is_order(space: &Whitespace) -> bool {
    matches!(space, Whitespace::MultiLineComment(text) if text.trim_start_matches('M').starts_with(['!', '+']))
}

/// The token in the one form in which it is judged and sent; an error if it may not be in a statement.
fn plain(token: Token, rules: &Rules) -> Result<Token, SqlError> {
    let strange = || Err(denied("a literal of a special form", "Use plain '…' text and numbers."));
    match token {
        Token::AtSign => Err(denied("a variable of the session", "Use plain values.")),
        Token::AtAt if rules.live_comments => Err(denied("a variable of the server", "Use plain values.")),
        Token::Word(word) if word.quote_style.is_none() && word.value.contains('@') => {
            Err(denied("a variable", "Use plain values."))
        }
        // A text in every server's dialect; its content was read, so it can be written plainly.
        Token::SingleQuotedString(text)
        | Token::DoubleQuotedString(text)
        | Token::EscapedStringLiteral(text)
        | Token::UnicodeStringLiteral(text) => sound(text),
        Token::DollarQuotedString(text) => sound(text.value),
        Token::HexStringLiteral(ref digits) if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_hexdigit()) => {
            strange()
        }
        Token::SingleQuotedByteStringLiteral(ref bits) if !bits.bytes().all(|b| matches!(b, b'0' | b'1')) => strange(),
        Token::Number(_, true)
        | Token::NationalStringLiteral(_)
        | Token::TripleSingleQuotedString(_)
        | Token::TripleDoubleQuotedString(_)
        | Token::DoubleQuotedByteStringLiteral(_)
        | Token::TripleSingleQuotedByteStringLiteral(_)
        | Token::TripleDoubleQuotedByteStringLiteral(_)
        | Token::SingleQuotedRawStringLiteral(_)
        | Token::DoubleQuotedRawStringLiteral(_)
        | Token::TripleSingleQuotedRawStringLiteral(_)
        | Token::TripleDoubleQuotedRawStringLiteral(_)
        | Token::QuoteDelimitedStringLiteral(_)
        | Token::NationalQuoteDelimitedStringLiteral(_) => strange(),
        Token::Char(sign) => Err(denied(&format!("the sign {sign}"), "Write it in plain SQL.")),
        other => Ok(other),
    }
}

/// Refuses a text with the character that ends texts for servers.
fn sound(text: String) -> Result<Token, SqlError> {
    if text.contains('\0') {
        return Err(denied("a NUL character", "Leave it out."));
    }
    Ok(Token::SingleQuotedString(text))
}

fn write(token: &Token, text: &mut String) {
    match token {
        Token::Word(word) => match word.quote_style {
            None => text.push_str(&word.value),
            Some(quote) => text.push_str(&quoted(&word.value, quote)),
        },
        Token::SingleQuotedString(value) => text.push_str(&quoted(value, '\'')),
        other => text.push_str(&other.to_string()),
    }
}

fn quoted(value: &str, quote: char) -> String {
    format!("{quote}{}{quote}", value.replace(quote, &format!("{quote}{quote}")))
}
