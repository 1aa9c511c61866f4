//! A command line in a request, as an argument vector. No shell: quotes group, nothing expands.

/// Splits a command line into arguments the way people mean it; `None` if a quotation mark stays
/// open or it holds what only a shell understands.
pub fn split(line: &str) -> Option<Vec<String>> {
    let mut out = Vec::new();
    let mut current = String::new();
    let mut begun = false;
    let mut mark = None;
    let mut chars = line.trim().chars();
    while let Some(c) = chars.next() {
        match (mark, c) {
            (Some(open), c) if c == open => mark = None,
            (Some('"') | None, '\\') => {
                current.push(chars.next()?);
                begun = true;
            }
            (Some(_), c) => current.push(c),
            (None, '\'' | '"') => {
                mark = Some(c);
                begun = true;
            }
            (None, '|' | ';' | '&' | '>' | '<' | '`' | '$') => return None,
            (None, c) if c.is_whitespace() => {
                if begun {
                    out.push(std::mem::take(&mut current));
                    begun = false;
                }
            }
            (None, c) => {
                current.push(c);
                begun = true;
            }
        }
    }
    if mark.is_some() {
        return None;
    }
    if begun {
        out.push(current);
    }
    (!out.is_empty()).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn splits_without_a_shell() {
        assert_eq!(split("date -u").unwrap(), ["date", "-u"]);
        assert_eq!(split("grep 'a b' \"c d\"").unwrap(), ["grep", "a b", "c d"]);
        assert_eq!(split("echo ''").unwrap(), ["echo", ""]);
        for shell in ["cat x | wc", "a; b", "echo $HOME", "echo 'x", "a > b", ""] {
            assert_eq!(split(shell), None, "{shell}");
        }
    }
}
