//! A request in spans: everything in it that may be an argument.

use super::clock::{self, Clock};
use super::date::{self, Date};
use super::lexicon::Lexicon;
use super::number::{Number, number};
use super::token::{Kind, Token, tokens};
use super::{list, literal, phrase, spell};
use serde_json::Value;

/// What a span is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum What {
    Number(Number),
    /// Between quotation marks.
    Quoted,
    /// Words with capitals.
    Name,
    Date(Date),
    /// A time of day.
    Time(Clock),
    /// A day with a time of day beside it.
    Moment(Date, Clock),
    /// `tomorrow`, `next week`.
    Relative,
    /// An id, a path, an address.
    Code,
    /// A formula.
    Formula,
    /// A list that is written as one.
    List(Vec<Value>),
    /// Spans of one kind in a row: `A, B and C`.
    Group(Vec<usize>),
    /// A country by the word for what is from there.
    Nation,
    /// The name of a currency.
    Currency,
    /// A house in a street.
    Address,
    /// Other words.
    Phrase,
}

/// A piece of the request that may be an argument.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Span {
    /// First token.
    pub from: usize,
    /// Token after the last one.
    pub to: usize,
    pub what: What,
    pub text: String,
}

/// A request, read.
#[derive(Debug, Clone)]
pub struct Request {
    pub(super) text: String,
    pub(super) tokens: Vec<Token>,
    pub(super) spans: Vec<Span>,
    /// Tokens that are told to be a name: after `called`.
    pub(super) called: Vec<(usize, usize)>,
}

impl Request {
    /// Reads a request. What is beyond some hundred words is not looked at.
    pub fn read(text: &str) -> Self {
        let words = Lexicon::get();
        let text = unwrapped(text);
        let mut request =
            Self { tokens: tokens(text, words), text: text.to_owned(), spans: Vec::new(), called: Vec::new() };
        literal::find(&mut request);
        request.currencies(words);
        request.times();
        request.numbers(words);
        request.addresses(words);
        phrase::find(&mut request, words);
        spell::find(&mut request, words);
        list::find(&mut request, words);
        request
    }

    /// As it was read.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Texts whose meaning counts: names, quotations and phrases.
    pub fn phrases(&self) -> Vec<String> {
        let mut out: Vec<String> = Vec::new();
        for span in &self.spans {
            if matches!(span.what, What::Name | What::Quoted | What::Phrase) && !out.contains(&span.text) {
                out.push(span.text.clone());
            }
        }
        out
    }

    pub(super) fn slice(&self, from: usize, to: usize) -> &str {
        match (self.tokens.get(from), self.tokens.get(to.wrapping_sub(1))) {
            (Some(first), Some(last)) if from < to => &self.text[first.from..last.to],
            _ => "",
        }
    }

    pub(super) fn add(&mut self, from: usize, to: usize, what: What) {
        let text = self.slice(from, to).to_owned();
        self.add_as(from, to, what, text);
    }

    pub(super) fn add_as(&mut self, from: usize, to: usize, what: What, text: String) {
        if from < to
            && !text.is_empty()
            && !self
                .spans
                .iter()
                .any(|span| span.from == from && span.to == to && span.what == what && span.text == text)
        {
            self.spans.push(Span { from, to, what, text });
        }
    }

    /// Whether a span lies in a day.
    pub(super) fn in_date(&self, span: &Span) -> bool {
        self.spans.iter().any(|other| {
            matches!(other.what, What::Date(_) | What::Relative) && other.from <= span.from && other.to >= span.to
        })
    }

    /// Whether a token lies in a list that is written as one.
    pub(super) fn in_list(&self, token: usize) -> bool {
        self.spans.iter().any(|span| (span.from..span.to).contains(&token) && matches!(span.what, What::List(_)))
    }

    /// Whether a token lies in a quotation or a formula.
    pub(super) fn in_text(&self, token: usize) -> bool {
        self.spans
            .iter()
            .any(|span| (span.from..span.to).contains(&token) && matches!(span.what, What::Quoted | What::Formula))
    }

    /// Whether a token lies in a literal (a quotation, a list, a formula).
    pub(super) fn in_literal(&self, token: usize) -> bool {
        self.spans
            .iter()
            .any(|span| (span.from..span.to).contains(&token) && matches!(span.what, What::Quoted | What::List(_)))
    }

    fn currencies(&mut self, words: &Lexicon) {
        let mut at = 0;
        while at < self.tokens.len() {
            let found = (1..=4).rev().find(|len| {
                at + len <= self.tokens.len()
                    && (*len > 1 || self.tokens[at].kind == Kind::Word)
                    && words.currency(self.slice(at, at + len)).is_some()
            });
            match found {
                Some(len) => {
                    self.add(at, at + len, What::Currency);
                    at += len;
                }
                None => at += 1,
            }
        }
    }

    /// `123 Main Street`.
    fn addresses(&mut self, words: &Lexicon) {
        for at in 0..self.tokens.len() {
            let token = &self.tokens[at];
            let numbered = token.kind == Kind::Number && token.text.bytes().all(|b| b.is_ascii_digit());
            let end = (at + 2..(at + 6).min(self.tokens.len()))
                .take_while(|next| {
                    let before = &self.tokens[next - 1];
                    before.is_content(words) && !words.units.contains_key(&before.lower)
                })
                .find(|next| words.streets.contains(&self.tokens[*next].lower));
            if let Some(end) = end.filter(|_| numbered) {
                self.add(at, end + 1, What::Address);
            }
        }
    }

    fn times(&mut self) {
        let mut at = 0;
        let mut last: Option<Date> = None;
        while at < self.tokens.len() {
            if let Some((mut found, next)) = date::date(&self.tokens, at) {
                // `from 2023 April 4th to April 8th`
                if found.year.is_none() {
                    found.year = last.and_then(|date| date.year);
                }
                last = Some(found);
                self.add(at, next, What::Date(found));
                at = next;
            } else if let Some((found, next)) = clock::clock(&self.tokens, at) {
                self.add(at, next, What::Time(found));
                at = next;
            } else if let Some(next) = date::relative(&self.tokens, at) {
                self.add(at, next, What::Relative);
                at = next;
            } else {
                at += 1;
            }
        }
        // A year that only the later of two days tells.
        let year = self.spans.iter().rev().find_map(|span| match span.what {
            What::Date(date) => date.year,
            _ => None,
        });
        for span in &mut self.spans {
            if let What::Date(date) = &mut span.what {
                date.year = date.year.or(year);
            }
        }
        self.moments();
    }

    /// `2026-05-12 at 15:30`, `3 pm on May 12`.
    fn moments(&mut self) {
        let timed: Vec<(usize, usize, What)> = self
            .spans
            .iter()
            .filter(|span| matches!(span.what, What::Date(_) | What::Time(_)))
            .map(|span| (span.from, span.to, span.what.clone()))
            .collect();
        for pair in timed.windows(2) {
            let ((from, end, first), (begin, to, second)) = (&pair[0], &pair[1]);
            let ((What::Date(date), What::Time(time)) | (What::Time(time), What::Date(date))) = (first, second) else {
                continue;
            };
            let beside = *begin >= *end
                && begin - end <= 2
                && self.tokens[*end..*begin]
                    .iter()
                    .all(|token| matches!(token.lower.as_str(), "at" | "on" | "," | "around" | "of"));
            if beside {
                self.add(*from, *to, What::Moment(*date, *time));
            }
        }
    }

    fn numbers(&mut self, words: &Lexicon) {
        let mut at = 0;
        while at < self.tokens.len() {
            let Some((mut found, next)) = number(&self.tokens, at, words) else {
                at += 1;
                continue;
            };
            found.part = self
                .spans
                .iter()
                .any(|span| (span.from..span.to).contains(&at) && matches!(span.what, What::Date(_) | What::Time(_)));
            let end = found.bare;
            // The unit belongs to the text, but it may be an argument of its own.
            let text = self.slice(at, next).to_owned();
            if found.ordinal && self.tokens.get(next).is_some_and(|token| token.is_content(words)) {
                // `19th century`
                self.add(at, next + 1, What::Phrase);
            }
            self.add_as(at, end, What::Number(found), text);
            at = next.max(at + 1);
        }
        for at in 0..self.tokens.len() {
            let token = &self.tokens[at];
            if token.is_code() && token.kind == Kind::Word {
                self.add(at, at + 1, What::Code);
            }
        }
    }
}

/// The text without quotation marks around all of it.
fn unwrapped(text: &str) -> &str {
    let text = text.trim();
    for mark in ['\'', '"'] {
        if let Some(inner) = text.strip_prefix(mark).and_then(|rest| rest.strip_suffix(mark))
            && !inner.contains(mark)
        {
            return inner;
        }
    }
    text
}
