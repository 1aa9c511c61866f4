//! Years, months and days in a request.

use super::asking::{Mark, Request};
use crate::query::Op;

/// A time that a request says: a year, a month or a day, written as queries have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct When {
    pub at: usize,
    pub len: usize,
    pub text: String,
}

/// All times, in order.
pub(crate) fn times(request: &Request) -> Vec<When> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < request.tokens.len() {
        let one = time(request, at);
        at += one.as_ref().map_or(1, |one| one.len);
        found.extend(one);
    }
    found
}

fn time(request: &Request, at: usize) -> Option<When> {
    let token = request.tokens.get(at)?;
    if token.quote.is_some() {
        return None;
    }
    let when = |len: usize, text: String| Some(When { at, len, text });
    if is_iso(&token.text) {
        return when(1, token.text.clone());
    }
    let day = |at: usize| {
        let text = &request.tokens.get(at)?.lower;
        let digits = text.trim_end_matches(|c: char| c.is_alphabetic() || c == '.');
        digits.parse::<u32>().ok().filter(|day| (1..=31).contains(day) && digits.len() <= 2 && !digits.is_empty())
    };
    if let Some(month) = request.month(at) {
        // "March 5, 2010", "March 2010"; a month alone says no year.
        if let Some(year) = request.year(at + 1) {
            return when(2, format!("{year:04}-{month:02}"));
        }
        if let (Some(day), Some(year)) = (day(at + 1), request.year(at + 2)) {
            return when(3, format!("{year:04}-{month:02}-{day:02}"));
        }
        return None;
    }
    if let (Some(day), Some(month)) = (day(at), request.month(at + 1)) {
        let year = request.year(at + 2)?;
        return when(3, format!("{year:04}-{month:02}-{day:02}"));
    }
    let year = request.year(at)?;
    // "more than 2000 rentals": a number.
    let counted = request.tokens.get(at + 1).is_some_and(|next| next.joined && request.unit(at + 1).is_some());
    (!counted).then(|| When { at, len: 1, text: format!("{year:04}") })
}

fn is_iso(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let number = |part: &&str, digits: usize| part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit());
    match parts.as_slice() {
        [year, month] => number(year, 4) && number(month, 2),
        [year, month, day] => number(year, 4) && number(month, 2) && number(day, 2),
        _ => false,
    }
}

/// How the words before a place compare, and the words that say so.
pub(crate) fn comparison(request: &Request, at: usize, end: usize) -> Option<(Op, usize, usize)> {
    let op = |mark: Mark| match mark {
        Mark::More => Some(Op::Gt),
        Mark::Less => Some(Op::Lt),
        Mark::AtLeast => Some(Op::Gte),
        Mark::AtMost => Some(Op::Lte),
        _ => None,
    };
    let before = request.marks.iter().filter(|one| one.at + one.len <= at && at - (one.at + one.len) <= 1);
    let before = before.filter_map(|one| Some((op(one.mark)?, one.at, one.len))).next_back();
    before.or_else(|| {
        // "20 or more"
        let behind = request.marks.iter().find(|one| one.at >= end && one.at - end <= 1 && one.len == 2)?;
        let op = op(behind.mark).filter(|op| matches!(op, Op::Gte | Op::Lte))?;
        request.tokens[behind.at].lower.starts_with("or").then_some((op, behind.at, behind.len))
    })
}
