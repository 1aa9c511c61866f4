//! Parses server-sent events, however their bytes are split.

use anyhow::bail;

/// Longest event, bytes: one may hold a whole prompt.
const LIMIT: usize = 256 * 1024 * 1024;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Message {
    /// Empty if it has none.
    pub event: String,
    pub data: String,
}

#[derive(Debug, Default)]
pub(super) struct Reader {
    line: Vec<u8>,
    event: String,
    data: String,
    begun: bool,
}

impl Reader {
    /// Takes bytes and returns the events that they complete.
    pub fn push(&mut self, bytes: &[u8]) -> anyhow::Result<Vec<Message>> {
        let mut done = Vec::new();
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            if self.line.len() + self.data.len() + piece.len() > LIMIT {
                bail!("an event of the server has more than {LIMIT} bytes");
            }
            self.line.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                let line = std::mem::take(&mut self.line);
                let line = String::from_utf8_lossy(&line);
                done.extend(self.line(line.trim_end_matches(['\n', '\r'])));
            }
        }
        Ok(done)
    }

    fn line(&mut self, line: &str) -> Option<Message> {
        if line.is_empty() {
            let data = std::mem::take(&mut self.data);
            let event = std::mem::take(&mut self.event);
            return std::mem::take(&mut self.begun).then_some(Message { event, data });
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        if field == "event" {
            value.strip_prefix(' ').unwrap_or(value).clone_into(&mut self.event);
        }
        if field == "data" {
            if self.begun {
                self.data.push('\n');
            }
            self.begun = true;
            self.data.push_str(value.strip_prefix(' ').unwrap_or(value));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::Reader;

    const STREAM: &str = ": alive\n\nid: 1\nevent: run.started\ndata: {\"a\":\"\u{e4}\u{1f600}\"}\n\nid: 2\r\ndata: two\r\ndata:  lines\r\n\r\n: alive\n\ndata\n\nid: 4\ndata: cut";

    fn read(pieces: impl Iterator<Item = Vec<u8>>) -> Vec<String> {
        let mut reader = Reader::default();
        pieces.flat_map(|piece| reader.push(&piece).unwrap()).map(|message| message.data).collect()
    }

    #[test]
    fn cuts_make_no_difference() {
        let bytes = STREAM.as_bytes();
        let whole = read(std::iter::once(bytes.to_vec()));
        assert_eq!(whole, ["{\"a\":\"\u{e4}\u{1f600}\"}", "two\n lines", ""]);
        for size in 1..bytes.len() {
            assert_eq!(read(bytes.chunks(size).map(<[u8]>::to_vec)), whole, "{size}");
        }
    }
}
