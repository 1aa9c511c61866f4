//! Times of day as people say them.

use super::token::{Kind, Token};

/// A time of day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Clock {
    pub hour: u32,
    pub minute: u32,
    pub second: u32,
}

/// Halves of the day: the word, and whether it is the second one.
const HALVES: [(&str, bool); 6] =
    [("am", false), ("a.m", false), ("a.m.", false), ("pm", true), ("p.m", true), ("p.m.", true)];

/// A time of day that begins at token `at`, and the token after it.
pub(super) fn clock(tokens: &[Token], at: usize) -> Option<(Clock, usize)> {
    let token = &tokens[at];
    let at_hour = |hour| Clock { hour, minute: 0, second: 0 };
    match token.lower.as_str() {
        "noon" => return Some((at_hour(12), at + 1)),
        "midnight" => return Some((at_hour(0), at + 1)),
        _ => {}
    }
    // `7:30pm` is one token.
    let (bare, suffix) = match token.lower.get(token.lower.len().saturating_sub(2)..) {
        Some(end @ ("am" | "pm")) if token.text.contains(':') => {
            (&token.text[..token.text.len() - 2], Some(end == "pm"))
        }
        _ => (token.text.as_str(), None),
    };
    let (mut found, told) = match digits(bare) {
        Some(found) => (found, true),
        None if token.kind == Kind::Number => {
            let hour = token.text.parse().ok().filter(|hour| *hour < 25)?;
            (at_hour(hour), false)
        }
        None => return None,
    };
    let struck = tokens.get(at + 1).is_some_and(|t| t.is("o'clock"));
    let next = at + 1 + usize::from(struck);
    match suffix.map(|late| (late, next)).or_else(|| half(tokens, next, (told || struck).then_some(found.hour))) {
        Some((late, after)) => {
            if late && found.hour < 12 {
                found.hour += 12;
            } else if !late && found.hour == 12 {
                found.hour = 0;
            }
            Some((found, after))
        }
        None => (told || struck).then_some((found, next)),
    }
}

/// The half of the day that is told at a token, and the token after that. `in the evening` is one
/// only after what is a time by itself, whose hour is `told`; `5 in the morning` is one as well.
fn half(tokens: &[Token], at: usize, told: Option<u32>) -> Option<(bool, usize)> {
    let is = |at: usize, word: &str| tokens.get(at).is_some_and(|t| t.is(word));
    let token = tokens.get(at)?;
    if let Some((_, late)) = HALVES.iter().find(|(word, _)| token.is(word)) {
        return Some((*late, at + 1));
    }
    if is(at, "in") && is(at + 1, "the") {
        if is(at + 2, "morning") {
            return Some((false, at + 3));
        }
        if is(at + 2, "afternoon") || is(at + 2, "evening") {
            return Some((true, at + 3));
        }
    }
    // Twelve at night is midnight, and two at night comes after it.
    let late = (6..12).contains(&told?);
    (is(at, "at") && is(at + 1, "night")).then_some((late, at + 2))
}

/// `9:05`, `14:30:00`.
fn digits(text: &str) -> Option<Clock> {
    let mut parts = text.split(':');
    let mut next = |most: u32| -> Option<u32> {
        let part = parts.next()?;
        (part.len() <= 2).then(|| part.parse().ok()).flatten().filter(|number| *number < most)
    };
    let (hour, minute) = (next(25)?, next(60)?);
    let second = if text.matches(':').count() == 2 { next(60)? } else { 0 };
    (text.matches(':').count() <= 2).then_some(Clock { hour, minute, second })
}

/// How a description wants a time: with seconds or without, by 24 hours; `None` where it shows none.
pub(super) fn shown(description: &str) -> Option<bool> {
    let upper = description.to_uppercase();
    let at = upper.find("HH:MM")?;
    let halves = ["AM/PM", "HH:MM A", "12-HOUR"];
    (!halves.iter().any(|mark| upper.contains(mark))).then(|| upper[at..].starts_with("HH:MM:SS"))
}

/// A time by 24 hours.
pub(super) fn format(clock: Clock, seconds: bool) -> String {
    let Clock { hour, minute, second } = clock;
    if seconds { format!("{hour:02}:{minute:02}:{second:02}") } else { format!("{hour:02}:{minute:02}") }
}
