use super::{Shell, State, Step};
use crate::complexity_counter::find_byte;
use crate::dialect::{Calls, Dialect, MarkerScan};
use crate::json::{Scanner, Token};
use crate::out::Sink;

pub(super) struct Block {
    dialect: Dialect,
    calls: &'static Calls,
    /// The block's opening, which ends it when it comes again.
    again: &'static str,
    /// Where the text to be read begins.
    start: usize,
    body: usize,
    /// Up to where it was looked at.
    at: usize,
    mode: Mode,
}

enum Mode {
    /// Before the JSON.
    Head,
    /// In a header or in the language of a fence.
    Header {
        fenced: bool,
    },
    Json(Scanner),
    /// After a JSON value.
    After,
    /// Only the closing is looked for.
    Raw,
}

impl Block {
    pub fn new(dialect: Dialect, calls: &'static Calls, again: &'static str, start: usize, body: usize) -> Self {
        let mode = if calls.json { Mode::Head } else { Mode::Raw };
        Self { dialect, calls, again, start, body, at: body, mode }
    }

    /// The block is no JSON, so only the closing is looked for, from the start.
    fn raw(&mut self) -> Next {
        self.at = self.body;
        self.mode = Mode::Raw;
        Next::Go
    }
}

pub(super) struct Marker {
    dialect: Dialect,
    calls: &'static Calls,
    body: usize,
    scan: MarkerScan,
}

impl Marker {
    pub fn new(dialect: Dialect, calls: &'static Calls, body: usize) -> Self {
        Self { dialect, calls, body, scan: MarkerScan::default() }
    }
}

enum Next {
    Go,
    /// More text is needed.
    Wait,
    /// The block ends here; the text goes on there. `true`: it has its closing.
    Close(usize, usize, bool),
}

enum Here {
    Closing(usize),
    Again,
    /// It may become one of the others.
    Open,
    Neither,
}

impl Shell {
    pub(super) fn block(&mut self, mut block: Block, sink: &mut Sink, end: bool) -> Step {
        loop {
            let next = match &mut block.mode {
                Mode::Head => self.head(&mut block, end),
                Mode::Header { fenced } => {
                    let fenced = *fenced;
                    self.header(&mut block, fenced, end)
                }
                Mode::Json(scanner) => match scanner.next(&self.buf) {
                    Token::More => Next::Wait,
                    Token::End => {
                        block.at = scanner.pos;
                        block.mode = Mode::After;
                        Next::Go
                    }
                    Token::Error => block.raw(),
                    _ => Next::Go,
                },
                Mode::After => self.after_value(&mut block, end),
                Mode::Raw => self.closing(&mut block, end),
            };
            match next {
                Next::Go => {}
                Next::Wait if !end => {
                    self.state = State::Block(block);
                    return Step::Wait;
                }
                Next::Wait => {
                    let len = self.buf.len();
                    return self.close(&block, len, len, false, sink);
                }
                Next::Close(stop, after, closed) => return self.close(&block, stop, after, closed, sink),
            }
        }
    }

    /// Looks for the first bracket of the JSON.
    fn head(&self, block: &mut Block, end: bool) -> Next {
        let rest = &self.buf[block.at..];
        let skipped = rest.len() - rest.trim_start_matches(|c: char| c.is_whitespace() || c == '`').len();
        crate::complexity_counter::count(skipped + 1);
        block.at += skipped;
        let Some(&byte) = self.buf.as_bytes().get(block.at) else {
            return if end { block.raw() } else { Next::Wait };
        };
        let fenced = self.buf[block.body..block.at].ends_with("```");
        block.mode = match byte {
            b'{' | b'[' => Mode::Json(Scanner::new(block.at)),
            _ if block.calls.head || fenced => Mode::Header { fenced },
            _ => return block.raw(),
        };
        Next::Go
    }

    /// Skips what stands before the JSON, such as `name[ARGS]` or a fence's language.
    fn header(&self, block: &mut Block, fenced: bool, end: bool) -> Next {
        loop {
            let rest = &self.buf[block.at..];
            let again = if fenced { b'[' } else { block.again.as_bytes()[0] };
            let Some(step) = find_byte([b'{', again, b'<'], rest) else {
                block.at = self.buf.len();
                return if end { block.raw() } else { Next::Wait };
            };
            block.at += step;
            let byte = rest.as_bytes()[step];
            match self.here(block, block.at, end) {
                Here::Open if byte != b'{' => return Next::Wait,
                Here::Closing(_) | Here::Again => return block.raw(),
                _ if byte == b'{' || (fenced && byte == b'[') => {
                    block.mode = Mode::Json(Scanner::new(block.at));
                    return Next::Go;
                }
                _ => block.at += 1,
            }
        }
    }

    fn after_value(&self, block: &mut Block, end: bool) -> Next {
        let rest = &self.buf[block.at..];
        let skipped = rest.len() - rest.trim_start_matches(|c: char| c.is_whitespace() || "`;,}]".contains(c)).len();
        crate::complexity_counter::count(skipped + 1);
        // Blanks belong to the block, so that they are looked at once only.
        block.at += skipped;
        let at = block.at;
        let Some(byte) = self.buf.as_bytes().get(at) else {
            return if end { Next::Close(at, at, false) } else { Next::Wait };
        };
        match self.here(block, at, end) {
            Here::Open => Next::Wait,
            Here::Closing(len) => Next::Close(at, at + len, true),
            Here::Neither if matches!(byte, b'{' | b'[') => {
                block.mode = Mode::Json(Scanner::new(at));
                Next::Go
            }
            Here::Again | Here::Neither => Next::Close(at, at, true),
        }
    }

    fn closing(&self, block: &mut Block, end: bool) -> Next {
        let first = |token: Option<&&str>| token.map_or(b'<', |token| token.as_bytes()[0]);
        let bytes = [first(block.calls.close.first()), first(block.calls.close.last()), first(Some(&block.again))];
        loop {
            let rest = &self.buf[block.at..];
            let Some(step) = find_byte(bytes, rest) else {
                block.at = self.buf.len();
                return Next::Wait;
            };
            block.at += step;
            match self.here(block, block.at, end) {
                Here::Open => return Next::Wait,
                Here::Closing(len) if (block.calls.ends)(&self.buf[block.body..block.at]) => {
                    return Next::Close(block.at, block.at + len, true);
                }
                Here::Again if block.at > block.body => return Next::Close(block.at, block.at, false),
                _ => {}
            }
            block.at += self.buf[block.at..].chars().next().map_or(1, char::len_utf8);
        }
    }

    fn here(&self, block: &Block, at: usize, end: bool) -> Here {
        let rest = &self.buf[at..];
        crate::complexity_counter::count(16);
        if let Some(token) = block.calls.close.iter().find(|token| rest.starts_with(**token)) {
            return Here::Closing(token.len());
        }
        if !block.again.starts_with('`') && rest.starts_with(block.again) {
            return Here::Again;
        }
        let open = block.calls.close.iter().chain([&block.again]).any(|token| token.starts_with(rest));
        if open && !end { Here::Open } else { Here::Neither }
    }

    fn close(&mut self, block: &Block, stop: usize, after: usize, closed: bool, sink: &mut Sink) -> Step {
        let (start, read) = (block.start, block.calls.read);
        self.read(block.dialect, closed, sink, |buf, cx| {
            read(&buf[start..stop], cx);
        });
        self.after(after, sink)
    }

    pub(super) fn marker(&mut self, mut marker: Marker, sink: &mut Sink, end: bool) -> Step {
        let body = &self.buf[marker.body..];
        let mut stop = marker.scan.close(body, &self.hopeless);
        if stop.is_none() {
            if !end {
                self.state = State::Marker(marker);
                return Step::Wait;
            }
            // No bracket outside quotes follows, so the first one ends the marker. Its quote opens no value from here on:
            // else each marker to come would be read to the end again.
            self.hopeless.extend(marker.scan.quote());
            self.hopeless.extend(marker.scan.first.map(|(_, quote)| quote));
            stop = marker.scan.first.map(|(at, _)| at);
        }
        let closed = stop.is_some();
        let stop = marker.body + stop.unwrap_or(body.len());
        let (start, read) = (marker.body, marker.calls.read);
        self.read(marker.dialect, closed, sink, |buf, cx| match &buf[start..stop] {
            body if closed => read(body, cx),
            body => cx.broken("", body, "the marker has no closing bracket"),
        });
        self.after(stop + usize::from(closed), sink)
    }
}
