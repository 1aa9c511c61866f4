//! A request of several steps, cut where it says so.

use super::settings::Split;

/// The parts of a request between connectives, at least two; `None` if it speaks of one thing.
/// Connectives inside quotation marks don't count, bullets and numbers of lines fall away, and so does a
/// last part that only asks for the answer.
pub fn split(request: &str, settings: &Split) -> Option<Vec<String>> {
    let connectives = &settings.connectives;
    let mut parts = Vec::new();
    let mut from = 0;
    let mut at = 0;
    while at < request.len() {
        let cut = connectives
            .iter()
            .filter(|word| request.get(at..at + word.len()).is_some_and(|piece| piece.eq_ignore_ascii_case(word)))
            .map(String::len)
            .max();
        match cut {
            Some(len) if even_marks(&request[from..at]) => {
                parts.push(request[from..at].trim().to_owned());
                at += len;
                from = at;
            }
            _ => at += request[at..].chars().next().map_or(1, char::len_utf8),
        }
    }
    parts.push(request[from..].trim().to_owned());
    for part in &mut parts {
        *part = bare(part).to_owned();
    }
    let asks = |part: &String| {
        let lower = part.to_lowercase();
        settings.answers.iter().any(|word| lower.starts_with(word))
    };
    if parts.len() > 1 {
        parts.pop_if(|part| asks(part));
    }
    parts.retain(|part| part.split_whitespace().count() >= 2);
    (parts.len() > 1).then_some(parts)
}

/// A line without its bullet or number, and a part without a leading `first`.
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

fn even_marks(text: &str) -> bool {
    let count = |mark: char| text.matches(mark).count();
    let apostrophes = text
        .char_indices()
        .filter(|(at, c)| {
            *c == '\''
                && !(text[..*at].chars().next_back().is_some_and(char::is_alphanumeric)
                    && text[at + 1..].chars().next().is_some_and(char::is_alphanumeric))
        })
        .count();
    count('"') % 2 == 0 && apostrophes % 2 == 0 && count('“') == count('”')
}

#[cfg(test)]
mod tests {
    use super::{Split, split};

    #[test]
    fn cuts_outside_of_quotations() {
        let words = Split {
            connectives: [" and then ", ", then ", "\n"].map(str::to_owned).into(),
            answers: vec!["tell me".to_owned()],
        };
        let cut = |request| split(request, &words).unwrap_or_default();
        assert_eq!(cut("Read a.md and then list the files."), ["Read a.md", "list the files."]);
        assert!(cut("Write 'first this and then that' to x.txt").is_empty());
        assert!(cut("Read a.md and b.md").is_empty());
        assert_eq!(cut("1. read a.md\n2. first, list files, then tell me"), ["read a.md", "list files"]);
        assert!(cut("Read a.md and then tell me more").is_empty());
    }
}
