//! Dates, of which those of birth count.

use super::lexicon::Lexicon;
use super::scan::{digit_at, is_word, skip_spaces, word_end};

const YEARS: std::ops::RangeInclusive<u32> = 1900..=2099;

/// The end of a date that begins at `at` with a digit: `12.03.1980`, `1980-03-12`, `3 March 1980`. A year of two digits
/// counts if `short`.
pub fn end(text: &str, at: usize, lexicon: &Lexicon, short: bool) -> Option<usize> {
    if short && let Some(end) = compact(text, at) {
        return Some(end);
    }
    let (first, mut next) = number(text, at)?;
    let sign = *text.as_bytes().get(next)?;
    if matches!(sign, b'.' | b'/' | b'-') && digit_at(text, next + 1) {
        let (second, after) = number(text, next + 1)?;
        if text.as_bytes().get(after) != Some(&sign) || !digit_at(text, after + 1) {
            return None;
        }
        let (third, end) = number(text, after + 1)?;
        let lengths = (next - at, after - next - 1, end - after - 1);
        let is_date = match lengths {
            (4, 1..=2, 1..=2) => YEARS.contains(&first) && (1..=12).contains(&second) && (1..=31).contains(&third),
            (1..=2, 1..=2, 4) => YEARS.contains(&third) && is_day_and_month(first, second),
            (1..=2, 1..=2, 2) => short && is_day_and_month(first, second),
            _ => false,
        };
        let ends = !is_word(text, end) || lengths.0 == 4 && text[end..].starts_with("T0");
        return (is_date && ends).then_some(end);
    }
    if !(1..=31).contains(&first) || next - at > 2 {
        return None;
    }
    // "3. März", "3rd of March", "1er mars", "3 de marzo de 1980", "12. 3. 1980"
    for ending in ["st", "nd", "rd", "th", "er", "º", "°", "."] {
        if text[next..].starts_with(ending) {
            next += ending.len();
            break;
        }
    }
    let spaced = skip_spaces(text, next);
    if sign == b'.' && digit_at(text, spaced) {
        let (month, dot) = number(text, spaced)?;
        if text.as_bytes().get(dot) != Some(&b'.') {
            return None;
        }
        let year = skip_spaces(text, dot + 1);
        let (value, end) = number(text, year)?;
        let is_date = is_day_and_month(first, month) && YEARS.contains(&value) && end - year == 4;
        return is_date.then_some(end);
    }
    if !(spaced > next || sign == b'.' || sign == b'-') {
        return None;
    }
    next = particles(text, spaced + usize::from(sign == b'-'));
    let end = word_end(text, next);
    lexicon.month(&text[next..end])?;
    year_after(text, end)
}

/// "19850312"
fn compact(text: &str, at: usize) -> Option<usize> {
    let digits = text.get(at..at + 8).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
    let part = |range: std::ops::Range<usize>| digits[range].parse::<u32>().unwrap_or_default();
    let is_date = YEARS.contains(&part(0..4)) && (1..=12).contains(&part(4..6)) && (1..=31).contains(&part(6..8));
    (is_date && !is_word(text, at + 8)).then_some(at + 8)
}

/// The end of a date that begins at `at` with a month: `March 3, 1980`; `Mar. 1980` is none.
pub fn end_after_month(text: &str, at: usize) -> Option<usize> {
    let mut next = word_end(text, at);
    next += usize::from(text.as_bytes().get(next) == Some(&b'.'));
    let (day, mut end) = number(text, skip_spaces(text, next))?;
    if !(1..=31).contains(&day) {
        return None;
    }
    for ending in ["st", "nd", "rd", "th"] {
        end += if text[end..].starts_with(ending) { ending.len() } else { 0 };
    }
    year_after(text, end)
}

fn year_after(text: &str, at: usize) -> Option<usize> {
    let mut next = at;
    while text.as_bytes().get(next).is_some_and(|byte| matches!(byte, b'.' | b',' | b'-' | b'/')) {
        next += 1;
    }
    let start = particles(text, skip_spaces(text, next));
    let (year, end) = number(text, start)?;
    (YEARS.contains(&year) && end - start == 4 && !is_word(text, end)).then_some(end)
}

/// Skips "of", "de", "del", "di".
fn particles(text: &str, at: usize) -> usize {
    let end = word_end(text, at);
    match &text[at.min(end)..end] {
        "of" | "de" | "del" | "di" | "do" => skip_spaces(text, end),
        _ => at,
    }
}

const fn is_day_and_month(first: u32, second: u32) -> bool {
    (first >= 1 && first <= 31 && second >= 1 && second <= 12)
        || (first >= 1 && first <= 12 && second >= 1 && second <= 31)
}

/// A number of at most four digits, and its end.
fn number(text: &str, at: usize) -> Option<(u32, usize)> {
    let length = text.as_bytes().get(at..)?.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (1..=4).contains(&length).then(|| (text[at..at + length].parse().unwrap_or_default(), at + length))
}
