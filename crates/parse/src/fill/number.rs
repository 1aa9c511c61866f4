//! Numbers with what stands around them.

use super::lexicon::Lexicon;
use super::token::{Kind, Token};

/// A number of the request.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Number {
    pub value: f64,
    /// As a key into the units.
    pub unit: Option<String>,
    pub money: bool,
    pub percent: bool,
    /// `2nd`, `third`.
    pub ordinal: bool,
    /// Written as a word.
    pub word: bool,
    /// Four digits that may be a year.
    pub year: bool,
    /// A word of frequency: `monthly`.
    pub often: bool,
    /// A part of a day or time.
    pub part: bool,
    /// Token after the number itself, without its unit.
    pub bare: usize,
    /// Token after its unit.
    pub after: usize,
}

/// A number that begins at `at`, and the token after it with its unit.
#[expect(clippy::too_many_lines, reason = "one small rule after the other")]
pub(super) fn number(tokens: &[Token], at: usize, words: &Lexicon) -> Option<(Number, usize)> {
    let token = &tokens[at];
    let mut found = Number {
        value: 0.0,
        unit: None,
        money: false,
        percent: false,
        ordinal: false,
        word: false,
        year: false,
        often: false,
        part: false,
        bare: at + 1,
        after: at + 1,
    };
    let mut next = at + 1;
    match token.kind {
        Kind::Number => {
            found.value = token.text.replace(',', "").parse().ok()?;
            found.year = token.text.len() == 4
                && token.text.bytes().all(|b| b.is_ascii_digit())
                && (1000.0..2200.0).contains(&found.value);
            found.money = at > 0 && matches!(tokens[at - 1].text.as_str(), "$" | "€" | "£" | "¥");
        }
        Kind::Word => {
            // `from rest`, but not `the rest`.
            let led = at > 0 && matches!(tokens[at - 1].lower.as_str(), "from" | "at");
            if let Some(value) = words.numbers.get(&token.lower).filter(|_| led || !token.is("rest")) {
                found.value = *value;
                found.word = true;
            } else if let Some(value) = words.ordinals.get(&token.lower) {
                found.value = *value;
                found.word = true;
                found.ordinal = true;
            } else if let Some(value) = words.frequencies.get(&token.lower) {
                found.value = *value;
                found.often = true;
                return Some((found, next));
            } else if let Some(value) = compound(&token.lower, words) {
                found.value = value;
                found.word = true;
            } else {
                return None;
            }
        }
        Kind::Mark => return None,
    }
    if let Some(suffix) = tokens.get(next)
        && matches!(suffix.lower.as_str(), "st" | "nd" | "rd" | "th")
        && suffix.from == token.to
    {
        found.ordinal = true;
        found.bare = next + 1;
        return Some((found, next + 1));
    }
    // `twenty five`
    if found.word
        && (20.0..=90.0).contains(&found.value)
        && let Some(more) = tokens.get(next).and_then(|t| words.numbers.get(&t.lower))
        && (1.0..=9.0).contains(more)
    {
        found.value += more;
        next += 1;
    }
    while let Some(size) = tokens
        .get(next)
        .filter(|t| t.lower != "k" || (t.from == tokens[next - 1].to && t.text == "k"))
        .and_then(|t| words.magnitudes.get(&t.lower))
    {
        found.value *= size;
        found.year = false;
        next += 1;
    }
    if let Some(mark) = tokens.get(next) {
        if mark.is("%") || mark.is("percent") || mark.is("percentage") {
            found.percent = true;
            found.year = false;
            next += 1;
        } else if mark.is("per") && tokens.get(next + 1).is_some_and(|t| t.is("cent")) {
            found.percent = true;
            next += 2;
        }
    }
    found.bare = next;
    // `3 cubic meters`
    if tokens.get(next).is_some_and(|t| matches!(t.lower.as_str(), "cubic" | "square"))
        && tokens.get(next + 1).and_then(|t| words.unit(&t.lower)).is_some_and(|unit| unit.dimension == "length")
    {
        found.after = next + 2;
        return Some((found, next + 2));
    }
    // `-` between a number and its unit: `30-day`, `6-month`.
    let gap = usize::from(tokens.get(next).is_some_and(|t| t.is("-") && t.from == tokens[next - 1].to));
    if let Some(unit) = tokens.get(next + gap) {
        let attached = unit.from == tokens[next - 1].to;
        // One letter is a unit only where it stands close: `5 m`, `70kg`, but `5 A`.
        let plain = (unit.lower.len() > 1 && unit.lower != "in")
            || attached
            || (!unit.cap && unit.lower != "a" && unit.lower != "in");
        let name = (words.units.contains_key(&unit.lower) && plain).then(|| unit.lower.clone());
        if let Some((name, after)) = rate(tokens, next + gap, words) {
            found.unit = name;
            found.year = false;
            next = after;
        } else if let Some(name) = name.filter(|_| !found.ordinal) {
            if words.units[&name].dimension == "money" {
                found.money = true;
            }
            found.unit = Some(name);
            found.year = false;
            next += 1 + gap;
            // `68 degrees Fahrenheit`
            if found.unit.as_ref().is_some_and(|name| words.units[name].dimension == "angle")
                && let Some(scale) = tokens.get(next)
                && words.units.get(&scale.lower).is_some_and(|unit| unit.dimension == scale.lower)
            {
                found.unit = Some(scale.lower.clone());
                next += 1;
            }
        }
    }
    found.after = next;
    Some((found, next))
}

/// `twenty-five`.
fn compound(word: &str, words: &Lexicon) -> Option<f64> {
    let (tens, ones) = word.split_once('-')?;
    let tens = words.numbers.get(tens).filter(|n| **n >= 20.0)?;
    Some(tens + words.numbers.get(ones)?)
}

/// `meters per second squared` as `m/s^2`: the unit if it is known, and the token after it.
fn rate(tokens: &[Token], at: usize, words: &Lexicon) -> Option<(Option<String>, usize)> {
    let over = words.unit(&tokens.get(at)?.lower)?;
    if over.dimension == "money" || !tokens.get(at + 1)?.is("per") {
        return None;
    }
    let under = tokens.get(at + 2)?;
    let squared = tokens.get(at + 3).is_some_and(|t| t.is("squared") || t.is("square"));
    let under_unit = words.unit(&under.lower)?;
    let name = match (over.dimension.as_str(), under_unit.dimension.as_str()) {
        ("length", "time") if squared => Some("m/s^2"),
        ("length", "time") => match (over.size > 500.0, under_unit.size > 60.0) {
            (true, true) if over.size > 1500.0 => Some("mph"),
            (true, true) => Some("km/h"),
            _ => Some("m/s"),
        },
        ("length", "volume") => Some("mpg"),
        _ => None,
    };
    let after = at + 3 + usize::from(squared);
    Some((name.map(str::to_owned), after))
}
