//! Splits text into the sentences of its writer: without code blocks, quotations and lists of examples.

use super::complexity_counter::count;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sentence<'a> {
    pub text: &'a str,
    pub start: usize,
}

/// The sentences of `text`. After a line that `example` accepts, the examples up to the next paragraph are left out.
pub(crate) fn sentences(text: &str, example: impl Fn(&str) -> bool) -> Vec<Sentence<'_>> {
    count(text.len());
    let mut all = Vec::new();
    let mut fence: Option<&str> = None;
    let (mut skip, mut blank) = (false, false);
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let body = line.trim();
        let ticks = ["```", "~~~"].into_iter().find(|ticks| body.starts_with(ticks));
        if let Some(ticks) = ticks {
            fence = match fence {
                None => Some(ticks),
                Some(open) if open == ticks => None,
                open => open,
            };
            continue;
        }
        if fence.is_some() || body.starts_with('>') || body.starts_with('|') {
            continue;
        }
        if body.is_empty() {
            blank = true;
            continue;
        }
        let item = marker(body);
        if skip && blank && item == 0 {
            skip = false;
        }
        blank = false;
        if !skip {
            let inner = &body[item..];
            split(inner, start + (line.len() - line.trim_start().len()) + item, &mut all);
        }
        if body.ends_with(':') {
            skip = example(body);
        }
    }
    all
}

/// The length of a list's or heading's mark and of decoration.
fn marker(line: &str) -> usize {
    let rest = line.trim_start_matches(['#', '-', '*', '•', '–', '+']);
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let rest = match rest[digits..].chars().next() {
        Some('.' | ')') if digits > 0 && rest.len() == line.len() => &rest[digits + 1..],
        _ => rest,
    };
    line.len() - rest.trim_start().len()
}

const QUOTES: &[(char, char)] = &[('"', '"'), ('“', '”'), ('„', '“'), ('«', '»'), ('`', '`'), ('‚', '‘')];

fn split<'a>(line: &'a str, offset: usize, all: &mut Vec<Sentence<'a>>) {
    let mut from = 0;
    let mut open: Option<char> = None;
    let mut lonely: Vec<char> = Vec::new();
    let mut chars = line.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if let Some(close) = open {
            if c == close {
                open = None;
            }
            continue;
        }
        if let Some((_, close)) = QUOTES.iter().find(|(quote, _)| *quote == c) {
            // A mark that does not close in its line opens nothing.
            if lonely.contains(&c) {
                continue;
            }
            let found = line[at + c.len_utf8()..].find(*close);
            count(found.unwrap_or(line.len() - at));
            if found.is_some() {
                open = Some(*close);
            } else {
                lonely.push(c);
            }
            continue;
        }
        let ends = matches!(c, '.' | '!' | '?' | '…' | '؟' | '。' | '！' | '？');
        if ends && chars.peek().is_none_or(|(_, next)| next.is_whitespace()) {
            let end = at + c.len_utf8();
            push(line, from, end, offset, all);
            from = end;
        }
    }
    push(line, from, line.len(), offset, all);
}

fn push<'a>(line: &'a str, from: usize, to: usize, offset: usize, all: &mut Vec<Sentence<'a>>) {
    let text = &line[from..to];
    let inner = text.trim_start();
    if !inner.trim().is_empty() {
        all.push(Sentence { text: inner.trim_end(), start: offset + from + text.len() - inner.len() });
    }
}

#[cfg(test)]
mod tests {
    use super::sentences;

    #[test]
    fn code_quotations_and_examples_are_left_out() {
        let text = "One a.b. Two!\n```\nthree\n```\n> four\n- five\nExamples:\n- six\n- seven\n\nEight \"a. b\" c.";
        let got: Vec<&str> = sentences(text, |line| line.starts_with("Example")).iter().map(|s| s.text).collect();
        assert_eq!(got, ["One a.b.", "Two!", "five", "Examples:", "Eight \"a. b\" c."]);
        for sentence in sentences(text, |_| false) {
            assert!(text[sentence.start..].starts_with(sentence.text));
        }
    }
}
