//! Finds the end of reasoning that the prompt has opened: a closing tag whose opening never came.

use crate::dialect::{Begin, Body, rules};

/// What ends reasoning that the prompt has opened.
pub(crate) const CLOSING: &[&str] = &["</think>", "[/THINK]", "<|END_THINKING|>", "◁/think▷", "</THINK>"];

/// How reasoning is opened, and closed then.
pub(super) fn thoughts() -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
    rules().filter_map(|rule| match rule.body {
        Body::Thought(close) => Some((rule.open, close)),
        _ => None,
    })
}

/// Longest list of attributes that is waited for.
const ATTRIBUTES: usize = 120;

/// The length of the attributes of a tag up to its end, as in `time="3">`.
pub(super) fn attributes(text: &str, end: bool) -> (Begin, usize) {
    let window = &text[..text.floor_char_boundary(ATTRIBUTES)];
    let stop = window.find(['>', '<', '\n']);
    match stop.map(|at| (at, window[at..].starts_with('>') && window[..at].contains('='))) {
        Some((at, true)) => (Begin::Yes, at + 1),
        None if !end && text.len() < ATTRIBUTES => (Begin::More, 0),
        _ => (Begin::No, 0),
    }
}

/// Whether `text` begins with an opening of reasoning, the length of that, and what closes it.
pub(super) fn opened(text: &str, end: bool) -> (Begin, usize, &'static [&'static str]) {
    let mut begins = Begin::No;
    for (open, close) in thoughts() {
        let Some(rest) = text.strip_prefix(open) else {
            if !end && open.starts_with(text) {
                begins = Begin::More;
            }
            continue;
        };
        let (found, len) = if open.ends_with(' ') { attributes(rest, end) } else { (Begin::Yes, 0) };
        match found {
            Begin::Yes => return (Begin::Yes, open.len() + len, close),
            Begin::More => begins = Begin::More,
            Begin::No => {}
        }
    }
    (begins, 0, &[])
}

/// Looks at content as it comes, each line once.
#[derive(Debug, Default)]
pub(crate) struct UnopenedThought {
    /// Where the line begins that is not over yet.
    line: usize,
    /// Up to where it was searched.
    searched: usize,
    in_code: bool,
    /// Begin and end of the first tag of the line.
    tag: Option<(usize, usize)>,
    /// Behind the tag that ends the reasoning.
    answer: Option<usize>,
    /// Reasoning was opened here, so none is from before.
    opened: bool,
}

impl UnopenedThought {
    /// Whether `content`, which goes on from what was given before, has ended such reasoning, with an answer behind it.
    pub fn has_ended(&mut self, content: &str) -> bool {
        self.read(content, false);
        self.answer.is_some_and(|at| !content[at..].trim_start().is_empty())
    }

    /// The same of the whole content; `has_calls`: there is an answer beside it.
    pub fn has_ended_at_last(&mut self, content: &str, has_calls: bool) -> bool {
        self.read(content, true);
        self.answer.is_some_and(|at| has_calls || !content[at..].trim_start().is_empty())
    }

    /// Whether it is known that nothing of the content is such reasoning.
    pub fn is_ruled_out(&self) -> bool {
        self.opened
    }

    fn read(&mut self, content: &str, end: bool) {
        while self.answer.is_none() && !self.opened && self.line < content.len() {
            let newline = content[self.searched..].find('\n').map(|at| self.searched + at);
            let line_end = newline.unwrap_or(content.len());
            let over = newline.is_some() || end;
            let start = content[self.line..line_end].trim_start();
            let is_fence = start.starts_with("```");
            let in_code = self.in_code ^ is_fence;
            if !in_code && opened(start, true).0 == Begin::Yes {
                self.opened = true;
                return;
            }
            if self.tag.is_none() && !in_code {
                self.tag = self.find_tag(content, line_end);
            }
            if let Some((begin, behind)) = self.tag {
                // One tag of a line counts.
                if ends_thought(&content[self.line..begin], &content[behind..line_end], over) {
                    self.answer = Some(behind);
                    return;
                }
            }
            self.searched = line_end;
            if newline.is_none() {
                return;
            }
            (self.in_code, self.tag) = (in_code, None);
            self.line = line_end + 1;
            self.searched = self.line;
        }
    }

    fn find_tag(&self, content: &str, line_end: usize) -> Option<(usize, usize)> {
        let longest = CLOSING.iter().map(|tag| tag.len()).max().unwrap_or_default();
        let from = content.floor_char_boundary(self.searched.saturating_sub(longest)).max(self.line);
        let found = |tag: &&str| content[from..line_end].find(*tag).map(|at| (from + at, from + at + tag.len()));
        CLOSING.iter().filter_map(found).min()
    }
}

/// Whether a tag between these parts of a line ends reasoning: a word about such a tag stands in quotes, in code or between
/// blanks. `over`: nothing follows in its line, which may otherwise still make a word of it.
fn ends_thought(before: &str, behind: &str, over: bool) -> bool {
    let quoted = before.ends_with(['"', '\'', '“', '‘', '«', '„', '`']) || before.matches('`').count() % 2 == 1;
    let after_blank = before.ends_with([' ', '\t']) && !before.trim().is_empty();
    !quoted && (!after_blank || over && behind.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::UnopenedThought;

    /// Fed letter by letter and as a whole.
    fn ends(content: &str, has_calls: bool) -> (bool, bool) {
        let mut early = false;
        let mut seen = UnopenedThought::default();
        for (at, letter) in content.char_indices() {
            let now = seen.has_ended(&content[..at + letter.len_utf8()]);
            assert!(now || !early, "{content:?} at {at}: once ended is ended");
            early = now;
        }
        let last = seen.has_ended_at_last(content, has_calls);
        assert_eq!(UnopenedThought::default().has_ended_at_last(content, has_calls), last, "{content:?}");
        (early, last)
    }

    #[test]
    fn only_a_tag_that_nothing_opened_ends_a_thought() {
        for (content, early, last) in [
            ("Hm.</think>Blue.", true, true),
            ("Hm.\n</think>\n\nBlue.", true, true),
            ("Hm. </think>\nBlue.", true, true),
            ("</think>Blue.", true, true),
            ("Hm.◁/think▷Blau", true, true),
            ("Hm.</think>", false, false),
            ("Hm.</think>\n \n", false, false),
            ("Blue.", false, false),
            ("The tag `</think>` ends it.", false, false),
            ("The tag </think> ends it.", false, false),
            ("Say \"</think>\" and go on.", false, false),
            ("```\n</think>\n```\nIt is code.", false, false),
            ("```\n</think>\n```\nHm.</think>Blue.", true, true),
            ("<think>Hm.</think>Blue.", false, false),
            ("The tag `</think>` is old.\nHm.</think>Blue.", true, true),
        ] {
            assert_eq!(ends(content, false), (early, last), "{content:?}");
        }
        assert_eq!(ends("Hm.</think>", true), (false, true), "an answer is beside it");
    }
}
