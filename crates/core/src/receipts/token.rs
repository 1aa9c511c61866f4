use super::lexicon::proofs;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Word,
    Number,
    Time,
    Path,
    Address,
    /// What stands in quotes or in code marks.
    Quote,
    Mark(char),
}

#[derive(Debug, Clone)]
pub(super) struct Token {
    pub kind: Kind,
    /// In lower case without marks; for a quote its content.
    pub norm: String,
    pub capital: bool,
    /// Byte offset in the answer.
    pub start: usize,
    pub end: usize,
}

impl Token {
    pub(super) fn names(&self) -> bool {
        matches!(self.kind, Kind::Path | Kind::Address | Kind::Quote)
    }

    pub(super) fn is_mark(&self, marks: &str) -> bool {
        matches!(self.kind, Kind::Mark(mark) if marks.contains(mark))
    }
}

/// Longest quote, bytes.
const QUOTE: usize = 300;
/// Marks that are tokens wherever they occur.
const ALONE: &str = "()[]{}—";

/// Adds the tokens of `line`, which begins at byte `offset` of the answer.
pub(super) fn tokens(line: &str, offset: usize, into: &mut Vec<Token>) {
    let mut at = 0;
    while let Some(first) = line[at..].chars().next() {
        let size = first.len_utf8();
        if first.is_whitespace() {
            at += size;
        } else if let Some((inner, end)) = quote(line, at) {
            into.push(quoted(inner, offset + at, offset + end));
            at = end;
        } else if ALONE.contains(first) {
            into.push(mark(first, offset + at));
            at += size;
        } else {
            let rest = &line[at + size..];
            let stop = |c: char| c.is_whitespace() || ALONE.contains(c) || "\"“”„«»`".contains(c);
            let end = at + size + rest.find(stop).unwrap_or(rest.len());
            chunk(&line[at..end], offset + at, into);
            at = end;
        }
    }
}

pub(super) fn first_tokens(text: &str, most: usize) -> Vec<Token> {
    let mut all = Vec::new();
    for line in text.lines() {
        tokens(line, 0, &mut all);
        if all.len() > most {
            break;
        }
    }
    all.truncate(most);
    all
}

fn mark(mark: char, start: usize) -> Token {
    Token { kind: Kind::Mark(mark), norm: String::new(), capital: false, start, end: start + mark.len_utf8() }
}

/// The quote that begins at `at`: its content and its end.
fn quote(line: &str, at: usize) -> Option<(&str, usize)> {
    let first = line[at..].chars().next()?;
    let from = at + first.len_utf8();
    let rest = &line[from..line.floor_char_boundary(from + QUOTE)];
    let closers = match first {
        '"' => "\"",
        '“' => "”\"",
        '„' => "“”\"",
        '«' => "»",
        '‘' => "’",
        '\'' => "'",
        '`' => "`",
        _ => return None,
    };
    let single = matches!(first, '\'' | '‘');
    let mut ends = rest.char_indices().filter(|(_, c)| closers.contains(*c));
    let (length, closer) = ends.find(|(index, c)| {
        // An apostrophe inside a word closes no quote.
        let after = rest[index + c.len_utf8()..].chars().next();
        *index > 0 && !(single && after.is_some_and(char::is_alphanumeric))
    })?;
    Some((&rest[..length], from + length + closer.len_utf8()))
}

fn quoted(inner: &str, start: usize, end: usize) -> Token {
    let core = inner.trim();
    let kind = match kind(core) {
        kind @ (Kind::Path | Kind::Address) if !core.contains(char::is_whitespace) => kind,
        _ => Kind::Quote,
    };
    Token { kind, norm: core.to_lowercase(), capital: core.chars().next().is_some_and(char::is_uppercase), start, end }
}

/// Tokens of a text without spaces.
fn chunk(text: &str, offset: usize, into: &mut Vec<Token>) {
    let leads = |c: char| !(c.is_alphanumeric() || matches!(c, '/' | '.' | '~'));
    let trails = |c: char| !(c.is_alphanumeric() || c == '/');
    let core = text.trim_start_matches(leads);
    let start = text.len() - core.len();
    for (at, c) in text[..start].char_indices() {
        push_mark(c, offset + at, into);
    }
    let end = start + core.trim_end_matches(trails).len();
    let core = &text[start..end];
    if !core.is_empty() {
        match kind(core) {
            Kind::Word => word(core, offset + start, into),
            kind => into.push(Token {
                kind,
                norm: core.to_lowercase(),
                capital: false,
                start: offset + start,
                end: offset + end,
            }),
        }
    }
    for (at, c) in text[end..].char_indices() {
        push_mark(c, offset + end + at, into);
    }
}

fn push_mark(c: char, at: usize, into: &mut Vec<Token>) {
    if ".,;:!?…؟،؛–|-".contains(c) {
        into.push(mark(c, at));
    }
}

/// A word, split at its apostrophes: `I've` is two tokens, and so is `j'ai`.
fn word(core: &str, offset: usize, into: &mut Vec<Token>) {
    let mut at = 0;
    for part in core.split(['\'', '’']) {
        if !part.is_empty() {
            let keep = |c: &char| c.is_alphanumeric() || matches!(c, '.' | '/' | '_');
            into.push(Token {
                kind: Kind::Word,
                norm: part.to_lowercase().chars().filter(keep).collect(),
                capital: part.chars().next().is_some_and(char::is_uppercase),
                start: offset + at,
                end: offset + at + part.len(),
            });
        }
        // Both kinds of apostrophe occur, and they differ in length.
        at += part.len();
        at += core[at..].chars().next().map_or(0, char::len_utf8);
    }
}

fn kind(core: &str) -> Kind {
    if core.contains("://") || core.starts_with("www.") || is_mail(core) {
        return Kind::Address;
    }
    if is_time(core) {
        return Kind::Time;
    }
    if core.starts_with(|c: char| c.is_ascii_digit())
        && core.chars().all(|c| c.is_ascii_digit() || ".,:/-%".contains(c))
    {
        return Kind::Number;
    }
    if is_path(core) { Kind::Path } else { Kind::Word }
}

fn is_mail(core: &str) -> bool {
    let parts = core.split_once('@');
    parts.is_some_and(|(name, host)| !name.is_empty() && host.contains('.') && !host.contains('@'))
}

fn is_time(core: &str) -> bool {
    let Some((hours, rest)) = core.split_once(':') else {
        return false;
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let minutes = rest.trim_end_matches(['a', 'p', 'm', 'A', 'P', 'M', 'h']);
    digits(hours) && hours.len() <= 2 && minutes.split(':').all(|part| digits(part) && part.len() == 2)
}

fn is_path(core: &str) -> bool {
    if core.contains(char::is_whitespace) || !core.chars().any(char::is_alphabetic) {
        return false;
    }
    let slashes = core.matches('/').count();
    if slashes > 0 {
        let rooted =
            core.starts_with('/') || core.starts_with("./") || core.starts_with("../") || core.starts_with("~/");
        if rooted || core.ends_with('/') || slashes > 1 {
            return true;
        }
    }
    let name = core.rsplit('/').next().unwrap_or(core);
    let Some((stem, ending)) = name.rsplit_once('.') else {
        return false;
    };
    let ending = ending.to_lowercase();
    proofs().extensions.contains(&ending) && (!stem.is_empty() || slashes == 0)
}
