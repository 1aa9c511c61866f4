//! Calls without any tag: JSON or a list of Python calls that is the whole reply, or its last part on lines of its
//! own, with or without a code fence.
//!
//! Llama 3.1 to 4 and many small models are told to answer with such JSON and nothing else. It is a call only if it
//! names a known tool and nothing but the end follows; text in an explanation is none.

use super::{Shell, State, Step};
use crate::dialect::{Begin, Dialect, json_calls, looks_like_call, name_within, python_calls};
use crate::json::{Scanner, Token, repair, unescape};
use crate::out::Sink;
use std::ops::Range;

/// Confidence of a call that is not the whole reply.
const LATE: f32 = 0.7;

/// Keys that a call's object may begin with.
const KEYS: &str = "name tool_name function_name function tool recipient_name action id call_id tool_call_id type \
    arguments parameters args input action_input tool_input";

/// Words before a made-up result.
const RESULTS: &[&str] =
    &["Observation", "Result:", "Output:", "Tool result", "Tool Result", "Tool output", "Tool Output"];

pub(super) struct Bare {
    /// From here on it is text, if it is no call.
    from: usize,
    first: bool,
    /// The number of back-ticks of the fence around it.
    fence: Option<usize>,
    fence_closed: bool,
    values: Vec<Range<usize>>,
    start: usize,
    mode: Mode,
}

enum Mode {
    /// JSON, and whether its first key was seen.
    Json(Scanner, bool),
    /// A list of Python calls, read up to here.
    Python(usize),
    /// Quoted as in Python: read at the end.
    Loose,
    After(usize),
}

impl Bare {
    /// `python`: a list of Python calls, else JSON.
    pub fn new(python: bool, from: usize, start: usize, first: bool, fence: Option<usize>) -> Self {
        let mode = if python { Mode::Python(start) } else { Mode::Json(Scanner::new(start), false) };
        Self { from, first, fence, fence_closed: false, values: Vec::new(), start, mode }
    }
}

enum Next {
    Go,
    Wait,
    /// A call; after the place there is text.
    Calls(usize),
    /// A call, and nothing that follows counts.
    Ends,
    Text,
}

impl Shell {
    pub(super) fn bare(&mut self, mut bare: Bare, sink: &mut Sink, end: bool) -> Step {
        loop {
            let next = match &mut bare.mode {
                Mode::Json(..) => self.bare_json(&mut bare, end),
                Mode::Python(_) => self.bare_python(&mut bare, end),
                Mode::Loose if end => self.bare_loose(&mut bare),
                Mode::Loose => Next::Wait,
                Mode::After(at) => {
                    let at = *at;
                    self.bare_after(&mut bare, at, end)
                }
            };
            match next {
                Next::Go => {}
                Next::Wait => {
                    self.state = State::Bare(bare);
                    return Step::Wait;
                }
                Next::Text => return self.bare_text(&bare, sink),
                Next::Calls(at) => return self.bare_calls(&bare, at, sink),
                Next::Ends => {
                    self.bare_calls(&bare, self.buf.len(), sink);
                    self.found.note("a made-up result and all that follows was ignored");
                    self.state = State::Stopped;
                    return Step::Go;
                }
            }
        }
    }

    fn bare_json(&mut self, bare: &mut Bare, end: bool) -> Next {
        let Mode::Json(scanner, keyed) = &mut bare.mode else {
            return Next::Text;
        };
        loop {
            let token = scanner.next(&self.buf);
            let depth = scanner.depth();
            match token {
                Token::Key(range) if !*keyed => {
                    let key = unescape(&self.buf[range.start + 1..range.end - 1]);
                    if !KEYS.split(' ').any(|known| known == key) && self.tools.resolve(&key).is_none() {
                        return Next::Text;
                    }
                    *keyed = true;
                }
                Token::Str(_) | Token::Scalar(_) if depth <= 1 && !*keyed => return Next::Text,
                Token::End => {
                    let range = bare.start..scanner.pos;
                    let read = repair(&self.buf[range.clone()], false).ok();
                    if !read.is_some_and(|read| looks_like_call(&read.value, &self.tools)) {
                        return Next::Text;
                    }
                    bare.values.push(range.clone());
                    bare.mode = Mode::After(range.end);
                    return Next::Go;
                }
                Token::Error => {
                    let loose = !*keyed && bare.values.is_empty() && !self.no_literal;
                    match loose_key(&self.buf[bare.start..], end) {
                        Begin::Yes if loose => {
                            bare.mode = Mode::Loose;
                            return Next::Go;
                        }
                        Begin::More if loose => return Next::Wait,
                        _ => {}
                    }
                    if !(*keyed && bare.first && bare.values.is_empty()) {
                        return Next::Text;
                    }
                    // Broken JSON that is the whole reply is judged when all of it is there.
                    bare.mode = Mode::Loose;
                    return Next::Go;
                }
                Token::More if end => {
                    return if *keyed { self.bare_loose(bare) } else { Next::Text };
                }
                Token::More => return Next::Wait,
                _ => {}
            }
        }
    }

    fn bare_loose(&mut self, bare: &mut Bare) -> Next {
        let raw = self.buf[bare.start..].trim_end().trim_end_matches('`').trim_end();
        let range = bare.start..bare.start + raw.len();
        match repair(raw, self.cut) {
            Ok(read) if looks_like_call(&read.value, &self.tools) => {
                bare.values.push(range);
                Next::Calls(self.buf.len())
            }
            Err(_) if bare.first && self.names_tool(raw) => {
                bare.values.push(range);
                Next::Calls(self.buf.len())
            }
            _ => {
                self.no_literal = true;
                Next::Text
            }
        }
    }

    fn names_tool(&self, raw: &str) -> bool {
        let name = name_within(raw);
        !name.is_empty() && self.tools.resolve_call(name, None).is_some()
    }

    fn bare_python(&mut self, bare: &mut Bare, end: bool) -> Next {
        let Mode::Python(at) = &mut bare.mode else {
            return Next::Text;
        };
        let rest = &self.buf[*at..];
        let Some(step) = crate::complexity_counter::find(rest, ")]") else {
            // A parenthesis at the end may be half of a token.
            *at = self.buf.len() - usize::from(rest.ends_with(')'));
            if end {
                self.no_python = true;
                return Next::Text;
            }
            return Next::Wait;
        };
        let after = *at + step + 2;
        bare.values.push(bare.start..after);
        bare.mode = Mode::After(after);
        Next::Go
    }

    fn bare_after(&mut self, bare: &mut Bare, at: usize, end: bool) -> Next {
        let rest = &self.buf[at..];
        let trimmed = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ';' || c == ',');
        let at = at + rest.len() - trimmed.len();
        crate::complexity_counter::count(rest.len() - trimmed.len() + 1);
        bare.mode = Mode::After(at);
        let Some(first) = trimmed.chars().next() else {
            return if end { Next::Calls(at) } else { Next::Wait };
        };
        if let (Some(open), false) = (bare.fence, bare.fence_closed) {
            let ticks = trimmed.bytes().take_while(|b| *b == b'`').count();
            if ticks == trimmed.len() && !end {
                return Next::Wait;
            }
            if ticks >= open || (ticks == trimmed.len() && ticks > 0) {
                bare.fence_closed = true;
                bare.mode = Mode::After(at + ticks);
                return Next::Go;
            }
        }
        if matches!(first, '{' | '[')
            && !bare.fence_closed
            && matches!(bare.values.last(), Some(last) if self.buf[last.clone()].starts_with(first))
        {
            bare.start = at;
            bare.mode = Mode::Json(Scanner::new(at), false);
            return Next::Go;
        }
        if RESULTS.iter().any(|word| trimmed.starts_with(word)) {
            return Next::Ends;
        }
        if !end && (RESULTS.iter().any(|word| word.starts_with(trimmed)) || (first == '<' && trimmed.len() < 4)) {
            return Next::Wait;
        }
        // A left-over token ends a message, too.
        let token = trimmed.starts_with("<|")
            || trimmed.starts_with("</s>")
            || trimmed.starts_with("<end")
            || trimmed.starts_with("<｜");
        if bare.first || token { Next::Calls(at) } else { Next::Text }
    }

    fn bare_text(&mut self, bare: &Bare, sink: &mut Sink) -> Step {
        let json = match &bare.mode {
            Mode::Json(scanner, _) => scanner.pos,
            Mode::After(at) => *at,
            Mode::Python(_) | Mode::Loose => bare.start + 1,
        };
        let stop = json.max(bare.start + 1).min(self.buf.len());
        self.shown = bare.from;
        if let Some(ticks) = bare.fence.filter(|_| !bare.fence_closed) {
            self.pos = bare.start;
            self.fence = Some(ticks);
        } else {
            self.pos = stop;
        }
        self.line = self.pos;
        self.line_new = false;
        self.ticks = (self.pos, false);
        self.flush(sink);
        Step::Go
    }

    fn bare_calls(&mut self, bare: &Bare, at: usize, sink: &mut Sink) -> Step {
        let before = self.found.items.len();
        for range in bare.values.clone() {
            self.read(Dialect::Own, true, sink, |buf, cx| {
                let raw = &buf[range];
                match repair(raw, cx.cut) {
                    Ok(read) => {
                        let mended = read.fixes.iter().any(|fix| !fix.contains("fence"));
                        json_calls(read.value, raw, mended, cx);
                    }
                    Err(_) if raw.starts_with('[') => python_calls(raw, cx),
                    Err(error) => cx.unreadable(name_within(raw), raw, &error),
                }
            });
        }
        if !bare.first || bare.fence.is_some() {
            for call in self.found.items[before..].iter_mut().flatten() {
                call.confidence = call.confidence.min(LATE);
            }
        }
        self.after(at, sink)
    }
}

/// Whether an object begins with a key of a call in other quotes or none.
fn loose_key(text: &str, end: bool) -> Begin {
    let inner = text.strip_prefix(['{', '[']).unwrap_or(text).trim_start();
    let inner = inner.strip_prefix('{').unwrap_or(inner).trim_start();
    let inner = inner.strip_prefix(['\'', '“']).unwrap_or(inner);
    match inner.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')) {
        None if !end && inner.len() < 32 => Begin::More,
        Some(len) if KEYS.contains(&inner[..len]) => Begin::Yes,
        _ => Begin::No,
    }
}
