//! Splits text into the sentences of its writer: without code blocks, quotations and lists of examples.

use super::complexity_counter::count;

/// The sentences of `text`. After a line that `example` accepts, the examples up to the next paragraph are left out.
pub(crate) fn sentences(text: &str, example: impl Fn(&str) -> bool) -> Vec<&str> {
    count(text.len());
    let mut all = Vec::new();
    let mut fence: Option<&str> = None;
    let (mut skip, mut blank) = (false, false);
    for line in text.lines() {
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
            split(&body[item..], &mut all);
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

fn split<'a>(line: &'a str, all: &mut Vec<&'a str>) {
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
            push(&line[from..end], all);
            from = end;
        }
    }
    push(&line[from..], all);
}

fn push<'a>(sentence: &'a str, all: &mut Vec<&'a str>) {
    let sentence = sentence.trim();
    if !sentence.is_empty() {
        all.push(sentence);
    }
}

#[cfg(test)]
mod tests {
    use super::sentences;

    #[test]
    fn code_quotations_and_examples_are_left_out() {
        let text = "One a.b. Two!\n```\nthree\n```\n> four\n- five\nExamples:\n- six\n- seven\n\nEight \"a. b\" c.";
        let got = sentences(text, |line| line.starts_with("Example"));
        assert_eq!(got, ["One a.b.", "Two!", "five", "Examples:", "Eight \"a. b\" c."]);
    }
}
