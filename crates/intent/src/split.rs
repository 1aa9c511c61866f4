use crate::settings::Split;
use std::collections::BTreeSet;
use steward_core::text::quoted;

#[derive(Debug, PartialEq, Eq)]
pub struct Parts {
    /// At least two.
    pub all: Vec<String>,
    /// Whether a connective such as "and then" separates them, and not only an "and" before a word of asking.
    pub told: bool,
}

/// The parts of a request between connectives; `None` if it is about one thing. Connectives inside quotation marks
/// don't count; bullets and numbers of lines are dropped, and so is a last part that only asks for the answer. An "and"
/// separates only before one of `openings`.
pub fn split(request: &str, settings: &Split, openings: &BTreeSet<String>) -> Option<Parts> {
    let parts = cut(request, &settings.connectives, |_| true);
    let told = parts.len() > 1;
    let opens = |rest: &str| {
        let word = rest.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        openings.contains(&word.to_lowercase())
    };
    let mut all: Vec<String> = Vec::new();
    for part in parts.iter().flat_map(|part| cut(part, &settings.and, opens)).filter(|part| !part.is_empty()) {
        match all.last_mut() {
            // One more word of the previous part: "read a.txt, then b.txt".
            Some(last) if !part.contains(char::is_whitespace) => {
                last.push_str(", ");
                last.push_str(&part);
            }
            _ => all.push(part),
        }
    }
    let asks = |part: &mut String| {
        let lower = part.to_lowercase();
        settings.answers.iter().any(|word| lower.starts_with(word))
    };
    if all.len() > 1 {
        all.pop_if(asks);
    }
    (all.len() > 1).then_some(Parts { all, told })
}

/// Cuts `text` at each of `connectives` outside of quotation marks whose rest `goes_on`.
fn cut(text: &str, connectives: &[String], goes_on: impl Fn(&str) -> bool) -> Vec<String> {
    let quotes = quoted(text);
    let outside = |at: usize| !quotes.iter().any(|quote| (quote.start..quote.end).contains(&at));
    let mut parts = Vec::new();
    let mut from = 0;
    let mut at = 0;
    while at < text.len() {
        let found = connectives
            .iter()
            .filter(|word| text.get(at..at + word.len()).is_some_and(|piece| piece.eq_ignore_ascii_case(word)))
            .map(String::len)
            .max();
        match found {
            Some(len) if outside(at) && goes_on(&text[at + len..]) => {
                parts.push(&text[from..at]);
                at += len;
                from = at;
            }
            _ => at += text[at..].chars().next().map_or(1, char::len_utf8),
        }
    }
    parts.push(&text[from..]);
    parts.into_iter().map(|part| bare(part.trim().trim_end_matches([',', ';'])).to_owned()).collect()
}

/// Removes the bullet or number of a line, and a leading `first` of a part.
fn bare(part: &str) -> &str {
    let part = part.trim_start_matches(['-', '*', '•', ' ']);
    let digits = part.trim_start_matches(|c: char| c.is_ascii_digit());
    let part = match digits.strip_prefix(['.', ')']) {
        Some(rest) if digits.len() < part.len() => rest.trim_start(),
        _ => part,
    };
    match part.split_once([' ', ',']) {
        Some((first, rest)) if first.eq_ignore_ascii_case("first") => rest.trim_start(),
        _ => part,
    }
}

#[cfg(test)]
mod tests {
    use super::{Split, split};

    #[test]
    fn cuts_outside_of_quotations() {
        let words = Split {
            connectives: [" and then ", ", then ", "\n"].map(str::to_owned).into(),
            and: vec![" and ".to_owned()],
            answers: vec!["tell me".to_owned()],
        };
        let openings = ["list", "read"].map(str::to_owned).into();
        let cut = |request| split(request, &words, &openings);
        let all = |request| cut(request).map(|parts| parts.all).unwrap_or_default();
        assert_eq!(all("Read a.md and then list the files."), ["Read a.md", "list the files."]);
        assert!(all("Write 'first this and then that' to x.txt").is_empty());
        assert!(all("Read a.md and b.md").is_empty());
        assert_eq!(all("1. read a.md\n2. first, list files, then tell me"), ["read a.md", "list files"]);
        assert!(all("Read a.md and then tell me more").is_empty());
        assert_eq!(all("Read a.md, then b.md, and then list the files"), ["Read a.md, b.md", "list the files"]);
        let loose = cut("Read a.md and list the files").unwrap();
        assert_eq!((loose.all.len(), loose.told), (2, false));
    }
}
