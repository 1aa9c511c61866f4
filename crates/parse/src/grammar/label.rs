//! Labels of the ReAct form at the start of a line: `Thought:`, `**Action:**`, `ACTION_INPUT:`.

/// What a line begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Label {
    Thought,
    Action,
    Input,
    Observation,
    Final,
}

/// How a line starts, as far as it has arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Start {
    /// More of the line is needed.
    Undecided,
    /// An ordinary line.
    Text,
    /// A code fence.
    Fence,
    /// A label; its value begins that many bytes into the line.
    Label(Label, usize),
}

/// Longer words first where one begins another.
const WORDS: &[(&str, Label)] = &[
    ("thought", Label::Thought),
    ("action input", Label::Input),
    ("action_input", Label::Input),
    ("action-input", Label::Input),
    ("actioninput", Label::Input),
    ("action", Label::Action),
    ("observation", Label::Observation),
    ("final answer", Label::Final),
    ("final_answer", Label::Final),
    ("final-answer", Label::Final),
];

/// A label that is not recognised in so many bytes is none; this bounds the work per line.
const LONGEST: usize = 64;

/// Classifies the line that `text` starts with; `end` where nothing will follow `text`.
/// A decision never changes when more of the line arrives.
pub(super) fn classify(text: &str, end: bool) -> Start {
    let (line, closed) = line(text, end);
    let bytes = line.as_bytes();
    let blank = bytes.iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
    let ticks = bytes[blank..].iter().take_while(|&&b| b == b'`').count();
    if ticks >= 3 {
        return Start::Fence;
    }
    let decorated = bytes.iter().take_while(|b| matches!(b, b' ' | b'\t' | b'*' | b'_' | b'#')).count();
    let rest = &bytes[decorated..];
    if rest.is_empty() || (ticks > 0 && blank + ticks == bytes.len()) {
        return if closed { Start::Text } else { Start::Undecided };
    }
    let bold = bytes[..decorated].iter().any(|b| matches!(b, b'*' | b'_'));
    let mut open = false;
    for (word, label) in WORDS {
        match match_word(rest, word.as_bytes(), bold, closed) {
            Match::Yes(len) => return Start::Label(*label, decorated + len),
            Match::Open => open = true,
            Match::No => {}
        }
    }
    if open { Start::Undecided } else { Start::Text }
}

/// The line as far as it may matter, and whether it ends there.
fn line(text: &str, end: bool) -> (&str, bool) {
    let bytes = text.as_bytes();
    let reach = bytes.len().min(LONGEST);
    if let Some(at) = bytes[..reach].iter().position(|&b| b == b'\n') {
        return (&text[..at], true);
    }
    if bytes.len() <= LONGEST {
        return (text, end);
    }
    let mut at = LONGEST;
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    (&text[..at], true)
}

enum Match {
    Yes(usize),
    Open,
    No,
}

fn match_word(rest: &[u8], word: &[u8], bold: bool, closed: bool) -> Match {
    let undecided = if closed { Match::No } else { Match::Open };
    let common = rest.len().min(word.len());
    if !rest[..common].eq_ignore_ascii_case(&word[..common]) {
        return Match::No;
    }
    if rest.len() < word.len() {
        return undecided;
    }
    // `**Action**:`, `Action 2:`
    let mut at = word.len();
    while rest.get(at).is_some_and(|b| matches!(b, b' ' | b'*' | b'_') || b.is_ascii_digit()) {
        at += 1;
    }
    let colon = &rest[at..];
    let wide = "：".as_bytes();
    if colon.starts_with(b":") {
        at += 1;
    } else if colon.starts_with(wide) {
        at += wide.len();
    } else if wide.starts_with(colon) {
        return undecided;
    } else {
        return Match::No;
    }
    if bold {
        at += rest[at..].iter().take_while(|b| matches!(b, b'*' | b'_')).count();
    }
    at += rest[at..].iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
    if at == rest.len() && !closed {
        return Match::Open;
    }
    Match::Yes(at)
}

#[cfg(test)]
mod tests {
    use super::{Label, Start, classify};

    #[test]
    fn labels_and_what_only_looks_like_one() {
        assert_eq!(classify("Action: read\n", false), Start::Label(Label::Action, 8));
        assert_eq!(classify("**Action:** read\n", false), Start::Label(Label::Action, 12));
        assert_eq!(classify("**Action**: read\n", false), Start::Label(Label::Action, 12));
        assert_eq!(classify("ACTION_INPUT: {", false), Start::Label(Label::Input, 14));
        assert_eq!(classify("Action", false), Start::Undecided);
        assert_eq!(classify("Action", true), Start::Text);
        assert_eq!(classify("Actions: many\n", false), Start::Text);
        assert_eq!(classify("> Action: read\n", false), Start::Text);
        assert_eq!(classify("\"Action: read\n", false), Start::Text);
        assert_eq!(classify("```json", false), Start::Fence);
        assert_eq!(classify("``", false), Start::Undecided);
    }
}
