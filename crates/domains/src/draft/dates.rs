//! Years, months and days in a request.

use super::asking::{Mark, Request};
use crate::query::Op;

/// A time that a request says: a year, a month or a day, written as queries have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct When {
    pub at: usize,
    pub len: usize,
    /// Empty for a month whose year is not said.
    pub text: String,
    /// From 1, where only a month is said.
    pub month: Option<u32>,
}

/// Names of months up to this length may be something else, unless a small word leads to them.
const SHORT_MONTH: usize = 3;

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
    let when = |len: usize, text: String| Some(When { at, len, text, month: None });
    if is_iso(&token.text) {
        return when(1, token.text.clone());
    }
    if let Some(text) = with_points(&token.text) {
        return when(1, text);
    }
    let day = |at: usize| {
        let text = &request.tokens.get(at)?.lower;
        let digits = text.trim_end_matches(|c: char| c.is_alphabetic() || c == '.');
        digits.parse::<u32>().ok().filter(|day| (1..=31).contains(day) && digits.len() <= 2 && !digits.is_empty())
    };
    if let Some(month) = request.month(at) {
        // "March 5, 2010", "March 2010"; "in March" is that of any year.
        if let Some(year) = request.year(at + 1) {
            return when(2, format!("{year:04}-{month:02}"));
        }
        if let (Some(day), Some(year)) = (day(at + 1), request.year(at + 2)) {
            return when(3, format!("{year:04}-{month:02}-{day:02}"));
        }
        let is_led =
            at.checked_sub(1).and_then(|before| request.mark_at(before)).is_some_and(|one| one.mark == Mark::By);
        let is_named = request.tokens[at].proper && request.tokens[at].lower.chars().count() > SHORT_MONTH;
        return (is_led || is_named).then(|| When { at, len: 1, text: String::new(), month: Some(month) });
    }
    if let (Some(day), Some(month)) = (day(at), request.month(at + 1)) {
        let year = request.year(at + 2)?;
        return when(3, format!("{year:04}-{month:02}-{day:02}"));
    }
    let year = request.year(at)?;
    // "more than 2000 rentals": a number.
    let counted = request.tokens.get(at + 1).is_some_and(|next| next.joined && request.unit(at + 1).is_some());
    (!counted).then(|| When { at, len: 1, text: format!("{year:04}"), month: None })
}

/// `1.3.2025` as `2025-03-01`.
fn with_points(text: &str) -> Option<String> {
    let mut parts = text.split('.');
    let (day, month, year) = (parts.next()?, parts.next()?, parts.next()?);
    let number = |part: &str, most: u32| part.parse::<u32>().ok().filter(|number| (1..=most).contains(number));
    let (day, month) = (number(day, 31)?, number(month, 12)?);
    let year = number(year, 2199).filter(|year| *year >= 1800 && parts.next().is_none())?;
    Some(format!("{year:04}-{month:02}-{day:02}"))
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
    // "from 2015 on"
    let word = |at: usize| request.tokens.get(at).map_or("", |token| token.lower.as_str());
    let opens = at.checked_sub(1).is_some_and(|at| ["from", "von", "ab"].contains(&word(at)));
    if opens && ["on", "onward", "onwards", "an"].contains(&word(end)) {
        return Some((Op::Gte, at - 1, 1));
    }
    let exact = ["exactly", "genau", "exactement", "exactamente"];
    if let Some(before) = at.checked_sub(1).filter(|at| exact.contains(&word(*at))) {
        return Some((Op::Eq, before, 1));
    }
    let before = request.marks.iter().filter(|one| one.at + one.len <= at && at - (one.at + one.len) <= 1);
    let before = before.filter_map(|one| Some((op(one.mark)?, one.at, one.len))).next_back();
    before.or_else(|| {
        // "20 or more"
        let behind = request.marks.iter().find(|one| one.at >= end && one.at - end <= 1 && one.len == 2)?;
        let op = op(behind.mark).filter(|op| matches!(op, Op::Gte | Op::Lte))?;
        request.tokens[behind.at].lower.starts_with("or").then_some((op, behind.at, behind.len))
    })
}
