//! Splits a stream into events. Server-sent events as servers really write them: any line end, `data:` with or
//! without a space, comments, several lines per event, bytes cut anywhere.

/// Largest event, bytes. A server that sends more is not streaming.
pub(crate) const LARGEST_EVENT: usize = 16 << 20;

#[derive(Debug, Default)]
pub(crate) struct SseParser {
    line: Vec<u8>,
    data: Option<String>,
    /// The last byte was a carriage return; a line feed now belongs to it.
    after_return: bool,
}

impl EventParser for SseParser {
    fn feed(&mut self, bytes: &[u8]) -> Result<Vec<String>, BadFrame> {
        let mut events = Vec::new();
        for &byte in bytes {
            let continues = byte == b'\n' && self.after_return;
            self.after_return = byte == b'\r';
            if continues {
                continue;
            }
            if byte == b'\n' || byte == b'\r' {
                events.extend(self.end_of_line());
            } else {
                self.line.push(byte);
            }
        }
        let held = self.line.len() + self.data.as_ref().map_or(0, String::len);
        if held > LARGEST_EVENT { Err(BadFrame::TooLarge) } else { Ok(events) }
    }

    /// The last event: not every server ends with a blank line.
    fn finish(&mut self) -> Option<String> {
        let early = self.end_of_line();
        early.or_else(|| self.data.take()).filter(|data| !data.is_empty())
    }
}

impl SseParser {
    fn end_of_line(&mut self) -> Option<String> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            return self.data.take();
        }
        let text = String::from_utf8_lossy(&line);
        // The first line may have a byte order mark.
        let text = text.trim_start_matches('\u{feff}');
        if let Some(value) = text.strip_prefix("data:") {
            let value = value.strip_prefix(' ').unwrap_or(value);
            match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            }
        }
        None
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BadFrame {
    /// Larger than any real event.
    TooLarge,
    /// Its checksums or lengths are wrong.
    Corrupt,
}

/// Gives the events' JSON, from pieces of any size.
pub(crate) trait EventParser: Send {
    fn feed(&mut self, bytes: &[u8]) -> Result<Vec<String>, BadFrame>;

    /// The last event, where the end of the stream completes one.
    fn finish(&mut self) -> Option<String> {
        None
    }

    /// Whether a stream can be taken for one document: each of its lines is one.
    fn is_of_documents(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn check(input: &str, expect: &[&str]) {
        let mut parser = SseParser::default();
        let mut events = parser.feed(input.as_bytes()).unwrap();
        events.extend(parser.finish());
        assert_eq!(events, expect, "{input:?}");
        let mut parser = SseParser::default();
        let mut single: Vec<String> = input.bytes().flat_map(|byte| parser.feed(&[byte]).unwrap()).collect();
        single.extend(parser.finish());
        assert_eq!(single, expect, "byte by byte: {input:?}");
    }

    #[test]
    fn events_in_every_dress() {
        check("data: a\n\ndata:b\n\n", &["a", "b"]);
        check("data: a\r\n\r\ndata: b\r\r", &["a", "b"]);
        check(": ping\n\ndata: a\n: in between\ndata: b\n\n", &["a\nb"]);
        check("event: message\nid: 7\nretry: 3\ndata: a\n\n", &["a"]);
        check("data:  two spaces\n\n", &[" two spaces"]);
        check("data: no blank line", &["no blank line"]);
        check("data: one line end\n", &["one line end"]);
        check("\u{feff}data: grüße ☕\n\n", &["grüße ☕"]);
        check("\n\n\n: only\n\n", &[]);
        check("<html>no events</html>\n", &[]);
    }

    #[test]
    fn endless_lines_are_refused() {
        let mut parser = SseParser::default();
        let piece = vec![b'x'; 1 << 20];
        let result: Result<Vec<_>, _> = (0..20).map(|_| parser.feed(&piece)).collect();
        assert_eq!(result, Err(BadFrame::TooLarge));
    }
}
