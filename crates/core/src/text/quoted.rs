#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quoted<'a> {
    pub text: &'a str,
    /// First byte, including the mark.
    pub start: usize,
    /// Byte after the closing mark.
    pub end: usize,
    /// Whether the marks are backticks, as for code, a command or a name.
    pub code: bool,
}

const PAIRS: &[(char, &[char])] = &[
    ('"', &['"']),
    ('`', &['`']),
    ('“', &['”', '“']),
    ('„', &['“', '”']),
    ('«', &['»']),
    ('\'', &['\'']),
    ('‘', &['’']),
];

/// All quoted pieces in order, not nested. An apostrophe inside a word is no mark.
pub fn quoted(request: &str) -> Vec<Quoted<'_>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(next) = first(request, from) {
        from = next.end;
        found.push(next);
    }
    found
}

fn first(request: &str, from: usize) -> Option<Quoted<'_>> {
    for (at, open) in request[from..].char_indices() {
        let start = from + at;
        let Some((_, closers)) = PAIRS.iter().find(|(mark, _)| *mark == open) else {
            continue;
        };
        let before = request[..start].chars().next_back();
        if before.is_some_and(char::is_alphanumeric) {
            continue;
        }
        let inside = start + open.len_utf8();
        let close = request[inside..].char_indices().find(|(offset, c)| {
            let after = request[inside + offset + c.len_utf8()..].chars().next();
            *offset > 0 && closers.contains(c) && after.is_none_or(|c| !c.is_alphanumeric())
        });
        if let Some((offset, mark)) = close {
            let text = &request[inside..inside + offset];
            return Some(Quoted { text, start, end: inside + offset + mark.len_utf8(), code: open == '`' });
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn finds_marks_and_leaves_apostrophes() {
        let texts = |request| quoted(request).into_iter().map(|q| q.text).collect::<Vec<_>>();
        assert_eq!(texts("Write 'backup done' to x"), ["backup done"]);
        assert_eq!(texts("don't say \"it's me\" or `ls -l`."), ["it's me", "ls -l"]);
        assert_eq!(texts("„guten Tag“ und «bonjour»"), ["guten Tag", "bonjour"]);
        assert!(texts("the dogs' and cats").is_empty());
    }
}
