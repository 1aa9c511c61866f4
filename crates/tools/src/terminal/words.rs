//! A command line as an argument vector. No shell: quotes group, nothing expands.

/// Why a line is no single command.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unsplit {
    /// A quotation mark stays open, or a backslash ends the line.
    #[error(
        "a quotation mark in the command stays open; close it, or give the words as `argv`, such as [\"grep\", \"it's\", \"notes.txt\"]"
    )]
    Open,
    /// It holds what only a shell understands.
    #[error(
        "there is no shell, so `{0}` means nothing here: run one command at a time. Instead of a pipe, give the file to the command itself (awk, sed, grep, sort, jq read files) or look at the result and go on from there; instead of `cd DIR && …`, run `cd DIR` first, it is kept; instead of `>`, keep text with the tool `write`. As plain text, put it in quotes"
    )]
    Shell(String),
    #[error("the command is blank; give one such as \"ls -l\"")]
    Blank,
}

/// Splits a command line into arguments the way people mean it.
pub fn split(line: &str) -> Result<Vec<String>, Unsplit> {
    let mut out = Vec::new();
    let mut current = String::new();
    let mut begun = false;
    let mut mark = None;
    // What goes to standard error is shown anyway.
    let line = line.replace("2>&1", " ").replace("2>/dev/null", " ");
    let mut chars = line.trim().chars().peekable();
    while let Some(c) = chars.next() {
        match (mark, c) {
            (Some(open), c) if c == open => mark = None,
            (None, '\\') => {
                current.push(chars.next().ok_or(Unsplit::Open)?);
                begun = true;
            }
            (Some('"'), '\\') => match chars.next().ok_or(Unsplit::Open)? {
                c @ ('"' | '\\' | '$' | '`') => current.push(c),
                c => current.extend(['\\', c]),
            },
            (Some(_), c) => current.push(c),
            (None, '\'' | '"') => {
                mark = Some(c);
                begun = true;
            }
            (None, '|' | ';' | '&' | '>' | '<' | '`' | '\n') => {
                let twice = chars.peek() == Some(&c);
                return Err(Unsplit::Shell(match c {
                    '\n' => "a second line".to_owned(),
                    c if twice => format!("{c}{c}"),
                    c => c.to_string(),
                }));
            }
            (None, '$') => return Err(Unsplit::Shell("$".to_owned())),
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
        return Err(Unsplit::Open);
    }
    if begun {
        out.push(current);
    }
    if out.is_empty() { Err(Unsplit::Blank) } else { Ok(out) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::{Unsplit, split};

    #[test]
    fn quotes_group_and_nothing_expands() {
        for (line, expect) in [
            ("date -u", &["date", "-u"][..]),
            ("grep 'a b' \"c d\"", &["grep", "a b", "c d"]),
            ("echo ''", &["echo", ""]),
            ("grep \"a|b\" x.txt", &["grep", "a|b", "x.txt"]),
            ("awk '{print $2}' t.csv", &["awk", "{print $2}", "t.csv"]),
            (r#"grep "\bfoo\"" x"#, &["grep", r#"\bfoo""#, "x"]),
            ("cat my\\ file.txt", &["cat", "my file.txt"]),
            ("ls nowhere 2>/dev/null", &["ls", "nowhere"]),
            ("find . -name x 2>&1", &["find", ".", "-name", "x"]),
        ] {
            assert_eq!(split(line).unwrap(), expect, "{line}");
        }
    }

    #[test]
    fn what_only_a_shell_does_is_refused_with_the_way_out() {
        for (line, sign) in [
            ("cat x | wc", "`|`"),
            ("a; b", "`;`"),
            ("cd x && ls", "`&&`"),
            ("echo hi > x.txt", "`>`"),
            ("echo hi >> x.txt", "`>>`"),
            ("echo $HOME", "`$`"),
            ("echo `id`", "``` "),
            ("ls\npwd", "a second line"),
        ] {
            let error = split(line).unwrap_err().to_string();
            assert!(error.contains(sign.trim()) && error.contains("one command at a time"), "{line}: {error}");
        }
        assert_eq!(split("echo 'x"), Err(Unsplit::Open));
        assert_eq!(split("  "), Err(Unsplit::Blank));
    }
}
