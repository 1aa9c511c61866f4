//! A text as tokens with the senses that each may have.

use super::lexicon::{Lexicon, Sense};
use crate::zone::Zones;

/// Words of the longest phrase.
pub(super) const MAX_PHRASE: usize = 4;

#[derive(Debug, Clone)]
pub(super) struct Token {
    /// As written, for questions.
    pub text: String,
    /// None: the word isn't known.
    pub senses: Vec<Sense>,
}

/// Splits a text into tokens; words that change nothing are left out.
pub(super) fn split(text: &str, lexicon: &Lexicon, zones: &Zones) -> Vec<Token> {
    let text = text.trim().replace(['’', '‘'], "'").replace(['–', '—'], "-");
    let last = text.split_whitespace().last().unwrap_or_default().to_lowercase();
    let text = text.trim_end_matches(['.', '!', '?']);
    let mut chunks: Vec<&str> = Vec::new();
    for chunk in text.split_whitespace() {
        let word = chunk.trim_end_matches([',', ';']);
        if !word.is_empty() {
            chunks.push(word);
        }
        if word.len() < chunk.len() {
            chunks.push(",");
        }
    }
    let lower: Vec<String> = chunks.iter().map(|chunk| chunk.to_lowercase()).collect();
    let mut found: Vec<Token> = Vec::new();
    let mut at = 0;
    while at < chunks.len() {
        let longest = (1..=MAX_PHRASE.min(chunks.len() - at))
            .rev()
            .map(|length| (length, lexicon.find(&lower[at..at + length].join(" "))))
            .find(|(_, senses)| !senses.is_empty());
        if let Some((length, senses)) = longest {
            found.push(Token { text: chunks[at..at + length].join(" "), senses: senses.to_vec() });
            at += length;
        } else {
            found.extend(read_chunk(chunks[at], &lower[at], lexicon, zones));
            at += 1;
        }
    }
    if let Some(token) = found.last_mut() {
        // The full stop of the text may be that of an ordinal or of a date.
        let dotted = read_senses(&last, &last, lexicon, zones);
        if last.ends_with('.') && dotted.iter().any(|sense| matches!(sense, Sense::Date(..))) {
            token.senses = dotted;
        } else if last.ends_with('.') && dotted.iter().any(|sense| matches!(sense, Sense::Ordinal(_))) {
            token.senses.extend(dotted);
        }
    }
    found.retain(|token| token.senses != [Sense::Filler]);
    found
}

fn read_chunk(text: &str, lower: &str, lexicon: &Lexicon, zones: &Zones) -> Vec<Token> {
    let senses = read_senses(text, lower, lexicon, zones);
    if senses.is_empty()
        && let Some((left, right)) = lower.split_once('-')
    {
        // 9-17, Mo-Fr
        let side = |side: &str| match lexicon.find(side) {
            [] => read_senses(side, side, lexicon, zones),
            known => known.to_vec(),
        };
        let (left_senses, right_senses) = (side(left), side(right));
        if !left_senses.is_empty() && !right_senses.is_empty() {
            return vec![
                Token { text: left.to_owned(), senses: left_senses },
                Token { text: "-".to_owned(), senses: vec![Sense::To] },
                Token { text: right.to_owned(), senses: right_senses },
            ];
        }
    }
    vec![Token { text: text.to_owned(), senses }]
}

fn read_senses(text: &str, lower: &str, lexicon: &Lexicon, zones: &Zones) -> Vec<Sense> {
    if lower == "," {
        return vec![Sense::Comma];
    }
    if let Some(date) = read_date(lower) {
        return vec![date];
    }
    let digits = lower.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = lower.split_at(digits);
    if let (1..=4, Ok(number)) = (digits, number.parse::<u32>()) {
        let is = |list: &[String]| list.iter().any(|ending| ending == rest);
        let known = |sense: Sense| lexicon.find(rest).contains(&sense);
        return match rest {
            "" => vec![Sense::Number(number)],
            _ if is(&lexicon.endings.ordinal) => vec![Sense::Ordinal(number)],
            _ if is(&lexicon.endings.hour) => vec![Sense::Clock(number, 0, None)],
            _ if known(Sense::Am) => vec![Sense::Clock(number, 0, Some(false))],
            _ if known(Sense::Pm) => vec![Sense::Clock(number, 0, Some(true))],
            _ => read_clock(number, rest, lexicon).into_iter().collect(),
        };
    }
    let is_zone = text.contains('/') || ["utc", "gmt"].contains(&lower);
    let zone = is_zone.then(|| zones.find(text).ok()).flatten();
    zone.and_then(|zone| zone.iana_name().map(|name| Sense::Zone(name.to_owned()))).into_iter().collect()
}

/// The minutes after an hour: `:30`, `.30`, `:30pm`.
fn read_clock(hour: u32, rest: &str, lexicon: &Lexicon) -> Option<Sense> {
    let minutes = rest.strip_prefix([':', '.', 'h'])?;
    let (minutes, end) = minutes.split_at_checked(2)?;
    if !minutes.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let after_noon = match end {
        "" => None,
        _ if lexicon.endings.hour.iter().any(|ending| ending == end) => None,
        _ if lexicon.find(end).contains(&Sense::Am) => Some(false),
        _ if lexicon.find(end).contains(&Sense::Pm) => Some(true),
        _ => return None,
    };
    Some(Sense::Clock(hour, minutes.parse().ok()?, after_noon))
}

/// `2026-12-24`, `24.12.2026`, `24.12.`
fn read_date(text: &str) -> Option<Sense> {
    let number =
        |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse::<i16>().ok()).flatten();
    let day =
        |text: &str| number(text).filter(|value| (1..=31).contains(value)).and_then(|value| i8::try_from(value).ok());
    if let [year, month, of_month] = text.split('-').collect::<Vec<_>>()[..] {
        return (year.len() == 4).then(|| Some(Sense::Date(Some(number(year)?), day(month)?, day(of_month)?)))?;
    }
    match text.split('.').collect::<Vec<_>>()[..] {
        [of_month, month, ""] => Some(Sense::Date(None, day(month)?, day(of_month)?)),
        [of_month, month, year] if year.len() == 4 => {
            Some(Sense::Date(Some(number(year)?), day(month)?, day(of_month)?))
        }
        _ => None,
    }
}
