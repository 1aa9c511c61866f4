//! What a description tells: forms of dates, examples, short names.

use super::stem::stem;

/// The form of a date that a description shows, in `Y`, `M` and `D`.
pub(super) fn pattern_of(description: &str) -> Option<String> {
    for word in description.split(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | '\'' | '"' | ';')) {
        let word = word.trim_matches(['.', ',', ':']);
        // `YYYY-MM-DDTHH:MM:SS`
        let upper = word.to_uppercase();
        let upper = upper.split_once("THH").map_or(upper.clone(), |(day, _)| day.to_owned());
        let letters = upper.chars().filter(|c| c.is_alphabetic()).count();
        if letters >= 4 && upper.contains("YY") && upper.chars().all(|c| matches!(c, 'Y' | 'M' | 'D' | '-' | '/' | '.'))
        {
            // `MM-DD-YYY` is a slip of the pen.
            return Some(match upper.matches('Y').count() {
                3 => upper.replace("YYY", "YYYY"),
                _ => upper,
            });
        }
        if let Some(spelled) = spelled(word) {
            return Some(spelled);
        }
        let shape: String = word.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
        match shape.as_str() {
            "0000-00-00" => return Some("YYYY-MM-DD".to_owned()),
            "00-00-0000" => return Some("MM-DD-YYYY".to_owned()),
            "00/00/0000" => return Some("MM/DD/YYYY".to_owned()),
            _ => {}
        }
    }
    None
}

/// What a description says that is counted: the last word of `number of adult guests`.
pub(super) fn counts_of(lower: &str) -> Option<String> {
    if lower.contains("how often") || lower.contains("number of times") {
        return Some("time".to_owned());
    }
    let tail = ["number of ", "how many ", "count of ", "quantity of "]
        .iter()
        .filter_map(|mark| lower.find(mark).map(|at| (at, at + mark.len())))
        .min()
        .and_then(|(_, end)| lower.get(end..))?;
    let mut words = tail
        .split(|c: char| !c.is_alphanumeric() && c != '-')
        .take(4)
        .take_while(|word| !word.is_empty() && !ENDS.contains(word));
    let first = words.next()?;
    Some(stem(words.next().filter(|_| !first.ends_with('s')).unwrap_or(first)))
}

/// Words that end what is counted.
const ENDS: &[&str] = &[
    "to", "for", "of", "in", "on", "at", "that", "which", "with", "from", "is", "are", "will", "it", "you", "and",
    "or", "per", "by", "the", "a", "an", "should", "has", "left", "wanted",
];

/// `month-day-year`.
fn spelled(word: &str) -> Option<String> {
    let parts: Vec<&str> = word.split(['-', '/']).collect();
    let mark = if word.contains('/') { "/" } else { "-" };
    if parts.len() < 2 {
        return None;
    }
    let letters: Option<Vec<&str>> = parts
        .iter()
        .map(|part| match part.to_lowercase().as_str() {
            "year" => Some("YYYY"),
            "month" => Some("MM"),
            "day" => Some("DD"),
            _ => None,
        })
        .collect();
    letters.map(|letters| letters.join(mark))
}

/// What stands in quotation marks, or after `e.g.`, `such as`, `like`.
pub(super) fn examples_of(description: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut rest = description;
    while let Some(at) = rest.find(['\'', '"', '`']) {
        let mark = rest[at..].chars().next().unwrap_or('\'');
        let before = rest[..at].chars().next_back();
        let inner = &rest[at + mark.len_utf8()..];
        let Some(end) = inner.find(mark).filter(|_| before.is_none_or(|c| !c.is_alphanumeric())) else {
            rest = inner;
            continue;
        };
        if end > 0 && end < 60 {
            out.push(inner[..end].to_owned());
        }
        rest = &inner[end + mark.len_utf8()..];
    }
    let lower = description.to_lowercase();
    for mark in [
        "e.g.",
        "i.e.,",
        "i.e.",
        "i.e",
        "for instance",
        "eg.",
        "e.g",
        "such as",
        "like",
        "example:",
        "for example",
        "options:",
        "options include",
        "options",
        "following",
        "example",
        "either",
    ] {
        let Some(at) = lower.find(mark).filter(|at| description.is_char_boundary(*at)) else {
            continue;
        };
        let tail = description.get(at + mark.len()..).unwrap_or_default();
        let tail = tail.trim_start_matches([':', ',', ' ', '.']);
        let tail = tail.trim_start_matches(['[', ' ', ':']);
        let tail = tail.split([')', ';', '.', ']']).next().unwrap_or_default();
        if tail.contains(['\'', '"']) {
            break;
        }
        out.push(tail.trim().to_owned());
        for part in tail.split([',', '|']) {
            for part in part.split(" or ") {
                let part = part.trim().trim_start_matches("or ").trim_start_matches("and ");
                let part = part.strip_suffix(" etc").unwrap_or(part).trim();
                if !part.is_empty() && part.len() < 40 && part != "etc" && !out.iter().any(|one| one == part) {
                    out.push(part.to_owned());
                }
            }
        }
        break;
    }
    out
}

/// What whole numbers stand for: `1 for Bangkok, 2 for Chiang Mai`, `'1' represents cleaning`; the
/// number and the stems of the words.
pub(super) fn codes_of(description: &str) -> Vec<(i64, Vec<String>)> {
    let mut out: Vec<(i64, Vec<String>)> = Vec::new();
    let mut words = description
        .split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '(' | ')'))
        .map(|word| word.trim_matches(['\'', '"', '.', ':', '`']))
        .filter(|word| !word.is_empty())
        .peekable();
    while let Some(word) = words.next() {
        let Ok(code) = word.parse::<i64>() else {
            continue;
        };
        let stands = words.next_if(|next| {
            matches!(
                next.to_lowercase().as_str(),
                "for" | "represents" | "corresponds" | "means" | "is" | "=" | "to" | "denotes" | "-"
            )
        });
        if stands.is_none() {
            continue;
        }
        let mut told = Vec::new();
        while let Some(next) = words.next_if(|next| next.parse::<i64>().is_err()) {
            let lower = next.to_lowercase();
            if matches!(lower.as_str(), "and" | "or") || told.len() > 5 {
                break;
            }
            if !matches!(lower.as_str(), "to" | "a" | "an" | "the" | "for") {
                told.push(stem(&lower));
            }
        }
        if !told.is_empty() {
            out.push((code, told));
        }
    }
    if out.len() > 1 { out } else { Vec::new() }
}

/// `'c' for Celsius, 'f' for Fahrenheit`.
pub(super) fn aliases_of(description: &str) -> Vec<(String, String)> {
    let parts: Vec<&str> = description.split(['\'', '"']).collect();
    // Every second piece stands in quotation marks; what follows it may tell what it is for.
    parts
        .windows(2)
        .skip(1)
        .step_by(2)
        .filter_map(|pair| {
            let told = pair[1]
                .strip_prefix(" for ")
                .or_else(|| pair[1].strip_prefix(" means "))
                .or_else(|| pair[1].strip_prefix(": "))
                .or_else(|| pair[1].strip_prefix(" = "))?;
            let word: String = told.chars().take_while(|c| c.is_alphanumeric()).collect();
            (word.len() > 2 && !pair[0].is_empty() && pair[0].len() <= 12).then(|| (pair[0].to_owned(), stem(&word)))
        })
        .collect()
}
