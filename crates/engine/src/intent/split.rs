//! A request of several steps, cut where it says so.

/// The parts of a request between connectives, at least two; `None` if it speaks of one thing.
/// Connectives inside quotation marks don't count.
pub fn split(request: &str, connectives: &[String]) -> Option<Vec<String>> {
    let mut parts = Vec::new();
    let mut from = 0;
    let mut at = 0;
    while at < request.len() {
        let cut = connectives
            .iter()
            .filter(|word| {
                request
                    .get(at..at + word.len())
                    .is_some_and(|piece| piece.eq_ignore_ascii_case(word))
            })
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
    parts.retain(|part| part.split_whitespace().count() >= 2);
    (parts.len() > 1).then_some(parts)
}

fn even_marks(text: &str) -> bool {
    let count = |mark: char| text.matches(mark).count();
    let apostrophes = text
        .char_indices()
        .filter(|(at, c)| {
            *c == '\''
                && !(text[..*at]
                    .chars()
                    .next_back()
                    .is_some_and(char::is_alphanumeric)
                    && text[at + 1..]
                        .chars()
                        .next()
                        .is_some_and(char::is_alphanumeric))
        })
        .count();
    count('"') % 2 == 0 && apostrophes % 2 == 0 && count('“') == count('”')
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn cuts_outside_of_quotations() {
        let words: Vec<String> = [" and then ", ", then "].map(str::to_owned).into();
        let cut = |request| split(request, &words).unwrap_or_default();
        assert_eq!(
            cut("Read a.md and then list the files."),
            ["Read a.md", "list the files."]
        );
        assert!(cut("Write 'first this and then that' to x.txt").is_empty());
        assert!(cut("Read a.md and b.md").is_empty());
    }
}
