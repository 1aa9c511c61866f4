//! Splits an answer into sentences; code, citations and tables are left out.

use super::lexicon::{Words, proofs};
use super::token::{Kind, Token, tokens};
use super::voice::handed_over;

/// Most tokens of a sentence; a longer one is split, so that each takes a bounded time.
const LONGEST: usize = 400;

#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own, read where it counts")]
pub(super) struct Sentence {
    /// Its tokens without the final mark.
    pub tokens: Vec<Token>,
    pub question: bool,
    /// Whether it ends with a colon or introduces a list.
    pub colon: bool,
    pub item: bool,
    /// Whether a rule or a heading separates it from what comes before.
    pub after_rule: bool,
    /// Whether it is part of a text that the answer delivers.
    pub handed: bool,
    /// Whether a block of code follows it.
    pub before_code: bool,
}

impl Sentence {
    /// At most `most` of its tokens, from the first one on.
    pub(super) fn first(&self, most: usize) -> &[Token] {
        &self.tokens[..self.tokens.len().min(most)]
    }

    pub(super) fn has(&self, list: &Words) -> bool {
        self.tokens.iter().any(|token| token.kind == Kind::Word && list.contains(&token.norm))
    }

    pub(super) fn words(&self) -> Vec<&str> {
        self.tokens.iter().map(|token| token.norm.as_str()).collect()
    }
}

pub(super) fn sentences(answer: &str) -> Vec<Sentence> {
    let mut cut = Cut::default();
    let mut offset = 0;
    let mut fence: Option<&str> = None;
    let handed = handed_over(answer);
    for (number, line) in answer.split_inclusive('\n').enumerate() {
        let text = line.trim();
        let before = std::mem::replace(&mut cut.handed, handed.get(number) == Some(&true));
        if before != cut.handed {
            cut.end_as(before);
        }
        if text.starts_with('#') || rule(text) {
            cut.end();
            cut.ruled = true;
        }
        let opens = ["```", "~~~"].into_iter().find(|mark| text.starts_with(mark));
        if opens.is_some() || fence.is_some() || text.starts_with(['>', '|']) {
            cut.end();
            if fence.is_none() && opens.is_some() {
                cut.introduce_code();
            }
            fence = match (fence, opens) {
                (None, opens) => opens,
                (Some(open), Some(mark)) if open == mark => None,
                (open, _) => open,
            };
        } else {
            cut.line(line, offset);
        }
        offset += line.len();
    }
    cut.end();
    cut.done
}

#[derive(Default)]
struct Cut {
    done: Vec<Sentence>,
    open: Sentence,
    /// A rule or a heading precedes.
    ruled: bool,
    handed: bool,
}

impl Cut {
    fn end_as(&mut self, handed: bool) {
        let now = std::mem::replace(&mut self.handed, handed);
        self.end();
        self.handed = now;
    }

    fn end(&mut self) {
        let mut sentence = std::mem::take(&mut self.open);
        sentence.handed = self.handed;
        // A line break ended it, so only a list can follow.
        sentence.colon = sentence.tokens.last().is_some_and(|last| last.is_mark(":"));
        if sentence.tokens.iter().any(|token| !matches!(token.kind, Kind::Mark(_))) {
            sentence.after_rule = std::mem::take(&mut self.ruled);
            self.done.push(sentence);
        }
    }

    /// Marks what introduces a block of code: the last sentence, and the one before a mere file name.
    fn introduce_code(&mut self) {
        for sentence in self.done.iter_mut().rev().take(2) {
            sentence.before_code = true;
            if !sentence.tokens.iter().all(Token::names) {
                break;
            }
        }
    }

    fn line(&mut self, line: &str, offset: usize) {
        let (item, start) = bullet(line);
        let body = &line[start..];
        let first = body.trim_start().chars().next();
        // A line that starts in lower case continues the sentence.
        let goes_on = !item && first.is_some_and(char::is_lowercase);
        if !goes_on {
            self.end();
        }
        let mut found = Vec::new();
        tokens(body, offset + start, &mut found);
        self.open.item |= item;
        let mut rest = found.into_iter().peekable();
        while let Some(token) = rest.next() {
            let stops = token.is_mark(".!?…؟");
            let asks = token.is_mark("?؟");
            if stops && self.ends(&token, rest.peek()) {
                self.open.question |= asks;
                let item = self.open.item;
                self.end();
                self.open.item = item;
            } else {
                self.open.tokens.push(token);
                if self.open.tokens.len() >= LONGEST {
                    self.end();
                }
            }
        }
        if self.open.tokens.is_empty() {
            self.open.item = false;
        }
    }

    fn ends(&self, stop: &Token, next: Option<&Token>) -> bool {
        if !stop.is_mark(".") {
            return true;
        }
        let (Some(last), Some(next)) = (self.open.tokens.last(), next) else {
            return true;
        };
        if last.end != stop.start {
            return true;
        }
        match last.kind {
            Kind::Word => {
                let letter = last.norm.chars().count() == 1;
                !(letter || proofs().abbreviations.contains(&last.norm))
            }
            Kind::Number => !(proofs().months.contains(&next.norm) || (next.kind == Kind::Word && !next.capital)),
            _ => true,
        }
    }
}

/// Whether `text` is a horizontal rule: `---`.
fn rule(text: &str) -> bool {
    let mark = text.chars().next();
    text.len() >= 3 && mark.is_some_and(|mark| "-*_".contains(mark) && text.chars().all(|c| c == mark))
}

/// Whether `line` is a list item or a heading, and where its text begins.
fn bullet(line: &str) -> (bool, usize) {
    let text = line.trim_start();
    let start = line.len() - text.len();
    let mark: &[char] = &['-', '*', '•', '+', '–'];
    if let Some(rest) = text.strip_prefix(mark)
        && rest.starts_with(char::is_whitespace)
    {
        let rest = rest.trim_start();
        let body = ["[x]", "[X]", "[ ]"].into_iter().find_map(|tick| rest.strip_prefix(tick));
        return (true, line.len() - body.unwrap_or(rest).len());
    }
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    if (1..=3).contains(&digits) {
        let rest = &text[digits..];
        if (rest.starts_with(". ") || rest.starts_with(") ")) && !rest[2..].trim().is_empty() {
            return (true, start + digits + 2);
        }
    }
    (text.starts_with('#'), start)
}
